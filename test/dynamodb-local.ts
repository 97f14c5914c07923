/**
 * `npm run test:dynamodb-local`: the stack tests over Amazon's DynamoDB Local, as a second opinion on the embedded
 * database. Takes the one at DYNAMODB_ENDPOINT, or fetches the jar through Maven and starts it; without Java and Maven
 * it says so and does nothing.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { HOW_TO_GET_IT, startDynamodbLocal } from './support/dynamodb-local.ts';

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
  const database = await startDynamodbLocal();
  if (database === undefined) {
    process.stdout.write(`Not run: ${HOW_TO_GET_IT}.\n`);
    return 0;
  }
  try {
    return test(database.endpoint);
  } finally {
    database.close();
  }
};

process.exitCode = (await main()) ?? 1;
