import { readFileSync } from 'node:fs';

/**
 * The files whose tests `npm run test:dynamodb-local` runs. Together they make all kinds of calls: an action with expressions
 * of a form. Found in November 2026 by a record of the calls of most stack tests, and a cover of its kinds. No test checks
 * that it stays complete.
 */
export const ON_DYNAMODB_LOCAL = [
  'http/delivery/short-of-time',
  'http/every-endpoint/api-examples',
  'http/every-endpoint/authorizer',
  'http/messages/reference',
  'http/operator/account-option',
  'http/operator/history',
  'http/opt-outs/keywords',
  'http/tokens/tokens',
  'in-process/account/account',
  'in-process/app/events-order',
  'in-process/app/events-time',
  'in-process/campaigns/ended',
  'in-process/campaigns/expand',
  'in-process/campaigns/hours',
  'in-process/deliveries/bounded',
  'in-process/delivery/app-network-circuits',
  'in-process/delivery/local-page',
  'in-process/delivery/no-destination',
  'in-process/delivery/reason-codes',
  'in-process/delivery/slots',
  'in-process/listening/claims',
  'in-process/profilers/answers',
  'in-process/stats/counting',
  'in-process/stats/job-status',
  'in-process/stats/jobs',
  'in-process/stats/logs',
  'in-process/stats/zones',
  'in-process/table/expiry',
  'in-process/table/retention',
  'in-process/user-data/consent',
  'in-process/user-data/consent-served',
  'in-process/user-data/erasure-turns',
  'in-process/user-data/story',
  'in-process/user-data/unkeyed-hashes',
  'in-process/user-data/wait-slots',
  'in-process/users/read',
].map((name) => `test/stack/${name}.test.ts`);

/**
 * Whether DynamoDB Local is all that differs there: the tests use a table of their own, no function of the served stack, whose
 * reads are stale elsewhere, and none of them is skipped on another database.
 */
const isAlike = (file: string): boolean => {
  const source = readFileSync(file, 'utf8');
  return (
    /support\/own-table\.ts/.test(source) && !/support\/client\.ts|base_url|bridge_url|DYNAMODB_ENDPOINT/.test(source)
  );
};

/** The files whose long tests another part of CI runs, which the environment names. */
export const LEFT_OUT = process.env.WITHOUT === 'dynamodb-local' ? ON_DYNAMODB_LOCAL.filter(isAlike) : [];
