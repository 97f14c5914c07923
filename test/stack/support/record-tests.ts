/** Runs before each file of stack tests. Records the file and its failed tests, for tests that check the whole run. */
import { relative } from 'node:path';
import { afterEach, expect, inject } from 'vitest';
import { addLine } from '../../support/run-record.ts';

const { ran, failed } = inject('run');

addLine(ran, relative('.', expect.getState().testPath ?? ''));

afterEach(({ task }) => {
  if (task.result?.state === 'fail') addLine(failed, task.fullTestName);
});
