/**
 * The delivery history of a webhook, one conversation at a time: what it contains, its cost, and its failures.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { exampleDelivery } from '../../../../infra/local/documentation/example-delivery.ts';
import type { AccountPlatform } from '../../../../infra/operator/queries/accounts-admin.ts';
import { timestampOf } from '../../../../shared/core/clock.ts';
import { newId, newIdAt } from '../../../../shared/core/ids.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { attemptIdOf, attemptKey, attemptWithId } from '../../../../shared/delivery/entities.ts';
import { listDeliveries, readDelivery } from '../../../../shared/delivery/history/deliveries.ts';
import { RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { documents, putAll, update } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { consumedBy } from '../../support/consumed.ts';
import { type Answer, DestinationServer, drop } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

/** Milliseconds of a minute of the schedule. */
const MINUTE = 4_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const DELIVERIES = 'DELIVERIES#';

let webhook: DestinationServer;

const written = captureLog();
useOwnTable('delivery-history');

beforeAll(async () => {
  webhook = await DestinationServer.start();
  vi.stubEnv('MINUTE', String(MINUTE));
});

afterAll(() => webhook.close());

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  webhook.calls.length = 0;
  webhook.answers = [{ status: 200, body: 'Thank you' }];
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Advances the clock, in minutes of the schedule. */
const later = (minutes: number) => vi.setSystemTime(Date.now() + minutes * MINUTE);

const plainWebhook = (): AccountPlatform => ({
  name: 'webhook',
  settings: { url: `${webhook.url}?token=secret`, secret: SECRET },
});

/** A user writes texts to the bot. Returns their conversation. */
const writtenTo = async (
  { account, bot }: { account: string; bot: string },
  texts: string[],
  phone = newPhone(),
): Promise<Conversation> => {
  for (const body of texts) await receiveMessage(newId(), { from: phone, to: bot, type: 'text', text: { body } });
  return { direction: 'platform', account, phone };
};

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

const historyOf = async (account: string) => (await listDeliveries(account, {}, 500)).deliveries;

describe('an attempt is in the history', () => {
  test('with its event, result, response and times', async () => {
    const conversation = await writtenTo(await newBusiness(plainWebhook()), ['Hi']);
    await run(conversation);
    const [found, ...others] = await historyOf(conversation.account);
    expect(others).toEqual([]);
    const { headers } = webhook.calls[0] ?? {};
    expect(found).toEqual({
      id: expect.stringMatching(`^${headers?.['webhook-id']}-[0-9a-f]{14}$`),
      event_id: headers?.['webhook-id'],
      type: 'message',
      phone: conversation.phone,
      message_id: expect.any(String),
      url: webhook.url,
      attempt: 1,
      started: expect.stringMatching(/^\d{4}-/),
      duration_ms: expect.any(Number),
      status: 'succeeded',
      status_code: 200,
      response: 'Thank you',
    });
    expect(await readDelivery(conversation.account, found?.id ?? '')).toEqual(found);
  });

  test('if it failed, with the time of the next one; attempts of an event are counted', async () => {
    const conversation = await writtenTo(await newBusiness(plainWebhook()), ['Hi']);
    // Time passes.
    const slowly =
      (status: number, body?: string): Answer =>
      (response) => {
        vi.setSystemTime(Date.now() + 5);
        response.writeHead(status, { connection: 'close' }).end(body);
      };
    webhook.answers = [slowly(500, 'Oops'), drop, slowly(503), 200];
    await run(conversation);
    const head = await readHead(conversation);
    later((1.5 * (RETRY_STEPS_MS[0] ?? 0)) / 60_000);
    await run(conversation);
    const found = (await historyOf(conversation.account)).toReversed();
    expect(
      found.map(({ attempt, status, status_code, error, response }) => [attempt, status, status_code, error, response]),
    ).toEqual([
      [1, 'failed', 500, undefined, 'Oops'],
      [2, 'failed', undefined, 'no_connection', undefined],
      [3, 'failed', 503, undefined, undefined],
      [4, 'succeeded', 200, undefined, undefined],
    ]);
    expect(found.map(({ next_attempt }) => next_attempt)).toEqual([
      found[1]?.started,
      head?.retryAt?.replace('Z', '000'),
      found[3]?.started,
      undefined,
    ]);
    expect(new Set(found.map(({ event_id }) => event_id)).size).toBe(1);
  });

  test('if the webhook asked for a pause, with its end', async () => {
    const conversation = await writtenTo(await newBusiness(plainWebhook()), ['Hi']);
    webhook.answers = [{ status: 429, headers: { 'retry-after': '7' } }];
    const { paused_until } = await run(conversation);
    expect(await historyOf(conversation.account)).toMatchObject([
      {
        status: 'failed',
        status_code: 429,
        next_attempt: new Date(paused_until ?? 0).toISOString().replace('Z', '000'),
      },
    ]);
  });

  test('for seven days', async () => {
    const conversation = await writtenTo(await newBusiness(plainWebhook()), ['Hi']);
    await run(conversation);
    const [{ id } = { id: '' }] = await historyOf(conversation.account);
    vi.setSystemTime(Date.now() + 7 * 86_400_000 - 60_000);
    expect(await historyOf(conversation.account)).toHaveLength(1);
    vi.setSystemTime(Date.now() + 120_000);
    expect(await historyOf(conversation.account)).toEqual([]);
    await expect(readDelivery(conversation.account, id)).rejects.toMatchObject({ code: 'delivery_not_found' });
  });
});

describe('the history of an account is empty', () => {
  test.each<[string, () => AccountPlatform]>([
    ['RapidPro', () => ({ name: 'rapidpro', settings: { url: webhook.url } })],
    ['Turn', () => ({ name: 'turn', settings: { url: webhook.url, channel: 'channel', token: 'token' } })],
  ])('on %s, whose deliveries write nothing to it', async (_, platform) => {
    const conversation = await writtenTo(await newBusiness(platform()), ['Hi']);
    const puts = vi.spyOn(documents, 'send');
    await run(conversation);
    expect(webhook.calls).toHaveLength(1);
    expect(puts.mock.calls.filter(([{ input }]) => JSON.stringify(input).includes(DELIVERIES))).toEqual([]);
    expect(await historyOf(conversation.account)).toEqual([]);
  });
});

test('an attempt costs one call, and one write unit with the longest response, or one for each KB of a long event; and one on an index', async () => {
  const conversation = await writtenTo(await newBusiness(plainWebhook()), [
    'Hi',
    randomBytes(1_500).toString('base64'),
  ]);
  webhook.answers = [{ status: 200, body: randomBytes(3_000).toString('base64') }];
  const units: { table: number; index: number }[] = [];
  const send = documents.send.bind(documents);
  vi.spyOn(documents, 'send').mockImplementation(async (command) => {
    const isHistory = command instanceof PutCommand && String(command.input.Item?.pk).startsWith(DELIVERIES);
    if (isHistory) Object.assign(command.input, { ReturnConsumedCapacity: 'INDEXES' });
    const result: object = await send(command);
    if (isHistory && 'ConsumedCapacity' in result) {
      const { Table, GlobalSecondaryIndexes } = Object(result.ConsumedCapacity);
      units.push({ table: Table.CapacityUnits, index: GlobalSecondaryIndexes.gsi2.CapacityUnits });
    }
    return result;
  });
  await run(conversation);
  expect(units).toEqual([
    { table: 1, index: 1 },
    { table: 3, index: 1 },
  ]);
});

test('the history adds one write unit and one on an index to each attempt, and a webhook half a read unit to each wake-up', async () => {
  const deliveredOn = async (platform: AccountPlatform) => {
    const conversation = await writtenTo(await newBusiness(platform), ['one', 'two']);
    return await consumedBy(() => run(conversation));
  };
  const turn = await deliveredOn({ name: 'turn', settings: { url: webhook.url, channel: 'c', token: 't' } });
  const plain = await deliveredOn(plainWebhook());
  expect(plain).toEqual({
    calls: turn.calls + 3,
    table: turn.table + 2.5,
    written: turn.written + 2,
    indexes: turn.indexes + 2,
  });
});

test('if the history does not accept an attempt, the event is delivered and not repeated, and the failure is logged', async () => {
  const conversation = await writtenTo(await newBusiness(plainWebhook()), ['one', 'two']);
  const send = documents.send.bind(documents);
  vi.spyOn(documents, 'send').mockImplementation((command) => {
    const isHistory = command instanceof PutCommand && String(command.input.Item?.pk).startsWith(DELIVERIES);
    return isHistory ? Promise.reject(new Error('no history')) : send(command);
  });
  expect(await run(conversation)).toEqual({ settled: 2 });
  expect(webhook.calls.map(({ json }) => json.message.text.body)).toEqual(['one', 'two']);
  expect(await readHead(conversation)).toBeUndefined();
  vi.restoreAllMocks();
  expect(await historyOf(conversation.account)).toEqual([]);
  const lines = written.filter((line) => line.includes('attempt not recorded'));
  expect(lines).toHaveLength(2);
  expect(lines.join()).not.toContain(conversation.phone);
});

test('a delivery that ends between the request and the record is repeated, and the repeat is in the history', async () => {
  const conversation = await writtenTo(await newBusiness(plainWebhook()), ['Hi']);
  const send = documents.send.bind(documents);
  let isKilled = false;
  vi.spyOn(documents, 'send').mockImplementation((command) => {
    isKilled ||= webhook.calls.length > 0;
    return isKilled ? Promise.reject(new Error('killed')) : send(command);
  });
  await expect(run(conversation)).rejects.toThrow('killed');
  vi.restoreAllMocks();
  expect(await historyOf(conversation.account)).toEqual([]);
  await run(conversation);
  const [first, second] = webhook.calls.map(({ headers }) => headers['webhook-id']);
  expect(second).toBe(first);
  expect(await historyOf(conversation.account)).toMatchObject([{ event_id: first, status: 'succeeded', attempt: 1 }]);
});

describe('a list of deliveries', () => {
  /** A business with events of several users: the second event of each was rejected. */
  const withEvents = async (users: number) => {
    const here = await newBusiness(plainWebhook());
    for (let user = 0; user < users; user += 1) {
      webhook.answers = [200, { status: 503, headers: { 'retry-after': '60' } }];
      const conversation = await writtenTo(here, ['accepted', 'rejected']);
      await run(conversation);
      later(1);
    }
    return here.account;
  };

  test('is in the order of the events, and its pages contain each attempt once', async () => {
    const account = await withEvents(6);
    const whole = await historyOf(account);
    expect(whole).toHaveLength(12);
    expect(whole.map(({ event_id }) => event_id)).toEqual(
      webhook.calls.map(({ headers }) => headers['webhook-id']).reverse(),
    );
    for (const limit of [1, 3, 5, 12]) {
      const paged: string[] = [];
      let after: string | undefined;
      do {
        const { deliveries, next } = await listDeliveries(account, {}, limit, after);
        expect(deliveries.length).toBeLessThanOrEqual(limit);
        paged.push(...deliveries.map(({ id }) => id));
        after = next;
      } while (after !== undefined);
      expect(paged).toEqual(whole.map(({ id }) => id));
    }
  });

  test('is filtered by status and by the time of the events', async () => {
    const { account } = await newBusiness(plainWebhook());
    const now = Math.floor(Date.now() / 1_000);
    const outcomes = ['failed', 'succeeded', 'failed', 'succeeded'] as const;
    // Ids of one process never go back, so they do not follow the clock of a test.
    const items = outcomes.map((outcome, place) => ({
      ...exampleDelivery(account, newPhone()),
      ...attemptKey(account, {
        slot: place,
        outcome,
        event: newIdAt(timestampOf((now - 100 * place) * 1_000)),
        started: Date.now(),
      }),
    }));
    await putAll(items);
    const listed = async (filter: Parameters<typeof listDeliveries>[1]) =>
      (await listDeliveries(account, filter, 500)).deliveries.map(({ id }) =>
        items.findIndex((item) => attemptIdOf(item) === id),
      );
    expect(await listed({})).toEqual([0, 1, 2, 3]);
    expect(await listed({ status: 'failed' })).toEqual([0, 2]);
    expect(await listed({ status: 'succeeded' })).toEqual([1, 3]);
    expect(await listed({ start: now - 200 })).toEqual([0, 1, 2]);
    expect(await listed({ end: now - 100 })).toEqual([2, 3]);
    expect(await listed({ start: now - 200, end: now - 100, status: 'failed' })).toEqual([2]);
    expect(await listed({ start: now, end: now - 100 })).toEqual([]);
  });

  test('continues after attempts of one user that do not fit a page', async () => {
    const here = await newBusiness(plainWebhook());
    const conversation = await writtenTo(
      here,
      Array.from({ length: 25 }, (_, place) => `text ${place}`),
    );
    await run(conversation);
    expect(await historyOf(here.account)).toHaveLength(25);
    const { deliveries, next } = await listDeliveries(here.account, {}, 20);
    expect(deliveries).toHaveLength(20);
    expect((await listDeliveries(here.account, {}, 20, next)).deliveries).toHaveLength(5);
  });

  test('leaves out attempts that have expired and that the table still contains', async () => {
    const account = await withEvents(2);
    const [first] = await historyOf(account);
    const reference = attemptWithId(first?.id ?? '');
    if (reference === undefined) throw new Error('There is no attempt.');
    await update({
      Key: attemptKey(account, reference),
      UpdateExpression: 'SET expires_at = :past',
      ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1_000) - 1 },
    });
    expect((await historyOf(account)).map(({ id }) => id)).not.toContain(first?.id);
  });

  test('of another account does not contain them, and the id leads nowhere there', async () => {
    const account = await withEvents(1);
    const [first] = await historyOf(account);
    const { account: other } = await newBusiness(plainWebhook());
    expect(await historyOf(other)).toEqual([]);
    await expect(readDelivery(other, first?.id ?? '')).rejects.toMatchObject({ code: 'delivery_not_found' });
  });
});
