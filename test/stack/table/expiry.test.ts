/** Expired items that the table still contains, because TTL removes an item up to two days late. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { findUser, wholeUser } from '../../../infra/operator/queries/users-admin.ts';
import { documents, getConsistent } from '../../../shared/table/client.ts';
import { requestKey, userKey } from '../../../shared/table/keys.ts';
import { listConsentReceipts } from '../../../shared/user-data/consent-receipts.ts';
import { removeUser, resumeErasure } from '../../../shared/user-data/erasure.ts';
import { answerRequest } from '../../../shared/user-data/request-answers.ts';
import { fetchRequest, startRequest } from '../../../shared/user-data/requests.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newAccountId, newPhone } from '../support/world.ts';

const NOW = Date.UTC(2030, 0, 1);
const SECOND = 1_000;
const DAY = 86_400 * SECOND;

useOwnTable('expiry');

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
