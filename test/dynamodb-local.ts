/**
 * `npm run test:dynamodb-local`: the stack tests over Amazon's DynamoDB Local, as a second opinion on the embedded
 * database. Takes the one at DYNAMODB_ENDPOINT, or fetches the jar through Maven and starts it; without Java and Maven
 * it says so and does nothing. The jar must know `ReturnValuesOnConditionCheckFailure`, which came in 2023.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from '../infra/local/free-port.ts';
import { localFolder } from '../infra/local/stack-file.ts';

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

const startDatabase = (port: number): ChildProcess =>
  spawn(
    'java',
    [
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

/** Tests of what happens when: they go by the clock, and say nothing about a database. */
const BY_THE_CLOCK = ['long-poll'];

const test = (endpoint: string): number | null => {
  const left = BY_THE_CLOCK.flatMap((name) => ['--exclude', `**/${name}.test.ts`]);
  // That database answers late at times, and the table's client waits no longer than for one in AWS: a test may be
  // repeated, which mends nothing that is wrong.
  return spawnSync('vitest', ['run', '--project', 'stack', '--retry', '2', ...left, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: {
      ...process.env,
      DYNAMODB_ENDPOINT: endpoint,
      PATH: [join(import.meta.dirname, '../node_modules/.bin'), process.env.PATH].join(delimiter),
    },
  }).status;
};

const main = async (): Promise<number | null> => {
  if (process.env.DYNAMODB_ENDPOINT) return test(process.env.DYNAMODB_ENDPOINT);
  if (!works('java', '-version') || !works('mvn', '-v')) {
    process.stdout.write('Not run: set DYNAMODB_ENDPOINT to a DynamoDB Local, or install Java and Maven.\n');
    return 0;
  }
  fetchJars();
  const port = await freePort();
  const database = startDatabase(port);
  try {
    return test(`http://127.0.0.1:${port}`);
  } finally {
    database.kill();
  }
};

process.exitCode = (await main()) ?? 1;
