/**
 * @module-tag long
 *
 * With another database than the embedded one, such as DynamoDB Local: makes a call to the table of each kind that was recorded
 * on the embedded one, on both. They return the same, and leave the same items.
 */
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { Item } from '../../../../infra/bundle/sdk/attributes.ts';
import { createTable } from '../../../../infra/local/aws/database/database.ts';
import { startEmbedded } from '../../../../infra/local/aws/database/embedded.ts';
import { signedCall } from '../../../../infra/local/aws/signed-call.ts';
import { lastTableCalls, readLines } from '../../../support/run-record.ts';
import { callDatabase } from '../../support/call-database.ts';
import { tableIn } from '../../support/own-table.ts';
import { ACTIONS, type Input, type TableCall } from '../../support/table-calls.ts';
import { scanned, sorted } from '../../support/whole-table.ts';

const { DYNAMODB_ENDPOINT: other } = process.env;

const recorded = (other ? await readLines(lastTableCalls) : []).map((line): TableCall => JSON.parse(line));

/** Most writes of a batch. */
const BATCH = 25;

describe.skipIf(!other)('the embedded database and the other one', () => {
  const TableName = `${inject('stack').table}-same-results`;
  let endpoints: string[];

  beforeAll(async () => {
    const embedded = await startEmbedded();
    endpoints = [embedded.endpoint, other ?? ''];
    const table = await tableIn(inject('stack').assembly);
    // DynamoDB Local removes expired items within a second, the embedded database never.
    const TimeToLiveSpecification = { AttributeName: 'never', Enabled: true };
    for (const endpoint of endpoints) await createTable(endpoint, { ...table, TimeToLiveSpecification }, TableName);
    return embedded.close;
  });

  const asText = (value: unknown): string => JSON.stringify(value, sorted);

  const ordered = (values: unknown[]): unknown[] => values.toSorted((one, two) => (asText(one) < asText(two) ? -1 : 1));

  /** A copy with ordered sets, which have no order. */
  const withOrderedSets = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (name, one) =>
      /^[SNB]S$/.test(name) && Array.isArray(one) ? ordered(one) : one,
    );

  const keyOf = ({ pk, sk }: Item): Item => ({ pk, sk }) as Item;

  const fill = async (endpoint: string, items: Item[]): Promise<void> => {
    const old = (await scanned(TableName, endpoint)).map(keyOf);
    const writes = new Map<string, object>();
    for (const Key of old) writes.set(asText(Key), { DeleteRequest: { Key } });
    for (const Item of items) writes.set(asText(keyOf(Item)), { PutRequest: { Item } });
    const left = [...writes.values()];
    while (left.length > 0) {
      const RequestItems = { [TableName]: left.splice(0, BATCH) };
      expect(await callDatabase('BatchWriteItem', { RequestItems }, endpoint)).toEqual({ UnprocessedItems: {} });
    }
  };

  /** The input for the table here. The second of two transactions with one token would do nothing. */
  const inputOf = ({ input }: TableCall): Input =>
    JSON.parse(JSON.stringify(input), (name, value) => {
      if (name === 'TableName') return TableName;
      if (name === 'RequestItems') return { [TableName]: Object.values(value)[0] };
      return /^(ClientRequestToken|ReturnConsumedCapacity)$/.test(name) ? undefined : value;
    });

  /** Members of outputs that each database chooses: units, which DynamoDB Local returns unasked, and the words of errors. */
  const CHOSEN = /^(ConsumedCapacity|Message|message)$/;

  const without = (output: object): object =>
    Object.fromEntries(Object.entries(output).filter(([member]) => !CHOSEN.test(member)));

  /** What a call returns, as far as DynamoDB defines it: a batch has no order. */
  const outputOf = async (endpoint: string, action: string, input: Input): Promise<unknown> => {
    const { status, text } = await signedCall({ endpoint, target: `DynamoDB_20120810.${action}`, input });
    const { __type: type, CancellationReasons: reasons, Responses: read, ...output } = JSON.parse(text);
    return withOrderedSets({
      status,
      ...without(output),
      type: type?.replace(/^.*#/, ''),
      reasons: reasons?.map(without),
      read: read && ordered(read[TableName]),
    });
  };

  /** Calls that write are made twice, because the first one changes what the second one finds. */
  const resultsOf = async (endpoint: string, call: TableCall, items: Item[]): Promise<object[]> => {
    await fill(endpoint, items);
    const input = inputOf(call);
    const results: object[] = [];
    for (const _ of /Get|Query/.test(call.action) ? ['once'] : ['once', 'twice']) {
      const output = await outputOf(endpoint, call.action, input);
      results.push({ output, after: withOrderedSets(ordered(await scanned(TableName, endpoint))) });
    }
    return results;
  };

  /** The items of a call whose order is defined: an index has none of items with equal keys, so only one of them stays. */
  const inOrder = ({ input: { IndexName, ExclusiveStartKey }, items }: TableCall): Item[] => {
    if (IndexName === undefined) return items;
    const placeOf = (item: Item): string => asText([item[`${IndexName}pk`], item[`${IndexName}sk`]]);
    const byPlace = new Map(items.map((item) => [placeOf(item), item]));
    if (ExclusiveStartKey !== undefined) byPlace.delete(placeOf(ExclusiveStartKey));
    return [...byPlace.values()];
  };

  test('have calls of each action to compare', () => {
    const actions = new Set(recorded.map(({ action }) => action));
    expect([...actions].sort(), 'npm test records calls, and npm run test:long more of them').toEqual(ACTIONS);
  });

  test.each(recorded.map((call) => [call.kind, call] as const))('have the same results: %s', async (_, call) => {
    for (const items of call.items.length > 0 ? [[], inOrder(call)] : [[]]) {
      const [embedded, local] = await Promise.all(endpoints.map((endpoint) => resultsOf(endpoint, call, items)));
      expect(local, JSON.stringify({ input: inputOf(call), items })).toEqual(embedded);
    }
  });
});
