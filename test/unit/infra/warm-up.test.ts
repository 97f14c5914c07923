/** The warm-up of the table's client, which runs while a function is initialized. */
import { createServer } from 'node:http';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

const PLACE = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'warm', AWS_SECRET_ACCESS_KEY: 'up' };

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test('the warm-up does all the work of a read, and sends nothing to the table', async () => {
  const received = vi.fn();
  const server = createServer((_request, response) => {
    received();
    response.end('{}');
  });
  onTestFinished(() => void server.close());
  for (const [name, value] of Object.entries(PLACE)) vi.stubEnv(name, value);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', await listenOnLoopback(server, 0));
  vi.stubEnv('TABLE_NAME', 'table');
  const { documents } = await import('../../../shared/table/client.ts');
  const sent = vi.spyOn(documents, 'send');
  await import('../../../infra/bundle/warm-up.ts');
  expect(await sent.mock.results[0]?.value).toMatchObject({ Item: { pk: 'a', n: 1, m: { l: [true] } } });
  expect(received).not.toHaveBeenCalled();
  const { getEventual } = await import('../../../shared/table/client.ts');
  expect(await getEventual({ pk: 'b', sk: 'c' })).toBeUndefined();
  expect(received).toHaveBeenCalledTimes(1);
});

test('a warm-up that fails has no effect', async () => {
  const { documents } = await import('../../../shared/table/client.ts');
  vi.spyOn(documents, 'send').mockImplementation(() => Promise.reject(new Error('no region')));
  await expect(import('../../../infra/bundle/warm-up.ts')).resolves.toBeDefined();
});
