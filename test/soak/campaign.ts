/**
 * `npm run soak:campaign`: 10,000 recipients of one request, with a third of the app network's calls failing, workers that
 * are killed at random, and wake-ups that are lost and repeated. It runs the test of 300 recipients with more of them,
 * over DynamoDB Local if it can.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startDynamodbLocal } from '../support/dynamodb-local.ts';

const { DYNAMODB_ENDPOINT: given, SOAK_RECIPIENTS = '10000' } = process.env;
const local = given ? undefined : await startDynamodbLocal(['-Xmx2g']);
const endpoint = given || local?.endpoint;
const run = spawn(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/endurance/vitest.config.ts', 'campaign'],
  { stdio: 'inherit', env: { ...process.env, SOAK_RECIPIENTS, ...(endpoint && { DYNAMODB_ENDPOINT: endpoint }) } },
);
const [code] = await once(run, 'exit');
local?.close();
process.exitCode = code === 0 ? 0 : 1;
