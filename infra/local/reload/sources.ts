/**
 * Which sources each function and the template are made of, in a thread of its own: it loads the sources of the bundler again
 * after they have changed. Bundles functions whose sources have changed.
 */
import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { type BuildContext, build, context } from 'esbuild';
import { folderOf, root, sourcesIn, splitOptions } from '../../bundle/bundle.ts';
import { LOCAL_STACK } from '../runtime/condition.ts';

export interface SourcesOptions {
  /** The folder of the stack's assembly. */
  assembly: string;
  /** The folder for folders of bundles, one for each change. */
  replaced: string;
}

/** Changed files, relative to the repository. */
export interface Changed {
  files: string[];
}

/** What follows from changes. */
export interface Effect {
  /** The functions that were bundled, and their folders. */
  functions: { name: string; folder: string }[];
  /** Whether the template may have changed, or what is bundled beside functions. */
  isOfTemplate: boolean;
  /** Why the functions could not be bundled. */
  error?: string;
}

const CONDITIONS = [LOCAL_STACK];

const { assembly, replaced } = workerData as SourcesOptions;

/** The folder of the bundles of one change. Source maps fit all of them, because they have the same depth. */
const folderOfChange = (change: number): string => join(replaced, `change.${change}`);

/** The sources of each function. */
const sources = new Map<string, Set<string>>();

/** Functions whose last bundling failed: a change of any file may have repaired them. */
const failed = new Set<string>();

/** Contexts of esbuild, which parse only what has changed, by the names of their functions: somebody mostly changes the same ones. */
const contexts = new Map<string, Promise<BuildContext<Options>>>();

/** The largest number of functions with a context of their own: contexts take memory. */
const FEW = 3;

type Options = ReturnType<typeof optionsFor>;

/** Options of a build whose result is not written yet. */
const optionsFor = (names?: string[]) =>
  ({ ...splitOptions(folderOfChange(0), CONDITIONS, names), write: false }) as const;

const rebuilt = async (names: string[]) => {
  const options = optionsFor(names);
  if (names.length > FEW) return build(options);
  const key = names.join();
  const known = contexts.get(key) ?? context(options);
  contexts.set(key, known);
  return (await known).rebuild();
};

const note = ({ metafile }: Awaited<ReturnType<typeof rebuilt>>): void => {
  for (const [name, found] of sourcesIn(metafile)) sources.set(name, found);
};

let changes = 0;

/** Bundles functions into a new folder, because calls in progress read the old one; and notes their sources. */
const bundle = async (changed: string[]): Promise<Effect['functions']> => {
  // A new function comes with the next assembly.
  const names = changed.filter((name) => existsSync(join(assembly, folderOf(name))));
  if (names.length === 0) return [];
  const result = await rebuilt(names);
  note(result);
  changes += 1;
  const own = folderOfChange(changes);
  const functions = names.map((name) => ({ name, folder: join(own, folderOf(name)) }));
  // With what is beside the code: the portal's files.
  await Promise.all(functions.map((one) => cp(join(assembly, folderOf(one.name)), one.folder, { recursive: true })));
  await Promise.all(
    result.outputFiles.map(({ path, contents }) => writeFile(join(own, relative(folderOfChange(0), path)), contents)),
  );
  return functions;
};

/** Notes the sources of all functions. */
const analyse = async (): Promise<void> => note(await build(optionsFor()));

/** The sources of the template, and of the page that is bundled beside a function. */
const ofTemplate = async (): Promise<Set<string>> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['infra/app.ts', 'infra/portal/main.tsx'],
    outdir: replaced,
    write: false,
    metafile: true,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  });
  return new Set(Object.keys(metafile.inputs));
};

/** Folders of `infra` of which a stack contains only what functions import. */
const TOOLS = /^infra\/(local|operator)\//;

let template: Set<string> = new Set();

const effectOf = async ({ files }: Changed): Promise<Effect> => {
  const isOfTemplate = files.some((file) => template.has(file) || (file.startsWith('infra/') && !TOOLS.test(file)));
  const names = [...sources].flatMap(([name, known]) =>
    failed.has(name) || files.some((file) => known.has(file)) ? [name] : [],
  );
  try {
    const functions = await bundle(names);
    failed.clear();
    return { functions, isOfTemplate };
  } catch (error) {
    for (const name of names) failed.add(name);
    return { functions: [], isOfTemplate, error: error instanceof Error ? error.message : String(error) };
  }
};

const ready = Promise.all([
  analyse(),
  ofTemplate().then((found) => {
    template = found;
  }),
]);

parentPort?.on('message', async (changed: Changed) => {
  await ready;
  parentPort?.postMessage(await effectOf(changed));
});
