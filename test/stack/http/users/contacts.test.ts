/** POST /v1/contacts: who of a list uses the app. */
import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { allowanceKey } from '../../../../shared/accounts/entities.ts';
import { putAll } from '../../../../shared/table/client.ts';
import { applied, at, removed, updated } from '../../support/app-events.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { newProfiler } from '../../support/profilers.ts';
import { newCaller, newPanelist, newPhone } from '../../support/world.ts';

/** SHA-256 in upper-case hexadecimal, by its definition. */
const hashOf = (phone: string): string => createHash('sha256').update(phone).digest('hex').toUpperCase();

const matched = async (token: string, contacts: string[], hashed?: boolean): Promise<string[]> =>
  (await call('matchContacts', { token, body: { contacts, ...(hashed && { hashed: true as const }) } })).body
    .match_list;

/** Waits until the list matches so: the reads are eventually consistent. */
const expectMatch = (token: string, contacts: string[], hashed?: boolean) =>
  expect.poll(() => matched(token, contacts, hashed));

/** Marks so many phone numbers of the account's allowance as used today. */
const use = async (account: string, used: number): Promise<void> => {
  const day = new Date().toISOString().slice(0, 10);
  await putAll([
    { ...allowanceKey(account, 'contacts', day), used, expires_at: Math.ceil(Date.now() / 1_000) + 86_400 },
  ]);
};

test('the registered contacts are returned as given, in the same order, as numbers and as hashes', async () => {
  const { token } = await newCaller('contacts');
  const [unknown, panelist, user] = [newPhone(), await newPanelist(), newPhone()];
  await applied(updated(user, {}));
  await expectMatch(token, [unknown, user, panelist, user]).toEqual([user, panelist, user]);
  const hashes = [panelist, unknown, user].map(hashOf);
  await expectMatch(token, hashes, true).toEqual([panelist, user].map(hashOf));
  expect(await matched(token, [unknown])).toEqual([]);
});

describe('a number is found', () => {
  test('until its user is removed, and again after a new registration', async () => {
    const { token } = await newCaller('contacts');
    const [phone, late] = [newPhone(), newPhone()];
    await applied([updated(phone, {}), at('2026-11-20T09:00:00Z', updated(late, { panelist: true }))]);
    await expectMatch(token, [phone, late]).toEqual([phone, late]);
    await applied([removed(phone), at('2026-11-20T10:00:00Z', removed(late))]);
    await expectMatch(token, [phone, late]).toEqual([]);
    await applied([updated(phone, {}), at('2026-11-20T09:30:00Z', updated(late, { panelist: true }))]);
    await expectMatch(token, [phone, late]).toEqual([phone]);
  });

  test('until its user has another number', async () => {
    const { token } = await newCaller('contacts');
    const [former, present, id] = [newPhone(), newPhone(), randomUUID()];
    await applied(updated(former, { id }));
    await expectMatch(token, [former, present]).toEqual([former]);
    await applied(updated(present, { id }));
    await expectMatch(token, [former, present]).toEqual([present]);
  });
});

test.each<[string, unknown, { pointer: string; detail: string }[]]>([
  ['no contacts', { contacts: [] }, [{ pointer: '#/contacts', detail: 'must name at least one contact' }]],
  ['no list', {}, [{ pointer: '#/contacts', detail: 'is required' }]],
  [
    '3,001 contacts',
    { contacts: Array.from({ length: 3_001 }, () => '27821234567') },
    [{ pointer: '#/contacts', detail: 'must hold at most 3000 contacts' }],
  ],
  [
    'a text for hashed',
    { contacts: ['27821234567'], hashed: 'true' },
    [{ pointer: '#/hashed', detail: 'must be true or false, not a string' }],
  ],
  [
    'a number with +, a hash and a value that is no text',
    { contacts: ['27821234567', '+27821234567', hashOf('27821234567'), 27821234567] },
    [
      { pointer: '#/contacts/1', detail: expect.stringContaining('7 to 15 digits') },
      { pointer: '#/contacts/2', detail: expect.stringContaining('7 to 15 digits') },
      { pointer: '#/contacts/3', detail: 'must be a string, not a number' },
    ],
  ],
  [
    'hashes in lower case, of another length and with other characters',
    {
      contacts: [hashOf('1').toLowerCase(), hashOf('1').slice(1), `${hashOf('1').slice(1)}G`, '27821234567'],
      hashed: true,
    },
    [0, 1, 2, 3].map((index) => ({
      pointer: `#/contacts/${index}`,
      detail: expect.stringContaining('upper-case hexadecimal'),
    })),
  ],
])('%s return 422', async (_, body, errors) => {
  const { token } = await newCaller('contacts');
  const received = await sendRaw('matchContacts', {
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(received).toMatchObject({ status: 422, body: { code: 'invalid_request', errors } });
});

test('of 3,000 invalid contacts, the first 100 are listed', async () => {
  const { token } = await newCaller('contacts');
  const contacts = Array.from({ length: 3_000 }, () => 'nobody');
  const { body } = await fail('matchContacts', { token, body: { contacts } });
  expect(body.errors).toHaveLength(100);
  expect(body.errors?.at(-1)?.pointer).toBe('#/contacts/99');
  expect(body.detail).toContain('Only the first 100 of 3000');
});

/** Each request that tells whether a number is known, and what it returns for an unknown one. */
const tellers = async () => {
  const { account, token } = await newCaller('contacts', 'profilers', 'user_data', 'account');
  const { id, yes } = await newProfiler({ token });
  const answerTo = (phone_number: string) => ({ profiler_id: id, option_id: yes, phone_number });
  const data = [{ property: 'device_make' as const }];
  const send: Record<string, (phone: string) => Promise<{ status: number; body: unknown }>> = {
    readUser: (user) => sendRaw('readUser', { token, path: { user } }),
    answerProfiler: (phone) => sendRaw('answerProfiler', { token, ...json(answerTo(phone)) }),
    answerProfilers: (phone) => sendRaw('answerProfilers', { token, ...json([answerTo(phone)]) }),
    startUserDataRequest: (phone_number) =>
      sendRaw('startUserDataRequest', { token, path: { phone_number }, ...json({ reason: 'Test', data }) }),
    retrieveUserData: (id) => sendRaw('retrieveUserData', { token, path: { id }, ...json({ data }) }),
  };
  return { account, token, send };
};

const json = (body: unknown) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const usedBy = async (token: string): Promise<number> =>
  (await call('readConfiguration', { token })).body.configuration.allowances.contacts.used;

test('every endpoint that tells that a number is unknown charges the same allowance, and tells nothing above it', async () => {
  const { account, token, send } = await tellers();
  const registered = newPhone();
  await applied(updated(registered, { panelist: true }));
  for (const one of Object.values(send)) await one(newPhone());
  await expect.poll(() => usedBy(token)).toBe(Object.keys(send).length);
  await use(account, 100_000);
  for (const [name, one] of Object.entries(send)) {
    for (const phone of [registered, newPhone()]) {
      const { status, body } = await one(phone);
      expect([name, status, JSON.stringify(body)]).toEqual([name, 429, expect.stringContaining('allowance_exceeded')]);
    }
  }
});

test('answers of panelists and requests to users are not charged', async () => {
  const { token, send } = await tellers();
  const registered = newPhone();
  await applied(updated(registered, { panelist: true }));
  for (const name of ['answerProfiler', 'answerProfilers', 'startUserDataRequest', 'retrieveUserData']) {
    expect((await send[name]?.(registered))?.status).toBeLessThan(300);
  }
  expect(await usedBy(token)).toBe(0);
});

test('over the daily allowance, both endpoints return 429 until the next day, and nothing is charged', async () => {
  const [{ account, token }, other] = [await newCaller('contacts'), await newCaller('contacts')];
  const phone = await newPanelist();
  await use(account, 99_998);
  const before = Date.now();
  const { status, headers, body } = await fail('matchContacts', {
    token,
    body: { contacts: [phone, newPhone(), newPhone()] },
  });
  const midnight = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  expect({ status, code: body.code }).toEqual({ status: 429, code: 'allowance_exceeded' });
  expect(body.detail).toContain(`2 are left. The allowance is full again at ${midnight}T00:00:00.000000`);
  const retried = Date.parse(midnight) - Number(headers.get('retry-after')) * 1_000;
  // In seconds, rounded up.
  expect(retried).toBeGreaterThan(before - 1_000);
  expect(retried).toBeLessThanOrEqual(Date.now());
  // Duplicates count once.
  expect((await call('matchContacts', { token, body: { contacts: [phone, phone, newPhone()] } })).status).toBe(200);
  expect((await fail('readUser', { token, path: { user: phone } })).body.code).toBe('allowance_exceeded');
  // Another account has an allowance of its own.
  expect((await call('readUser', { token: other.token, path: { user: phone } })).status).toBe(200);
});
