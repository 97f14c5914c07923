/**
 * How the emulator handles a batch of stream records, by the calls that the function receives. Records are shown by
 * number.
 */
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
  parallelization: 1,
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
  dynamodb: { SequenceNumber: String(sequence), ApproximateCreationDateTime: now - age, Keys: {} },
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

/** The function's response to a batch, or a throw. */
type Respond = (batch: number[]) => unknown;

const failures = (...items: number[]) => ({
  batchItemFailures: items.map((item) => ({ itemIdentifier: String(item) })),
});

const throwOn =
  (bad: number): Respond =>
  (batch) => {
    if (batch.includes(bad)) throw new Error('bad');
  };

interface Options {
  behave: Respond;
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

test('a failed batch is repeated unchanged for the configured number of retries', async () => {
  await handle(four, { behave: throwOn(3), settings: { retries: 2 } });
  expect(calls).toEqual([
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [1, 2, 3, 4],
  ]);
});

test('without a failure destination, records that fail permanently count as done without a notice', async () => {
  await handle(four, { behave: throwOn(3), settings: { onFailure: undefined, retries: 0 } });
  expect({ done, notices }).toEqual({ done: [1, 2, 3, 4], notices: [] });
});

describe('a function that reports failed records', () => {
  test('that always reports the first record receives the batch once per attempt, and then the records fail permanently', async () => {
    await handle(four, { behave: ([first = 0]) => failures(first), settings: { bisects: true } });
    expect(calls).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);
    expect(notices).toMatchObject([{ DDBStreamBatchInfo: { batchSize: 4 } }]);
  });

  test('after progress, the retries of the remaining records start again', async () => {
    const answers = [failures(1), failures(2), failures(2), undefined];
    await handle(four, { behave: () => answers.shift() });
    expect(calls.map(([first]) => first)).toEqual([1, 1, 2, 2]);
    expect({ done, notices }).toEqual({ done: [1, 2, 3, 4], notices: [] });
  });

  test('has no effect if the mapping does not enable reports', async () => {
    await handle(four, { behave: () => failures(1), settings: { reportsFailures: false } });
    expect(calls).toEqual([[1, 2, 3, 4]]);
  });
});

test('records over the maximum age fail permanently without a call, and the others are handled', async () => {
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

test('if the emulator stops during a call, its records are neither done nor in a notice', async () => {
  const stopping = new AbortController();
  const behave = () => {
    stopping.abort();
    throw new Error('Closed');
  };
  await expect(handle(four, { behave, settings: { retries: 0 }, signal: stopping.signal })).rejects.toThrow();
  expect({ calls, done, notices }).toEqual({ calls: [[1, 2, 3, 4]], done: [], notices: [] });
});

describe('fault injection repeats a handled batch', () => {
  test.each<[string, ReturnType<NonNullable<FaultInjection['repeatBatch']>>, number[][]]>([
    ['not at all', 'no', []],
    ['unchanged', 'whole', [[1, 2, 3, 4]]],
    ['cut in two', { cutAt: 1 }, [[1], [2, 3, 4]]],
    ['cut at its end', { cutAt: 4 }, [[1, 2, 3, 4]]],
  ])('%s', async (_, repetition, again) => {
    const batches: unknown[] = [];
    const repeatBatch = (batch: unknown) => {
      batches.push(batch);
      return repetition;
    };
    await handle(four, { behave: () => undefined, faults: { repeatBatch } });
    expect(calls).toEqual([[1, 2, 3, 4], ...again]);
    expect(batches).toEqual([{ function: 'Count', size: 4 }]);
  });

  test('with a failure in the repeat, which is retried', async () => {
    const answers = [undefined, failures(2), undefined];
    await handle(four, { behave: () => answers.shift(), faults: { repeatBatch: () => 'whole' } });
    expect(calls).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [2, 3, 4],
    ]);
  });
});
