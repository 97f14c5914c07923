/**
 * @module-tag long
 *
 * `npm run dev`, and the steps for a new endpoint, on a copy of the sources.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { StackFile } from '../../infra/operator/local-stack/stack-file.ts';
import { copySources, type SourceCopy } from '../support/source-copy.ts';

let sources: SourceCopy;
let output = '';
let stop: () => void;
let file: StackFile;

beforeAll(async () => {
  sources = await copySources();
  const { folder } = sources;
  await sources.change('functions/profilers/read-profiler.ts', (source) =>
    source.replace('=> {\n', "=> {\n  if (path.id === 'broken') throw new TypeError('Broken.');\n"),
  );
  const child = spawn(process.execPath, ['infra/local/start.ts', '--watch'], {
    cwd: folder,
    env: { ...process.env, DYNAMODB_ENDPOINT: '', LOCAL_FOLDER: join(folder, '.local'), PORT: '0' },
  });
  stop = () => child.kill();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await vi.waitFor(() => expect(output).toMatch(/^ready$/m), { timeout: 60_000 });
  file = JSON.parse(await readFile(join(folder, '.local/stack.json'), 'utf8'));
});

afterAll(async () => {
  stop();
  await sources.remove();
});

const get = (path: string) => fetch(file.base_url + path, { headers: { authorization: `Bearer ${file.token}` } });

/** Waits for a line of the log with this error, whose trace names the file. */
const expectTrace = async (error: string, path: string): Promise<void> => {
  const log = join(sources.folder, `.local/stack-${new URL(file.base_url).port}.log`);
  await expect
    .poll(async () => {
      await get('/v1/research_profilers/broken');
      return (await readFile(log, 'utf8')).split('\n').find((line) => line.includes(error));
    })
    .toContain(`${join(sources.folder, path)}:`);
};

test('the trace of an error names the source, also of code that was replaced', async () => {
  await expectTrace('TypeError', 'functions/profilers/read-profiler.ts');
  await sources.change('functions/profilers/read-profiler.ts', (source) => source.replace('TypeError', 'RangeError'));
  await expectTrace('RangeError', 'functions/profilers/read-profiler.ts');
});

test('a changed function is reloaded, and the table keeps its items', async () => {
  const created = await fetch(`${file.base_url}/v1/research_profilers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${file.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ question: 'Well?', options: ['yes', 'no'] }),
  });
  const { profiler_id } = (await created.json()) as { profiler_id: string };
  await sources.change('functions/profilers/read-profiler.ts', (source) =>
    source.replace('ok({ question,', "ok({ question: 'Changed!',"),
  );
  await expect
    .poll(async () => (await get(`/v1/research_profilers/${profiler_id}`)).json())
    .toMatchObject({ question: 'Changed!', options: [{ option: 'yes' }, { option: 'no' }] });
  // Nothing else was synthesised or bundled.
  expect(output).toMatch(/^reloaded readProfiler$/m);
  // The assembly stays as it was, for the next stack of the same sources.
  const kept = globSync('.local/assemblies/kept/**/*.mjs', { cwd: sources.folder });
  expect(kept.length).toBeGreaterThan(50);
  for (const file of kept) expect(await readFile(join(sources.folder, file), 'utf8')).not.toContain('Changed!');
});

test('a module of several functions is changed in all of them', async () => {
  await sources.change('shared/http/event.ts', (source) => `${source}\n// Changed.\n`);
  await expect.poll(() => output).toMatch(/^reloaded \d+ functions$/m);
  // With the files beside its code.
  expect((await get('/portal')).status).toBe(200);
});

test('if a function cannot be bundled, an error is printed, and the previous version keeps running until it is repaired', async () => {
  await sources.change('functions/profilers/read-profiler.ts', (source) => `${source}\nconst = ;`);
  await expect.poll(() => output).toContain('The functions cannot be bundled');
  expect((await get('/v1/research_profilers')).status).toBe(200);
  const before = output.length;
  await sources.change('functions/profilers/read-profiler.ts', (source) => source.replace('\nconst = ;', ''));
  await expect.poll(() => output.slice(before)).toMatch(/^reloaded readProfiler$/m);
});

test('a new endpoint needs only an entry in shared/api/ and a file in functions/', async () => {
  await sources.change('shared/api/areas/profilers.ts', (source) =>
    source.replace(
      'export const profilers = {',
      `export const profilers = {
  countProfilers: define({
    area: 'profilers',
    summary: 'Count your profilers.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/profiler_count' }],
    token: 'header',
    permission: 'profilers',
    responses: { 200: v.object({ count: v.number() }) },
    problems: [],
    table: ['listProfilers'],
  }),`,
    ),
  );
  // The entry alone fails, and the file completes it.
  await expect.poll(() => output).toContain('The stack cannot be synthesised');
  await writeFile(
    join(sources.folder, 'functions/profilers/count-profilers.ts'),
    `import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { listProfilers } from '../../shared/profilers/profilers.ts';

export const handler = endpoint(api.countProfilers, async ({ account }) => {
  const { profilers } = await listProfilers(account);
  return ok({ count: profilers.length });
});
`,
  );
  await expect.poll(async () => (await get('/v1/profiler_count')).json()).toEqual({ count: 1 });
  await sources.change('functions/profilers/count-profilers.ts', (source) =>
    source.replace('length }', 'length + 1 }'),
  );
  await expect.poll(async () => (await get('/v1/profiler_count')).json()).toEqual({ count: 2 });
});

test('if the stack cannot be synthesised, an error is printed, and the previous version keeps running', async () => {
  await sources.change('infra/stack.ts', (source) => `${source}\nthrow new Error('Not today.');`);
  await expect.poll(() => output).toContain('Not today.');
  expect((await get('/v1/profiler_count')).status).toBe(200);
});
