/** What makes bundles small, and quick to load: `test/bench/cold-start.ts` measures it. */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Takes Node's own modules as they are. An import would read each property of them, to make exports of all, and those of
 * node:http lead to the whole of Node's fetch: 20 ms that every cold start would wait for.
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

/** The SDK's clients import their package.json for the version in it, and would bring the whole file along. */
const versionOnly: Plugin = {
  name: 'version-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]client-[a-z-]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/** Neither table nor queue streams events; what loads that part of the SDK when it is needed holds all of the SDK's core. */
const noEventStreams: Plugin = {
  name: 'no-event-streams',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ path }) => ({ path, namespace: 'no-event-streams' }));
    onLoad({ filter: /./, namespace: 'no-event-streams' }, () => ({ contents: '' }));
  },
};

/** Lets the document client go where nothing of it is used: unlike the SDK's other packages, it does not say that it may. */
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
