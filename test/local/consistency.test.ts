/**
 * @module-tag long
 *
 * Behaviour of DynamoDB that local databases lack: stale reads and transaction conflicts.
 */
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StaleReads, type StaleReadsOptions } from '../../infra/local/aws/consistency/stale-reads.ts';
import type { LocalStackOptions } from '../../infra/local/local-stack.ts';
import { type SmallStack, serve } from './support/small-stack.ts';

/** The duration of a transaction, in milliseconds: long enough for other calls during it. */
const HELD_FOR = 1_000;

const everyCaller = (): boolean => true;

/** A stack with these options. Returns its table name and a client that calls the table like a function. */
const useTable = (options: Pick<LocalStackOptions, 'staleReads' | 'transactionsHeldFor'>) => {
  const used: { small?: SmallStack; client?: DynamoDBClient } = {};
  beforeAll(async () => {
    used.small = await serve({ functions: {}, resources: {} }, { minute: 60_000, ...options });
    const credentials = { accessKeyId: 'operator', secretAccessKey: 'local' };
    const endpoint = used.small.stack.guardedEndpoint;
    used.client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
  });
  afterAll(async () => {
    used.client?.destroy();
    await used.small?.close();
  });
  return () => {
    const { small, client } = used;
    if (small === undefined || client === undefined) throw new Error('The stack is not there.');
    return { TableName: small.table, client };
  };
};

const keyOf = (name: string) => ({ pk: { S: name } });

describe('stale reads', () => {
  let isHeld = false;
  const table = useTable({ staleReads: { share: 1, random: () => 0, of: everyCaller, held: () => isHeld } });

  const put = (name: string, value: string) => {
    const { client, TableName } = table();
    return client.send(new PutItemCommand({ TableName, Item: { ...keyOf(name), value: { S: value } } }));
  };

  /** The value of an item, by each kind of read. */
  const read = async (name: string, ConsistentRead = false): Promise<(string | undefined)[]> => {
    const { client, TableName } = table();
    const batch = { [TableName]: { Keys: [keyOf(name)], ConsistentRead } };
    const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': { S: name } } };
    const [{ Item }, { Responses = {} }, { Items = [] }] = await Promise.all([
      client.send(new GetItemCommand({ TableName, Key: keyOf(name), ConsistentRead })),
      client.send(new BatchGetItemCommand({ RequestItems: batch })),
      client.send(new QueryCommand({ TableName, ...query, ConsistentRead })),
    ]);
    expect(Object.keys(Responses)).toEqual([TableName]);
    return [Item, Responses[TableName]?.[0], Items[0]].map((item) => item?.value?.S);
  };

  const byEachRead = (value: string | undefined) => [value, value, value];

  test('return the state before the last write: no item, the previous item, or a deleted item', async () => {
    const { client, TableName } = table();
    const change = async (work: () => Promise<unknown>, before: string | undefined, after: string | undefined) => {
      isHeld = true;
      await work();
      expect(await read('a')).toEqual(byEachRead(before));
      expect(await read('a', true)).toEqual(byEachRead(after));
      isHeld = false;
      await expect.poll(() => read('a')).toEqual(byEachRead(after));
    };
    await change(() => put('a', 'first'), undefined, 'first');
    await change(() => put('a', 'second'), 'first', 'second');
    await change(() => client.send(new DeleteItemCommand({ TableName, Key: keyOf('a') })), 'second', undefined);
  });

  test('return every write in the end, even after 60 writes in quick succession', async () => {
    for (let value = 1; value <= 60; value += 1) await Promise.all([put('b', `${value}`), put(`b${value}`, 'there')]);
    await expect.poll(() => read('b')).toEqual(byEachRead('60'));
    const all = () => Promise.all(Array.from({ length: 60 }, (_, index) => read(`b${index + 1}`)));
    await expect.poll(all).toEqual(Array(60).fill(byEachRead('there')));
  });
});

test('no read is stale while the replica is late', () => {
  const state = { isLate: false };
  const reads = new StaleReads({ share: 1, random: () => 0, of: everyCaller }, { table: 'a', replica: 'b', state });
  const redirected = () => reads.redirected('GetItem', { TableName: 'a' }, 'Function')?.TableName;
  expect(redirected()).toBe('b');
  state.isLate = true;
  expect(redirected()).toBeUndefined();
});

test.each<[string, StaleReadsOptions]>([
  ['only made for functions, not for operators', { share: 1, random: () => 0 }],
  ['limited to a share of reads by the random function', { share: 0.3, random: () => 0.3, of: everyCaller }],
])('stale reads are %s', async (_, staleReads) => {
  const small = await serve({ functions: {}, resources: {} }, { minute: 60_000, staleReads });
  const credentials = { accessKeyId: 'operator', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint: small.stack.guardedEndpoint, region: 'us-east-1', credentials });
  const item = { TableName: small.table, Item: keyOf('a') };
  await client.send(new PutItemCommand(item));
  const { Item } = await client.send(new GetItemCommand({ TableName: small.table, Key: keyOf('a') }));
  expect(Item).toEqual(keyOf('a'));
  client.destroy();
  await small.close();
});

describe('an ongoing transaction', () => {
  const table = useTable({ transactionsHeldFor: HELD_FOR });

  const put = (name: string) => ({ Put: { TableName: table().TableName, Item: keyOf(name) } });

  const check = (name: string) => ({
    ConditionCheck: {
      TableName: table().TableName,
      Key: keyOf(name),
      ConditionExpression: 'attribute_not_exists(used_up)',
    },
  });

  const transact = (...TransactItems: (ReturnType<typeof put> | ReturnType<typeof check>)[]) =>
    table().client.send(new TransactWriteItemsCommand({ TransactItems }));

  /** Repeats a write until it meets the transaction. Returns the error. */
  const rejection = async (write: () => Promise<unknown>): Promise<unknown> => {
    const errors: unknown[] = [];
    const attempt = () => write().catch((error: unknown) => errors.push(error));
    await expect.poll(async () => attempt().then(() => errors.length), { interval: 10 }).toBe(1);
    return errors[0];
  };

  test('cancels a conflicting transaction, whose error marks each conflicting write', async () => {
    const ongoing = transact(put('a'), check('b'));
    const error = await rejection(() => transact(put('c'), put('b'), check('a')));
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(error).toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }, { Code: 'TransactionConflict' }],
    });
    await ongoing;
    await transact(put('c'), put('b'), check('a'));
  });

  test.each([
    ['put', (TableName: string) => table().client.send(new PutItemCommand({ TableName, Item: keyOf('d') }))],
    ['update', (TableName: string) => table().client.send(new UpdateItemCommand({ TableName, Key: keyOf('d') }))],
    ['delete', (TableName: string) => table().client.send(new DeleteItemCommand({ TableName, Key: keyOf('d') }))],
  ])('rejects a single %s of its items, which succeeds after the transaction', async (_, send) => {
    const write = (): Promise<unknown> => send(table().TableName);
    const ongoing = transact(put('d'));
    expect(await rejection(write)).toBeInstanceOf(TransactionConflictException);
    await ongoing;
    await write();
  });

  test('leaves conflicting writes of a batch unprocessed', async () => {
    const { client, TableName } = table();
    const ongoing = transact(put('e'));
    const writes = ['e', 'f'].map((name) => ({ PutRequest: { Item: keyOf(name) } }));
    const batch = (count: number) =>
      client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: writes.slice(0, count) } }));
    const unprocessed = { [TableName]: writes.slice(0, 1) };
    await expect.poll(async () => (await batch(2)).UnprocessedItems, { interval: 10 }).toEqual(unprocessed);
    expect(await batch(1)).toMatchObject({ UnprocessedItems: unprocessed });
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: keyOf('f') }));
    expect(Item).toEqual(keyOf('f'));
    await ongoing;
    expect((await batch(2)).UnprocessedItems).toEqual({});
  });

  test('does not affect reads or writes of other items', async () => {
    const { client, TableName } = table();
    await client.send(new PutItemCommand({ TableName, Item: keyOf('g') }));
    const ongoing = transact(put('g'));
    await rejection(() => client.send(new PutItemCommand({ TableName, Item: keyOf('g') })));
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: keyOf('g'), ConsistentRead: true }));
    expect(Item).toEqual(keyOf('g'));
    await client.send(new PutItemCommand({ TableName, Item: keyOf('i') }));
    await ongoing;
  });
});
