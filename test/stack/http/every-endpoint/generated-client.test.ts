/**
 * A client that a generator makes from the served API description: it compiles, and its requests succeed.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, inject, test } from 'vitest';
import { DESCRIPTION_FILE } from '../../../../infra/openapi/write.ts';
import { exampleHosts } from '../../../../shared/api/openapi/example-hosts.ts';
import { npmProgram, npmTools } from '../../../clients/tools.ts';
import { png } from '../../support/files.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** Beside `node_modules` with the generator's runtime, so that Node finds it. */
const folder = join(await npmTools(), `generated-client-${process.pid}`);

const { base_url, bridge_url } = inject('stack');

/** A customer's program. The compiler checks the types of requests and responses. */
const PROGRAM = `
import { createProfiler, defaults, fetchUserData, listLogs, sendMessage, startUserDataRequest, uploadImage } from './client.ts';

export const use = async (baseUrl: string, token: string, phone: string, image: Blob) => {
  defaults.baseUrl = baseUrl;
  const opts = { headers: { Authorization: \`Bearer \${token}\` } };
  const question = 'What do you drink in the morning?';

  const created = await createProfiler({ question, options: ['Tea', 'Coffee'] }, {}, opts);
  if (created.status !== 200) throw new Error(String(created.status));
  const tea: string | undefined = created.data.options.tea;

  const refused = await createProfiler({ question, options: ['Tea', 'tea'] }, {}, opts);
  if (refused.status !== 422) throw new Error(String(refused.status));
  const error: string | undefined = refused.data.errors?.[0]?.pointer;

  const sent = await sendMessage({ to: phone, type: 'text', text: { body: 'Good morning!' } }, {}, opts);
  if (sent.status !== 200) throw new Error(String(sent.status));
  if (!('id' in sent.data)) throw new Error('job_id' in sent.data ? sent.data.job_id : sent.data.plan);
  const id: string = sent.data.id;

  const uploaded = await uploadImage({ file: image }, opts);
  if (uploaded.status !== 200) throw new Error(String(uploaded.status));
  const url: string = uploaded.data.url;

  const logs = await listLogs({ contact: phone, state: 'sent', limit: 10 }, opts);
  if (logs.status !== 200) throw new Error(String(logs.status));
  const contact: string | undefined = logs.data[0]?.contact;

  const started = await startUserDataRequest(phone, { reason: 'To greet you', data: [{ property: 'first_name' }] }, {}, opts);
  if (started.status !== 404) throw new Error(String(started.status));
  const fetched = await fetchUserData('unknown', { longPoll: 1 }, opts);
  if (fetched.status !== 404) throw new Error(String(fetched.status));
  return { tea, error, id, url, contact, codes: [started.data.code, fetched.data.code] };
};
`;

const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);

let served: string;

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  const answer = await fetch(`${base_url}/v1/openapi.json`);
  expect(answer.status).toBe(200);
  served = await answer.text();
  await write('openapi.json', served);
  await write('program.ts', PROGRAM);
  await write('package.json', '{"type":"module"}');
  await write(
    'tsconfig.json',
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      include: ['*.ts'],
      // Only `strict`, the usual setting: generated code does not meet our additional rules.
      compilerOptions: {
        noUnusedLocals: false,
        exactOptionalPropertyTypes: false,
        typeRoots: [join(root, 'node_modules/@types')],
      },
    }),
  );
  await npmProgram('oazapfts', ['openapi.json', 'client.ts'], folder);
  return () => rm(folder, { recursive: true, force: true });
});

test('GET /v1/openapi.json returns the committed description, with the URLs of this stack', async () => {
  const committed = await readFile(DESCRIPTION_FILE, 'utf8');
  const withAddresses = committed.replaceAll(exampleHosts.base, base_url).replaceAll(exampleHosts.bridge, bridge_url);
  expect(JSON.parse(served)).toEqual(JSON.parse(withAddresses));
});

test('GET /v1/openapi.json allows every origin, and caching for an hour', async () => {
  const { headers } = await fetch(`${base_url}/v1/openapi.json`, { headers: { origin: 'https://example.org' } });
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('cache-control')).toBe('public, max-age=3600');
  expect(headers.get('content-type')).toBe('application/json');
});

test('the generated client compiles', async () => {
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { cwd: dirname(folder) });
  expect(stdout).toBe('');
});

test('the compiler rejects a message whose type and content differ', async () => {
  const wrong = PROGRAM.replace("type: 'text', text: { body:", "type: 'text', image: { url:");
  expect(wrong).not.toBe(PROGRAM);
  await write('wrong.ts', wrong);
  await expect(run(join(root, 'node_modules/.bin/tsc'), ['-p', folder])).rejects.toMatchObject({
    stdout: expect.stringMatching(/^[^\n]*wrong\.ts/),
  });
  await rm(join(folder, 'wrong.ts'));
});

test('a program with the generated client works', async () => {
  const { use } = await import(pathToFileURL(join(folder, 'program.ts')).href);
  const { token } = await newCaller('profilers', 'stats', 'user_data', 'messages');
  const phone = newPhone();
  const found = await use(base_url, token, phone, new File([png], 'picture.png'));
  expect(found).toEqual({
    tea: expect.any(String),
    error: '#/options',
    id: expect.any(String),
    url: expect.stringContaining(`${bridge_url}/media/`),
    contact: expect.stringContaining(`${phone}@`),
    codes: ['user_not_found', 'request_not_found'],
  });
});
