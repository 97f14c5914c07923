/**
 * A deployed index is replaced by another one, as the guide for operators describes it.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import {
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndexUpdate,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { timestamp } from '../../../../shared/core/clock.ts';
import { tableName } from '../../../../shared/core/settings.ts';
import { logPartitions } from '../../../../shared/outbox/entities.ts';
import { logItem } from '../../../../shared/outbox/message.ts';
import { page, putIfAbsent } from '../../../../shared/table/client.ts';
import { indexes } from '../../../../shared/table/indexes.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';

useOwnTable('index-change');

const account = newAccountId();

const putEntry = async (phone: string): Promise<void> => {
  const message = {
    id: randomUUID(),
    account,
    phone,
    job_id: randomUUID(),
    payload_type: 'text',
    ...lifetime,
  };
  await putIfAbsent(logItem(message, 'sent', timestamp()));
};

/** The phone and the account of each entry, where the index has them. DynamoDB rejects a projection of one that it lacks. */
const entriesIn = async (IndexName: string): Promise<object[]> => {
  const { items } = await page<{ phone?: string; account?: string }>({
    IndexName,
    KeyConditionExpression: 'gsi1pk = :logs',
    ExpressionAttributeValues: { ':logs': logPartitions.gsi1(account, { state: 'sent' }) },
  });
  return items.map(({ phone, account }) => ({ phone, account }));
};

test('an index with another projection over the same key attributes takes the place of the old one', async () => {
  const client = new DynamoDBClient();
  onTestFinished(() => client.destroy());
  const describeTable = async () =>
    (await client.send(new DescribeTableCommand({ TableName: tableName() }))).Table ?? {};
  const change = async (update: GlobalSecondaryIndexUpdate): Promise<void> => {
    const { AttributeDefinitions } = await describeTable();
    await client.send(
      new UpdateTableCommand({ TableName: tableName(), AttributeDefinitions, GlobalSecondaryIndexUpdates: [update] }),
    );
  };
  const [first, second] = ['27820000001', '27820000002'];

  await putEntry(first);
  const old = (await describeTable()).GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === 'gsi1');
  const NonKeyAttributes = [...(old?.Projection?.NonKeyAttributes ?? []), 'account'];
  await change({
    Create: {
      IndexName: 'gsi1-accounts',
      KeySchema: old?.KeySchema,
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes },
    },
  });
  await expect
    .poll(async () => (await describeTable()).GlobalSecondaryIndexes?.map(({ IndexStatus }) => IndexStatus))
    .toEqual(Array.from({ length: Object.keys(indexes).length + 1 }, () => 'ACTIVE'));
  await putEntry(second);
  // The old index serves its readers until these have changed.
  await expect.poll(() => entriesIn('gsi1')).toEqual([{ phone: first }, { phone: second }]);

  await change({ Delete: { IndexName: 'gsi1' } });
  await expect
    .poll(() => entriesIn('gsi1-accounts'))
    .toEqual([
      { phone: first, account },
      { phone: second, account },
    ]);
});
