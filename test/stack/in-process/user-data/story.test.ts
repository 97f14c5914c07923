/**
 * User data requests, profile updates and exports, with direct access to the table: log lines, removals and expiry.
 *
 * @module-tag long
 */
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isEmpty, personalDataOf } from '../../../../infra/operator/queries/personal-data-export.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { documents } from '../../../../shared/table/client.ts';
import { listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { eraseUser, removeUser } from '../../../../shared/user-data/erasure.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { fetchRequest, startRequest } from '../../../../shared/user-data/requests.ts';
import type { PropertyName } from '../../../../shared/users/profile-properties.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newAccount, newPhone } from '../../support/world.ts';

useOwnTable('user-data-story');

const written = captureLog();

afterEach(() => void vi.restoreAllMocks());

let events = 0;

const update = async (phone: string, change: Omit<Parameters<typeof updateUser>[1], 'phone_number'>): Promise<void> => {
  events += 1;
  await updateUser(`event-${events}`, { phone_number: phone, ...change });
};

const newUser = async (): Promise<string> => {
  const phone = newPhone();
  const properties = {
    first_name: { value: 'Thandi', source: 'user' },
    last_name: { value: 'M', source: 'user' },
    device_make: { value: 'Nokia', source: 'device' },
  };
  await update(phone, { panelist: true, properties });
  return phone;
};

const ask = (account: string, phone: string, properties: PropertyName[], key?: string) =>
  startRequest(
    account,
    phone,
    { reason: 'To know you', data: properties.map((property) => ({ property, required: false })) },
    key,
  );

const accepted = () => written.map((line) => JSON.parse(line)).filter(({ message }) => message === 'accepted');

/** Does something before the next transaction. */
const beforeTransaction = (meanwhile: () => Promise<unknown>): void => {
  const send = documents.send.bind(documents);
  vi.spyOn(documents, 'send').mockImplementation(async (command) => {
    if (command instanceof TransactWriteCommand) {
      vi.restoreAllMocks();
      await meanwhile();
    }
    return send(command);
  });
};

describe('a user data request', () => {
  test('a request that needs approval is logged as accepted once, even if it is repeated', async () => {
    const [account, phone] = [await newAccount(), await newUser()];
    const { id } = await ask(account, phone, ['first_name'], 'key 1');
    expect((await ask(account, phone, ['first_name'], 'key 1')).id).toBe(id);
    expect(accepted()).toMatchObject([
      { level: 'info', type: 'user_data.request', account, user_data_request_id: id, accepted: 1 },
    ]);
  });

  test('a request that is completed at once is not logged as accepted', async () => {
    const [account, phone] = [await newAccount(), await newUser()];
    expect(await ask(account, phone, ['device_make'])).toMatchObject({ status: 'completed' });
    expect(accepted()).toEqual([]);
  });

  test('a request fails with user_not_found and creates no receipt if the user is removed meanwhile', async () => {
    const [account, phone] = [await newAccount(), await newUser()];
    beforeTransaction(() => eraseUser(phone));
    await expect(ask(account, phone, ['first_name', 'device_make'])).rejects.toMatchObject({ code: 'user_not_found' });
    expect(await listConsentReceipts(phone)).toEqual([]);
  });

  test("an answer to a previous user's request releases nothing of the new user of the number", async () => {
    const [account, phone] = [await newAccount(), await newUser()];
    const { id } = await ask(account, phone, ['first_name']);
    await removeUser('removal 1', phone);
    await update(phone, { properties: { first_name: { value: 'Sipho', source: 'user' } } });
    expect(await answerRequest(id, { first_name: 'approved' })).toEqual({ unknown: true });
    expect(await fetchRequest(account, id)).toEqual({ status: 'pending', results: {} });
  });

  test('an answer releases nothing if the user is removed and the number registered again before its write', async () => {
    const [account, phone] = [await newAccount(), await newUser()];
    const { id } = await ask(account, phone, ['first_name']);
    beforeTransaction(async () => {
      await removeUser('removal 2', phone);
      await update(phone, { properties: { first_name: { value: 'Sipho', source: 'user' } } });
    });
    await answerRequest(id, { first_name: 'approved' });
    expect(await fetchRequest(account, id)).toEqual({ status: 'pending', results: {} });
  });
});

describe('the personal data of a user', () => {
  test('the export of an unknown number is empty, and that of a user with only a profile is not', async () => {
    const phone = newPhone();
    expect(isEmpty(await personalDataOf(phone))).toBe(true);
    await update(phone, {});
    expect(isEmpty(await personalDataOf(phone))).toBe(false);
  });

  test('the export of an unregistered number contains its log entries and pending entries', async () => {
    const [account, phone] = [await newAccount(), newPhone()];
    await sendMessage(account, { to: phone, type: 'text', text: { body: 'Hello' } }, {});
    const kept = await personalDataOf(phone);
    expect(isEmpty(kept)).toBe(false);
    expect(kept).toMatchObject({ profile: null, log: [{ account, state: 'sent' }], waiting: [{ account }] });
    expect(Object.keys(kept.log[0] ?? {})).not.toContain('reason');
    const conversation: Conversation = { direction: 'app', account, phone };
    expect(await readHead(conversation)).toBeDefined();
  });

  test.each(['answers', 'requests', 'consents', 'opt_outs', 'grants', 'log', 'waiting'] as const)(
    'an export with only %s is not empty',
    (kind) => {
      const nothing = {
        ...{ phone_number: '27821234567', profile: null, answers: [], requests: [], consents: [] },
        ...{ opt_outs: [], grants: [], log: [], deliveries: [], waiting: [] },
      };
      expect(isEmpty(nothing)).toBe(true);
      expect(isEmpty({ ...nothing, [kind]: [{}] })).toBe(false);
    },
  );

  test('the export contains the reason for which a message failed', async () => {
    const [account, phone] = [await newAccount(), newPhone()];
    const id = await sendMessage(account, { to: phone, type: 'text', text: { body: 'Hello' } }, {});
    await reportState(id, 'delivery_failed', 'phone is off');
    expect((await personalDataOf(phone)).log).toMatchObject([
      { message_id: id, state: 'sent' },
      { message_id: id, state: 'delivery_failed', reason: 'phone is off' },
    ]);
  });
});
