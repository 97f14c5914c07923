/**
 * Which sources each function and the template are made of, in a thread of its own: it loads the sources of the bundler again
 * after they have changed. Bundles functions whose sources have changed.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type BuildContext, build, context, type Metafile } from 'esbuild';
import { type Bundled, bundledIn, optionsFor, root } from '../../bundle/bundle.ts';
import { LOCAL_STACK } from '../runtime/condition.ts';

/** Changed files, relative to the repository. */
export interface Changed {
  files: string[];
}

/** What follows from changes. */
export interface Effect {
  /** The functions that were bundled, and their folders. */
  functions: Pick<Bundled, 'name' | 'folder'>[];
  /** Whether the template may have changed, or what is bundled beside functions. */
  isOfTemplate: boolean;
  /** Why the functions could not be bundled. */
  error?: string;
}

const CONDITIONS = [LOCAL_STACK];

/** The folder for bundles. */
const folder = String(workerData);

/** The sources of each function. */
const sources = new Map<string, Set<string>>();

/** Functions whose last bundling failed: a change of any file may have repaired them. */
const failed = new Set<string>();

/** Contexts of esbuild, which parse only what has changed, by the names of their functions: somebody mostly changes the same ones. */
const contexts = new Map<string, Promise<BuildContext<{ metafile: true }>>>();

/** The largest number of functions with a context of their own: contexts take memory. */
const FEW = 3;

const rebuilt = async (names: string[]): Promise<Metafile> => {
  const options = optionsFor(folder, CONDITIONS, names);
  if (names.length > FEW) return (await build(options)).metafile;
  const key = names.join();
  const known = contexts.get(key) ?? context(options);
  contexts.set(key, known);
  return (await (await known).rebuild()).metafile;
};

const note = (bundled: Bundled[]): void => {
  for (const { name, sources: found } of bundled) sources.set(name, new Set(found));
};

/** Bundles functions, and notes their sources. */
const bundle = async (names: string[]): Promise<Bundled[]> => {
  const bundled = names.length === 0 ? [] : bundledIn(await rebuilt(names), folder);
  note(bundled);
  return bundled;
};

/** Notes the sources of all functions. */
const analyse = async (): Promise<void> =>
  note(bundledIn((await build({ ...optionsFor(folder, CONDITIONS), write: false })).metafile, folder));

/** The sources of the template, and of the page that is bundled beside a function. */
const ofTemplate = async (): Promise<Set<string>> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['infra/app.ts', 'infra/portal/main.tsx'],
    outdir: folder,
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
    return { functions: functions.map(({ name, folder: place }) => ({ name, folder: place })), isOfTemplate };
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
