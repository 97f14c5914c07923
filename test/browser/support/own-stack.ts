/** A local stack of a test file alone, as `npm start` serves it: for tests that change what all users of a stack share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StackFile } from '../../../infra/operator/local-stack/stack-file.ts';
import { startStack } from '../../clients/stack.ts';
import { end } from '../../deploy/processes.ts';

/** Serves the stack until the test ends. */
export const serveOwnStack = async (): Promise<StackFile> => {
  const folder = await mkdtemp(join(tmpdir(), 'browser-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const stack = await startStack(folder);
  onTestFinished(() => end(stack.process));
  return stack;
};
