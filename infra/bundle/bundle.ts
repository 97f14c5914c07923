/** Bundles all functions in one esbuild call: minified ES modules with the SDK inside, a folder each. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { plugins } from './plugins.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The file that serves an endpoint: `functions/area/do-thing.ts` for `doThing`. */
const functionFile = (name: string, { area }: Pick<Endpoint, 'area'>): string => `functions/${area}/${kebab(name)}.ts`;

/** The files of the functions that are no endpoints, by name. */
const others = {
  authorizer: 'functions/authorizer.ts',
  relay: 'functions/workers/relay.ts',
  count: 'functions/workers/count.ts',
  deliver: 'functions/workers/deliver.ts',
  sweep: 'functions/workers/sweep.ts',
  erase: 'functions/workers/erase.ts',
};

/** Folders that hold a function's bundle as `index.mjs`, by the function's name. */
export type Bundles = Record<keyof typeof others | keyof typeof api, string>;

/**
 * How functions are made: `minified` to deploy; `mapped` with a source map inside, so that traces name the source;
 * `linked`, which imports the sources where they stand, to measure coverage on this machine.
 */
export const bundlings = ['minified', 'mapped', 'linked'] as const;

export type Bundling = (typeof bundlings)[number];

/** A bundle stands as deep as the asset that is copied from it, so that the paths in its source map hold for both. */
const folderOf = (name: string): string => `bundle.${name}`;

/**
 * Makes every function a folder below `directory` that holds it as `index.mjs`.
 *
 * @param conditions - conditions of `imports` in package.json: they select modules that take the place of production's
 */
export const bundleFunctions = async (
  directory: string,
  bundling: Bundling,
  conditions: string[] = [],
): Promise<Bundles> => {
  const endpoints = Object.entries<Endpoint>(api).map(([name, endpoint]) => [name, functionFile(name, endpoint)]);
  const files: [string, string][] = Object.entries({ ...others, ...Object.fromEntries(endpoints) });
  await (bundling === 'linked'
    ? link(files, directory, conditions)
    : bundle(files, directory, { sourceMaps: bundling === 'mapped', conditions }));
  return Object.fromEntries(files.map(([name]) => [name, join(directory, folderOf(name))])) as Bundles;
};

const bundle = async (
  files: [string, string][],
  outdir: string,
  { sourceMaps, conditions }: { sourceMaps: boolean; conditions: string[] },
): Promise<void> => {
  await build({
    absWorkingDir: root,
    entryPoints: files.map(([name, file]) => ({ in: file, out: join(folderOf(name), 'index') })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    sourcemap: sourceMaps && 'inline',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The SDK's CommonJS build is larger, and cannot be shaken.
    mainFields: ['module', 'main'],
    // esbuild's own condition, which it leaves out where others are set.
    conditions: ['module', ...conditions],
    alias: {
      '@aws-sdk/credential-provider-node': join(root, 'infra/bundle/stubs/environment-credentials.ts'),
      '@aws-sdk/endpoint-cache': join(root, 'infra/bundle/stubs/endpoint-cache.ts'),
      debug: join(root, 'infra/bundle/stubs/no-debug.ts'),
    },
    plugins,
    logLevel: 'warning',
  });
};

const link = async (files: [string, string][], directory: string, conditions: string[]): Promise<void> => {
  for (const [name, file] of files) {
    const folder = join(directory, folderOf(name));
    await mkdir(folder, { recursive: true });
    const source = pathToFileURL(join(root, file)).href;
    await writeFile(join(folder, 'index.mjs'), linkTo(source, conditions));
  }
};

/** A module that exports the handler of a source, which it loads under these conditions. */
const linkTo = (source: string, conditions: string[]): string => `import { registerHooks } from 'node:module';
const conditions = ${JSON.stringify(conditions)};
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, { ...context, conditions: [...context.conditions, ...conditions] }),
});
export const { handler } = await import(${JSON.stringify(source)});
`;
