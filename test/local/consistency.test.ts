/** The table as DynamoDB may answer, and no local database does: with stale reads, and with conflicts of transactions. */
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
import type { StaleReadsOptions } from '../../infra/local/aws/consistency/stale-reads.ts';
import type { LocalStackOptions } from '../../infra/local/local-stack.ts';
import { type SmallStack, serve } from './support/small-stack.ts';

/** Long enough for a test to do something meanwhile, in milliseconds. */
const HELD_FOR = 1_000;

const everybody = (): boolean => true;

/** A stack whose table has what the options say, and its client, as functions have it. */
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
  const table = useTable({ staleReads: { share: 1, random: () => 0, of: everybody, held: () => isHeld } });

  const put = (name: string, value: string) => {
    const { client, TableName } = table();
    return client.send(new PutItemCommand({ TableName, Item: { ...keyOf(name), value: { S: value } } }));
  };

  /** The value that an item has, by each kind of read. */
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

  const thrice = (value: string | undefined) => [value, value, value];

  test('return what was there half a second ago: nothing, the item before, or the item that was deleted', async () => {
    const { client, TableName } = table();
    const change = async (work: () => Promise<unknown>, before: string | undefined, after: string | undefined) => {
      isHeld = true;
      await work();
      expect(await read('a')).toEqual(thrice(before));
      expect(await read('a', true)).toEqual(thrice(after));
      isHeld = false;
      await expect.poll(() => read('a')).toEqual(thrice(after));
    };
    await change(() => put('a', 'first'), undefined, 'first');
    await change(() => put('a', 'second'), 'first', 'second');
    await change(() => client.send(new DeleteItemCommand({ TableName, Key: keyOf('a') })), 'second', undefined);
  });

  test('see every write, in order, however fast they follow each other', async () => {
    for (let value = 1; value <= 60; value += 1) await Promise.all([put('b', `${value}`), put(`b${value}`, 'there')]);
    await expect.poll(() => read('b')).toEqual(thrice('60'));
    expect(await Promise.all(Array.from({ length: 60 }, (_, place) => read(`b${place + 1}`)))).toEqual(
      Array(60).fill(thrice('there')),
    );
  });
});

test.each<[string, StaleReadsOptions]>([
  ['of functions only, not of operators', { share: 1, random: () => 0 }],
  ['a share of all, by the dice', { share: 0.3, random: () => 0.3, of: everybody }],
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

  /** What a write fails with, that is repeated until it meets the transaction. */
  const rejection = async (write: () => Promise<unknown>): Promise<unknown> => {
    const met: unknown[] = [];
    const attempt = () => write().catch((error: unknown) => met.push(error));
    await expect.poll(async () => attempt().then(() => met.length), { interval: 10 }).toBe(1);
    return met[0];
  };

  test('cancels another one that meets it, which names the writes that do', async () => {
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
  ])('rejects a plain %s of its items, and lets it pass when it is over', async (_, send) => {
    const write = (): Promise<unknown> => send(table().TableName);
    const ongoing = transact(put('d'));
    expect(await rejection(write)).toBeInstanceOf(TransactionConflictException);
    await ongoing;
    await write();
  });

  test('leaves the writes of a batch that meet it unprocessed', async () => {
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

  test('does not affect reads, nor writes of other items', async () => {
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
