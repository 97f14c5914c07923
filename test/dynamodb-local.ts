/**
 * `npm run test:dynamodb-local`: Amazon's DynamoDB Local as a second opinion on the embedded database. Makes the calls to the table
 * that the last complete runs of `npm test` and `npm run test:long` recorded, on both databases, and compares the results. Then
 * runs stack tests on DynamoDB Local; files that are given as arguments instead. Takes the one at DYNAMODB_ENDPOINT, or
 * fetches the jar through Maven and starts it. Without Java or Maven it tests nothing: it prints that and ends with 0, or, if
 * the environment sets CI, with 1.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { HOW_TO_GET_IT, startDynamodbLocal } from './support/dynamodb-local.ts';

/** Besides the comparison: all endpoints, and messages in both directions, which need the stream of DynamoDB Local. */
const FILES = ['in-process/table/same-results', 'http/every-endpoint/api-examples', 'http/opt-outs/keywords'].map(
  (name) => `test/stack/${name}.test.ts`,
);

const SETTINGS = {
  // Stale reads and conflicts are simulated in front of the database, which would have to keep a second table for them.
  STALE_READS: 'none',
};

const test = (endpoint: string): number | null => {
  const given = process.argv.slice(2);
  const files = given.every((one) => one.startsWith('-')) ? FILES : [];
  return spawnSync('vitest', ['run', '--project', 'stack', ...files, ...given], {
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
