/**
 * Measures all endpoints and workers on a table with so many rows of others, and the erasure of a person with many messages
 * among them. In a process of its own, because a client of the table has one database.
 *
 *     node measure.ts ROWS FILE
 *
 * FILE has rows that are copied; without copies, the rows of this run are written into it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient, type StreamSpecification, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import { timestampOf } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { setHashSecret } from '../../../shared/core/keyed-hashes.ts';
import { logsOfContact } from '../../../shared/outbox/entities.ts';
import { logItem, type State } from '../../../shared/outbox/message.ts';
import { documents, page } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { removeUser } from '../../../shared/user-data/erasure.ts';
import { serveItems } from '../../stack/support/many-items.ts';
import { lifetime } from '../../support/lifetime.ts';
import { moveTo } from '../../support/table-client.ts';
import { openProcessorShare } from '../cold-start/processor-share.ts';
import { startCold } from '../cold-start/start.ts';
import { openParts } from '../parts.ts';
import { quantile, say } from '../report.ts';
import { takeTimes } from '../stopwatch.ts';
import { type Bench, onStack, usageOn } from '../usage.ts';
import { othersLike, type Row } from './others.ts';

/** Units and milliseconds of one invocation. */
export interface Work {
  units: number;
  ms: number;
}

export interface Measured {
  rows: number;
  /** By the name of an endpoint or a worker. */
  work: Record<string, Work>;
  /** Seconds in which `erase` erases the person, and of them processor time. */
  erasure: { seconds: number; processor: number };
}

const PERSON = '447700000001';
const SECRET = 'the hash secret of this measurement';
const MESSAGES = 10_000;
const STATES: State[] = ['sent', 'delivered_to_server', 'delivered_to_user'];

/** The log of the person's messages, one a minute. */
function* logOfPerson(): Generator<Key> {
  const start = Date.now() - MESSAGES * 60_000;
  for (let index = 0; index < MESSAGES; index += 1) {
    const message = { id: newId(), account: 'demo', phone: PERSON, job_id: newId(), payload_type: 'text', ...lifetime };
    const created = timestampOf(start + index * 60_000);
    for (const state of STATES) yield logItem(message, state, created);
  }
}

function* together(...parts: Iterable<Key>[]): Generator<Key> {
  for (const part of parts) yield* part;
}

const workOf = async (bench: Bench): Promise<Record<string, Work>> => {
  // First, because requests leave work.
  const scheduled = await scheduledWork(bench);
  const { endpoints, authorizer, message } = await usageOn(bench);
  const uses = [...endpoints, ['authorizer', authorizer] as const, ...[...message].map(waysOf)];
  return Object.fromEntries([
    ...uses.map(([name, { reads, writes, indexes, ms }]) => [name, { units: reads + writes + indexes, ms }]),
    ...scheduled,
  ]);
};

const waysOf = <Use>([name, use]: [string, Use]): [string, Use] => [`${name} of a message`, use];

/** What `sweep` and `erase` do in a minute without work for them. */
const scheduledWork = async ({ meter }: Bench): Promise<[string, Work][]> => {
  say('stored rows: a minute of the schedules');
  // From the middle of a minute to that of the next one.
  await pause((90_000 - (Date.now() % 60_000)) % 60_000);
  meter.take();
  takeTimes();
  await pause(60_000);
  const [units, times] = [meter.take(), takeTimes()];
  const timeOf = (...steps: string[]): number =>
    quantile(
      steps.flatMap((step) => times.get(step) ?? []),
      0.5,
    );
  const unitsOf = (name: string): number => {
    const { reads = 0, writes = 0, indexes = 0 } = units.get(name) ?? {};
    return reads + writes + indexes;
  };
  return [
    ['sweep', { units: unitsOf('sweep'), ms: timeOf('conversations', 'expansions', 'leftovers', 'backlog') }],
    ['erase', { units: unitsOf('erase'), ms: timeOf('erasures', 'batches', 'consents') }],
  ];
};

/** Erases the person by the worker as it is deployed, with the share of a processor that its memory buys. */
const erase = async (endpoint: string): Promise<Measured['erasure']> => {
  say(`stored rows: an erasure of ${MESSAGES} messages`);
  setHashSecret(SECRET);
  await removeUser('erasure', PERSON);
  const secrets = createServer((_request, response) => response.end(JSON.stringify({ SecretString: SECRET })));
  const environment = { ...parts.environment, AWS_ENDPOINT_URL: await listenOnLoopback(secrets, 0) };
  const processor = openProcessorShare();
  try {
    const worker = parts.functions.get('erase');
    if (worker === undefined) throw new Error('The stack has no worker erase.');
    const { call } = await startCold(
      {
        bundle: join(worker.folder, 'index.mjs'),
        environment: { ...environment, ...worker.environment, AWS_ENDPOINT_URL_DYNAMODB: endpoint },
        event: { step: 'erasures' },
      },
      { processor, memory: worker.memory },
    );
    if (await hasLog()) throw new Error('The person has log entries left.');
    return { seconds: call.elapsed / 1_000, processor: call.processor / 1_000 };
  } finally {
    processor.close();
    await closeServer(secrets);
  }
};

/** Whether the person has log entries. */
const hasLog = async (): Promise<boolean> => {
  const { items } = await page<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person',
    ExpressionAttributeValues: { ':person': logsOfContact(PERSON) },
    Limit: 1,
  });
  return items.length > 0;
};

const allRows = async (tableName: string): Promise<Row[]> => {
  const rows: Row[] = [];
  let next: Record<string, unknown> | undefined;
  do {
    const scan = new ScanCommand({ TableName: tableName, ExclusiveStartKey: next });
    const { Items = [], LastEvaluatedKey } = await documents.send(scan);
    rows.push(...(Items as Row[]));
    next = LastEvaluatedKey;
  } while (next !== undefined);
  return rows;
};

const setStream = (endpoint: string, StreamSpecification: StreamSpecification) =>
  new DynamoDBClient({ endpoint }).send(new UpdateTableCommand({ TableName: parts.table, StreamSpecification }));

const [count = 0, file = ''] = [Number(process.argv[2]), process.argv[3]];
const parts = await openParts('stored-rows');
try {
  say(`stored rows: ${count} rows of others`);
  const copied = count > 0 ? othersLike(JSON.parse(await readFile(file, 'utf8')), count) : [];
  const { endpoint, end } = await serveItems(together(logOfPerson(), copied));
  try {
    await setStream(endpoint, { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' });
    const work = await onStack(
      async (bench) => {
        const found = await workOf(bench);
        if (count === 0) {
          const rows = await allRows(parts.table);
          await writeFile(file, JSON.stringify(rows.filter((row) => !JSON.stringify(row).includes(PERSON))));
        }
        return found;
      },
      { endpoint, tableName: parts.table },
    );
    moveTo(endpoint);
    // A stream that nobody reads slows the embedded database.
    await setStream(endpoint, { StreamEnabled: false });
    const measured: Measured = { rows: count, work, erasure: await erase(endpoint) };
    process.send?.(measured);
  } finally {
    await end();
  }
} finally {
  await parts.close();
}
