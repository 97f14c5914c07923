/**
 * Amazon's DynamoDB Local, fetched through Maven and started with Java. The jar must know
 * `ReturnValuesOnConditionCheckFailure`, which came in 2023.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../infra/local/free-port.ts';
import { localFolder } from '../../infra/local/stack-file.ts';

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

/** What people are told who have neither it nor what it takes. */
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

/** Milliseconds that it may take to start; a busy machine needs some of them. */
const PATIENCE = 60_000;

/** Fulfils when it answers anything: the table's client would not wait for its first answer. */
const untilItAnswers = async (endpoint: string, database: ChildProcess): Promise<void> => {
  const end = Date.now() + PATIENCE;
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
 * Starts one that keeps everything in memory; nothing, where there is no Java or Maven.
 *
 * @param javaOptions - for the virtual machine, such as how large its heap may become
 */
export const startDynamodbLocal = async (javaOptions: string[] = []): Promise<DynamodbLocal | undefined> => {
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
    // It leaves a file where it is started.
    { stdio: 'ignore', cwd: jars },
  );
  const endpoint = `http://127.0.0.1:${port}`;
  const close = () => void database.kill();
  try {
    await untilItAnswers(endpoint, database);
    return { endpoint, pid: database.pid, close };
  } catch (error) {
    close();
    throw error;
  }
};
