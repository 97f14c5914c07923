/**
 * `npm run test:dynamodb-local`: the quick stack tests over Amazon's DynamoDB Local, as a second opinion on the embedded
 * database. Takes the one at DYNAMODB_ENDPOINT, or fetches the jar through Maven and starts it. Without Java or Maven it
 * tests nothing: it prints that and ends with 0, or, if the environment sets CI, with 1.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { HOW_TO_GET_IT, startDynamodbLocal } from './support/dynamodb-local.ts';
import { QUICK } from './support/tags.ts';

/** Tests of what happens when: they go by the clock, and say nothing about a database. */
const BY_THE_CLOCK = ['long-poll', 'rate-limit'];

/** DynamoDB Local does not finish to build an index of an existing table: it is still CREATING after 50 s. */
const NOT_SUPPORTED = ['index-change'];

const SETTINGS = {
  // Stale reads and conflicts are simulated in front of the database, which would have to keep a second table for them.
  STALE_READS: 'none',
  // On two busy cores this database pauses for seconds. The tests are of what it returns, not of when.
  TABLE_TIMEOUT_MS: '30000',
};

const test = (endpoint: string): number | null => {
  const left = [...BY_THE_CLOCK, ...NOT_SUPPORTED].flatMap((name) => ['--exclude', `**/${name}.test.ts`]);
  // One worker less than elsewhere, because the database takes a core of its own. It pauses for seconds at times, which some
  // tests of short time limits do not survive: a test that fails runs once more.
  const options = ['--project', 'stack', '--tags-filter', QUICK, '--maxWorkers', '2', '--retry', '1'];
  return spawnSync('vitest', ['run', ...options, ...left, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: {
      ...SETTINGS,
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
    process.stderr.write(`Nothing was tested, because Java or Maven is missing: ${HOW_TO_GET_IT}.\n`);
    return process.env.CI ? 1 : 0;
  }
  try {
    return test(database.endpoint);
  } finally {
    database.close();
  }
};

process.exitCode = (await main()) ?? 1;
