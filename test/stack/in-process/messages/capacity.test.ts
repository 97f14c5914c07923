/**
 * The cost of a message, in capacity units that the table reports, for items under 1 KB. Index writes within
 * transactions are excluded, because not every database reports them.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, test as always, beforeAll, expect, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { logItem } from '../../../../shared/outbox/message.ts';
import { countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { consumedBy } from '../../support/consumed.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { putAll } from '../../support/many-items.ts';
import { useOwnTable, useSecret } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

/** Skipped on DynamoDB Local, which reports other units for transactions than DynamoDB: 4 for a write of two. */
const test = always.skipIf(process.env.DYNAMODB_ENDPOINT);

let app: DestinationServer;
let secret = '';

useOwnTable('messages-capacity');
useSecret(() => secret);

beforeAll(async () => {
  app = await DestinationServer.start();
  secret = JSON.stringify({ url: app.url, secret: SECRET });
  vi.stubEnv('MINUTE', '6000');
});

afterAll(() => app.close());

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'x'.repeat(100) } });

const newConversation = async (): Promise<Conversation & { bot: string }> => {
  const bot = newPhone();
  // The longest id that is allowed.
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

test('accepting a message costs 6 write units in one transaction, and 1 read unit; with an idempotency key, 2 and 1 more', async () => {
  const { account, phone } = await newConversation();
  expect(await consumedBy(() => sendMessage(account, text(phone), {}))).toMatchObject({ calls: 2, table: 7 });
  // The cost is the same if the conversation has a head already.
  expect(await consumedBy(() => sendMessage(account, text(phone), {}))).toMatchObject({ calls: 2, table: 7 });
  const idempotencyKey = 'key';
  // The record of the key: 1 read unit and 2 write units; for a repeat, the read unit alone.
  const keyed = () => sendMessage(account, text(phone), { idempotencyKey });
  expect(await consumedBy(keyed)).toMatchObject({ calls: 3, table: 10 });
  expect(await consumedBy(keyed)).toMatchObject({ calls: 1, table: 1 });
});

test('delivering a message costs 2 write units, 1 to end the conversation, and at most 7 read units', async () => {
  const conversation = await newConversation();
  await sendMessage(conversation.account, text(conversation.phone), {});
  // Head 1, circuits 1, entries 0.5 to 1; the check before the attempt 4; log entry, entry and head 1 each.
  const { calls, table, written } = await consumedBy(() => run(conversation));
  expect({ calls, written }).toEqual({ calls: 7, written: 3 });
  expect(table).toBeLessThanOrEqual(10);
});

test('a job costs 1 read unit when a message is accepted and 1 when it is attempted, and 1 write unit once', async () => {
  const conversation = await newConversation();
  const { account, phone } = conversation;
  const job_id = randomUUID();
  expect(await consumedBy(() => sendMessage(account, text(phone), { job_id }))).toMatchObject({ calls: 4, table: 9 });
  expect(await consumedBy(() => sendMessage(account, text(phone), { job_id }))).toMatchObject({ calls: 3, table: 8 });
  expect((await consumedBy(() => run(conversation))).table).toBeLessThanOrEqual(2 * (2 + 5) + 8);
});

test('cancelling a job costs 1 read unit, and 4 write units the first time', async () => {
  const { account, phone } = await newConversation();
  const job_id = randomUUID();
  await sendMessage(account, text(phone), { job_id });
  expect(await consumedBy(() => cancelJob(account, job_id))).toMatchObject({ calls: 2, table: 5 });
});

test('a wake-up of an empty conversation costs 1 read unit', async () => {
  const conversation = await newConversation();
  expect(await consumedBy(() => run(conversation))).toMatchObject({ calls: 1, table: 1 });
});

test('delivering ten messages costs 6 units each, and at most 8.5 units for the conversation', async () => {
  const conversation = await newConversation();
  for (let count = 0; count < 10; count += 1) await sendMessage(conversation.account, text(conversation.phone), {});
  const { table } = await consumedBy(() => run(conversation));
  // 2 write units each, and 4 read units before each attempt. The rest: head, circuits, two pages of entries, the end.
  expect(table).toBeLessThanOrEqual(10 * (2 + 4) + 8.5);
});

test('a state costs 2 units and 3 on indexes, or 7 units with a platform, and a repeat 1 read unit', async () => {
  const { account, phone } = await newConversation();
  const id = await sendMessage(account, text(phone), {});
  expect(await consumedBy(() => reportState(id, 'read'))).toMatchObject({ calls: 3, table: 2, indexes: 3 });
  expect(await consumedBy(() => reportState(id, 'read'))).toMatchObject({ table: 1, indexes: 0 });
  const other = await withWebhook();
  const reported = await sendMessage(other.account, text(other.phone), {});
  expect(await consumedBy(() => reportState(reported, 'read'))).toMatchObject({ calls: 3, table: 7 });
  expect(await consumedBy(() => reportState(reported, 'read'))).toMatchObject({ table: 1 });
});

test("a user's message costs 8 units, and 4 on indexes, with and without a platform", async () => {
  const { bot, phone } = await newConversation();
  const content = { type: 'text' as const, text: { body: 'Hi' } };
  expect(await consumedBy(() => receiveMessage('a', { from: phone, to: bot, ...content }))).toMatchObject({
    calls: 3,
    table: 8,
    indexes: 4,
  });
  const other = await withWebhook();
  expect(await consumedBy(() => receiveMessage('b', { from: other.phone, to: other.bot, ...content }))).toMatchObject({
    calls: 3,
    table: 8,
  });
});

/** A new account on RapidPro, a user, and the conversation that receives statuses. */
const withRapidpro = async () => {
  const conversation = await newConversation();
  const { account } = conversation;
  await updateAccount(account, { platform: { name: 'rapidpro', settings: { url: app.url } } });
  return { ...conversation, reports: { ...conversation, direction: 'platform', reports: true } satisfies Conversation };
};

test("a chat platform's message costs 7 units, and a repeat 9 beside its rejected transaction", async () => {
  const { account, phone } = await withRapidpro();
  const send = () => sendFromPlatform(account, 'rapidpro', { reference: '21', ...text(phone) });
  expect(await consumedBy(send)).toMatchObject({ calls: 2, table: 7 });
  // The database reports nothing for a rejected transaction; DynamoDB charges the same as for a successful one.
  // 5 read units: the account, the previous message, and what distinguishes a repeat from an equal part; 4 write units for its record.
  expect(await consumedBy(send)).toMatchObject({ calls: 6, table: 9 });
});

test('reporting a status of two parts to RapidPro costs 4 and 2 write units, and one call', async () => {
  const { account, phone, reports } = await withRapidpro();
  const parts = ['one', 'two'].map((body) => ({ to: phone, type: 'text' as const, text: { body } }));
  const ids = [];
  for (const part of parts) ids.push(await sendFromPlatform(account, 'rapidpro', { reference: '21', ...part }));
  for (const id of ids) await reportState(id, 'delivered_to_user');
  app.calls.length = 0;
  const { table } = await consumedBy(() => run(reports));
  expect(app.calls.map(({ body }) => body)).toEqual(['id=21']);
  // Head 1, circuit 0.5, platform 1 for each page; 2 to settle the first part, which the second one supersedes. Entries and status
  // receipts 2, before the pause and again after it; later states 1; the check before the attempt 2; 4 to settle it; head 1.
  expect(table).toBeLessThanOrEqual(17.5);
});

test('counting costs a write unit per entry, 2 per counter and batch, and 2 for the claim of a batch; or 4 for one entry', async () => {
  const { account, phone } = await newConversation();
  const message = (job_id: string) => ({
    id: newId(),
    account,
    phone,
    job_id,
    payload_type: 'text',
    ...lifetime,
  });
  const created = new Date().toISOString().replace('Z', '000');
  const [one, other] = [newId(), newId()];
  const entries = [one, one, one, one, other].map((job) => logItem(message(job), 'sent', created));
  await putAll(entries);
  const counting = (from: number, to: number) => consumedBy(() => countEntries(entries.slice(from, to)));
  expect(await counting(0, 1)).toMatchObject({ calls: 1, table: 2 + 2 });
  expect(await counting(1, 5)).toMatchObject({ calls: 4 + 1, table: 4 + 2 + 2 * 2 });
});

test('listing jobs costs half a read unit per 4 KB of counters', async () => {
  const { account, phone } = await newConversation();
  const day = new Date().toISOString().slice(0, 10);
  const entries = Array.from({ length: 40 }, () =>
    logItem(
      { id: newId(), account, phone, job_id: newId(), payload_type: 'text', ...lifetime },
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
