/**
 * How a mapping reads shards, with a fake stream: the embedded database has one endless shard, but DynamoDB ends shards
 * and begins new ones.
 *
 * @module-tag long
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type ClientRequest, createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stream, type StreamRecord } from '../../infra/local/aws/event-sources/stream.ts';
import { type Positions, StreamSource } from '../../infra/local/aws/event-sources/stream-source.ts';
import { Writes } from '../../infra/local/aws/event-sources/writes.ts';
import { listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import type { StreamMapping } from '../../infra/local/aws/template/definitions.ts';

const mapping: StreamMapping = {
  kind: 'stream',
  id: 'Mapping',
  function: 'Count',
  batchSize: 2,
  parallelization: 1,
  reportsFailures: false,
  window: 0,
  filter: (record) => (record as StreamRecord).eventName === 'INSERT',
  bisects: false,
  retries: 0,
  oldest: Number.POSITIVE_INFINITY,
  onFailure: undefined,
  needs: [],
};

interface FakeShard {
  parent?: string;
  /** Sequence numbers of inserts; negative numbers mark other changes. */
  records: number[];
  ended: boolean;
}

/** The shards by id. */
let shards: Record<string, FakeShard> = {};
/** The types of the errors that the next calls of GetRecords return. */
let errors: string[] = [];
let positions: Positions = new Map();
let calls: number[][] = [];
let server: Server;
let endpoint: string;
let source: StreamSource | undefined;
let writes: Writes;

type Input = { ShardId: string; SequenceNumber?: string; ShardIterator: string; ExclusiveStartShardId?: string };

/** Pages have one shard or three records. An iterator is a shard and the number of records read from it. */
const answers: Record<string, (input: Input) => object> = {
  DescribeStream: ({ ExclusiveStartShardId }) => {
    const ids = Object.keys(shards);
    const index = ExclusiveStartShardId === undefined ? 0 : ids.indexOf(ExclusiveStartShardId) + 1;
    const [id = '', ...more] = ids.slice(index);
    const shard = { ShardId: id, ...(shards[id]?.parent && { ParentShardId: shards[id].parent }) };
    return { StreamDescription: { Shards: [shard], ...(more.length > 0 && { LastEvaluatedShardId: id }) } };
  },
  GetShardIterator: ({ ShardId, SequenceNumber }) => {
    const read =
      SequenceNumber === undefined ? 0 : recordsOf(ShardId).map(Math.abs).indexOf(Number(SequenceNumber)) + 1;
    return { ShardIterator: JSON.stringify([ShardId, read]) };
  },
  GetRecords: ({ ShardIterator }) => {
    const error = errors.shift();
    if (error !== undefined) return { __type: `com.amazonaws.dynamodb.v20120810#${error}` };
    const [id, read] = JSON.parse(ShardIterator) as [string, number];
    const page = recordsOf(id).slice(read, read + 3);
    const isEnd = shards[id]?.ended && read + page.length === recordsOf(id).length;
    return {
      Records: page.map((number) => ({
        eventName: number > 0 ? 'INSERT' : 'MODIFY',
        dynamodb: {
          SequenceNumber: String(Math.abs(number)),
          ApproximateCreationDateTime: 1,
          Keys: { pk: { S: String(number % 10) } },
        },
      })),
      ...(!isEnd && { NextShardIterator: JSON.stringify([id, read + page.length]) }),
    };
  },
};

const recordsOf = (shard: string): number[] => shards[shard]?.records ?? [];

beforeEach(async () => {
  errors = [];
  positions = new Map();
  calls = [];
  writes = new Writes();
  server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).replace(/^.*\./, '');
    const answer = answers[action]?.((await json(request)) as Input) ?? {};
    response.writeHead('__type' in answer ? 400 : 200);
    response.end(JSON.stringify(answer));
  });
  endpoint = await listenOnLoopback(server, 0);
});

afterEach(async () => {
  await source?.stop();
  server.close();
});

const read = (
  settings: Partial<StreamMapping> = {},
  handle: (batch: number[]) => Promise<void> = async (batch) => void calls.push(batch),
  delay?: () => number,
): StreamSource => {
  source = new StreamSource(
    { ...mapping, ...settings },
    {
      stream: new Stream(endpoint, 'arn:stream'),
      writes,
      positions,
      invoke: async (_, event) => {
        const { Records } = event as { Records: StreamRecord[] };
        await handle(Records.map(({ dynamodb }) => Number(dynamodb.SequenceNumber)));
      },
      tell: () => undefined,
      faultInjection: {},
      ...(delay && { delay }),
    },
  );
  return source;
};

test('the children of a shard are read after its end', async () => {
  shards = {
    left: { parent: 'one', records: [3, 4], ended: false },
    right: { parent: 'one', records: [30], ended: false },
    one: { parent: 'forgotten', records: [1, 2], ended: false },
  };
  read();
  await expect.poll(() => calls).toEqual([[1, 2]]);
  if (shards.one) shards.one.ended = true;
  await expect.poll(() => calls.length).toBe(3);
  expect(calls.slice(1)).toEqual(expect.arrayContaining([[3, 4], [30]]));
});

test('after a restart, reading continues after the last finished record, even one that did not match the filter', async () => {
  shards = { one: { records: [1, 2, -3], ended: true }, two: { parent: 'one', records: [4, -5], ended: false } };
  const first = read();
  await expect.poll(() => positions.get('two')).toEqual({ after: '5', ended: false });
  await first.stop();
  recordsOf('two').push(6);
  read();
  await expect.poll(() => calls).toEqual([[1, 2], [4], [6]]);
});

test.each(['ExpiredIteratorException', 'InternalServerError'])(
  'after an error, reading continues after the last finished record: %s',
  async (error) => {
    shards = { one: { records: [1, 2], ended: false } };
    read();
    await expect.poll(() => calls).toEqual([[1, 2]]);
    errors.push(error, error);
    recordsOf('one').push(3);
    await expect.poll(() => calls).toEqual([[1, 2], [3]]);
  },
);

describe('with a parallelization factor', () => {
  /** Ends the calls that are waiting. */
  let letGo = Promise.withResolvers<void>();
  beforeEach(() => {
    letGo = Promise.withResolvers();
  });
  afterEach(() => letGo.resolve());

  test('several batches of a shard are handled at once, those of an item in order; the position follows all', async () => {
    // The item of a record is the number's last digit.
    const records = Array.from({ length: 12 }, (_, index) => index + 1);
    shards = { one: { records, ended: false } };
    const seen: number[][] = [];
    read({ parallelization: 4, batchSize: 3, window: 1_000 }, async (batch) => {
      seen.push(batch);
      await letGo.promise;
    });
    await expect.poll(() => seen.length).toBeGreaterThan(1);
    expect(seen.length).toBeLessThanOrEqual(4);
    expect(positions.get('one')?.after).toBeUndefined();
    letGo.resolve();
    await expect.poll(() => positions.get('one')?.after).toBe('12');
    expect(seen.flat().toSorted((a, b) => a - b)).toEqual(records);
    for (const batch of seen) expect(batch.length).toBeLessThanOrEqual(3);
    for (const digit of [1, 2]) {
      expect(seen.flat().filter((number) => number % 10 === digit)).toEqual([digit, digit + 10]);
    }
  });

  test('a source that is stopped waits for every call, and reads their records again', async () => {
    shards = { one: { records: [1, 2, 3, 4, 5, 6], ended: false } };
    let running = 0;
    const stopped = read({ parallelization: 4, batchSize: 3 }, async () => {
      running += 1;
      await letGo.promise;
      running -= 1;
    });
    await expect.poll(() => running).toBeGreaterThan(1);
    const stopping = stopped.stop().then(() => running);
    letGo.resolve();
    expect(await stopping).toBe(0);
  });
});

test('with a batching window, an incomplete batch waits for more records', async () => {
  shards = { one: { records: [1], ended: false } };
  read({ window: 3_600_000 });
  await expect.poll(() => positions.has('one')).toBe(true);
  recordsOf('one').push(2, 3);
  await expect.poll(() => calls).toEqual([[1, 2]]);
  if (shards.one) shards.one.ended = true;
  await expect.poll(() => calls).toEqual([[1, 2], [3]]);
});

test('records that wait for more form a batch when batches are closed; later records wait again', async () => {
  shards = { one: { records: [1, 2, 3], ended: false } };
  const waiting = read({ batchSize: 10, window: 3_600_000 });
  await expect.poll(() => waiting.waiting).toBe(3);
  waiting.closeBatches();
  await expect.poll(() => calls).toEqual([[1, 2, 3]]);
  await expect.poll(() => waiting.waiting).toBe(0);
  waiting.closeBatches();
  recordsOf('one').push(4);
  await expect.poll(() => waiting.waiting).toBe(1);
  expect(calls).toEqual([[1, 2, 3]]);
});

test('delayed records are handled after their delays, in order; at the end of their shard, without', async () => {
  shards = { one: { records: [1], ended: false } };
  let delay = 30;
  const delayed = read({}, undefined, () => delay);
  recordsOf('one').push(2);
  await expect.poll(() => calls.flat()).toEqual([1, 2]);
  delay = 3_600_000;
  recordsOf('one').push(3);
  await expect.poll(() => delayed.waiting).toBe(1);
  expect(calls.flat()).toEqual([1, 2]);
  if (shards.one) shards.one.ended = true;
  await expect.poll(() => calls.flat()).toEqual([1, 2, 3]);
});

test('a stopped source sends no requests', async () => {
  shards = { one: { records: [1], ended: false } };
  const stopped = read();
  await expect.poll(() => calls).toEqual([[1]]);
  await stopped.stop();
  // Counts requests when the client begins them: one that was sent before may reach the server later.
  const targets: unknown[] = [];
  const add = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    if (request.getHeader('host') === new URL(endpoint).host) targets.push(request.getHeader('x-amz-target'));
  };
  subscribe('http.client.request.start', add);
  // After a write, a running source would read within 20 ms.
  writes.notify();
  await new Promise((resolve) => setTimeout(resolve, 100));
  unsubscribe('http.client.request.start', add);
  expect(targets).toEqual([]);
});
