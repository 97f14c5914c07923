/** Signing in to the portal with a code of the operator, and signing out, over the API of the served stack. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issuePortalCode } from '../../../../infra/operator/queries/portal-codes.ts';
import { accountTokenKey, portalCodeKey } from '../../../../shared/accounts/entities.ts';
import type { Permission } from '../../../../shared/core/permissions.ts';
import { getConsistent, update } from '../../../../shared/table/client.ts';
import { asProblem, call, fail, sendRaw } from '../../support/client.ts';
import { newCaller } from '../../support/world.ts';

const HOUR_MS = 3_600_000;

const newCode = async (account: string, ...permissions: Permission[]): Promise<string> =>
  (await issuePortalCode({ account, label: 'Ben', permissions })).code;

/** Signs in without a token. The body is any value. */
const signIn = (body: unknown) =>
  sendRaw('createSession', { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const listTokens = async (token: string) => (await call('listTokens', { token })).body;

interface Session {
  token: string;
  id: string;
  expires: string;
}

const newSession = async (account: string, ...permissions: Permission[]): Promise<Session> => {
  const { status, body } = await signIn({ code: await newCode(account, ...permissions) });
  expect(status).toBe(201);
  return body as Session;
};

/** The problem of a code that does not work, without the id of the request. */
const rejected = async (code: string) => {
  const { status, body } = asProblem(await signIn({ code }));
  return { status, body: { ...body, trace_id: '' } };
};

/** The key of a code's row. */
const rowOf = (code: string) => portalCodeKey(createHash('sha256').update(code).digest('hex'));

test('a code becomes a token with its permissions and label, which works for twelve hours', async () => {
  const { account, token } = await newCaller('admin');
  const code = await newCode(account, 'account', 'admin');
  const { status, body, headers } = await signIn({ code });
  expect({ status, body }).toEqual({
    status: 201,
    body: {
      token: expect.stringMatching(/^bapi_/),
      id: expect.any(String),
      account,
      label: 'Ben',
      permissions: ['account', 'admin'],
      expires: expect.stringMatching(/^\d{4}-/),
    },
  });
  expect(headers.get('cache-control')).toBe('no-store');
  const session = body as Session;
  const left = Date.parse(`${session.expires}Z`) - Date.now();
  expect(Math.abs(left - 12 * HOUR_MS)).toBeLessThan(60_000);

  const info = (await call('readTokenInfo', { token: session.token })).body;
  expect(info).toMatchObject({ account, label: 'Ben', permissions: ['account', 'admin'] });
  expect((await fail('listProfilers', { token: session.token })).body.code).toBe('permission_required');
  const listed = await listTokens(token);
  expect(listed).toContainEqual(
    expect.objectContaining({ id: session.id, label: 'Ben', last_four: session.token.slice(-4) }),
  );
  await expect
    .poll(async () => (await call('listHistory', { token })).body)
    .toMatchObject([
      {
        type: 'session.created',
        id: session.id,
        fields: ['account', 'admin'],
        token_id: session.id,
        token_label: 'Ben',
      },
    ]);
});

test('changes in a session are in the history with its label', async () => {
  const { account, token } = await newCaller('admin');
  const session = await newSession(account, 'stats', 'admin');
  const body = { label: 'Reporting', permissions: ['stats' as const] };
  const made = (await call('createToken', { token: session.token, body })).body;
  await expect
    .poll(async () => (await call('listHistory', { token })).body?.[0])
    .toMatchObject({ type: 'token.created', id: made.id, token_id: session.id, token_label: 'Ben' });
});

test('the record of a session is removed 30 days after its end', async () => {
  const { account } = await newCaller('admin');
  const { id, expires } = await newSession(account, 'stats');
  const record = await getConsistent<{ expires_at: number }>(accountTokenKey(account, id));
  const kept = (record?.expires_at ?? 0) * 1_000 - Date.parse(`${expires}Z`);
  expect(Math.abs(kept - 30 * 24 * HOUR_MS)).toBeLessThan(2_000);
});

test('of several requests with the same code at the same time, exactly one gets a token', async () => {
  const { account, token } = await newCaller('admin');
  const code = await newCode(account, 'stats');
  const statuses = (await Promise.all(Array.from({ length: 6 }, () => signIn({ code })))).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([201, 404, 404, 404, 404, 404]);
  expect(await listTokens(token)).toHaveLength(2);
});

test('an unknown, used, expired or malformed code returns the same 404', async () => {
  const { account, token } = await newCaller('admin');
  const [used, expired] = [await newCode(account, 'stats'), await newCode(account, 'stats')];
  await signIn({ code: used });
  await update({
    Key: rowOf(expired),
    UpdateExpression: 'SET expires_at = :past',
    ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1_000) - 1 },
  });
  const problems = [];
  for (const code of [used, expired, 'A'.repeat(43), 'A'.repeat(42), '', '../..', `${used} `, '\u{1F33B}'.repeat(43)]) {
    problems.push(await rejected(code));
  }
  expect(problems[0]).toMatchObject({
    status: 404,
    body: { code: 'code_not_found', detail: expect.stringContaining('Ask the operator for a new link') },
  });
  expect(new Set(problems.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(await listTokens(token)).toHaveLength(2);
});

test('while an account is suspended, its codes do not work, and they are not used up', async () => {
  const { account } = await newCaller('admin');
  const code = await newCode(account, 'stats');
  await updateAccount(account, { suspended: '2027-01-31T12:00:00.000000' });
  expect(await rejected(code)).toMatchObject({ status: 404, body: { code: 'code_not_found' } });
  await updateAccount(account, { suspended: null });
  expect((await signIn({ code })).status).toBe(201);
});

test.each([{}, null, { code: ['A'.repeat(43)] }])('a body without a code as a text returns 422: %j', async (body) => {
  const { status, body: problem } = asProblem(await signIn(body));
  expect([status, problem.code]).toEqual([422, 'invalid_request']);
});

test.each(['\ud800'.repeat(43), 'A'.repeat(1_000_000), `${'A'.repeat(42)}\u0000`])(
  'a code of any characters and any length returns 404: %.10j',
  async (code) => {
    expect(await rejected(code)).toMatchObject({ status: 404, body: { code: 'code_not_found' } });
  },
);

test('after signing out, the token works only as long as the gateway caches its authorization', async () => {
  const { account, token } = await newCaller('admin');
  const session = await newSession(account, 'stats');
  expect((await call('endSession', { token: session.token })).status).toBe(204);
  // A repeat with the cached authorization changes nothing.
  expect((await call('endSession', { token: session.token })).status).toBe(204);
  let spaces = 1;
  await expect
    .poll(async () => {
      // The header is the cache's key: with another number of spaces, the authorizer runs again.
      spaces += 1;
      const headers = { authorization: `Bearer${' '.repeat(spaces)}${session.token}` };
      return (await sendRaw('readTokenInfo', { headers })).status;
    })
    .toBe(403);
  const listed = (await call('listTokens', { token })).body.find(({ id }) => id === session.id);
  expect(listed?.revoked).toMatch(/^\d{4}-/);
  const about = { id: session.id, token_id: session.id, token_label: 'Ben' };
  await expect
    .poll(async () => (await call('listHistory', { token })).body)
    .toMatchObject([
      { type: 'session.ended', ...about },
      { type: 'session.created', ...about },
    ]);
});

test('a token that is not of a session returns 409 when it signs out, and still works', async () => {
  const { token, tokenId } = await newCaller('stats');
  const { status, body } = await fail('endSession', { token });
  expect([status, body.code]).toEqual([409, 'not_a_session']);
  expect(body.detail).toContain(`DELETE /v1/tokens/${tokenId}`);
  expect((await call('readTokenInfo', { token })).status).toBe(200);
});

test('a session can be revoked by its id, and a token that replaces its token is of a session, too', async () => {
  const { account, token } = await newCaller('admin', 'stats');
  const session = await newSession(account, 'stats');
  const newer = (await call('rotateToken', { token, path: { token_id: session.id }, body: {} })).body;
  expect(newer.expires).toBe(session.expires.replace(/\d{3}$/, '000'));
  expect((await call('endSession', { token: newer.token })).status).toBe(204);
  expect((await call('revokeToken', { token, path: { token_id: session.id } })).status).toBe(204);
  const listed = await listTokens(token);
  expect(listed.filter(({ revoked }) => revoked !== undefined).map(({ id }) => id)).toEqual([session.id, newer.id]);
});

test('neither the table nor the log contains a code or the token of a session', async () => {
  const { account } = await newCaller('admin');
  const code = await newCode(account, 'stats');
  const before = await getConsistent(rowOf(code));
  const { token, id } = (await signIn({ code })).body as Session;
  const rows = JSON.stringify([
    before,
    await getConsistent(rowOf(code)),
    await getConsistent(accountTokenKey(account, id)),
  ]);
  const log = await readFile(inject('stack').log, 'utf8');
  for (const secret of [code, token]) {
    expect(rows).not.toContain(secret);
    expect(log).not.toContain(secret);
  }
});
