/**
 * Wake-ups and stream batches that are repeated, late or cut differently, and entries that cannot be processed.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { handler as count } from '../../../../functions/workers/count.ts';
import { handler as deliver } from '../../../../functions/workers/deliver.ts';
import { handler as relay } from '../../../../functions/workers/relay.ts';
import { BatchHandler } from '../../../../infra/local/aws/event-sources/batch-handler.ts';
import type { StreamRecord } from '../../../../infra/local/aws/event-sources/stream.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, entryKey, messageKey, named } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { logItem, type Message } from '../../../../shared/outbox/message.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { listJobs } from '../../../../shared/stats/job-counters.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { breakOldestEntry } from '../../support/broken-entry.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccount, newAccountId, newBusiness, newPhone } from '../../support/world.ts';

const written = captureLog();
const queue = useFakeQueue();

useOwnTable('redelivery');
const destination = useAppNetworkServer();

afterEach(() => void vi.useRealTimers());

const context = { awsRequestId: 'call-1', getRemainingTimeInMillis: () => 60_000 };

const text = (to: string, body: string) => ({ to, type: 'text' as const, text: { body } });

const BODIES = ['one', 'two', 'three'];

/** A new conversation with three pending messages. */
const pending = async (): Promise<Conversation> => {
  const account = await newAccount();
  const phone = newPhone();
  for (const body of BODIES) await sendMessage(account, text(phone, body), {});
  return { direction: 'app', account, phone };
};

const wakeUp = (conversation: Conversation): Promise<unknown> =>
  deliver({ Records: [{ body: JSON.stringify(named(conversation)), receiptHandle: 'handle' }] } as SQSEvent, context);

const shift = (milliseconds: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds });
};

/** Texts in the order of their first arrival. */
const firstArrivals = (): string[] => [...new Set(destination().calls.map(({ json }) => json.data.text.body))];

/** The number of ids under which a text arrived. */
const idsOf = (body: string): number =>
  new Set(
    destination()
      .calls.filter(({ json }) => json.data.text.body === body)
      .map(({ headers }) => headers['webhook-id']),
  ).size;

const statesOf = async ({ account, phone }: Conversation): Promise<string[]> =>
  (await listLogs(account, { phone }, 100)).entries.map(({ state }) => state).sort();

const isEmpty = async (conversation: Conversation): Promise<boolean> =>
  (await readHead(conversation)) === undefined && (await oldestEntries(conversation)).entries.length === 0;

describe('a conversation is delivered in order, each message with one id and logged once, if a wake-up', () => {
  test.each<[string, (conversation: Conversation) => Promise<unknown>]>([
    ['arrives twice', async (conversation) => [await wakeUp(conversation), await wakeUp(conversation)]],
    ['arrives twice at the same time', (conversation) => Promise.all([wakeUp(conversation), wakeUp(conversation)])],
    [
      'arrives before and at the time of a retry',
      async (conversation) => {
        destination().answers = [503, 503, 204];
        await wakeUp(conversation);
        await wakeUp(conversation);
        expect(destination().calls).toHaveLength(2);
        shift(120_000);
        await wakeUp(conversation);
      },
    ],
    [
      'arrives again after the delivery, when a new message is pending',
      async (conversation) => {
        await wakeUp(conversation);
        await sendMessage(conversation.account, text(conversation.phone, 'four'), {});
        await wakeUp(conversation);
        await wakeUp(conversation);
      },
    ],
  ])('%s', async (_, wakes) => {
    vi.stubEnv('MINUTE', '3000');
    const conversation = await pending();
    await wakes(conversation);
    const texts = firstArrivals();
    expect(texts.slice(0, 3)).toEqual(BODIES);
    expect(texts.map(idsOf)).toEqual(texts.map(() => 1));
    expect(await statesOf(conversation)).toEqual([
      ...texts.map(() => 'delivered_to_server'),
      ...texts.map(() => 'sent'),
    ]);
    expect(await isEmpty(conversation)).toBe(true);
  });
});

/** Start and end positions of batches, in which each record occurs at least once, as in a replayed stream. */
const cuts = (length: number): fc.Arbitrary<[number, number][]> =>
  fc
    .array(fc.tuple(fc.nat(length - 1), fc.integer({ min: 1, max: length })), { maxLength: 4 })
    .chain((replayed) =>
      fc
        .integer({ min: 1, max: length - 1 })
        .map((middle): [number, number][] => [
          ...replayed.map(([start, size]): [number, number] => [start, start + size]),
          [0, middle],
          [middle, length],
        ]),
    );

describe('a stream that is cut and replayed in any way', () => {
  test('causes one wake-up per outbox entry, identified by its name', async () => {
    const conversation: Conversation = { direction: 'app', account: 'acme', phone: '27821234567' };
    const keys = Array.from({ length: 25 }, (_, index) =>
      entryKey(conversationName({ ...conversation, phone: `2782123456${index % 4}` }), String(index)),
    );
    await fc.assert(
      fc.asyncProperty(cuts(keys.length), async (batches) => {
        queue.taken.length = 0;
        for (const [start, end] of batches) {
          const Records = keys.slice(start, end).map((key) => ({ dynamodb: { Keys: marshall(key) } }));
          await relay({ Records } as DynamoDBStreamEvent, context);
        }
        const names = queue.taken.map(
          (one) => `${one.MessageGroupId} ${one.MessageBody} ${one.MessageDeduplicationId}`,
        );
        expect(new Set(names).size).toBe(keys.length);
      }),
      { numRuns: 20 },
    );
  });

  test('causes each log entry to be counted once', async () => {
    await fc.assert(
      fc.asyncProperty(cuts(20), async (batches) => {
        const { account, records } = await logged(20);
        for (const [start, end] of batches) {
          await count({ Records: records.slice(start, end) } as DynamoDBStreamEvent, context);
        }
        expect(await counted(account)).toBe(20);
      }),
      { numRuns: 10 },
    );
  });
});

/** Documentation disagrees on whether a filter may name the kind of a change: what it would keep back must do no harm. */
describe('a change of a kind that is not for the worker', () => {
  test.each(['MODIFY', 'REMOVE'] as const)('wakes nobody twice: %s of an entry of an outbox', async (eventName) => {
    queue.taken.length = 0;
    const key = entryKey('app#acme#27821234567', '1');
    for (const name of ['INSERT', eventName] as const) {
      await relay(
        { Records: [{ eventName: name, dynamodb: { Keys: marshall(key) } }] } as DynamoDBStreamEvent,
        context,
      );
    }
    expect(queue.taken).toHaveLength(2);
    // The queue drops the second one.
    expect(new Set(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId)).size).toBe(1);
  });

  test('counts nothing: a log entry that is marked as counted, or removed', async () => {
    const { account, records } = await logged(3);
    await count({ Records: records } as DynamoDBStreamEvent, context);
    const marked = records.map(({ dynamodb }) => ({ eventName: 'MODIFY', dynamodb }));
    const removed = { eventName: 'REMOVE', dynamodb: { Keys: marshall(messageKey(`${account}-0`)) } };
    await count({ Records: [...marked, removed] } as DynamoDBStreamEvent, context);
    expect(await counted(account)).toBe(3);
  });
});

/** Log entries of a new account, and their stream records. */
const logged = async (length: number): Promise<{ account: string; records: StreamRecord[] }> => {
  const [account, job_id] = [newAccountId(), newId()];
  const records = await Promise.all(
    Array.from({ length }, async (_, index) => {
      const message: Message = {
        id: randomUUID(),
        account,
        phone: '1',
        job_id,
        payload_type: 'text',
        ...lifetime,
      };
      const item = logItem(message, 'sent', '2030-01-01T00:00:00.000000');
      await putIfAbsent(item);
      return recordOf(item, index);
    }),
  );
  return { account, records };
};

const recordOf = (item: object, index: number): StreamRecord => ({
  eventName: 'INSERT',
  dynamodb: Object.assign(
    { SequenceNumber: String(index), ApproximateCreationDateTime: Math.floor(Date.now() / 1_000) },
    { Keys: {}, NewImage: marshall(item, { removeUndefinedValues: true }) },
  ),
});

const counted = async (account: string): Promise<number> =>
  (await listJobs(account, '2030-01-01', '2030-01-01')).reduce((sum, one) => sum + one.count, 0);

test('only a log entry of an unknown format is skipped, with an error in the log; the others are counted', async () => {
  const { account, records } = await logged(8);
  const broken = recordOf({ pk: 'MESSAGE#broken', sk: 'MESSAGE', account }, 99);
  const failed: unknown[] = [];
  const batches = new BatchHandler(
    {
      kind: 'stream',
      id: 'Mapping',
      function: 'Count',
      batchSize: 100,
      parallelization: 1,
      reportsFailures: false,
      window: 0,
      filter: () => true,
      bisects: true,
      retries: 1,
      oldest: Number.POSITIVE_INFINITY,
      onFailure: 'Failed',
      needs: [],
    },
    {
      streamArn: 'arn:stream',
      invoke: (_, event) => count(event as DynamoDBStreamEvent, context),
      tell: (_, message) => failed.push(message),
      faultInjection: {},
      signal: new AbortController().signal,
    },
  );
  await batches.handle('shard-1', [...records.slice(0, 5), broken, ...records.slice(5)], () => undefined);
  expect(await counted(account)).toBe(8);
  expect(failed).toMatchObject([{ DDBStreamBatchInfo: { batchSize: 1, startSequenceNumber: '99' } }]);
  expect(written.join()).toContain('"level":"error","message":"count"');
});

describe('a message that cannot be built', () => {
  /** A conversation with a chat platform whose first entry has no content. */
  const broken = async (): Promise<Conversation> => {
    const { account, bot, phone } = await newBusiness({ name: 'rapidpro', settings: { url: destination().url } });
    for (const body of BODIES) await receiveMessage(`${phone} ${body}`, { from: phone, ...text(bot, body) });
    const conversation: Conversation = { direction: 'platform', account, phone };
    await breakOldestEntry(conversation);
    return conversation;
  };

  const DAY = 86_400_000;

  test('fails each wake-up with an error in the log, and no other message overtakes it', async () => {
    const conversation = await broken();
    for (const _ of ['at once', 'again']) await expect(wakeUp(conversation)).rejects.toThrow('deliver failed');
    expect(queue.returned).toHaveLength(2);
    expect(written.join()).toContain('"level":"error","message":"deliver","error":"TypeError"');
    expect(destination().calls).toEqual([]);
    expect((await oldestEntries(conversation)).entries).toHaveLength(3);
  });

  test('fails permanently after three days, and the remaining messages are delivered', async () => {
    const conversation = await broken();
    shift(3 * DAY);
    await wakeUp(conversation);
    expect(destination().calls.map(({ body }) => new URLSearchParams(body).get('text'))).toEqual(['two', 'three']);
    expect(await statesOf(conversation)).toEqual(['received', 'received', 'received', 'reception_failed_http']);
    expect(written.join()).toContain('"message":"permanently failed"');
    expect(await isEmpty(conversation)).toBe(true);
  });
});
