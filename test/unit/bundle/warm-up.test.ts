/** The warm-up of the table's client in bundles, which runs while a function is initialized. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { bundleOptions } from '../../../infra/bundle/bundle.ts';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

/** What the client reads from the environment. */
const PLACE = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'warm', AWS_SECRET_ACCESS_KEY: 'up' };

const received = vi.fn();
const server = createServer((_request, response) => {
  received();
  response.end('{}');
});
let endpoint = '';
let folder = '';

beforeAll(async () => {
  endpoint = await listenOnLoopback(server, 0);
  folder = await mkdtemp(join(tmpdir(), 'warm-up-'));
});

afterAll(async () => {
  await closeServer(server);
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  received.mockClear();
  for (const [setting, value] of Object.entries(PLACE)) vi.stubEnv(setting, value);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  vi.stubEnv('TABLE_NAME', 'table');
});

afterEach(() => void vi.unstubAllEnvs());

/** A bundle with a warm-up and the table's client. */
const bundled = async (name: string) => {
  const { outExtension: _, absWorkingDir: resolveDir, ...options } = bundleOptions();
  const contents = `export { warmUp } from './infra/bundle/warm-up/${name}.ts';
export { documents, getEventual } from './shared/table/client.ts';`;
  const outfile = join(folder, `${name}.mjs`);
  await build({ ...options, absWorkingDir: resolveDir, stdin: { contents, resolveDir }, outfile });
  return import(/* @vite-ignore */ pathToFileURL(outfile).href);
};

const ITEM = { pk: 'a', n: 1, m: { l: [true] } };

test.each([
  ['get-item', { Item: ITEM }],
  ['query', { Items: [ITEM] }],
  ['put-item', { $metadata: { httpStatusCode: 200 } }],
])(
  'the warm-up %s does all the work of its command, and sends nothing to the table',
  { tags: 'long' },
  async (name, output) => {
    const { documents, getEventual, warmUp } = await bundled(name);
    const sent = vi.spyOn(documents, 'send');
    await warmUp();
    expect(await sent.mock.results[0]?.value).toMatchObject(output);
    expect(received).not.toHaveBeenCalled();
    expect(await getEventual({ pk: 'b', sk: 'c' })).toBeUndefined();
    expect(received).toHaveBeenCalledTimes(1);
  },
);

test('a warm-up that fails has no effect', async () => {
  const { documents, warmUp } = await bundled('get-item');
  vi.spyOn(documents, 'send').mockImplementation(() => Promise.reject(new Error('no region')));
  await expect(warmUp()).resolves.toBeUndefined();
});
