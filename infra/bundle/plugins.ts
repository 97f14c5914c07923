/** esbuild plugins that make bundles smaller and faster to load. `test/bench/cold-start.ts` measures the effect. */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Loads Node's built-in modules with `process.getBuiltinModule`. An import reads each of their properties to make
 * exports of them, and properties of node:http load all of Node's fetch: 20 ms of every cold start.
 */
const nodesOwn: Plugin = {
  name: 'nodes-own',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(node:)?[a-z_]+(\/[a-z_]+)?$/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: 'nodes-own' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'nodes-own' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** The SDK's clients import their package.json for its version. This keeps the rest of the file out of the bundle. */
const versionOnly: Plugin = {
  name: 'version-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]client-[a-z-]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/**
 * Leaves out the SDK's event streams, which neither table nor queue uses. They would bring all of the SDK's core along.
 */
const noEventStreams: Plugin = {
  name: 'no-event-streams',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ path }) => ({ path, namespace: 'no-event-streams' }));
    onLoad({ filter: /./, namespace: 'no-event-streams' }, () => ({ contents: '' }));
  },
};

/**
 * Lets esbuild remove the unused document client: unlike other SDK packages, it is not marked as free of side effects.
 */
const documentClientIfUsed: Plugin = {
  name: 'document-client-if-used',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@aws-sdk\/lib-dynamodb$/ }, async ({ path, pluginData, ...from }) =>
      pluginData === 'resolving'
        ? undefined
        : { ...(await resolve(path, { ...from, pluginData: 'resolving' })), sideEffects: false },
    );
  },
};

export const plugins: Plugin[] = [nodesOwn, versionOnly, noEventStreams, documentClientIfUsed];
