import { describe, expect, test } from 'vitest';
import { issueToken, revokeToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { tokenKey } from '../../../../shared/accounts/entities.ts';
import { hashToken, mintToken } from '../../../../shared/accounts/tokens.ts';
import { APP_NETWORK } from '../../../../shared/core/permissions.ts';
import { update } from '../../../../shared/table/client.ts';
import { asProblem, call, sendRaw } from '../../support/client.ts';
import { newCaller, newVendor } from '../../support/world.ts';

const list = (authorization: string) => sendRaw('listProfilers', { headers: { authorization } });

describe('a token is accepted', () => {
  test.each([
    ['with the scheme Bearer', (token: string) => `Bearer ${token}`],
    ['with the scheme Bearer in mixed case', (token: string) => `bEaReR ${token}`],
    ['with additional spaces', (token: string) => `Bearer   ${token}  `],
    ['with the scheme Token, as chat platforms send it', (token: string) => `Token ${token}`],
    ['without a scheme', (token: string) => token],
  ])('%s', async (_, header) => {
    const { token } = await newVendor();
    expect((await list(header(token))).status).toBe(200);
  });
});

describe('a request is rejected', () => {
  test('with the same 403 for a token that is malformed, unknown, revoked or expired', async () => {
    const revoked = await newVendor();
    await revokeToken(revoked.account, revoked.tokenId);
    const { token: expired } = await newVendor();
    await update({
      Key: tokenKey(hashToken(expired)),
      UpdateExpression: 'SET expires_at = :past',
      ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1000) - 1 },
    });
    const { token: good } = await newVendor();
    const mistyped = good.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const token of ['x', 'bapi_', mistyped, `${good}0`, mintToken(), revoked.token, expired]) {
      const { status, body } = await list(`Bearer ${token}`);
      expect({ status, body }).toEqual({ status: 403, body: { message: 'Forbidden' } });
    }
  });

  test.each(['Basic', 'Bearer', 'Token', 'Bearer Bearer'])('with 403 for the prefix "%s"', async (scheme) => {
    const { token } = await newVendor();
    expect((await list(`${scheme}${token}`)).status).toBe(403);
  });

  test('with a 403 problem if the token is valid but lacks the permission', async () => {
    const { token } = await newCaller('stats', 'messages');
    const { status, body } = asProblem(await sendRaw('listProfilers', { token }));
    expect(status).toBe(403);
    expect(body).toMatchObject({ code: 'permission_required', detail: expect.stringContaining('"profilers"') });
  });

  test("with a 403 problem if it has the app network's token", async () => {
    const { token } = await issueToken(APP_NETWORK, { label: 'test', permissions: ['app'] });
    expect(asProblem(await sendRaw('listProfilers', { token })).body.code).toBe('permission_required');
  });
});

test('a new token works at once, and two tokens of an account have access to the same data', async () => {
  const first = await newVendor();
  const created = await call('createProfiler', { token: first.token, body: { question: '?', options: ['a', 'b'] } });
  const { token } = await issueToken(first.account, { label: 'second', permissions: ['profilers'] });
  const { body } = await call('listProfilers', { token });
  expect(body.map(({ id }) => id)).toEqual([created.body.profiler_id]);
});

test('a revoked token works only as long as the gateway caches its authorization', async () => {
  const vendor = await newVendor();
  const { token: unused, record } = await issueToken(vendor.account, { label: 'second', permissions: ['profilers'] });
  expect((await list(vendor.token)).status).toBe(200);
  await revokeToken(vendor.account, vendor.tokenId);
  await revokeToken(vendor.account, record.id);
  expect((await list(vendor.token)).status).toBe(200);
  // The header is the cache's key: with another number of spaces, the authorizer runs again. Its read of the table is
  // eventually consistent, so it may still find a token that was revoked a moment ago.
  let spaces = 1;
  const listAgain = async (token: string) => {
    spaces += 1;
    return (await list(`Bearer${' '.repeat(spaces)}${token}`)).status;
  };
  await expect.poll(() => listAgain(unused)).toBe(403);
  await expect.poll(() => listAgain(vendor.token)).toBe(403);
});
