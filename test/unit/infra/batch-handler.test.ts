/** How a batch of the stream is handled, told by the calls that the function gets: each record is its number. */
import { beforeEach, describe, expect, test } from 'vitest';
import { BatchHandler } from '../../../infra/local/aws/event-sources/batch-handler.ts';
import type { StreamRecord } from '../../../infra/local/aws/event-sources/stream.ts';
import type { FaultInjection } from '../../../infra/local/aws/fault-injection.ts';
import type { StreamMapping } from '../../../infra/local/aws/template/definitions.ts';

const mapping: StreamMapping = {
  kind: 'stream',
  id: 'Mapping',
  function: 'Count',
  batchSize: 100,
  reportsFailures: true,
  window: 0,
  filter: () => true,
  bisects: false,
  retries: 1,
  oldest: Number.POSITIVE_INFINITY,
  onFailure: 'Failed',
  needs: [],
};

const now = Math.floor(Date.now() / 1000);

const record = (sequence: number, age = 0): StreamRecord => ({
  eventName: 'INSERT',
  dynamodb: { SequenceNumber: String(sequence), ApproximateCreationDateTime: now - age },
});

const sequences = (records: StreamRecord[]): number[] => records.map(({ dynamodb }) => Number(dynamodb.SequenceNumber));

interface Notice {
  requestContext: { condition: string; functionArn: string; approximateInvokeCount: number };
  DDBStreamBatchInfo: object;
}

let calls: number[][] = [];
let done: number[] = [];
let notices: Notice[] = [];

beforeEach(() => {
  calls = [];
  done = [];
  notices = [];
});

/** What the function does with a batch: it answers, or throws. */
type Behaviour = (batch: number[]) => unknown;

const failures = (...items: number[]) => ({
  batchItemFailures: items.map((item) => ({ itemIdentifier: String(item) })),
});

const throwOn =
  (bad: number): Behaviour =>
  (batch) => {
    if (batch.includes(bad)) throw new Error('bad');
  };

interface Options {
  behave: Behaviour;
  settings?: Partial<StreamMapping>;
  faults?: FaultInjection;
  signal?: AbortSignal;
}

const handle = (batch: StreamRecord[], { behave, settings = {}, faults = {}, signal }: Options): Promise<void> => {
  const handler = new BatchHandler(
    { ...mapping, ...settings },
    {
      streamArn: 'arn:stream',
      invoke: async (_, event) => {
        const called = sequences((event as { Records: StreamRecord[] }).Records);
        calls.push(called);
        return behave(called);
      },
      tell: (queue, message) => {
        expect(queue).toBe('Failed');
        notices.push(message as Notice);
      },
      faultInjection: faults,
      signal: signal ?? new AbortController().signal,
    },
  );
  return handler.handle('shard-1', batch, (records) => void done.push(...sequences(records)));
};

const four = [1, 2, 3, 4].map((sequence) => record(sequence));

test('a batch that succeeds is called for once', async () => {
  await handle(four, { behave: () => undefined });
  expect({ calls, done, notices }).toEqual({ calls: [[1, 2, 3, 4]], done: [1, 2, 3, 4], notices: [] });
});

test('a batch that fails comes again as it was, as often as it may', async () => {
  await handle(four, { behave: throwOn(3), settings: { retries: 2 } });
  expect(calls).toEqual([
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [1, 2, 3, 4],
  ]);
});

test('records that fail permanently are notified of by their place, without what they hold, and count as done', async () => {
  await handle(four, { behave: throwOn(3) });
  expect(done).toEqual([1, 2, 3, 4]);
  expect(notices).toMatchObject([
    {
      requestContext: {
        condition: 'RetryAttemptsExhausted',
        functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:Count',
        approximateInvokeCount: 2,
      },
      DDBStreamBatchInfo: {
        shardId: 'shard-1',
        startSequenceNumber: '1',
        endSequenceNumber: '4',
        approximateArrivalOfFirstRecord: new Date(now * 1000).toISOString(),
        batchSize: 4,
        streamArn: 'arn:stream',
      },
    },
  ]);
  expect(JSON.stringify(notices)).not.toContain('INSERT');
});

test('without a place to tell it, records fail permanently silently', async () => {
  await handle(four, { behave: throwOn(3), settings: { onFailure: undefined, retries: 0 } });
  expect({ done, notices }).toEqual({ done: [1, 2, 3, 4], notices: [] });
});

test('a batch that is cut in two loses the one bad record only, in order', async () => {
  await handle(four, { behave: throwOn(3), settings: { bisects: true } });
  expect(calls).toEqual([[1, 2, 3, 4], [1, 2], [3, 4], [3], [3], [4]]);
  expect(done).toEqual([1, 2, 3, 4]);
  expect(notices).toMatchObject([{ DDBStreamBatchInfo: { startSequenceNumber: '3', endSequenceNumber: '3' } }]);
});

describe('a function that names what failed', () => {
  test('gets the records from the first of those on', async () => {
    const answers = [failures(4, 3), undefined];
    await handle(four, { behave: () => answers.shift() });
    expect(calls).toEqual([
      [1, 2, 3, 4],
      [3, 4],
    ]);
    expect({ done, notices }).toEqual({ done: [1, 2, 3, 4], notices: [] });
  });

  test('and always the first gets them as often as they may come, and then none of them', async () => {
    await handle(four, { behave: ([first = 0]) => failures(first), settings: { bisects: true } });
    expect(calls).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);
    expect(notices).toMatchObject([{ DDBStreamBatchInfo: { batchSize: 4 } }]);
  });

  test('makes progress count: records that were not the first may fail as often again', async () => {
    const answers = [failures(1), failures(2), failures(2), undefined];
    await handle(four, { behave: () => answers.shift() });
    expect(calls.map(([first]) => first)).toEqual([1, 1, 2, 2]);
    expect({ done, notices }).toEqual({ done: [1, 2, 3, 4], notices: [] });
  });

  test('is not heard where its mapping does not ask', async () => {
    await handle(four, { behave: () => failures(1), settings: { reportsFailures: false } });
    expect(calls).toEqual([[1, 2, 3, 4]]);
  });
});

test('records that are too old fail permanently without a call, and the others are handled', async () => {
  const batch = [record(1, 100), record(2, 90), record(3)];
  await handle(batch, { behave: () => undefined, settings: { oldest: 60_000 } });
  expect({ calls, done }).toEqual({ calls: [[3]], done: [1, 2, 3] });
  expect(notices).toMatchObject([
    {
      requestContext: { condition: 'RecordAgeExceeded', approximateInvokeCount: 0 },
      DDBStreamBatchInfo: { startSequenceNumber: '1', endSequenceNumber: '2', batchSize: 2 },
    },
  ]);
  expect(notices[0]).not.toHaveProperty('responseContext');
});

test('a call that is ended by stopping tells nothing about its records', async () => {
  const stopping = new AbortController();
  const behave = () => {
    stopping.abort();
    throw new Error('Closed');
  };
  await expect(handle(four, { behave, settings: { retries: 0 }, signal: stopping.signal })).rejects.toThrow();
  expect({ calls, done, notices }).toEqual({ calls: [[1, 2, 3, 4]], done: [], notices: [] });
});

describe('a fault has a function handle again what it has handled', () => {
  test.each<[string, ReturnType<NonNullable<FaultInjection['repeatBatch']>>, number[][]]>([
    ['not at all', 'no', []],
    ['as it was', 'whole', [[1, 2, 3, 4]]],
    ['cut otherwise', { cutAt: 1 }, [[1], [2, 3, 4]]],
    ['cut at its end', { cutAt: 4 }, [[1, 2, 3, 4]]],
  ])('%s', async (_, repetition, again) => {
    const asked: unknown[] = [];
    const repeatBatch = (batch: unknown) => {
      asked.push(batch);
      return repetition;
    };
    await handle(four, { behave: () => undefined, faults: { repeatBatch } });
    expect(calls).toEqual([[1, 2, 3, 4], ...again]);
    expect(asked).toEqual([{ function: 'Count', size: 4 }]);
  });

  test('and what fails then is tried again like everything else', async () => {
    const answers = [undefined, failures(2), undefined];
    await handle(four, { behave: () => answers.shift(), faults: { repeatBatch: () => 'whole' } });
    expect(calls).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [2, 3, 4],
    ]);
  });
});
