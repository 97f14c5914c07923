/**
 * @module-tag long
 *
 * Compiles snippets: code that contradicts `shared/api/` must fail, and code that matches it must pass.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const from = (path: string) => JSON.stringify(resolve(path));

const handlers = `import { endpoint, noContent, ok } from ${from('shared/http/endpoint.ts')};
import { api } from ${from('shared/api/index.ts')};\n`;
const client = `import { call } from ${from('test/stack/support/client.ts')};\n`;
/** The source of an endpoint's definition. `changed` replaces fields, as source text. */
const description = (changed: Record<string, string> = {}) => {
  const fields = {
    area: "'profilers'",
    summary: "'Things'",
    token: "'header'",
    permission: "'profilers'",
    problems: '[]',
    table: '[]',
    routes: "[{ host: 'base', method: 'GET', path: '/v1/things/{id}/{part}' }]",
    path: 'v.object({ id: v.string(), part: v.string() })',
    responses: '{ 204: null }',
    ...changed,
  };
  const source = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `import * as v from ${from('node_modules/valibot/dist/index.mjs')};
import { define } from ${from('shared/api/endpoint.ts')};
export const x = define({ ${source.join(', ')} });`;
};

/** The source of docs of an area with two endpoints, of which `docs` describes some. */
const docs = (docs: string) => `import type { AreaDocs } from ${from('shared/api/docs.ts')};
import type { users } from ${from('shared/api/areas/users.ts')};
export const x: AreaDocs<typeof users> = { name: '', description: '', endpoints: { ${docs} } };`;

const matched = `matchContacts: { text: '', examples: [{ shows: '', answer: { match_list: [] } }] }`;

const valid: Record<string, string> = {
  'a handler that matches its endpoint': `${handlers}export const x = endpoint(api.readProfiler, async ({ account, path }) => ok({ question: account, created_at: path.id, options: [] }));`,
  'a request that matches its endpoint': `${client}export const x = call('readProfiler', { token: '', path: { id: '' } });`,
  'a consistent endpoint definition': description(),
  'docs of an area': docs(`${matched}, readUser: { text: '', examples: [{ shows: '' }] }`),
};

const invalid: Record<string, string> = {
  'a handler of an unknown endpoint': `${handlers}export const x = endpoint(api.readNothing, async () => noContent());`,
  'a handler with a limit for an endpoint whose callers have none': `${handlers}export const x = endpoint(api.readApiDescription, async () => ok({ openapi: '' }));`,
  'a response that lacks a field': `${handlers}export const x = endpoint(api.readProfiler, async () => ok({ question: '', created_at: '' }));`,
  'a response of another type': `${handlers}export const x = endpoint(api.listProfilers, async () => ok({}));`,
  'a response status that the endpoint does not declare': `${handlers}export const x = endpoint(api.readProfiler, async () => noContent());`,
  'a response body that the endpoint does not declare': `${handlers}export const x = endpoint(api.deleteProfiler, async () => ok({}));`,
  'a read of a field that the request body does not have': `${handlers}export const x = endpoint(api.answerProfiler, async ({ body }) => (body.answer, noContent()));`,
  'a read of an undeclared path parameter': `${handlers}export const x = endpoint(api.deleteProfiler, async ({ path }) => (path.name, noContent()));`,
  'a read of the request body of an endpoint without one': `${handlers}export const x = endpoint(api.deleteProfiler, async ({ body }) => (body.id, noContent()));`,
  'a request with a body of the wrong type': `${client}export const x = call('answerProfiler', { token: '', body: { profiler_id: 1, option_id: '', phone_number: '' } });`,
  'a request to an unknown endpoint': `${client}export const x = call('readNothing', { token: '' });`,
  'a read of a field that the response does not have': `${client}export const x = (await call('readProfiler', { token: '' })).body.name;`,
  'a route parameter without a schema': description({ path: 'v.object({ id: v.string() })' }),
  'a schema of a parameter that no route has': description({
    path: 'v.object({ id: v.string(), part: v.string(), name: v.string() })',
  }),
  'an unknown permission': description({ permission: "'everything'" }),
  'an unknown problem code': description({ problems: "['bad_luck']" }),
  'an unknown access pattern': description({ table: "['scanAll']" }),
  'docs that lack an endpoint': docs(matched),
  'docs without an example': docs(`${matched}, readUser: { text: '', examples: [] }`),
  'an example that does not match its endpoint': docs(
    `${matched}, readUser: { text: '', examples: [{ shows: '', path: { id: '' } }] }`,
  ),
  'an unknown host': description({ routes: "[{ host: 'moon', method: 'GET', path: '/v1/things/{id}/{part}' }]" }),
};

let folder: string;
let output: string;

const file = (name: string) => `${name.replaceAll(' ', '-')}.ts`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'types-'));
  for (const [name, source] of Object.entries({ ...valid, ...invalid }))
    writeFileSync(join(folder, file(name)), source);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const config = {
    extends: resolve('tsconfig.json'),
    compilerOptions: { typeRoots: [resolve('node_modules/@types')], noUnusedLocals: false },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  output = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
    cwd: folder,
  }).stdout;
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each(Object.keys(valid))('%s compiles', (name) => {
  expect(output.split('\n').filter((line) => line.startsWith(file(name)))).toEqual([]);
});

test.each(Object.keys(invalid))('%s does not compile', (name) => {
  expect(output.split('\n')).toContainEqual(expect.stringMatching(`^${file(name)}`));
});
