/** The emulator's database: the embedded Dynoxide, or a server with DynamoDB's API at `DYNAMODB_ENDPOINT`. */
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { StartError } from '../start-error.ts';
import type { TableDefinition } from '../template/definitions.ts';
import type { Json } from '../template/json.ts';
import { BINARY, startEmbedded } from './embedded.ts';

export interface Database {
  endpoint: string;
  close(): Promise<void>;
}

/** Where DynamoDB Local listens by default. */
const DYNAMODB_LOCAL = 'http://localhost:8000';

const START_DYNAMODB_LOCAL =
  'start DynamoDB Local (docker run -p 8000:8000 amazon/dynamodb-local -jar DynamoDBLocal.jar -inMemory -sharedDb)';

/** Milliseconds within which a running DynamoDB Local responds. */
const PROBE_MS = 2_000;

/**
 * Uses the database at `endpoint`, or starts the embedded one. If this platform has none, uses a running DynamoDB Local.
 *
 * @param dataFolder - where the embedded database keeps its file; by default, its data ends with it
 * @throws StartError — there is no database; the message has three lines
 */
export const openDatabase = async (endpoint: string | undefined, dataFolder?: string): Promise<Database> => {
  if (endpoint !== undefined) return { endpoint, close: async () => undefined };
  if (existsSync(BINARY)) return startEmbedded(dataFolder);
  if (await isDatabase(DYNAMODB_LOCAL)) return { endpoint: DYNAMODB_LOCAL, close: async () => undefined };
  throw new StartError(`The embedded database is not installed for ${process.platform}-${process.arch}. One of these helps:
- Run "npm ci" without "--omit=optional", or put the program "dynoxide" (https://github.com/nubo-db/dynoxide) on the PATH.
- Or ${START_DYNAMODB_LOCAL}. npm start finds it there; elsewhere, set DYNAMODB_ENDPOINT.`);
};

/**
 * Whether a server has the API of DynamoDB. Another program may use the same port.
 *
 * @internal Tests use it, too.
 */
export const isDatabase = async (endpoint: string): Promise<boolean> => {
  const client = clientFor(endpoint, 'table');
  try {
    await client.send(new ListTablesCommand({}), { abortSignal: AbortSignal.timeout(PROBE_MS) });
    return true;
  } catch {
    return false;
  } finally {
    client.destroy();
  }
};

/**
 * Creates the table as the template defines it, unless it exists.
 *
 * @throws StartError — the database cannot be reached, has a separate database for each access key, or has a table with
 * other keys
 */
export const createTable = async (
  endpoint: string,
  properties: TableDefinition['properties'],
  tableName: string,
): Promise<void> => {
  const client = clientFor(endpoint, 'table');
  try {
    await untilReached(client, endpoint, tableName);
    await client.send(new CreateTableCommand(toInput(properties, tableName)));
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: tableName,
        TimeToLiveSpecification: properties.TimeToLiveSpecification as { AttributeName: string; Enabled: boolean },
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    await requireSameKeys(endpoint, properties, tableName);
  } finally {
    client.destroy();
  }
  await requireSharedDatabase(endpoint, tableName);
};

/**
 * The ARN of the table's stream.
 *
 * @throws StartError — the table was created without a stream
 */
export const streamOf = async (endpoint: string, tableName: string): Promise<string> => {
  const client = clientFor(endpoint, 'table');
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    if (Table?.LatestStreamArn) return Table.LatestStreamArn;
    throw new StartError(`The table ${tableName} at ${endpoint} has no stream: remove the table.`);
  } finally {
    client.destroy();
  }
};

/** The properties of a table as a template defines them; undefined if there is no such table. */
export const existingTableOf = async (
  endpoint: string,
  tableName: string,
): Promise<{ [property: string]: Json } | undefined> => {
  const client = clientFor(endpoint, 'table');
  try {
    await untilReached(client, endpoint, tableName);
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [], StreamSpecification } = Table ?? {};
    const indexes = GlobalSecondaryIndexes.map(({ IndexName, KeySchema: keys, Projection }) => ({
      IndexName,
      KeySchema: keys,
      Projection,
    }));
    // Without values that are undefined.
    return JSON.parse(
      JSON.stringify({
        KeySchema,
        AttributeDefinitions,
        GlobalSecondaryIndexes: indexes,
        StreamSpecification,
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      }),
    );
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  } finally {
    client.destroy();
  }
};

/** A table that an earlier version created may lack an index. */
const requireSameKeys = async (
  endpoint: string,
  properties: TableDefinition['properties'],
  tableName: string,
): Promise<void> => {
  const existing = await existingTableOf(endpoint, tableName);
  if (existing === undefined || keysOf(existing) === keysOf(properties)) return;
  throw new StartError(
    `The table ${tableName} at ${endpoint} has other keys or indexes than this version: it is of another version. Remove it, or the folder of the kept data (.local/data).`,
  );
};

const keysOf = ({ KeySchema, GlobalSecondaryIndexes = [] }: TableDefinition['properties']): string => {
  const indexes = (Array.isArray(GlobalSecondaryIndexes) ? GlobalSecondaryIndexes : []).map((index) => {
    const { IndexName, KeySchema: keys } = Object(index);
    return `${IndexName} ${schemaOf(keys)}`;
  });
  return [schemaOf(KeySchema), ...indexes.toSorted()].join('\n');
};

/** Attributes with the kinds of keys that they are: `pk HASH, sk RANGE`. */
const schemaOf = (schema: unknown): string =>
  (Array.isArray(schema) ? schema : [])
    .map((key) => `${Object(key).AttributeName} ${Object(key).KeyType}`)
    .toSorted()
    .join(', ');

/** A client with invented credentials. The access key identifies the caller. */
const clientFor = (endpoint: string, caller: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: caller, secretAccessKey: 'local' },
    maxAttempts: 1,
  });

/** Waits until the database listens. The embedded one needs about 30 ms; another one should be running already. */
const untilReached = async (client: DynamoDBClient, endpoint: string, tableName: string): Promise<void> => {
  for (let left = 100; ; left -= 1) {
    try {
      await client.send(new DescribeTableCommand({ TableName: tableName }));
      return;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return;
      if (left === 0)
        throw new StartError(
          `No database responds at ${endpoint}: ${START_DYNAMODB_LOCAL} and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.`,
        );
      await pause(20);
    }
  }
};

/** Each function has its own access key. DynamoDB Local without -sharedDb has a separate database for each key. */
const requireSharedDatabase = async (endpoint: string, tableName: string): Promise<void> => {
  const other = clientFor(endpoint, 'other');
  try {
    await other.send(new DescribeTableCommand({ TableName: tableName }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    throw new StartError(
      `The database at ${endpoint} keeps a database for each access key: start DynamoDB Local with -sharedDb.`,
    );
  } finally {
    other.destroy();
  }
};

/** The template's global table as a plain table. */
const toInput = (properties: TableDefinition['properties'], TableName: string): CreateTableCommandInput => {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, StreamSpecification, BillingMode } =
    properties as Pick<
      CreateTableCommandInput,
      'KeySchema' | 'AttributeDefinitions' | 'GlobalSecondaryIndexes' | 'StreamSpecification' | 'BillingMode'
    >;
  return {
    TableName,
    KeySchema,
    AttributeDefinitions,
    // Local databases know no warm throughput.
    GlobalSecondaryIndexes: GlobalSecondaryIndexes?.map(({ WarmThroughput: _warm, ...index }) => index),
    ...(StreamSpecification && { StreamSpecification: { ...StreamSpecification, StreamEnabled: true } }),
    BillingMode,
  };
};
