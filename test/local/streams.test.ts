/**
 * Event source mappings of the table's stream, with the embedded database.
 *
 * @module-tag long
 */
import { DeleteItemCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Repetition } from '../../infra/local/aws/fault-injection.ts';
import { openRemote, type Remote } from './support/remote.ts';
import {
  allow,
  arn,
  attribute,
  type SmallStack,
  type SmallTemplate,
  serve,
  withChanges,
} from './support/small-stack.ts';

const READ = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];

const stream = attribute('Table', 'StreamArn');

const mapping = (functionId: string, pattern: object, properties: object = {}) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: stream,
    FunctionName: { Ref: functionId },
    BatchSize: 100,
    StartingPosition: 'TRIM_HORIZON',
    FilterCriteria: { Filters: [{ Pattern: JSON.stringify(pattern) }] },
    BisectBatchOnFunctionError: true,
    MaximumRetryAttempts: 1,
    MaximumRecordAgeInSeconds: 3_600,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    DestinationConfig: { OnFailure: { Destination: arn('Failed') } },
    ...properties,
  },
});

const insertsOf = (prefix: string) => ({
  eventName: ['INSERT'],
  dynamodb: { Keys: { pk: { S: [{ prefix }] } } },
});

let remote: Remote;
let small: SmallStack;
let table: DynamoDBClient;
let repetition: Repetition = 'no';

const templateOf = (): SmallTemplate => ({
  functions: {
    Relay: {
      source: remote.source('Relay'),
      statements: [allow(READ, stream), allow('dynamodb:ListStreams', '*'), allow('sqs:SendMessage', arn('Failed'))],
    },
    Count: {
      source: remote.source('Count'),
      statements: [allow([...READ, 'dynamodb:ListStreams'], stream), allow('sqs:SendMessage', arn('Failed'))],
    },
  },
  resources: {
    Failed: { Type: 'AWS::SQS::Queue' },
    RelayMapping: mapping('Relay', insertsOf('OUTBOX#')),
    CountMapping: mapping('Count', insertsOf('LOG#'), { ParallelizationFactor: 1, MaximumBatchingWindowInSeconds: 0 }),
  },
});

beforeAll(async () => {
  remote = await openRemote();
  small = await serve(templateOf(), { minute: 200, faultInjection: { repeatBatch: () => repetition } });
  table = new DynamoDBClient({
    endpoint: small.stack.dynamodbEndpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  });
});

afterAll(async () => {
  await small.close();
  await remote.close();
});

beforeEach(() => {
  repetition = 'no';
  for (const name of ['Relay', 'Count']) remote.setHandler(name, () => undefined);
});

const put = (pk: string, more: object = {}) =>
  table.send(new PutItemCommand({ TableName: small.table, Item: { pk: { S: pk }, ...more } }));

const putAll = async (...keys: string[]): Promise<void> => {
  for (const pk of keys) await put(pk);
};

const keyOf = ({ dynamodb }: DynamoDBRecord): string => dynamodb?.Keys?.pk?.S ?? '';

/** Makes a function record the records of each call, and respond with the handler. */
const record = (name: string, handler: (records: DynamoDBRecord[]) => unknown = () => undefined) => {
  const calls: DynamoDBRecord[][] = [];
  remote.setHandler(name, ({ Records }: DynamoDBStreamEvent) => {
    calls.push(Records);
    return handler(Records);
  });
  return {
    calls,
    keys: () => calls.map((records) => records.map(keyOf)),
    flat: () => calls.flat().map(keyOf),
  };
};

/** Receives the notices of permanently failed records. They do not become visible again. */
const failures = async (): Promise<{ requestContext: object; DDBStreamBatchInfo: object }[]> => {
  const sqs = new SQSClient({
    endpoint: small.stack.awsEndpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  });
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: small.stack.queueUrls().Failed,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 20,
      VisibilityTimeout: 3_600,
    }),
  );
  return Messages.map(({ Body = '' }) => JSON.parse(Body));
};

test("a function receives Lambda's event", async () => {
  const { calls } = record('Relay');
  await put('OUTBOX#event', {
    n: { N: '1' },
    b: { B: new Uint8Array([0, 1]) },
    l: { L: [{ S: 'x' }, { NULL: true }] },
  });
  await expect.poll(() => calls).toHaveLength(1);
  const image = { pk: { S: 'OUTBOX#event' }, n: { N: '1' }, b: { B: 'AAE=' }, l: { L: [{ S: 'x' }, { NULL: true }] } };
  expect(calls[0]).toEqual([
    {
      eventID: expect.any(String),
      eventName: 'INSERT',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      eventSourceARN: expect.stringContaining(`:table/${small.table}/stream/`),
      dynamodb: {
        ApproximateCreationDateTime: expect.any(Number),
        Keys: { pk: { S: 'OUTBOX#event' } },
        NewImage: image,
        SequenceNumber: expect.stringMatching(/^\d+$/),
        SizeBytes: expect.any(Number),
        StreamViewType: 'NEW_IMAGE',
      },
    },
  ]);
  const { ApproximateCreationDateTime: seconds = 0 } = calls[0]?.[0]?.dynamodb ?? {};
  expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(120);
});

test('each mapping receives only the records that match its filter, in order', async () => {
  const relay = record('Relay');
  const count = record('Count');
  await putAll('OUTBOX#1', 'LOG#1', 'OTHER#1', 'OUTBOX#1', 'LOG#2');
  await table.send(new DeleteItemCommand({ TableName: small.table, Key: { pk: { S: 'OUTBOX#1' } } }));
  await putAll('OUTBOX#2');
  await expect.poll(() => relay.flat()).toEqual(['OUTBOX#1', 'OUTBOX#2']);
  await expect.poll(() => count.flat()).toEqual(['LOG#1', 'LOG#2']);
});

test('a slow mapping does not delay another one, and receives the records of the meantime in one call', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const relay = record('Relay', () => promise);
  const count = record('Count');
  await putAll('OUTBOX#w1');
  await expect.poll(() => relay.keys()).toEqual([['OUTBOX#w1']]);
  await putAll('OUTBOX#w2', 'LOG#w', 'OUTBOX#w3');
  await expect.poll(() => count.flat()).toEqual(['LOG#w']);
  expect(relay.keys()).toEqual([['OUTBOX#w1']]);
  resolve();
  await expect.poll(() => relay.keys()).toEqual([['OUTBOX#w1'], ['OUTBOX#w2', 'OUTBOX#w3']]);
});

describe('a function that fails', () => {
  test('loses only the one bad record, and its sequence number is in a notice', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const relay = record('Relay', async (records) => {
      await promise;
      if (records.some((one) => keyOf(one) === 'OUTBOX#bad')) throw new Error('bad');
    });
    await putAll('OUTBOX#first');
    await expect.poll(() => relay.calls.length).toBe(1);
    await putAll('OUTBOX#b1', 'OUTBOX#bad', 'OUTBOX#b2', 'OUTBOX#b3');
    resolve();
    await expect
      .poll(() => relay.keys().slice(1))
      .toEqual([
        ['OUTBOX#b1', 'OUTBOX#bad', 'OUTBOX#b2', 'OUTBOX#b3'],
        ['OUTBOX#b1', 'OUTBOX#bad'],
        ['OUTBOX#b1'],
        ['OUTBOX#bad'],
        ['OUTBOX#bad'],
        ['OUTBOX#b2', 'OUTBOX#b3'],
      ]);
    const bad = relay.calls.flat().find((one) => keyOf(one) === 'OUTBOX#bad');
    expect(await failures()).toMatchObject([
      {
        requestContext: {
          condition: 'RetryAttemptsExhausted',
          functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:Relay',
        },
        DDBStreamBatchInfo: {
          shardId: expect.stringMatching(/^shardId-/),
          startSequenceNumber: bad?.dynamodb?.SequenceNumber,
          endSequenceNumber: bad?.dynamodb?.SequenceNumber,
          batchSize: 1,
          streamArn: bad?.eventSourceARN,
        },
      },
    ]);
  });

  test('receives the records again from the reported one on', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const relay = record('Relay', async (records) => {
      await promise;
      const itemIdentifier = records[1]?.dynamodb?.SequenceNumber;
      return records.length === 3 ? { batchItemFailures: [{ itemIdentifier }] } : undefined;
    });
    await putAll('OUTBOX#n');
    await expect.poll(() => relay.calls.length).toBe(1);
    await putAll('OUTBOX#n1', 'OUTBOX#n2', 'OUTBOX#n3');
    resolve();
    await expect
      .poll(() => relay.keys().slice(1))
      .toEqual([
        ['OUTBOX#n1', 'OUTBOX#n2', 'OUTBOX#n3'],
        ['OUTBOX#n2', 'OUTBOX#n3'],
      ]);
  });

  test('receives its records again after it was killed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const relay = record('Relay', () => promise);
    await putAll('OUTBOX#killed');
    await expect.poll(() => relay.calls.length).toBe(1);
    expect(small.stack.kill('Relay')).toBe(true);
    resolve();
    await expect.poll(() => relay.keys()).toEqual([['OUTBOX#killed'], ['OUTBOX#killed']]);
  });
});

// Other repetitions: test/unit/infra/batch-handler.test.ts.
test('fault injection repeats a batch, cut in two', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const relay = record('Relay', () => promise);
  await putAll('OUTBOX#before');
  await expect.poll(() => relay.calls.length).toBe(1);
  await putAll('OUTBOX#cut1', 'OUTBOX#cut2');
  repetition = { cutAt: 1 };
  resolve();
  await expect
    .poll(() => relay.keys().slice(-3))
    .toEqual([['OUTBOX#cut1', 'OUTBOX#cut2'], ['OUTBOX#cut1'], ['OUTBOX#cut2']]);
});

test('the rights that a mapping needs count as used', () => {
  expect(small.stack.unusedRights()).toEqual({});
});

describe('a template is rejected', () => {
  const relay = () => templateOf().functions.Relay ?? { source: '' };
  const withRole = (...statements: object[]) => ({ functions: { Relay: { ...relay(), statements } } });
  const withMapping = (properties: object) => ({ resources: { RelayMapping: mapping('Relay', {}, properties) } });
  const patterns = (...all: unknown[]) => ({ Filters: all.map((one) => ({ Pattern: JSON.stringify(one) })) });

  test.each<[string, () => Partial<SmallTemplate>, string]>([
    [
      'whose role may not read the stream',
      () => withRole(allow('dynamodb:ListStreams', '*'), allow('sqs:SendMessage', arn('Failed'))),
      'The role of Relay lacks dynamodb:DescribeStream on Table.StreamArn, which RelayMapping needs.',
    ],
    [
      'whose role may not send failures to the queue',
      () => withRole(allow([...READ, 'dynamodb:ListStreams'], stream)),
      'The role of Relay lacks sqs:SendMessage on arn:aws:sqs:us-east-1:000000000000:Failed, which RelayMapping needs.',
    ],
    ['whose role may read all streams', () => withRole(allow(READ, '*')), 'statement of a policy'],
    [
      'with another starting position',
      () => withMapping({ StartingPosition: 'LATEST' }),
      'RelayMapping.StartingPosition',
    ],
    [
      'with too many concurrent batches',
      () => withMapping({ ParallelizationFactor: 11 }),
      'RelayMapping.ParallelizationFactor',
    ],
    [
      'with tumbling windows',
      () => withMapping({ TumblingWindowInSeconds: 1 }),
      'RelayMapping.TumblingWindowInSeconds',
    ],
    [
      'with an unsupported filter',
      () => withMapping({ FilterCriteria: patterns({ eventName: [{ 'anything-but': 'REMOVE' }] }) }),
      'does not serve this condition of an event filter: {"anything-but":"REMOVE"}',
    ],
    [
      'with an unsupported failure destination',
      () => withMapping({ DestinationConfig: { OnFailure: { Destination: 'arn:aws:sns:topic' } } }),
      'destination on failure',
    ],
  ])('%s', async (_, change, message) => {
    await expect(small.load(withChanges(templateOf(), change()))).rejects.toThrow(message);
  });
});

test('a reloaded stack continues after the last finished batch, and repeats the batch in progress', async () => {
  const { promise: never } = Promise.withResolvers<void>();
  const before = record('Relay', ([first]) => (first && keyOf(first) === 'OUTBOX#r2' ? never : undefined));
  await putAll('OUTBOX#r1');
  await expect.poll(() => before.keys()).toEqual([['OUTBOX#r1']]);
  await putAll('OUTBOX#r2', 'LOG#r');
  await expect.poll(() => before.calls.length).toBe(2);
  const after = record('Relay');
  await small.load(templateOf());
  await putAll('OUTBOX#r3');
  await expect.poll(() => after.flat()).toEqual(['OUTBOX#r2', 'OUTBOX#r3']);
});
