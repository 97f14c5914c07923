/**
 * Runs before each file of stack tests. Records the file and its failed tests, for tests that check the whole run. A test that
 * passes when it is repeated has not failed.
 */
import { relative } from 'node:path';
import { afterEach, expect, inject } from 'vitest';
import { addLine } from '../../support/run-record.ts';

const { ran, failed } = inject('run');

addLine(ran, relative('.', expect.getState().testPath ?? ''));

afterEach(({ task }) => {
  const retries = typeof task.retry === 'number' ? task.retry : (task.retry?.count ?? 0);
  const isLast = (task.result?.retryCount ?? 0) >= retries;
  if (task.result?.state === 'fail' && isLast) addLine(failed, task.fullTestName);
});
