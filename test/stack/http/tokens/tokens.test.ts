/** Tokens that a business manages itself, and the history of its account, over the API of the served stack. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { call, fail } from '../../support/client.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const newAdmin = () => newCaller('admin', 'stats', 'messages', 'account');

const DAY_MS = 86_400_000;

/** The status of a request that needs the permission `stats`. A cached authorization works for a minute. */
const statusOf = async (token: string): Promise<number> => {
  const today = new Date().toISOString().slice(0, 10);
  return (await call('listJobs', { token, query: { start_date: today, end_date: today } })).status;
};

test('a token works with the permissions that it was given, and with no others', async () => {
  const { token, account } = await newAdmin();
  const expires = new Date(Date.now() + DAY_MS).toISOString();
  const made = (await call('createToken', { token, body: { label: 'Reporting', permissions: ['stats'], expires } }))
    .body;
  expect(made).toMatchObject({ label: 'Reporting', permissions: ['stats'], last_four: made.token.slice(-4) });
  expect(Date.parse(`${made.expires}Z`)).toBe(Date.parse(expires));
  expect(await statusOf(made.token)).toBe(204);
  expect((await call('readTokenInfo', { token: made.token })).body).toMatchObject({ account, label: 'Reporting' });
  const body = { to: newPhone(), type: 'text' as const, text: { body: 'Hi' } };
  expect((await fail('sendMessage', { token: made.token, body })).status).toBe(403);
  expect((await fail('listTokens', { token: made.token })).status).toBe(403);
  const listed = (await call('listTokens', { token })).body;
  expect(listed.map(({ label }) => label)).toEqual(['test', 'Reporting']);
  expect(JSON.stringify(listed)).not.toContain(made.token);
});

test('a token cannot give what it lacks, nor what only an operator gives', async () => {
  const { token } = await newAdmin();
  const refused = async (body: object) => {
    const { status, body: problem } = await fail('createToken', { token, body: body as never });
    return [status, problem.errors?.map((error) => Object.values(error).at(0))];
  };
  expect(await refused({ label: 'x', permissions: ['stats', 'bridge'] })).toEqual([422, ['#/permissions/1']]);
  expect(await refused({ label: 'x', permissions: ['admin'] })).toEqual([422, ['#/permissions/0']]);
  expect(await refused({ label: 'x', permissions: ['app'] })).toEqual([422, ['#/permissions/0']]);
  expect(await refused({ label: 'x', permissions: [] })).toEqual([422, ['#/permissions']]);
  expect(await refused({ label: '', permissions: ['stats'] })).toEqual([422, ['#/label']]);
  expect(await refused({ label: 'x', permissions: ['stats'], expires: '2020-01-01T00:00:00Z' })).toEqual([
    422,
    ['#/expires'],
  ]);
});

test('a replaced token has the same permissions, and the former one ends with the overlap', async () => {
  const { token } = await newAdmin();
  const made = (await call('createToken', { token, body: { label: 'Reporting', permissions: ['stats'] } })).body;
  const path = { token_id: made.id };
  const newer = (await call('rotateToken', { token, path, body: { overlap_hours: 48 } })).body;
  expect(newer).toMatchObject({ label: 'Reporting', permissions: ['stats'], expires: null });
  expect([await statusOf(made.token), await statusOf(newer.token)]).toEqual([204, 204]);
  const former = (await call('listTokens', { token })).body.find(({ id }) => id === made.id);
  const left = Date.parse(`${former?.expires}Z`) - Date.now();
  expect(Math.abs(left - 2 * DAY_MS)).toBeLessThan(60_000);
  // A repeat, after a lost response, makes a token that lives as long as the first one.
  expect((await call('rotateToken', { token, path, body: {} })).body).toMatchObject({ expires: null });
  // Without an overlap, it has ended: its authorization was cached a moment ago, so only its record shows this.
  await call('rotateToken', { token, path: { token_id: newer.id }, body: { overlap_hours: 0 } });
  const again = await fail('rotateToken', { token, path: { token_id: newer.id }, body: {} });
  expect([again.status, again.body.code]).toEqual([404, 'token_not_found']);
  expect((await fail('rotateToken', { token, path, body: { overlap_hours: 169 } })).status).toBe(422);
});

test('a token with more permissions cannot be replaced, but revoked', async () => {
  const { token, account } = await newAdmin();
  const { record } = await issueToken(account, { label: 'bridge', permissions: ['bridge'] });
  const path = { token_id: record.id };
  const refused = await fail('rotateToken', { token, path, body: {} });
  expect([refused.status, refused.body.code]).toEqual([403, 'permission_required']);
  expect((await call('revokeToken', { token, path })).status).toBe(204);
  expect((await call('revokeToken', { token, path })).status).toBe(204);
  const revoked = (await call('listTokens', { token })).body.find(({ id }) => id === record.id);
  expect(revoked?.revoked).toMatch(/^\d{4}-/);
});

test("another account's token is like one that does not exist", async () => {
  const [ours, theirs] = [await newAdmin(), await newAdmin()];
  for (const token_id of [theirs.tokenId, randomUUID()]) {
    const found = [
      await fail('rotateToken', { token: ours.token, path: { token_id }, body: {} }),
      await fail('revokeToken', { token: ours.token, path: { token_id } }),
    ];
    expect(found.map(({ status, body }) => [status, body.code])).toEqual(found.map(() => [404, 'token_not_found']));
  }
  expect(await statusOf(theirs.token)).toBe(204);
});

test('the history has each change, the newest first, with the label of the token that made it', async () => {
  const { token, account, tokenId } = await newAdmin();
  const other = await newAdmin();
  const made = (await call('createToken', { token, body: { label: 'Reporting', permissions: ['stats'] } })).body;
  const webhook = (await call('createWebhook', { token, body: { url: 'https://example.com' } })).body;
  const path = { webhook_id: webhook.id };
  await call('updateWebhook', { token, path, body: { types: ['user.stopped'] } });
  await call('rotateWebhookSecret', { token, path });
  await call('updateAccount', { token, body: { sending_hours: { between: ['08:00', '20:00'], time_zone: 'UTC' } } });
  await call('deleteWebhook', { token, path });
  await call('revokeToken', { token, path: { token_id: made.id } });
  const by = { token_id: tokenId, token_label: 'test' };
  const all = [
    { type: 'token.revoked', id: made.id, ...by },
    { type: 'webhook.deleted', id: webhook.id, ...by },
    { type: 'account.updated', fields: ['sending_hours'], ...by },
    { type: 'webhook.secret_rotated', id: webhook.id, ...by },
    { type: 'webhook.updated', id: webhook.id, fields: ['types'], ...by },
    { type: 'webhook.created', id: webhook.id, fields: ['url'], ...by },
    { type: 'token.created', id: made.id, fields: ['stats'], ...by },
  ];
  await expect.poll(async () => (await call('listHistory', { token })).body).toMatchObject(all);
  // Each list may be stale.
  let cursor = '';
  await expect
    .poll(async () => {
      const first = await call('listHistory', { token, query: { limit: '3' } });
      cursor = /cursor=([\w-]+)/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      return first.body;
    })
    .toMatchObject(all.slice(0, 3));
  await expect
    .poll(async () => (await call('listHistory', { token, query: { limit: '500', cursor } })).body)
    .toMatchObject(all.slice(3));
  expect((await call('listHistory', { token: other.token })).status).toBe(204);
  expect(account).not.toBe(other.account);
});
