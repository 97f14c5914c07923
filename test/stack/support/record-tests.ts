/**
 * Runs before each file of stack tests. Records the file, its failed tests and its calls to the table, for tests that check the
 * whole run. A test that passes when it is repeated has not failed.
 */
import { relative } from 'node:path';
import { afterEach, expect, inject } from 'vitest';
import { addLine } from '../../support/run-record.ts';
import { recordTableCalls } from './table-calls.ts';

const { ran, failed, tableCalls } = inject('run');

addLine(ran, relative('.', expect.getState().testPath ?? ''));
if (!process.env.DYNAMODB_ENDPOINT) recordTableCalls(inject('stack').dynamodb_endpoint, tableCalls);

afterEach(({ task }) => {
  const retries = typeof task.retry === 'number' ? task.retry : (task.retry?.count ?? 0);
  const isLast = (task.result?.retryCount ?? 0) >= retries;
  if (task.result?.state === 'fail' && isLast) addLine(failed, task.fullTestName);
});
