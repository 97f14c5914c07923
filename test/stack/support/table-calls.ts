/**
 * Records calls to the table that tests make, with the items that they are about. `npm run test:dynamodb-local` makes them again
 * (`test/stack/in-process/table/same-results.test.ts`).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ClientRequest } from 'node:http';
import * as v from 'valibot';
import type { Item } from '../../../infra/bundle/sdk/attributes.ts';
import { signedCall } from '../../../infra/local/aws/signed-call.ts';
import { addLine } from '../../support/run-record.ts';

/** The parts of inputs that say which items a call is about. */
export interface Input {
  TableName?: string;
  Key?: Item;
  Item?: Item;
  IndexName?: string;
  KeyConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
  ExclusiveStartKey?: Item;
  RequestItems?: Record<string, { Keys?: Item[] } | { PutRequest?: Input; DeleteRequest?: Input }[]>;
  TransactItems?: Record<string, Input>[];
}

export interface TableCall {
  /** The action and its input without values: equal in all calls of a kind. */
  kind: string;
  action: string;
  input: Input;
  /** The items that it is about, as they are before it. */
  items: Item[];
}

/** A process tries so many calls of a kind until it finds one that is about items. */
const MAX_CALLS = 20;

/** Of a query, so many items are recorded, and so many bytes: each database chooses where a page of about 1 MB ends. */
const MAX_ITEMS = 25;
const MAX_BYTES = 500_000;

const API = 'DynamoDB_20120810.';

/** The actions whose calls are recorded: without `Scan`, whose order each database chooses. */
export const ACTIONS = [
  'BatchGetItem',
  'BatchWriteItem',
  'DeleteItem',
  'GetItem',
  'PutItem',
  'Query',
  'TransactWriteItems',
  'UpdateItem',
];

/** Members of inputs that may differ between calls of a kind. */
const VALUES = /^(ClientRequestToken|ExclusiveStartKey|Item|Key|Keys|Limit|ReturnConsumedCapacity|TableName)$/;

const withoutNumbers = (name: string): string => name.replaceAll(/\d+/g, '');

/** An expression with one placeholder instead of a list of them, and without their numbers. */
const expressionKind = (expression: string): string =>
  expression.replaceAll(/[#:]\w+/g, withoutNumbers).replaceAll(/([#:]\w+)(, \1)+/g, '$1');

const distinct = (values: string[]): string[] => [...new Set(values)].sort();

/** A value in an input without what may differ between calls of a kind. A list has each of its kinds once. */
const kindIn = (value: unknown, name = ''): unknown => {
  if (VALUES.test(name)) return undefined;
  if (typeof value === 'string' && name.endsWith('Expression')) return expressionKind(value);
  if (Array.isArray(value))
    return distinct(value.map((one) => JSON.stringify(kindIn(one)))).map((kind) => JSON.parse(kind));
  if (!(value instanceof Object)) return value;
  const members = Object.values(value);
  if (name === 'ExpressionAttributeNames') return distinct(members.map(withoutNumbers));
  // The types of attributes.
  if (name === 'ExpressionAttributeValues') return distinct(members.flatMap(Object.keys));
  // Batches are by the name of the table.
  if (name === 'RequestItems') return members.map((one) => kindIn(one));
  return Object.fromEntries(
    Object.entries(value)
      .map(([member, one]) => [member, kindIn(one, member)])
      .sort(),
  );
};

/** The table of a call. */
const tableOf = ({ TableName, RequestItems = {}, TransactItems = [] }: Input): string | undefined =>
  TableName ?? Object.keys(RequestItems)[0] ?? TransactItems.flatMap((part) => Object.values(part))[0]?.TableName;

/** The keys of the items that a call names. */
const keysOf = ({ Key, Item, RequestItems = {}, TransactItems = [] }: Input): Item[] => {
  const named = [Key, Item].flatMap((one) => (one?.pk && one.sk ? [{ pk: one.pk, sk: one.sk }] : []));
  const writes = TransactItems.flatMap((part) => Object.values(part));
  const batches = Object.values(RequestItems).flatMap((batch) =>
    Array.isArray(batch)
      ? batch.flatMap(({ PutRequest = {}, DeleteRequest = {} }) => [...keysOf(PutRequest), ...keysOf(DeleteRequest)])
      : (batch.Keys ?? []),
  );
  return [...named, ...writes.flatMap(keysOf), ...batches];
};

/** The placeholders that an expression has. DynamoDB rejects others. */
const usedIn = (expression: string, placeholders: object = {}): object | undefined => {
  const used = Object.entries(placeholders).filter(([name]) => new RegExp(`${name}\\b`).test(expression));
  return used.length > 0 ? Object.fromEntries(used) : undefined;
};

const item = v.custom<Item>((value) => value instanceof Object);
const output = v.object({ Items: v.optional(v.array(item), []), Item: v.optional(item) });

/** Whether the calls are those of the recorder itself. */
const reading = new AsyncLocalStorage<true>();

/**
 * The items that a call is about.
 *
 * @throws Error — the database rejects a read of them
 */
const itemsFor = async (endpoint: string, input: Input): Promise<Item[]> => {
  const read = async (action: string, call: object): Promise<Item[]> => {
    const TableName = tableOf(input);
    const { status, text } = await signedCall({ endpoint, target: API + action, input: { TableName, ...call } });
    if (status !== 200) throw new Error(text);
    const { Item, Items } = v.parse(output, JSON.parse(text));
    return Item === undefined ? Items : [Item];
  };
  const keys = keysOf(input);
  if (keys.length > 0)
    return (await Promise.all(keys.map((Key) => read('GetItem', { Key, ConsistentRead: true })))).flat();
  const { IndexName, KeyConditionExpression = '' } = input;
  const items = await read('Query', {
    IndexName,
    KeyConditionExpression,
    ExpressionAttributeNames: usedIn(KeyConditionExpression, input.ExpressionAttributeNames),
    ExpressionAttributeValues: usedIn(KeyConditionExpression, input.ExpressionAttributeValues),
    Limit: MAX_ITEMS,
  });
  let bytes = 0;
  return items.filter((found) => {
    bytes += JSON.stringify(found).length;
    return bytes <= MAX_BYTES;
  });
};

/** A call of each kind, if possible one that is about items. Each line is a call. */
export const oneOfEachKind = (lines: string[]): string[] => {
  const kept = new Map<string, { line: string; isAboutItems: boolean }>();
  for (const line of lines) {
    const { kind, items }: TableCall = JSON.parse(line);
    const isAboutItems = items.length > 0;
    if (!kept.has(kind) || (isAboutItems && !kept.get(kind)?.isAboutItems)) kept.set(kind, { line, isAboutItems });
  }
  return [...kept.values()].map(({ line }) => line);
};

interface Recorder {
  end: ClientRequest['end'];
  /** By kind: how many calls were tried. Infinite after one that is about items. */
  tried: Map<string, number>;
  /** Tables that another database has. */
  others: Set<string | undefined>;
}

/** A process runs many test files, which load this module again. */
const kept = globalThis as { tableCalls?: Recorder };

/**
 * Records calls of this process from now on, whatever client makes them: of each kind the first one, and the first that is about
 * items. These wait until the items are read, so a call that begins later may be sent before them.
 *
 * @param endpoint - calls to another database are left out
 * @param file - gets a JSON line for each recorded call
 */
export const recordTableCalls = (endpoint: string, file: string): void => {
  kept.tableCalls ??= { end: ClientRequest.prototype.end, tried: new Map(), others: new Set() };
  const { end, tried, others } = kept.tableCalls;

  const record = async (action: string, body: string | Uint8Array): Promise<void> => {
    const input: Input = JSON.parse(Buffer.from(body).toString());
    const kind = `${action} ${JSON.stringify(kindIn(input))}`;
    const count = tried.get(kind) ?? 0;
    if (count >= MAX_CALLS || others.has(tableOf(input))) return;
    tried.set(kind, count + 1);
    const items = await reading
      .run(true, () => itemsFor(endpoint, input))
      .catch(({ message }: Error) => {
        if (message.includes('ResourceNotFoundException')) others.add(tableOf(input));
        // Another call of this kind may be recorded.
        tried.delete(kind);
      });
    if (items === undefined) return;
    if (items.length > 0) tried.set(kind, Number.POSITIVE_INFINITY);
    if (items.length > 0 || count === 0)
      addLine(file, JSON.stringify({ kind, action, input, items } satisfies TableCall));
  };

  ClientRequest.prototype.end = function (this: ClientRequest, ...given: unknown[]): ClientRequest {
    const makeCall = () => Reflect.apply(end, this, given);
    const [, action = ''] = String(this.getHeader('x-amz-target')).split(API);
    const [body] = given;
    const isBody = typeof body === 'string' || body instanceof Uint8Array;
    if (!isBody || !ACTIONS.includes(action) || reading.getStore()) return makeCall();
    void record(action, body)
      .catch(() => undefined)
      .finally(makeCall);
    return this;
  };
};
