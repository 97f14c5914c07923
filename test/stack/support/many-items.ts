/** Writes many items into a table directly, because this is faster than through the domain. */
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
import { itemOf } from '../../../infra/bundle/sdk/attributes.ts';
import { BINARY } from '../../../infra/local/aws/database/embedded.ts';
import { freePort } from '../../../infra/local/aws/loopback.ts';
import { callTableOf } from '../../../infra/operator/local-stack/call-table.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { callDatabase } from './call-database.ts';

const BATCH = 25;

const toItem = (item: Key) => itemOf(item, { removeUndefinedValues: true });

/** Writes items into the table of this process. */
export const putAll = async <Item extends Key>(items: Item[]): Promise<void> => {
  const { TABLE_NAME = '' } = process.env;
  for (let start = 0; start < items.length; start += BATCH) {
    const requests = items.slice(start, start + BATCH).map((item) => ({ PutRequest: { Item: toItem(item) } }));
    await callDatabase('BatchWriteItem', { RequestItems: { [TABLE_NAME]: requests } });
  }
};

/** Items in the format of a table export, in chunks of about 1 MB. */
function* exported(items: Iterable<Key>): Generator<string> {
  let lines = '';
  for (const item of items) {
    lines += `${JSON.stringify({ Item: toItem(item) })}\n`;
    if (lines.length < 1_000_000) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}

/**
 * Starts a separate database with these items and connects this process to it. The embedded database writes more slowly
 * as an index grows, but it loads an export of any size at once. The client of the table must not have been used
 * before.
 *
 * @returns the URL of the database, and a function that stops it
 */
export const serveItems = async (items: Iterable<Key>): Promise<{ endpoint: string; end: () => Promise<void> }> => {
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
  const end = async (): Promise<void> => {
    child.kill();
    await exited;
    await rm(folder, { recursive: true });
  };
  return { endpoint, end };
};
