/**
 * What a message costs on its way, in capacity units as the table reports them, for items under 1 KB. Index writes within
 * transactions are not reported by every database, and are left out.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, test as always, beforeAll, expect, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { deliver } from '../../../shared/delivery/deliver.ts';
import type { Conversation } from '../../../shared/messaging/events.ts';
import { logItem } from '../../../shared/messaging/message.ts';
import { sendFromPlatform } from '../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { countEntries, listJobs } from '../../../shared/stats/job-counters.ts';
import { lifetime } from '../../support/lifetime.ts';
import { consumedBy } from '../support/consumed.ts';
import { putAll } from '../support/many-items.ts';
import { useOwnTable, useSecret } from '../support/own-table.ts';
import { Receiver } from '../support/receiver.ts';
import { reportState } from '../support/states.ts';
import { newAccountId, newPhone } from '../support/world.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

/** DynamoDB Local reports other units for transactions than DynamoDB takes: 4 for a write of two. */
const test = always.skipIf(process.env.DYNAMODB_ENDPOINT);

let app: Receiver;
let secret = '';

useOwnTable('messages-capacity');
useSecret(() => secret);

beforeAll(async () => {
  app = await Receiver.start();
  secret = JSON.stringify({ url: app.url, secret: SECRET });
  vi.stubEnv('MINUTE', '6000');
});

afterAll(() => app.close());

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'x'.repeat(100) } });

const newConversation = async (): Promise<Conversation & { bot: string }> => {
  const bot = newPhone();
  // As long an id as there may be.
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId().padEnd(40, '0'), bot_number: bot });
  return { direction: 'app', account, phone: newPhone(), bot };
};

const withWebhook = async () => {
  const conversation = await newConversation();
  await updateAccount(conversation.account, {
    platform: { name: 'webhook', settings: { url: app.url, secret: SECRET } },
  });
  return conversation;
};

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

test('accepting a message costs 6 write units in one transaction, and 1 read unit', async () => {
  const { account, phone } = await newConversation();
  expect(await consumedBy(() => sendMessage(account, text(phone), {}))).toMatchObject({ calls: 2, table: 7 });
  // A head that is there already costs the same.
  expect(await consumedBy(() => sendMessage(account, text(phone), {}))).toMatchObject({ calls: 2, table: 7 });
  const idempotencyKey = 'key';
  expect(await consumedBy(() => sendMessage(account, text(phone), { idempotencyKey }))).toMatchObject({ table: 7 });
});

test('delivering one costs 4 write units to settle it and 1 to end the conversation, and 6 read units', async () => {
  const conversation = await newConversation();
  await sendMessage(conversation.account, text(conversation.phone), {});
  // Head 1, circuit 0.5, entries 0.5 to 1; the check before the attempt 3; entry and log entry 2 each; head 1.
  const { calls, table } = await consumedBy(() => run(conversation));
  expect(calls).toBe(6);
  expect(table).toBeLessThanOrEqual(10.5);
});

test('a wake-up that finds nothing to do costs 1 read unit', async () => {
  const conversation = await newConversation();
  expect(await consumedBy(() => run(conversation))).toMatchObject({ calls: 1, table: 1 });
});

test('a conversation of ten costs little more than its messages', async () => {
  const conversation = await newConversation();
  for (let count = 0; count < 10; count += 1) await sendMessage(conversation.account, text(conversation.phone), {});
  const { table } = await consumedBy(() => run(conversation));
  // 4 write units each, and 3 read units before each attempt; head, circuit, two pages of entries, the end of the conversation.
  expect(table).toBeLessThanOrEqual(10 * (4 + 3) + 8);
});

test('a state costs 1 write unit and 3 on its indexes, and 1 read unit; 6 where a platform is told; nothing to write when it comes again', async () => {
  const { account, phone } = await newConversation();
  const id = await sendMessage(account, text(phone), {});
  expect(await consumedBy(() => reportState(id, 'read'))).toEqual({ calls: 3, table: 2, indexes: 3 });
  expect(await consumedBy(() => reportState(id, 'read'))).toMatchObject({ table: 1, indexes: 0 });
  const told = await withWebhook();
  const reported = await sendMessage(told.account, text(told.phone), {});
  expect(await consumedBy(() => reportState(reported, 'read'))).toMatchObject({ calls: 3, table: 7 });
  expect(await consumedBy(() => reportState(reported, 'read'))).toMatchObject({ table: 1 });
});

test("a user's message costs 1 write unit and 3 on its indexes, and 2 read units; 6 where there is a platform", async () => {
  const { bot, phone } = await newConversation();
  const content = { type: 'text' as const, text: { body: 'Hi' } };
  expect(await consumedBy(() => receiveMessage('a', { from: phone, to: bot, ...content }))).toEqual({
    calls: 3,
    table: 3,
    indexes: 3,
  });
  const told = await withWebhook();
  expect(await consumedBy(() => receiveMessage('b', { from: told.phone, to: told.bot, ...content }))).toMatchObject({
    calls: 3,
    table: 8,
  });
});

/** An account on RapidPro, and its user. */
const withRapidpro = async () => {
  const conversation = await newConversation();
  const { account } = conversation;
  await updateAccount(account, { platform: { name: 'rapidpro', settings: { url: app.url } } });
  return { ...conversation, reports: { ...conversation, direction: 'platform' } satisfies Conversation };
};

test("a chat platform's message costs what any other does; a repeat of it is not cheaper", async () => {
  const { account, phone } = await withRapidpro();
  const take = () => sendFromPlatform(account, 'rapidpro', { reference: '21', ...text(phone) });
  expect(await consumedBy(take)).toMatchObject({ calls: 2, table: 7 });
  // The database reports nothing for a transaction that was refused; DynamoDB takes as much as for one that was not.
  // The account, the message before, and what tells a repeat from an equal part are read: 4.
  expect(await consumedBy(take)).toMatchObject({ calls: 4, table: 4 });
});

test('telling RapidPro a status costs 4 write units to settle and note it; another part that is pending, 2 write units and no call', async () => {
  const { account, phone, reports } = await withRapidpro();
  const parts = ['one', 'two'].map((body) => ({ to: phone, type: 'text' as const, text: { body } }));
  const ids = [];
  for (const part of parts) ids.push(await sendFromPlatform(account, 'rapidpro', { reference: '21', ...part }));
  for (const id of ids) await reportState(id, 'delivered_to_user');
  app.calls.length = 0;
  const { table } = await consumedBy(() => run(reports));
  expect(app.calls.map(({ body }) => body)).toEqual(['id=21']);
  // Head 1, platform 1, circuit 0.5; 2 to settle the first part, which the second one supersedes. Entries and what was
  // told 2, before the pause after the acceptance and again; the check before the one attempt 2; 4 to settle it; head 1.
  expect(table).toBeLessThanOrEqual(15.5);
});

test('counting costs 2 write units an entry, and 2 a counter and batch', async () => {
  const { account, phone } = await newConversation();
  const message = (job_id: string) => ({
    id: newAccountId(),
    account,
    phone,
    job_id,
    payload_type: 'text',
    ...lifetime,
  });
  const created = new Date().toISOString().replace('Z', '000');
  const entries = ['a', 'a', 'a', 'b'].map((job) => logItem(message(job), 'sent', created));
  await putAll(entries);
  expect(await consumedBy(() => countEntries(entries))).toMatchObject({ calls: 1, table: 4 * 2 + 2 * 2 });
});

test('jobs cost half a read unit for 4 KB of counters', async () => {
  const { account, phone } = await newConversation();
  const day = new Date().toISOString().slice(0, 10);
  const entries = Array.from({ length: 40 }, (_, place) =>
    logItem(
      { id: `${place}`, account, phone, job_id: `job-${place}`, payload_type: 'text', ...lifetime },
      'sent',
      `${day}T00:00:00.000000`,
    ),
  );
  await putAll(entries);
  await countEntries(entries);
  const { calls, table } = await consumedBy(() => listJobs(account, day, day));
  // A counter is about 150 bytes: 40 of them fit 8 KB.
  expect({ calls, cheap: table <= 1 }).toEqual({ calls: 1, cheap: true });
});
