/**
 * Amazon's DynamoDB Local, downloaded with Maven and started with Java. It must support
 * `ReturnValuesOnConditionCheckFailure`, which was added in 2023.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { freePort } from '../../infra/local/aws/loopback.ts';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';

const VERSION = '2.6.1';

const folder = join(localFolder, `dynamodb-local-${VERSION}`);
const jars = join(folder, 'lib');

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>local</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>com.amazonaws</groupId><artifactId>DynamoDBLocal</artifactId><version>${VERSION}</version>
  </dependency></dependencies>
</project>
`;

/** The instruction if DynamoDB Local cannot run. */
export const HOW_TO_GET_IT = 'set DYNAMODB_ENDPOINT to a DynamoDB Local, or install Java and Maven';

export interface DynamodbLocal {
  endpoint: string;
  pid: number | undefined;
  close(): void;
}

const works = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const fetchJars = (): void => {
  if (existsSync(jars)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pom.xml'), POM);
  const copy = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  const { status } = spawnSync('mvn', copy, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    throw new Error('Maven could not fetch DynamoDB Local.');
  }
};

/** The time limit of the start, in milliseconds, for a busy machine. */
const TIMEOUT_MS = 60_000;

/** Resolves after the first response of any kind. The table's client would time out before it. */
const untilItAnswers = async (endpoint: string, database: ChildProcess): Promise<void> => {
  const end = Date.now() + TIMEOUT_MS;
  while (database.exitCode === null) {
    const answer = await fetch(endpoint, { method: 'POST' }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer !== undefined) return;
    if (Date.now() > end) break;
    await pause(100);
  }
  throw new Error('DynamoDB Local does not start.');
};

/**
 * On two cores, Java's optimising compiler and parallel collector compete with requests. On a busy machine, a request
 * took 2.0 s without these options, and 1.2 s with them. The table's client times out after 2 s.
 */
const QUICK = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** Rounds of warm-up requests, after which the classes are loaded and compiled. */
const ROUNDS = 300;

/** Makes requests of each kind, because the first ones take seconds, longer than tests can wait. */
const warmUp = async (endpoint: string): Promise<void> => {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'warm', secretAccessKey: 'up' },
    requestHandler: { requestTimeout: TIMEOUT_MS },
  });
  const TableName = 'warm-up';
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'index', AttributeType: 'S' },
      ],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'index',
          KeySchema: [{ AttributeName: 'index', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );
  const round = async (place: number): Promise<void> => {
    const Key = { pk: { S: `${place}` } };
    const Item = { ...Key, index: { S: `${place % 10}` } };
    const absent = { ConditionExpression: 'attribute_not_exists(pk)' };
    await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item, ...absent } }] }));
    await client.send(new PutItemCommand({ TableName, Item, ...absent })).catch(() => undefined);
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'ADD counted :one SET seen = if_not_exists(seen, :one)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }),
    );
    await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
    await client.send(
      new QueryCommand({
        TableName,
        IndexName: 'index',
        KeyConditionExpression: '#index = :index',
        ExpressionAttributeNames: { '#index': 'index' },
        ExpressionAttributeValues: { ':index': Item.index },
      }),
    );
    await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ DeleteRequest: { Key } }] } }));
  };
  const places = Array.from({ length: ROUNDS }, (_, place) => place);
  while (places.length > 0) await Promise.all(places.splice(0, 10).map(round));
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
};

/**
 * Starts an instance in memory. Returns undefined without Java or Maven.
 *
 * @param javaOptions - options of the virtual machine, such as the maximum heap
 */
export const startDynamodbLocal = async (javaOptions: string[] = QUICK): Promise<DynamodbLocal | undefined> => {
  if (!works('java', '-version') || !works('mvn', '-v')) return undefined;
  fetchJars();
  const port = await freePort();
  const database = spawn(
    'java',
    [
      ...javaOptions,
      `-Djava.library.path=${jars}`,
      '-cp',
      join(jars, '*'),
      'com.amazonaws.services.dynamodbv2.local.main.ServerRunner',
      '-inMemory',
      '-sharedDb',
      '-port',
      `${port}`,
    ],
    // It writes a file into its working folder.
    { stdio: 'ignore', cwd: jars },
  );
  const endpoint = `http://127.0.0.1:${port}`;
  const close = () => void database.kill();
  try {
    await untilItAnswers(endpoint, database);
    await warmUp(endpoint);
    return { endpoint, pid: database.pid, close };
  } catch (error) {
    close();
    throw error;
  }
};
