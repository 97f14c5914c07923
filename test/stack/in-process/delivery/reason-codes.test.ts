/**
 * Why messages fail: the code of each failure, in the log entry and in the indexes.
 *
 * @module-tag long
 */
import { describe, expect, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { logPartitions, messageIdOf } from '../../../../shared/outbox/entities.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import type { ReasonCode, State } from '../../../../shared/outbox/message.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { page } from '../../../../shared/table/client.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { breakOldestEntry } from '../../support/broken-entry.ts';
import type { Answer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { newAccount, newBusiness, newPhone } from '../../support/world.ts';

/** The length of a minute in milliseconds. */
const MINUTE = 1_000;
const LIFETIME = 3 * 24 * 60 * MINUTE;
const NOW = Date.UTC(2030, 0, 1);
const WORDS = 'The phone of Ms. Example is off';

useOwnTable('reason-codes');

const destination = useAppNetworkServer();

useStoppedClock(NOW, MINUTE);

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

const newMessage = async () => {
  const account = await newAccount();
  const phone = newPhone();
  const id = await sendMessage(account, text(phone), {});
  const conversation: Conversation = { direction: 'app', account, phone };
  return { account, phone, id, conversation };
};

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

/** The last state of a message, with its reason. */
const lastOf = async (id: string) => {
  const { created: _, ...last } = (await messageHistory(id))?.states.at(-1) ?? { created: '' };
  return last;
};

describe('a message that is not delivered fails with the code', () => {
  test.each<[ReasonCode, string, Answer, string, boolean]>([
    ['refused', 'if the app network rejects it', 422, 'status_422', false],
    ['unreachable', 'after three days of errors', 503, 'status_503', true],
    [
      'unreachable',
      'after three days of pauses',
      { status: 429, headers: { 'retry-after': '60' } },
      'status_429',
      true,
    ],
  ])('%s %s', async (reason_code, _, answer, reason, isLate) => {
    const { id, conversation } = await newMessage();
    destination().answers = [answer];
    if (isLate) vi.setSystemTime(NOW + LIFETIME);
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await lastOf(id)).toEqual({ state: 'sending_failed', reason_code, reason });
  });

  test('bot_number_released if the bot lost its number meanwhile', async () => {
    const { account, id, conversation } = await newMessage();
    await updateAccount(account, { bot_number: null });
    await run(conversation);
    const reason_code = 'bot_number_released';
    expect(await lastOf(id)).toEqual({ state: 'sending_failed', reason_code, reason: reason_code });
  });

  test('user_erased if the user was erased meanwhile', async () => {
    const { phone, id } = await newMessage();
    await eraseUser(phone);
    const reason_code = 'user_erased';
    expect(await lastOf(id)).toEqual({ state: 'sending_failed', reason_code, reason: reason_code });
  });

  test('unknown if our own code cannot build the request for three days', async () => {
    const { account, bot, phone } = await newBusiness({ name: 'rapidpro', settings: { url: destination().url } });
    await receiveMessage(`event of ${phone}`, { from: phone, ...text(bot) });
    const conversation: Conversation = { direction: 'platform', account, phone };
    const { outgoing } = await breakOldestEntry(conversation);
    if (outgoing.type !== 'message.received') throw new Error('No message is pending.');
    vi.setSystemTime(NOW + LIFETIME);
    await run(conversation);
    expect(await lastOf(outgoing.message.id)).toEqual({
      state: 'reception_failed_http',
      reason_code: 'unknown',
      reason: 'unexpected_error',
    });
  });
});

describe('a state that the app network reports', () => {
  test.each<[State, ReasonCode | undefined]>([
    ['delivery_failed', 'refused'],
    ['read', undefined],
    ['delivered_to_user', undefined],
  ])('%s has the code %s', async (state, reason_code) => {
    const { id } = await newMessage();
    await reportState(id, state, WORDS);
    expect(await lastOf(id)).toEqual({ state, ...(reason_code && { reason_code }), reason: WORDS });
  });

  test('keeps its code, and loses its words, when the user is erased', async () => {
    const { id, phone, conversation } = await newMessage();
    await run(conversation);
    await reportState(id, 'delivery_failed', WORDS);
    await eraseUser(phone);
    expect(await lastOf(id)).toEqual({ state: 'delivery_failed', reason_code: 'refused' });
  });
});

describe('a failure', () => {
  const failed = async () => {
    const message = await newMessage();
    await reportState(message.id, 'delivery_failed', WORDS);
    return message;
  };

  test.each(['gsi1', 'gsi2', 'gsi3'] as const)(
    'is in %s with payload type and code, and without the words of the app network',
    async (index) => {
      const { account, phone, id } = await failed();
      const [entry] = (await listLogs(account, { phone }, 1)).entries;
      if (entry === undefined) throw new Error('Nothing is logged.');
      const partition = logPartitions[index](account, { phone, job_id: entry.job_id, state: 'delivery_failed' });
      const { items } = await page<{ pk: string; sk: string }>({
        IndexName: index,
        KeyConditionExpression: `${index}pk = :partition`,
        ExpressionAttributeValues: { ':partition': partition },
      });
      const found = items.filter((item) => messageIdOf(item) === id && item.sk === 'STATE#delivery_failed');
      expect(found).toMatchObject([{ payload_type: 'text', reason_code: 'refused' }]);
      expect(JSON.stringify(items)).not.toContain(WORDS);
    },
  );

  test('is listed with its message, payload type and reason code, and without the words of the app network', async () => {
    const { account, phone, id } = await failed();
    const { entries } = await listLogs(account, { state: 'delivery_failed' }, 10);
    expect(entries).toEqual([
      {
        id,
        created: expect.any(String),
        contact: `${phone}@users.example.com`,
        state: 'delivery_failed',
        job_id: expect.any(String),
        payload_type: 'text',
        reason: 'refused',
      },
    ]);
  });
});
