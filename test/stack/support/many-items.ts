/** Puts many items into a table, as they are: past the domain, and quicker than it would. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { BINARY } from '../../../infra/local/aws/database/embedded.ts';
import { freePort } from '../../../infra/local/aws/free-port.ts';
import { callTableOf } from '../../../infra/local/call-table.ts';
import type { Key } from '../../../shared/table/keys.ts';

const BATCH = 25;

/** Puts items into the table at hand. */
export const putAll = async <Item extends Key>(items: Item[]): Promise<void> => {
  const { TABLE_NAME = '' } = process.env;
  // More patient than the service's own client.
  const table = DynamoDBDocumentClient.from(new DynamoDBClient(), { marshallOptions: { removeUndefinedValues: true } });
  for (let start = 0; start < items.length; start += BATCH) {
    const requests = items.slice(start, start + BATCH).map((Item) => ({ PutRequest: { Item } }));
    await table.send(new BatchWriteCommand({ RequestItems: { [TABLE_NAME]: requests } }));
  }
};

/** Items as an export of a table has them, some thousands of lines at a time. */
function* exported(items: Iterable<Key>): Generator<string> {
  let lines = '';
  for (const item of items) {
    lines += `${JSON.stringify({ Item: marshall(item, { removeUndefinedValues: true }) })}\n`;
    if (lines.length < 1_000_000) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}

/**
 * Points this process at a database of its own that holds the table at hand with these items: the embedded one writes
 * ever more slowly the more an index holds, but reads an export of any size at once. The table's client must not have
 * been used before.
 *
 * @returns a function that ends it
 */
export const serveItems = async (items: Iterable<Key>): Promise<() => Promise<void>> => {
  const { TABLE_NAME = '' } = process.env;
  const folder = await mkdtemp(join(tmpdir(), 'items-'));
  await mkdir(join(folder, TABLE_NAME, 'data'), { recursive: true });
  const file = createWriteStream(join(folder, TABLE_NAME, 'data', 'items.json.gz'));
  await pipeline(Readable.from(exported(items)), createGzip({ level: 1 }), file);
  const { Table } = await new DynamoDBClient().send(new DescribeTableCommand({ TableName: TABLE_NAME }));
  await writeFile(join(folder, 'schema.json'), JSON.stringify([{ Table }]));

  const port = await freePort();
  const schema = join(folder, 'schema.json');
  const child = spawn(BINARY, ['import', '--source', folder, '--schema', schema, '--serve', '--port', `${port}`], {
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  while (!(await fetch(endpoint, { method: 'POST' }).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error('The database could not read the items.');
    await pause(100);
  }
  callTableOf({ dynamodbEndpoint: endpoint, table: TABLE_NAME });
  return async () => {
    child.kill();
    await exited;
    await rm(folder, { recursive: true });
  };
};
