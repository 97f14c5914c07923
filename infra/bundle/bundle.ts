/** Bundles all functions in one esbuild call: minified ES modules that include the SDK; and the portal. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { type AccessPatternName, accessPatterns, type TableAccess } from '../../shared/api/access-patterns.ts';
import { accessOf, type Endpoint } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { workers } from '../../shared/api/workers.ts';
import { plugins, tableWarmUps } from './plugins.ts';
import { type PortalSettings, writePortal } from './portal.ts';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The file that serves an endpoint: `functions/area/do-thing.ts` for `doThing`. */
const functionFile = (name: string, { area }: Pick<Endpoint, 'area'>): string => `functions/${area}/${kebab(name)}.ts`;

/** The files of the authorizer and the workers, by name. */
const others = {
  authorizer: 'functions/authorizer.ts',
  relay: 'functions/workers/relay.ts',
  count: 'functions/workers/count.ts',
  expand: 'functions/workers/expand.ts',
  deliver: 'functions/workers/deliver.ts',
  sweep: 'functions/workers/sweep.ts',
  erase: 'functions/workers/erase.ts',
};

/** The entry points of all functions, by name. */
const files: [string, string][] = [
  ...Object.entries(others),
  ...Object.entries<Endpoint>(api).map(([name, endpoint]): [string, string] => [name, functionFile(name, endpoint)]),
];

/** The folders of the bundles (`index.mjs`), by the function's name. */
export type Bundles = Record<keyof typeof others | keyof typeof api, string>;

/**
 * How functions are bundled. `minified`: for deployment. `mapped`: with an inline source map, so that traces name the
 * source. On this machine only: `split`, mapped, and what several functions contain is in files beside their folders, which
 * takes a quarter of the time; and `linked`, which imports the original sources, to measure coverage.
 */
export const bundlings = ['minified', 'mapped', 'split', 'linked'] as const;

export type Bundling = (typeof bundlings)[number];

/** A bundle's folder. It is as deep as the copy that a deployment takes, so that the paths in its source map fit both. */
export const folderOf = (name: string): string => `bundle.${name}`;

/**
 * Bundles every function into a folder below `directory`, as `index.mjs`.
 *
 * @param conditions - conditions of `imports` in package.json, which replace modules of production
 * @param settings - what the portal knows of the deployment
 */
export const bundleFunctions = async (
  directory: string,
  bundling: Bundling,
  conditions: string[] = [],
  settings: PortalSettings = {},
): Promise<Bundles> => {
  await Promise.all([
    bundling === 'linked'
      ? link(files, directory, conditions)
      : build(optionsOf(files, directory, conditions, bundling)),
    writePortal(join(directory, folderOf('readPortal'), 'portal'), settings),
  ]);
  return Object.fromEntries(files.map(([name]) => [name, join(directory, folderOf(name))])) as Bundles;
};

/** esbuild's options to bundle some functions `split`, or all. */
export const splitOptions = (directory: string, conditions: string[], names?: string[]) =>
  optionsOf(
    files.filter(([name]) => names === undefined || names.includes(name)),
    directory,
    conditions,
    'split',
  );

/** The sources of each function in the result of a build, relative to the repository, by the function's name. */
export const sourcesIn = ({ outputs }: Metafile): [name: string, sources: Set<string>][] =>
  Object.keys(outputs).flatMap((output) => {
    const [, name] = /bundle\.(\w+)\/index\.mjs$/.exec(output) ?? [];
    if (name === undefined) return [];
    // A set that grows while it is read: with what the files import, and what these import.
    const parts = new Set([output]);
    for (const part of parts) for (const { path } of outputs[part]?.imports ?? []) parts.add(path);
    return [[name, new Set([...parts].flatMap((part) => Object.keys(outputs[part]?.inputs ?? {})))]];
  });

/** The access of each function to the table, by name. */
const accesses = new Map<string, readonly TableAccess[]>([
  ...Object.entries<Endpoint>(api).map(([name, endpoint]): [string, TableAccess[]] => [name, accessOf(endpoint)]),
  ...Object.entries(workers).map(([name, { table }]): [string, readonly TableAccess[]] => [name, table]),
]);

/** The warm-up of the table for a function: of its first access that has one, or of a read. None, if it does not use it. */
const tableWarmUpOf = (name: string): string[] => {
  const table = accesses.get(name) ?? [];
  if (table.length === 0) return [];
  const actions = table.map((access) =>
    access in accessPatterns ? accessPatterns[access as AccessPatternName].action : '',
  );
  return [actions.map((action) => tableWarmUps[action]).find((warmUp) => warmUp !== undefined) ?? 'get-item'];
};

const isEndpoint = (name: string): name is keyof typeof api => name in api;

/** The warm-ups of a function: of the table, and of the handler of an endpoint with a permission. */
const warmUpsOf = (name: string): string[] => [
  ...tableWarmUpOf(name),
  ...(isEndpoint(name) && api[name].permission !== 'none' ? ['rejected-request'] : []),
];

/**
 * esbuild's options for a function's bundle: all but its entry point, its place and its source map.
 *
 * @internal A benchmark uses it, too.
 */
export const bundleOptions = (conditions: string[] = []) =>
  ({
    absWorkingDir: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The SDK's CommonJS build is larger, and does not support tree shaking.
    mainFields: ['module', 'main'],
    // esbuild's default condition, which other conditions would replace.
    conditions: ['module', ...conditions],
    alias: { debug: join(root, 'infra/bundle/stubs/no-debug.ts') },
    plugins,
    logLevel: 'warning',
  }) satisfies BuildOptions;

const optionsOf = (chosen: [string, string][], outdir: string, conditions: string[], bundling: Bundling) =>
  ({
    entryPoints: chosen.map(([name, file]) => {
      const warmUps = warmUpsOf(name);
      return { in: warmUps.length === 0 ? file : `warm:${warmUps}:${file}`, out: join(folderOf(name), 'index') };
    }),
    outdir,
    splitting: bundling === 'split',
    chunkNames: 'part.[hash]',
    sourcemap: bundling !== 'minified' && 'inline',
    sourcesContent: false,
    metafile: true,
    ...bundleOptions(conditions),
  }) satisfies BuildOptions;

const link = async (chosen: [string, string][], directory: string, conditions: string[]): Promise<void> => {
  for (const [name, file] of chosen) {
    const folder = join(directory, folderOf(name));
    await mkdir(folder, { recursive: true });
    const source = pathToFileURL(join(root, file)).href;
    await writeFile(join(folder, 'index.mjs'), linkTo(source, conditions));
  }
};

/** A module that loads a source with these conditions, and exports its handler. */
const linkTo = (source: string, conditions: string[]): string => `import { registerHooks } from 'node:module';
const conditions = ${JSON.stringify(conditions)};
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, { ...context, conditions: [...context.conditions, ...conditions] }),
});
export const { handler } = await import(${JSON.stringify(source)});
`;
