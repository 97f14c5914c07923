/** The warm-up of the table's client, which runs while a function is initialized. */
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

/** What the SDK reads once in a process. */
const PLACE = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'warm', AWS_SECRET_ACCESS_KEY: 'up' };

const received = vi.fn();
const server = createServer((_request, response) => {
  received();
  response.end('{}');
});
let endpoint = '';

beforeAll(async () => {
  endpoint = await listenOnLoopback(server, 0);
});

afterAll(() => closeServer(server));

beforeEach(() => {
  received.mockClear();
  for (const [setting, value] of Object.entries(PLACE)) vi.stubEnv(setting, value);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
  vi.stubEnv('TABLE_NAME', 'table');
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const ITEM = { pk: 'a', n: 1, m: { l: [true] } };

test.each([
  ['get-item', { Item: ITEM }],
  ['query', { Items: [ITEM] }],
  ['put-item', { $metadata: { httpStatusCode: 200 } }],
])('the warm-up %s does all the work of its command, and sends nothing to the table', async (name, output) => {
  const { documents } = await import('../../../shared/table/client.ts');
  const sent = vi.spyOn(documents, 'send');
  const { warmUp } = await import(`../../../infra/bundle/warm-up/${name}.ts`);
  await warmUp();
  expect(await sent.mock.results[0]?.value).toMatchObject(output);
  expect(received).not.toHaveBeenCalled();
  const { getEventual } = await import('../../../shared/table/client.ts');
  expect(await getEventual({ pk: 'b', sk: 'c' })).toBeUndefined();
  expect(received).toHaveBeenCalledTimes(1);
});

test('a warm-up that fails has no effect', async () => {
  const { documents } = await import('../../../shared/table/client.ts');
  vi.spyOn(documents, 'send').mockImplementation(() => Promise.reject(new Error('no region')));
  const { warmUp } = await import('../../../infra/bundle/warm-up/get-item.ts');
  await expect(warmUp()).resolves.toBeUndefined();
});
