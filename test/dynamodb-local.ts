/**
 * `npm run test:dynamodb-local`: quick stack tests over Amazon's DynamoDB Local, as a second opinion on the embedded
 * database: those that test what functions and commands read from a table, and write to it. Takes the one at
 * DYNAMODB_ENDPOINT, or fetches the jar through Maven and starts it. Without Java or Maven it tests nothing: it prints
 * that and ends with 0, or, if the environment sets CI, with 1.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { HOW_TO_GET_IT, startDynamodbLocal } from './support/dynamodb-local.ts';
import { QUICK } from './support/tags.ts';

/** Tests of what happens when: they go by the clock, and say nothing about a database. */
const BY_THE_CLOCK = ['long-poll', 'rate-limit'];

/**
 * Many cases of requests that are rejected, of calls that fail before the database receives them, and of what a command
 * prints; log lines and documents; and many histories of the same data. Other tests make calls of the table with the same
 * expressions.
 */
const SAME_CALLS = [
  'errors',
  'log',
  'tracing',
  'readme',
  'generated-client',
  'smoke',
  'operator/table',
  'operator/stack',
  'operator/platform',
  'failing-calls',
  'hostile-input',
  'hostile-destinations',
  'platform-check',
  'killed',
  'lost-answers',
  'in-process/app/events',
  'in-process/bridge/platform-delivery',
  'in-process/delivery/early-ends',
  'in-process/delivery/exhausted',
  'in-process/delivery/order-of-states',
  'in-process/delivery/same-bytes',
  'in-process/every-endpoint/cursors',
  'in-process/messages/lists-in-order',
  'in-process/messages/send',
  'in-process/stats/exports',
  'in-process/user-data/erasure-story',
  'in-process/user-data/requests',
  'in-process/webhooks/endpoints',
];

/** DynamoDB Local does not finish to build an index of an existing table: it is still CREATING after 50 s. */
const NOT_SUPPORTED = ['index-change'];

const SETTINGS = {
  // Stale reads and conflicts are simulated in front of the database, which would have to keep a second table for them.
  STALE_READS: 'none',
};

/** The files to run: named one by one, because the settings of a project override the option to exclude files. */
const files = (): string[] => {
  const left = [...BY_THE_CLOCK, ...SAME_CALLS, ...NOT_SUPPORTED].map((name) => `/${name}.test.ts`);
  return globSync('test/stack/**/*.test.ts').filter((file) => !left.some((end) => file.endsWith(end)));
};

const test = (endpoint: string): number | null => {
  const given = process.argv.slice(2);
  // One worker less than elsewhere, because the database takes a core of its own.
  const options = ['--project', 'stack', '--project', 'fences', '--tags-filter', QUICK, '--maxWorkers', '2'];
  return spawnSync('vitest', ['run', ...options, ...(given.length > 0 ? given : [...files(), 'test/fences/'])], {
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
