/** esbuild plugins that make bundles smaller and faster to load. `test/bench/cold-start.ts` measures the effect. */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** A module that takes 3.6 ms of processor time to load. The first call of one of its functions loads it. */
const LATE = 'node:zlib';

/**
 * Loads Node's built-in modules with `process.getBuiltinModule`, and reads only the properties that a function uses. An
 * import reads all of them to make exports of them, as does esbuild's conversion of a CommonJS module. Properties of
 * node:http load all of Node's fetch, and those of node:util load its worker threads: 20 ms of every cold start.
 */
const nodesOwn: Plugin = {
  name: 'nodes-own',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(node:)?[a-z_]+(\/[a-z_]+)?$/ }, ({ path, kind }) =>
      isBuiltin(path) ? { path, namespace: kind === 'import-statement' ? 'nodes-own' : 'whole' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'whole' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
    onLoad({ filter: /./, namespace: 'nodes-own' }, ({ path }) => {
      const exported = Object.entries(process.getBuiltinModule(path) ?? {}).filter(([name]) => name !== 'default');
      // Not classes: they are used with `new`.
      const isLate = (name: string, value: unknown): boolean =>
        path === LATE && typeof value === 'function' && /^[a-z]/.test(name);
      return {
        // Pure, so that esbuild leaves out what nothing imports.
        contents: `const load = () => process.getBuiltinModule(${JSON.stringify(path)});
const own = /* @__PURE__ */ load();
export default own;
${exported
  .map(([name, value], index) =>
    isLate(name, value)
      ? `const _${index} = (...given) => load()[${JSON.stringify(name)}](...given);`
      : `const _${index} = /* @__PURE__ */ (() => own[${JSON.stringify(name)}])();`,
  )
  .join('\n')}
export { ${exported.map(([name], index) => `_${index} as ${JSON.stringify(name)}`).join(', ')} };`,
      };
    });
  },
};

/** Replaces the SDK's clients by those in `sdk/`, which send the same requests. They are left out if they are unused. */
const ownClients: Plugin = {
  name: 'own-clients',
  setup({ onResolve }) {
    onResolve({ filter: /^@aws-sdk\/(client-(dynamodb|secrets-manager|sqs)|lib-dynamodb)$/ }, ({ path }) => ({
      path: fileURLToPath(new URL(`./sdk/${basename(path)}.ts`, import.meta.url)),
      sideEffects: false,
    }));
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

/** Replaces the SDK's reader of shared configuration files: see the stub. */
const noSharedConfig: Plugin = {
  name: 'no-shared-config',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]shared-ini-file-loader[\\/]loadSharedConfigFiles\.js$/ }, async () => ({
      contents: await readFile(new URL('./stubs/no-shared-config.ts', import.meta.url), 'utf8'),
      loader: 'ts',
    }));
  },
};

/**
 * Lets the SDK not ask whether a body is a web stream: functions send and receive none through it, and to answer, Node would
 * load its web streams. Other packages need them.
 */
const noWebStreams: Plugin = {
  name: 'no-web-streams',
  setup({ onLoad }) {
    onLoad(
      { filter: /[\\/]@smithy[\\/]core[\\/].*[\\/](isStreamingPayload|stream-type-check)\.js$/ },
      async ({ path }) => ({
        contents: `const ReadableStream = undefined;\n${await readFile(path, 'utf8')}`,
      }),
    );
  },
};

/**
 * Leaves out the validator of JSON schemas of the MCP SDK: 130 KB, with which a server checks only what it has asked the client
 * for. Ours asks for nothing.
 */
const noSchemaValidator: Plugin = {
  name: 'no-schema-validator',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@modelcontextprotocol[\\/]sdk[\\/].*[\\/]ajv-provider\.js$/ }, () => ({
      contents: 'export class AjvJsonSchemaValidator {}',
    }));
  },
};

/** The warm-ups of the table, by the action of the function's first call: files in `warm-up/`. */
export const tableWarmUps: Partial<Record<string, string>> = {
  GetItem: 'get-item',
  PutItem: 'put-item',
  Query: 'query',
};

/** Adds warm-ups to functions whose entry points begin with their names: `warm:query,rejected-request:functions/…`. */
const warmed: Plugin = {
  name: 'warmed',
  setup({ initialOptions: { absWorkingDir: resolveDir = '' }, onLoad, onResolve }) {
    onResolve({ filter: /^warm:/ }, ({ path }) => ({ path, namespace: 'warmed' }));
    onLoad({ filter: /./, namespace: 'warmed' }, ({ path }) => {
      const [, names = '', file] = path.split(':');
      const warmUps = names.split(',').map(
        (name, index) => `import { warmUp as _${index} } from './infra/bundle/warm-up/${name}.ts';
await _${index}(handler);`,
      );
      const contents = [`import { handler } from './${file}';`, ...warmUps, 'export { handler };'].join('\n');
      return { contents, resolveDir };
    });
  },
};

export const plugins: Plugin[] = [
  nodesOwn,
  ownClients,
  noEventStreams,
  noSharedConfig,
  noWebStreams,
  noSchemaValidator,
  warmed,
];
