/**
 * `npm run test:dynamodb-local`: stack tests over Amazon's DynamoDB Local, as a second opinion on the embedded database:
 * those that together make all kinds of calls of a table. Takes the one at DYNAMODB_ENDPOINT, or fetches the jar through
 * Maven and starts it. Without Java or Maven it tests nothing: it prints that and ends with 0, or, if the environment sets
 * CI, with 1.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { HOW_TO_GET_IT, startDynamodbLocal } from './support/dynamodb-local.ts';
import { ON_DYNAMODB_LOCAL } from './support/on-dynamodb-local.ts';

const SETTINGS = {
  // Stale reads and conflicts are simulated in front of the database, which would have to keep a second table for them.
  STALE_READS: 'none',
};

const missing = ON_DYNAMODB_LOCAL.filter((file) => !existsSync(file));
if (missing.length > 0) throw new Error(`The list of tests names files that do not exist: ${missing.join(', ')}`);

const test = (endpoint: string): number | null => {
  const given = process.argv.slice(2);
  const options = ['--project', 'stack', '--project', 'fences'];
  return spawnSync(
    'vitest',
    ['run', ...options, ...(given.length > 0 ? given : [...ON_DYNAMODB_LOCAL, 'test/fences/'])],
    {
      stdio: 'inherit',
      env: {
        ...SETTINGS,
        ...process.env,
        DYNAMODB_ENDPOINT: endpoint,
        PATH: [join(import.meta.dirname, '../node_modules/.bin'), process.env.PATH].join(delimiter),
      },
    },
  ).status;
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
