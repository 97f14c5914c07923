/**
 * The limit in front of a table that throttles, or does not respond, with the client of the functions.
 *
 * @module-tag long
 */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { captureLog } from '../../support/captured-log.ts';

const written = captureLog();

/** The limit of a process whose table is this server. */
const leasesBefore = async (table: RequestListener) => {
  const server = createServer(table).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const environment = {
    TABLE_NAME: 'table',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.resetModules();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  const { Leases } = await import('../../../shared/accounts/rate-limit/leases.ts');
  return new Leases();
};

test.each<[string, RequestListener]>([
  [
    'throttles it',
    (_request, response) => {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: 'ProvisionedThroughputExceededException' }));
    },
  ],
  ['returns 500', (_request, response) => void response.writeHead(500).end()],
  ['does not respond', () => undefined],
  ['rejects it', (_request, response) => void response.writeHead(400).end('{"__type":"AccessDeniedException"}')],
])('a request is admitted if the table %s, and the log contains the failure once', async (_, table) => {
  const leases = await leasesBefore(table);
  expect(await leases.admit('acme', { rate: 1, burst: 1 })).toEqual({ isAdmitted: true });
  expect(await leases.admit('acme', { rate: 1, burst: 1 })).toEqual({ isAdmitted: true });
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', message: 'rate limit not applied', account: 'acme' },
  ]);
});
