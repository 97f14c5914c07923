/** The workers relay, deliver and erase, with a fake table and a fake queue. */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent, SQSEvent, SQSRecord } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as deliver } from '../../../functions/workers/deliver.ts';
import { handler as erase } from '../../../functions/workers/erase.ts';
import { handler as relay } from '../../../functions/workers/relay.ts';
import { batchKey } from '../../../shared/campaigns/entities.ts';
import { newBatchId } from '../../../shared/campaigns/ids.ts';
import { erasureKey, erasurePartition, markedPartition } from '../../../shared/messaging/entities.ts';
import { conversationName, entryKey, headKey, named } from '../../../shared/outbox/entities.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import type { Message } from '../../../shared/outbox/message.ts';
import { readWakeUp } from '../../../shared/outbox/wake-ups/conversations.ts';
import { readExpansionWakeUp } from '../../../shared/outbox/wake-ups/expansions.ts';
import { documents } from '../../../shared/table/client.ts';
import { dueOrder, duePartitions, type Key } from '../../../shared/table/keys.ts';
import { captureLog } from '../../support/captured-log.ts';
import { lifetime } from '../../support/lifetime.ts';
import { useFakeQueue } from '../support/fake-queue.ts';

const PHONE = '27821234567';
const TEXT = 'my secret text';

const written = captureLog();
const queue = useFakeQueue();

/** The log lines without trace ids and metrics, which other tests check. */
const lines = () =>
  written.map((line) => {
    const { trace_id: _trace, _aws, ...rest } = JSON.parse(line);
    return rest;
  });

/** The table's response to a command. */
type Table = (name: string, input: Record<string, unknown>) => unknown;

let table: Table;
const calls: { name: string; input: Record<string, unknown> }[] = [];

beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'table');
  vi.stubEnv('MESSAGE_RETENTION', '90');
  vi.stubEnv('COUNTER_RETENTION', '400');
  calls.length = 0;
  table = () => ({});
  vi.spyOn(documents, 'send').mockImplementation(async (command: { constructor: { name: string }; input: object }) => {
    const call = { name: command.constructor.name, input: { ...command.input } };
    calls.push(call);
    return table(call.name, call.input);
  });
});

afterEach(() => {
  expect(written.join(), 'the log').not.toContain(PHONE);
  expect(written.join(), 'the log').not.toContain(TEXT);
  vi.unstubAllEnvs();
});

const context = (remaining = 60_000) => ({ awsRequestId: 'call-1', getRemainingTimeInMillis: () => remaining });

const conversation: Conversation = { direction: 'platform', account: 'acme', phone: PHONE };

const message: Message = {
  id: '0198c0de-0000-7000-8000-000000000001',
  account: 'acme',
  phone: PHONE,
  job_id: '0198c0de-0000-7000-8000-000000000001',
  payload_type: 'text',
  ...lifetime,
};

describe('relay', () => {
  const keys = ['1', '2', '3'].map((id) => entryKey(conversationName({ ...conversation, phone: `${PHONE}${id}` }), id));

  const event = { Records: keys.map((key) => ({ dynamodb: { Keys: marshall(key) } })) } as DynamoDBStreamEvent;

  test('each new batch of messages wakes the expansion of its account, and names the batch', async () => {
    const id = newBatchId();
    const image = marshall({ ...batchKey('acme', id), trace_id: 'trace-1' });
    await relay(
      {
        Records: [{ dynamodb: { Keys: marshall(batchKey('acme', id)), NewImage: image } }],
      } as DynamoDBStreamEvent,
      context(),
    );
    const [sent] = queue.taken;
    expect(sent).toMatchObject({ MessageGroupId: 'acme', MessageDeduplicationId: id });
    expect(readExpansionWakeUp(sent?.MessageBody ?? '')).toMatchObject({
      account: 'acme',
      batch: id,
      trace_id: 'trace-1',
    });
    expect(lines()).toMatchObject([{ entries: 0, batches: 1, trace_ids: ['trace-1'] }]);
  });

  test('a repeated batch sends the same deduplication ids, so that the queue discards the repeats', async () => {
    await relay(event, context());
    await relay(event, context());
    const [first, again] = queue.calls;
    expect(again).toEqual(first);
  });
});

describe('deliver', () => {
  const wakeUp = (body = JSON.stringify(named(conversation)), receiptHandle = 'handle-1') =>
    ({ body, receiptHandle }) as SQSRecord;

  const event = (...Records: SQSRecord[]): SQSEvent => ({ Records });

  const head = {
    ...headKey(conversationName(conversation)),
    phone: PHONE,
    generation: 1,
    since: '2030-01-01T00:00:00.000000',
  };

  const received = {
    type: 'message.received',
    message,
    to: '27820000000',
    content: { type: 'text', text: { body: TEXT } },
  };

  /** RapidPro has no request for a user who starts again: `deliver` skips it. */
  const skipped = { type: 'user.state', user: { account: 'acme', phone: PHONE }, state: 'started' };

  const entry = (created = new Date().toISOString().replace('Z', '000'), outgoing: object = skipped) => ({
    ...entryKey(conversationName(conversation), '1'),
    id: '1',
    created,
    outgoing,
  });

  /** A table with one pending entry: of a webhook with these settings, else one that RapidPro does not get. */
  const holding =
    ({ settings, created }: { settings?: object; created?: string } = {}): Table =>
    (name, { Key }) => {
      const { pk = '', sk = '' } = (Key ?? {}) as Record<string, string>;
      if (name === 'GetCommand' && sk === 'HEAD') return { Item: { ...head, gsi1sk: '9999' } };
      if (name === 'GetCommand' && pk.startsWith('PLATFORM#'))
        return {
          Item: settings
            ? { platform: 'webhook', settings }
            : { platform: 'rapidpro', settings: { url: 'https://rapidpro.example.com/c/ex/1/receive' } },
        };
      const one = entry(created, settings ? received : skipped);
      if (name === 'QueryCommand') return { Items: [one] };
      if (name === 'BatchGetCommand') return { Responses: { table: [one] } };
      return { Attributes: { ...head, gsi1sk: '9999' } };
    };

  test('if no entry is left, deliver sends no wake-up, and logs its counts', async () => {
    table = holding();
    await deliver(event(wakeUp()), context());
    expect({ taken: queue.taken, returned: queue.returned }).toEqual({ taken: [], returned: [] });
    expect(lines()).toEqual([
      { level: 'info', message: 'skipped', type: 'user.state', account: 'acme' },
      { level: 'info', message: 'deliver', settled: 1, retry_scheduled: 0, unfinished: 0, stalled: 0, trace_ids: [] },
    ]);
  });

  /** A table with this many pending entries, which their transactions remove. */
  const pending = (count: number): Table => {
    const entries = Array.from({ length: count }, (_, index) => ({
      ...entry(),
      ...entryKey(conversationName(conversation), String(index)),
      id: String(index),
    }));
    const others = holding();
    return (name, input) => {
      if (name === 'QueryCommand') return { Items: [...entries] };
      if (name === 'BatchGetCommand') return { Responses: { table: entries.slice(0, 1) } };
      if (name === 'TransactWriteCommand') entries.shift();
      return others(name, input);
    };
  };

  /** Time to read the outbox, to acquire the circuit, and for one entry. */
  const contextForOne = () => {
    const left = [60_000, 60_000, 60_000];
    return { awsRequestId: 'call-1', getRemainingTimeInMillis: () => left.pop() ?? 5_000 };
  };

  test('if the time runs out, deliver sends one new wake-up, with a new deduplication id each time, until nothing is pending', async () => {
    table = pending(30);
    let invocations = 0;
    for (let next: string | undefined = JSON.stringify(named(conversation)); next !== undefined; invocations += 1) {
      await deliver(event(wakeUp(next)), contextForOne());
      next = queue.taken[invocations]?.MessageBody;
    }
    expect(invocations).toBe(30);
    expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody).conversation)).toEqual(
      Array(29).fill(named(conversation)),
    );
    expect(new Set(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId)).size).toBe(29);
    expect(queue.returned).toEqual([]);
    const summaries = lines().filter((line) => line.message === 'deliver');
    expect(summaries.slice(-2)).toEqual(
      [1, 0].map((unfinished) => ({
        level: 'info',
        message: 'deliver',
        settled: 1,
        retry_scheduled: 0,
        unfinished,
        stalled: 0,
        trace_ids: ['call-1'],
      })),
    );
  });

  test('if the time runs out before an entry left the outbox, deliver sends no wake-up', async () => {
    table = pending(1);
    await deliver(event(wakeUp()), context(5_000));
    expect({ taken: queue.taken, returned: queue.returned }).toEqual({ taken: [], returned: [] });
    expect(lines()).toEqual([
      {
        level: 'info',
        message: 'deliver',
        settled: 0,
        retry_scheduled: 0,
        unfinished: 1,
        stalled: 1,
        trace_ids: [],
      },
    ]);
  });

  test.each([
    ['29 s', 29_999, 1],
    ['30 s', 30_000, 0],
  ])('with %s left, a second wake-up of a group is replaced by a new one, or handled', async (_, left, replaced) => {
    table = () => ({});
    const second = named({ ...conversation, phone: `${PHONE}2` });
    const records = [wakeUp(), wakeUp(JSON.stringify({ ...second, trace_id: 'trace-2' }), 'handle-2')].map((one) => ({
      ...one,
      attributes: { MessageGroupId: 'platform#acme#1' },
    })) as SQSRecord[];
    await deliver(event(...records), context(left));
    expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody))).toEqual(
      Array(replaced).fill({ conversation: second, trace_id: 'trace-2' }),
    );
    expect(calls.filter(({ name }) => name === 'GetCommand')).toHaveLength(2 - replaced);
    expect(lines()).toMatchObject([{ message: 'deliver', trace_ids: replaced ? [] : ['trace-2'] }]);
  });

  const failing: Table = () => {
    throw new TypeError(`${PHONE} wrote ${TEXT}`);
  };

  test.each<[string, string, Table]>([
    ['whose delivery fails', JSON.stringify(named(conversation)), failing],
    ['that is not JSON', `${PHONE} ${TEXT}`, holding()],
    ['without a conversation', JSON.stringify({ phone: PHONE, text: TEXT }), holding()],
  ])('deliver fails and returns a wake-up %s to the queue for 5 s', async (_, body, response) => {
    table = response;
    await expect(deliver(event(wakeUp(body)), context())).rejects.toThrow(
      /^deliver failed; its log line says where\.$/,
    );
    expect(queue.returned).toEqual([{ ReceiptHandle: 'handle-1', VisibilityTimeout: 5 }]);
    expect(queue.taken).toEqual([]);
    expect(lines()).toMatchObject([{ level: 'error', message: 'deliver', error: expect.any(String) }]);
  });

  test('if a new wake-up cannot be sent, deliver returns the old one to the queue for 5 s and fails', async () => {
    table = pending(2);
    queue.takes = () => false;
    await expect(deliver(event(wakeUp()), contextForOne())).rejects.toThrow('deliver failed');
    expect(queue.returned).toEqual([{ ReceiptHandle: 'handle-1', VisibilityTimeout: 5 }]);
  });

  test('if the wake-up cannot be returned to the queue, deliver fails too', async () => {
    table = failing;
    queue.down = true;
    await expect(deliver(event(wakeUp()), context())).rejects.toThrow('deliver failed');
  });

  describe('deliver logs account, message and cause', () => {
    const settings = { url: 'https://10.0.0.1/', secret: `whsec_${Buffer.alloc(24).toString('base64')}` };

    const names = {
      type: 'message.received',
      account: 'acme',
      message_id: '0198c0de-0000-7000-8000-000000000001',
      cause: 'address_not_public',
    };

    beforeEach(() => void vi.stubEnv('MINUTE', '1'));

    test('of an entry whose retry is scheduled', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      table = holding({ settings });
      await deliver(event(wakeUp()), context());
      vi.useRealTimers();
      expect(lines()).toEqual([
        { level: 'warn', message: 'retry scheduled', ...names, reason: names.cause, attempts: 1, retries_scheduled: 1 },
        { level: 'info', message: 'deliver', settled: 0, retry_scheduled: 1, unfinished: 0, stalled: 0, trace_ids: [] },
      ]);
    });

    test('of an entry that fails permanently', async () => {
      table = holding({ settings, created: '2020-01-01T00:00:00.000000' });
      await deliver(event(wakeUp()), context());
      expect(lines()).toEqual([
        { level: 'error', message: 'permanently failed', ...names, reason: names.cause, permanently_failed: 1 },
        { level: 'info', message: 'deliver', settled: 1, retry_scheduled: 0, unfinished: 0, stalled: 0, trace_ids: [] },
      ]);
    });
  });
});

describe('erase', () => {
  const phones = ['1', '2', '3'].map((end) => `${PHONE}${end}`);
  const BEGUN = '2030-01-01T00:00:00.000Z';

  const keyOf = (phone: string) => erasureKey(phone).pk;

  /** A table with pending erasures on two pages. The erasures of the given phones fail. */
  const holding =
    (...failing: string[]): Table =>
    (name, { Key, ExpressionAttributeValues, ExclusiveStartKey }) => {
      const { pk = '' } = (Key ?? {}) as Record<string, string>;
      const { ':due': due } = (ExpressionAttributeValues ?? {}) as Record<string, string>;
      if (due === erasurePartition) {
        const [first, ...others] = phones.map(erasureKey);
        return ExclusiveStartKey ? { Items: others } : { Items: [first], LastEvaluatedKey: first };
      }
      if (failing.some((phone) => pk === keyOf(phone))) throw new TypeError(`${PHONE} wrote ${TEXT}`);
      const erasure = {
        pk,
        sk: 'ERASURE',
        pseudonym: 'erased-1',
        requested: BEGUN,
        gsi1pk: erasurePartition,
        gsi1sk: BEGUN,
      };
      return name === 'GetCommand' && pk.startsWith(erasureKey('').pk) ? { Item: erasure } : {};
    };

  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse('2030-01-01T01:00:00.000Z'), toFake: ['Date'] });
  });

  afterEach(() => void vi.useRealTimers());

  /** The erasures whose steps are done: only their marks are left. */
  const finished = () =>
    calls.flatMap(({ input: { ExpressionAttributeValues, Key } }) =>
      (ExpressionAttributeValues as Record<string, string> | undefined)?.[':marked'] === markedPartition
        ? [Key as Key]
        : [],
    );

  const erasures = { step: 'erasures' } as const;

  test('the step of erasures does all that are due, of all pages', async () => {
    table = holding();
    await erase(erasures, context());
    expect(finished().toSorted((a, b) => (a.pk < b.pk ? -1 : 1))).toEqual(phones.map(erasureKey));
    expect(calls[0]).toMatchObject({
      input: { ExpressionAttributeValues: { ':time': '2030-01-01T01:00:00.000Z' } },
    });
    expect(lines()).toMatchObject([{ level: 'info', message: 'erase', step: 'erasures', steps: 3, failed: 0 }]);
  });

  test('a failed erasure does not stop the others, and erase fails at its end', async () => {
    table = holding(`${PHONE}1`);
    await expect(erase(erasures, context())).rejects.toThrow('erase failed');
    expect(finished().toSorted((a, b) => (a.pk < b.pk ? -1 : 1))).toEqual(phones.slice(1).map(erasureKey));
    expect(lines()).toMatchObject([
      { level: 'error', message: 'erasure failed', error: 'TypeError' },
      { level: 'error', message: 'erase', error: 'Error' },
    ]);
  });

  test('with 9 s left, erase starts no erasure', async () => {
    table = holding();
    await erase(erasures, context(9_000));
    expect(calls).toEqual([]);
    expect(lines()).toMatchObject([{ level: 'info', message: 'erase', steps: 0, failed: 0 }]);
  });

  test('a consent that cannot be ended does not stop the others, and erase fails at its end', async () => {
    const consents = ['bad', 'good'].map((id) => ({
      ...{ pk: `REQUEST#${id}`, sk: 'CONSENT#2030-01-01T00:00:00.000000' },
      gsi1sk: dueOrder('acme', '2030-01-01T00:00:00.000000'),
    }));
    table = (_name, { IndexName, ExpressionAttributeValues }) => {
      const [partition = ''] = Object.values((ExpressionAttributeValues ?? {}) as Record<string, string>);
      if (IndexName === 'gsi1') return { Items: partition === duePartitions('consents').at(-1) ? consents : [] };
      if (partition === 'REQUEST#bad') throw new TypeError(`${PHONE} wrote ${TEXT}`);
      return { Items: [] };
    };
    await expect(erase({ step: 'consents' }, context())).rejects.toThrow('erase failed');
    const read = calls.map(({ input }) => Object.values(input.ExpressionAttributeValues ?? {})[0]);
    expect(read.slice(-2).sort()).toEqual(['REQUEST#bad', 'REQUEST#good']);
    expect(lines()).toMatchObject([
      { level: 'error', message: 'consent not ended', error: 'TypeError' },
      { level: 'error', message: 'erase', error: 'Error' },
    ]);
  });

  test('erase fails if an erasure failed before the time ran out', async () => {
    table = holding(`${PHONE}1`);
    const remaining = () => (written.length === 0 ? 60_000 : 9_000);
    await expect(erase(erasures, { ...context(), getRemainingTimeInMillis: remaining })).rejects.toThrow(
      'erase failed',
    );
    expect(finished()).toEqual([]);
  });
});
