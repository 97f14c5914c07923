/** A local stack of a test file alone, as `npm start` serves it: for tests that change what all users of a stack share. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StackFile } from '../../../infra/operator/local-stack/stack-file.ts';

/** Serves the stack until the test ends. */
export const serveOwnStack = async (): Promise<StackFile> => {
  const folder = await mkdtemp(join(tmpdir(), 'browser-'));
  const child = spawn(process.execPath, ['infra/local/start.ts'], {
    env: { ...process.env, LOCAL_FOLDER: folder, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  let output = '';
  const ready = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = `${output}${text}`.slice(-1_000);
    if (/^ready$/m.test(output)) ready.resolve();
  });
  await Promise.race([ready.promise, ended]);
  return JSON.parse(await readFile(join(folder, 'stack.json'), 'utf8'));
};
