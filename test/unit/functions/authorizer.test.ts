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

test.each<[string, object | undefined, object]>([
  ['the default of the deployment', undefined, { rate: 100, burst: 200 }],
  ["the account's own rate and burst", { rate: 5, burst: 50 }, { rate: 5, burst: 50 }],
  ["twice the account's own rate as the burst", { rate: 5 }, { rate: 5, burst: 10 }],
])('the authorizer passes on %s', async (_, account, limit) => {
  vi.stubEnv('ACCOUNT_RATE', '100');
  vi.stubEnv('ACCOUNT_BURST', '200');
  const rows = [{ account: 'acme', token: 'token-1', label: 'test', permissions: ['stats'] }, account];
  vi.spyOn(documents, 'send').mockImplementation((async () => ({ Item: rows.shift() })) as never);
  expect(await ask(mintToken())).toEqual({
    isAuthorized: true,
    context: { account: 'acme', token: 'token-1', label: 'test', permissions: ['stats'], ...limit },
  });
});

test('a token of a suspended account is rejected, which the log tells with its account', async () => {
  const rows = [
    { account: 'acme', token: 'token-1', label: 'test', permissions: ['stats'] },
    { suspended: '2027-01-31T12:00:00.000000' },
  ];
  vi.spyOn(documents, 'send').mockImplementation((async () => ({ Item: rows.shift() })) as never);
  expect(await ask(mintToken())).toEqual({ isAuthorized: false, context: {} });
  const line = { message: 'rejected', account: 'acme', token_id: 'token-1', reason: 'account_suspended' };
  expect(JSON.parse(written.join())).toMatchObject(line);
});

test('the app network has no limit, and its account is not read', async () => {
  const item = { account: 'app-network', token: 'token-1', label: 'test', permissions: ['app'] };
  const send = vi.spyOn(documents, 'send').mockResolvedValue({ Item: item } as never);
  expect(await ask(mintToken())).toEqual({ isAuthorized: true, context: item });
  expect(send).toHaveBeenCalledTimes(1);
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
