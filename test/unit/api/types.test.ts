/** What disagrees with `shared/api/` does not compile: each snippet here must be refused, and the sound one accepted. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const from = (path: string) => JSON.stringify(resolve(path));

const handlers = `import { endpoint, noContent, ok } from ${from('shared/http/endpoint.ts')};\n`;
const client = `import { call } from ${from('test/stack/support/client.ts')};\n`;
/** The description of an endpoint, with some of its fields, given as source, put otherwise. */
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

const sound: Record<string, string> = {
  'a handler that agrees': `${handlers}export const x = endpoint('readProfiler', async ({ account, path }) => ok({ question: account, created_at: path.id, options: [] }));`,
  'a request that agrees': `${client}export const x = call('readProfiler', { token: '', path: { id: '' } });`,
  'an endpoint that agrees': description(),
};

const refused: Record<string, string> = {
  'a handler of no endpoint': `${handlers}export const x = endpoint('readNothing', async () => noContent());`,
  'an answer that lacks a field': `${handlers}export const x = endpoint('readProfiler', async () => ok({ question: '', created_at: '' }));`,
  'an answer of another type': `${handlers}export const x = endpoint('listProfilers', async () => ok({}));`,
  'a status that is not promised': `${handlers}export const x = endpoint('readProfiler', async () => noContent());`,
  'a body where none is promised': `${handlers}export const x = endpoint('deleteProfiler', async () => ok({}));`,
  'a field that the body does not have': `${handlers}export const x = endpoint('answerProfiler', async ({ body }) => (body.answer, noContent()));`,
  'a path parameter that there is not': `${handlers}export const x = endpoint('deleteProfiler', async ({ path }) => (path.name, noContent()));`,
  'a body of an endpoint that takes none': `${handlers}export const x = endpoint('deleteProfiler', async ({ body }) => (body.id, noContent()));`,
  'a request with a wrong body': `${client}export const x = call('answerProfiler', { token: '', body: { profiler_id: 1, option_id: '', phone_number: '' } });`,
  'a request to no endpoint': `${client}export const x = call('readNothing', { token: '' });`,
  'a look at a field that the answer does not have': `${client}export const x = (await call('readProfiler', { token: '' })).body.name;`,
  'a route with a parameter that has no schema': description({ path: 'v.object({ id: v.string() })' }),
  'a schema of a parameter that no route has': description({
    path: 'v.object({ id: v.string(), part: v.string(), name: v.string() })',
  }),
  'an unknown permission': description({ permission: "'everything'" }),
  'an unknown problem': description({ problems: "['bad_luck']" }),
  'an unknown way into the table': description({ table: "['scanAll']" }),
  'an unknown host': description({ routes: "[{ host: 'moon', method: 'GET', path: '/v1/things/{id}/{part}' }]" }),
};

let folder: string;
let output: string;

const file = (name: string) => `${name.replaceAll(' ', '-')}.ts`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'types-'));
  for (const [name, source] of Object.entries({ ...sound, ...refused }))
    writeFileSync(join(folder, file(name)), source);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const config = {
    extends: resolve('tsconfig.json'),
    compilerOptions: { typeRoots: [resolve('node_modules/@types')], noUnusedLocals: false },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  output = spawnSync(resolve('node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8', cwd: folder }).stdout;
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each(Object.keys(sound))('compiles: %s', (name) => {
  expect(output.split('\n').filter((line) => line.startsWith(file(name)))).toEqual([]);
});

test.each(Object.keys(refused))('does not compile: %s', (name) => {
  expect(output.split('\n')).toContainEqual(expect.stringMatching(`^${file(name)}`));
});
