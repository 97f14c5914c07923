/** Copies of the table of a test, as point-in-time recovery makes them: with its items and indexes, without a stream. */
import { randomUUID } from 'node:crypto';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { createTable, existingTableOf } from '../../../../infra/local/aws/database/database.ts';
import { tableName } from '../../../../shared/core/settings.ts';
import { documents } from '../../../../shared/table/client.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { folder, operatorIn, remote } from '../../support/operator.ts';
import { itemsIn } from '../../support/whole-table.ts';

const write = async (table: string, requests: object[]): Promise<void> => {
  for (let start = 0; start < requests.length; start += 25)
    await documents.send(new BatchWriteCommand({ RequestItems: { [table]: requests.slice(start, start + 25) } }));
};

export const putInto = (table: string, items: AnyItem[]): Promise<void> =>
  write(
    table,
    items.map((Item) => ({ PutRequest: { Item } })),
  );

/** Deletes items, as a defect or a mistake would. */
export const lose = (items: Key[], table = tableName()): Promise<void> =>
  write(
    table,
    items.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  );

/** Restores the present state of the table to a new one. Returns its name. */
export const restoreToNewTable = async (endpoint: string, { stream = false } = {}): Promise<string> => {
  const name = `${tableName()}-restored-${randomUUID().slice(0, 8)}`;
  const { StreamSpecification: _stream, ...properties } = (await existingTableOf(endpoint, tableName())) ?? {};
  const StreamSpecification = { StreamViewType: 'NEW_IMAGE' };
  await createTable(endpoint, { ...properties, ...(stream && { StreamSpecification }) }, name);
  await putInto(name, await itemsIn());
  return name;
};

/** Runs `operator restore` on the table of the test. Returns its exit code and what it printed. */
export const restore = async (...args: string[]) =>
  operatorIn({ ...remote, TABLE_NAME: tableName(), LOCAL_FOLDER: await folder() }, 'restore', ...args);

/** Runs `operator restore`, which must succeed, without a question. Returns its JSON output. */
export const restoreInJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await restore(...args, '--yes', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('error') });
  return JSON.parse(stdout);
};
