/**
 * Expired items that the table still contains, because TTL removes an item up to two days late.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { findUser, wholeUser } from '../../../../infra/operator/queries/users-admin.ts';
import { sendToMany } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { timestampOf } from '../../../../shared/core/clock.ts';
import { findFailure, recordFailure } from '../../../../shared/delivery/circuit-breaker.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { changeOptOut } from '../../../../shared/messaging/opt-outs/changes.ts';
import { optedOutAmong } from '../../../../shared/messaging/opt-outs/opt-outs.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { readJobStatus } from '../../../../shared/stats/job-status.ts';
import { documents, getConsistent, hasExpired, removeAll } from '../../../../shared/table/client.ts';
import { withdrawConsent } from '../../../../shared/user-data/consent-ends.ts';
import { listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { activeIn, readConsents } from '../../../../shared/user-data/consents.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import { removeUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { fetchRequest, startRequest } from '../../../../shared/user-data/requests.ts';
import { userKey } from '../../../../shared/users/entities.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { allItems } from '../../support/whole-table.ts';
import { newAccountId, newPhone, newPhones } from '../../support/world.ts';

const NOW = Date.UTC(2030, 0, 1);
const SECOND = 1_000;
const DAY = 86_400 * SECOND;

useOwnTable('expiry');
useFakeQueue();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const named = (phone_number: string, value: string) => ({
  phone_number,
  properties: { first_name: { value, source: 'user' } },
});

/** The current properties of the profile. */
const nameOf = async (phone: string) => (await wholeUser(phone))?.properties;

describe('the receipt of an event', () => {
  test.each([
    ['one second before seven days have passed changes nothing', 7 * DAY - SECOND, 'Newer'],
    ['after seven days is applied completely, even if the receipt is still in the table', 7 * DAY, 'First'],
    ['after nine days is applied completely', 9 * DAY, 'First'],
  ])('a repeat of an event %s', async (_, later, name) => {
    const phone = newPhone();
    const [first, newer, last] = [`${phone} first`, `${phone} newer`, `${phone} last`];
    await updateUser(first, named(phone, 'First'));
    await updateUser(newer, named(phone, 'Newer'));
    vi.setSystemTime(NOW + later);
    await updateUser(first, named(phone, 'First'));
    expect(await nameOf(phone)).toMatchObject({ first_name: { value: name } });
    // This repeat creates a new receipt, which is valid for another seven days.
    await updateUser(last, named(phone, 'Last'));
    await updateUser(first, named(phone, 'First'));
    expect(await nameOf(phone)).toMatchObject({ first_name: { value: 'Last' } });
  });

  test('a repeat of user.removed after seven days removes the user', async () => {
    const phone = newPhone();
    await removeUser(`${phone} removal`, phone);
    await resumeErasure(phone);
    vi.setSystemTime(NOW + 7 * DAY);
    await updateUser(`${phone} again`, named(phone, 'Next'));
    await removeUser(`${phone} removal`, phone);
    expect(await findUser(phone)).toBeUndefined();
  });
});

describe('a user data request', () => {
  const pending = async () => {
    const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
    const phone = newPhone();
    await updateUser(`${phone} registered`, named(phone, 'Thandi'));
    const asked = { reason: 'To know', data: [{ property: 'first_name' as const, required: false }] };
    const start = () => startRequest(account, phone, asked, 'key');
    return { account, phone, start, id: (await start()).id };
  };

  test('an answer to a request that expires meanwhile is rejected, and nothing is released', async () => {
    const { phone, id } = await pending();
    const expiry = Number((await getConsistent<{ expires_at: number }>(requestKey(id)))?.expires_at);
    vi.setSystemTime(expiry * SECOND - 1);
    const send: typeof documents.send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation((command) => {
      // The request has been read before this call.
      if (command.input && JSON.stringify(command.input).includes(userKey(phone).pk)) vi.setSystemTime(expiry * SECOND);
      return send(command);
    });
    expect(await answerRequest(id, { first_name: 'approved' })).toEqual({ unknown: true });
    expect(await listConsentReceipts(phone)).toEqual([]);
  });

  test('a repeat after the request has expired starts another one', async () => {
    const { account, start, id } = await pending();
    const expiry = Number((await getConsistent<{ expires_at: number }>(requestKey(id)))?.expires_at);
    vi.setSystemTime(expiry * SECOND - 1);
    expect(await start()).toEqual({ id, status: 'pending' });
    vi.setSystemTime(expiry * SECOND);
    const again = await start();
    expect(again.id).not.toBe(id);
    expect(await fetchRequest(account, again.id)).toEqual({ status: 'pending', results: {} });
  });
});

/** Removes expired items, as TTL does. */
const removeExpired = async (): Promise<void> => {
  await removeAll((await allItems()).filter(hasExpired));
};

describe.each([
  ['are still in the table', async () => undefined],
  ['were removed from it', removeExpired],
])('whether expired items %s:', (_, removal) => {
  /** More messages than a transaction accepts at once. */
  const MANY = 60;

  const later = async (days: number): Promise<void> => {
    vi.setSystemTime(NOW + days * DAY);
    await removal();
  };

  const newAccount = async () => (await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() })).id;

  const text = { type: 'text' as const, text: { body: 'Hello' } };

  const expandAll = (account: string) => expand(account, undefined, Date.now() + 60_000);

  const pendingOf = async (account: string, phone: string) =>
    (await oldestEntries({ direction: 'app', account, phone })).entries.length;

  test('a campaign with a key that was used 100 days ago is sent to everybody', async () => {
    const account = await newAccount();
    const to = newPhones(MANY);
    const send = () => sendToMany(account, { to, ...text }, { idempotencyKey: 'summer' });
    const first = await send();
    expect(await expandAll(account)).toMatchObject({ expanded: MANY, unfinished: false });
    vi.setSystemTime(NOW + DAY);
    expect(await send()).toEqual(first);

    await later(100);
    const again = await send();
    expect(again.job_id).not.toBe(first.job_id);
    expect(await expandAll(account)).toMatchObject({ expanded: MANY, unfinished: false });
    expect(await Promise.all(to.map((phone) => pendingOf(account, phone)))).toEqual(to.map(() => 2));
    expect(await readJobStatus(account, again.job_id)).toMatchObject({ recipients: MANY });
    expect(await expandAll(account)).toMatchObject({ expanded: 0, unfinished: false });
  });

  test('the id of a job of 100 days ago, which was cancelled, names a new job', async () => {
    const account = await newAccount();
    const job_id = randomUUID();
    await sendToMany(account, { to: newPhones(MANY), ...text }, { job_id });
    await expandAll(account);
    await cancelJob(account, job_id);

    await later(100);
    await expect(readJobStatus(account, job_id)).rejects.toThrow('job_not_found');
    await expect(cancelJob(account, job_id)).rejects.toThrow('job_not_found');
    await sendToMany(account, { to: newPhones(MANY / 2), ...text }, { job_id });
    expect(await readJobStatus(account, job_id)).toMatchObject({ status: 'running', recipients: MANY / 2 });
    expect(await expandAll(account)).toMatchObject({ expanded: MANY / 2, unfinished: false });
    await cancelJob(account, job_id);
    expect(await readJobStatus(account, job_id)).toMatchObject({ status: 'cancelled', recipients: MANY / 2 });
  });

  test('a message of a chat platform with an id of 100 days ago is sent', async () => {
    const account = await newAccount();
    const to = newPhone();
    const send = () => sendFromPlatform(account, 'rapidpro', { reference: '21', to, ...text });
    await send();
    await send();
    expect(await pendingOf(account, to)).toBe(1);
    await later(100);
    await send();
    await send();
    expect(await pendingOf(account, to)).toBe(2);
  });

  test("the key of one user's request, used for another user 31 days later, leaves the first user's consent alone", async () => {
    const account = await newAccount();
    const asked = { reason: 'To know', data: [{ property: 'first_name' as const, required: false }] };
    const approve = async (phone: string) => {
      await updateUser(randomUUID(), named(phone, 'Thandi'));
      const { id } = await startRequest(account, phone, asked, 'key');
      await answerRequest(id, { first_name: 'approved' });
      return id;
    };
    const [first, second] = [newPhone(), newPhone()];
    const firstId = await approve(first);
    await later(31);
    const secondId = await approve(second);
    expect(secondId).not.toBe(firstId);
    await withdrawConsent(secondId, ['first_name']);
    const eventsOf = async (phone: string) => (await listConsentReceipts(phone)).map(({ event }) => event);
    expect(await eventsOf(first)).toEqual([undefined]);
    expect(await eventsOf(second)).toHaveLength(2);
    expect((await readConsents(firstId)).consents.flatMap(activeIn)).toEqual(['first_name']);
    expect((await readConsents(secondId)).consents.flatMap(activeIn)).toEqual([]);
  });

  test('a user who started a business again 100 days ago can stop it', async () => {
    const account = await newAccount();
    const phone = newPhone();
    for (const state of ['stopped', 'started'] as const) {
      await changeOptOut({ event: randomUUID(), account, phone, state });
    }
    await later(100);
    expect(await changeOptOut({ event: randomUUID(), account, phone, state: 'started' })).toBe(false);
    expect(await changeOptOut({ event: randomUUID(), account, phone, state: 'stopped' })).toBe(true);
    expect([...(await optedOutAmong(account, [phone]))]).toEqual([phone]);
  });

  test('an old event registers a user who was removed 40 days ago', async () => {
    const phone = newPhone();
    const at = timestampOf(NOW - DAY);
    await updateUser(randomUUID(), named(phone, 'First'));
    await removeUser(randomUUID(), phone);
    await resumeErasure(phone);
    await updateUser(randomUUID(), named(phone, 'Second'), { at });
    expect(await nameOf(phone)).toBeUndefined();
    await later(40);
    await updateUser(randomUUID(), named(phone, 'Third'), { at });
    expect(await nameOf(phone)).toMatchObject({ first_name: { value: 'Third' } });
  });

  test('a destination that failed twice two days ago, and fails once more, has a closed circuit', async () => {
    const name = `platform#${newAccountId()}`;
    const failure = { cause: 'timeout', event: 'event-1' };
    for (const _ of ['first', 'second']) await recordFailure(name, 'closed', failure);
    await later(2);
    await recordFailure(name, 'closed', failure);
    expect(await findFailure(name)).toBeUndefined();
    for (const _ of ['second', 'third']) await recordFailure(name, 'closed', failure);
    expect(await findFailure(name)).toMatchObject({ cause: 'timeout' });
  });
});
