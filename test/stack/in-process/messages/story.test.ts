/**
 * The history and the log lines of a message: each event is recorded once, even if it is repeated or late.
 *
 * @module-tag long
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { receiveEvents } from '../../../../shared/app-network/event-batch.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

useOwnTable('message-story');

const written = captureLog();

afterEach(() => void vi.useRealTimers());

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/** A new account with a bot, and optionally a webhook. */
const newBusiness = async (platform?: 'webhook') => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  if (platform) {
    const settings = { url: 'https://customer.example.com/', secret: `whsec_${Buffer.alloc(24).toString('base64')}` };
    await updateAccount(account, { platform: { name: platform, settings } });
  }
  return { account, bot };
};

/** The log lines whose field `message` has this value. */
const lines = (message: string) =>
  written.map((line) => JSON.parse(line)).filter((line: { message: string }) => line.message === message);

describe('a message is logged as accepted once', () => {
  test('if an account sends it three times with one idempotency key', async () => {
    const { account } = await newBusiness();
    const draft = text(newPhone());
    for (const _ of ['first', 'again', 'once more']) {
      const id = await sendMessage(account, draft, { idempotencyKey: 'key 1' });
      expect(lines('accepted')).toMatchObject([{ level: 'info', account, message_id: id, accepted: 1 }]);
    }
  });

  test('if the app network sends it twice as one event', async () => {
    const { account, bot } = await newBusiness('webhook');
    const received = { from: newPhone(), ...text(bot) };
    for (const event of ['event-1', 'event-1']) {
      expect(await receiveMessage(event, received)).toBe(true);
      expect(lines('accepted')).toMatchObject([{ level: 'info', account, accepted: 1 }]);
    }
    expect((await oldestEntries({ direction: 'platform', account, phone: received.from })).entries).toHaveLength(1);
  });
});

test.each([
  ['of an account without a platform', undefined] as const,
  ['of an account with a webhook', 'webhook'] as const,
])('a state is logged once, however often it is reported: %s', async (_, platform) => {
  const { account } = await newBusiness(platform);
  const id = await sendMessage(account, text(newPhone()), {});
  for (const state of ['read', 'delivered_to_user', 'read', 'read'] as const) await reportState(id, state);
  expect(lines('state')).toMatchObject([
    { account, message_id: id, state: 'read', states: 1 },
    { account, message_id: id, state: 'delivered_to_user', states: 1 },
  ]);
});

test("a message's history contains a state whose time is before the message, because of a slow clock", async () => {
  const { account } = await newBusiness('webhook');
  const phone = newPhone();
  const id = await sendMessage(account, text(phone), {});
  vi.useFakeTimers({ now: Date.now() - 60_000, toFake: ['Date'] });
  await reportState(id, 'delivered_to_user');
  expect(await messageHistory(id)).toMatchObject({
    id,
    account,
    phone,
    direction: 'app',
    states: [{ state: 'delivered_to_user' }, { state: 'sent' }],
    reports: { states: ['delivered_to_user'] },
  });
});

test("the app network's reason for a failure is stored, up to 500 characters", async () => {
  const { account } = await newBusiness();
  const id = await sendMessage(account, text(newPhone()), {});
  const data = { id, state: 'delivery_failed', reason: `The phone is off. ${'x'.repeat(500)}` };
  expect(await receiveEvents([{ id: 'event-1', type: 'message.state', data }], () => [])).toEqual([]);
  const failed = (await messageHistory(id))?.states.find(({ state }) => state === 'delivery_failed');
  expect(failed?.reason).toBe(data.reason.slice(0, 500));
});

test('a message from a chat platform without a reference is a new message each time', async () => {
  const { account } = await newBusiness();
  const draft = text(newPhone());
  const [one, two] = [await sendFromPlatform(account, 'turn', draft), await sendFromPlatform(account, 'turn', draft)];
  expect(one).not.toBe(two);
  expect((await messageHistory(one))?.origin).toEqual({ platform: 'turn', id: one });
});
