import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/authorizer.ts';
import { mintToken } from '../../../shared/accounts/tokens.ts';
import { documents } from '../../../shared/table/client.ts';
import { captureLog } from '../../support/captured-log.ts';

const written = captureLog();

beforeEach(() => void vi.stubEnv('TABLE_NAME', 'table'));

afterEach(() => void vi.unstubAllEnvs());

const ask = (token: string) =>
  handler({
    routeKey: 'GET /v1/research_profilers',
    identitySource: [`Bearer ${token}`],
    requestContext: { requestId: 'request-1' },
  });

test('if the table fails, the authorizer fails and logs no token, instead of rejecting a valid token', async () => {
  const token = mintToken();
  vi.spyOn(documents, 'send').mockRejectedValue(new Error(`no answer about ${token}`) as never);
  await expect(ask(token)).rejects.toThrow('The authorizer failed; its log line says where.');
  expect(JSON.parse(written.join())).toMatchObject({ level: 'error', message: 'authorizer', trace_id: 'request-1' });
  expect(written.join()).not.toContain(token);
});

test('a token that is not found is read again with a consistent read before it is rejected', async () => {
  const send = vi.spyOn(documents, 'send').mockResolvedValue({} as never);
  expect(await ask(mintToken())).toEqual({ isAuthorized: false, context: {} });
  expect(send.mock.calls.map(([{ input }]) => (input as { ConsistentRead?: boolean }).ConsistentRead)).toEqual([
    false,
    true,
  ]);
});

test('a malformed token is rejected without a read of the table', async () => {
  const send = vi.spyOn(documents, 'send');
  for (const token of ['', 'nobody', `${mintToken()}0`]) {
    expect(await ask(token)).toEqual({ isAuthorized: false, context: {} });
  }
  expect(send).not.toHaveBeenCalled();
});
