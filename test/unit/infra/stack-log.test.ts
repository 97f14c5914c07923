/** What the terminal shows of the log of a local stack, and what its file has. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { StackLog } from '../../../infra/local/launch/stack-log.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

const newLog = () => {
  const shown: string[] = [];
  const log = new StackLog((line) => shown.push(line.replace(/^\d\d:\d\d:\d\d {2}/, '')));
  /** What is shown in the next seconds. */
  const next = () => {
    shown.length = 0;
    vi.advanceTimersByTime(5_000);
    return shown;
  };
  return { log, shown, next };
};

const newPath = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'log-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'stack.log');
};

const request = (status: number): string => JSON.stringify({ host: 'base', status: `${status}` });

test('requests are counted by status, once, and nothing is shown while none arrive', () => {
  const { log, next } = newLog();
  for (const status of [404, 200, 200]) log.add('BaseApi', request(status));
  expect(next()).toEqual(['requests: 2 × 200, 1 × 404']);
  expect(next()).toEqual([]);
});

test('errors are counted by function and message, at most three are named, and the file is', async () => {
  const { log, next } = newLog();
  const path = await newPath();
  log.open(path);
  for (const message of ['one', 'two', 'one', 'three', 'four']) {
    log.add('SendMessageFunction0A1B2C3D', JSON.stringify({ level: 'error', message }));
  }
  log.add('SendMessageFunction0A1B2C3D', '{"level":"info","message":"request"}');
  expect(next()).toEqual([
    'error: sendMessage: one (2 ×)',
    'error: sendMessage: two (1 ×)',
    'error: sendMessage: three (1 ×)',
    `More about errors: ${path}`,
  ]);
  const record = { requestId: 'x', status: 'error', errorType: 'Runtime.ExitError' };
  log.add('Deliver', JSON.stringify({ type: 'platform.report', record }));
  log.add('Deliver', JSON.stringify({ type: 'platform.report', record: { requestId: 'x', status: 'timeout' } }));
  expect(next().slice(0, 2)).toEqual(['error: deliver: Runtime.ExitError (1 ×)', 'error: deliver: timeout (1 ×)']);
  await log.close();
});

test('lines that are not JSON are shown at once', () => {
  const { log, shown } = newLog();
  log.add('Deliver', 'here');
  expect(shown).toEqual(['here']);
});

test('the file has all lines in order, without descriptions of metrics, and the end shows the last counts', async () => {
  const { log, shown } = newLog();
  const path = await newPath();
  log.add('Deliver', '{"message":"before it is open"}');
  log.open(path);
  log.add('Deliver', '{"message":"counted","_aws":{"Timestamp":1}}');
  log.add('Deliver', 'no JSON');
  log.add('BaseApi', request(200));
  await log.close();
  expect(await readFile(path, 'utf8')).toBe(
    `{"message":"before it is open"}\n{"message":"counted"}\nno JSON\n${request(200)}\n`,
  );
  expect(shown).toEqual(['no JSON', 'requests: 1 × 200']);
});

test('a file that cannot be written ends the log, not the stack', async () => {
  const { log, shown, next } = newLog();
  log.open(join(import.meta.filename, 'stack.log'));
  await expect.poll(() => shown).toEqual([expect.stringMatching(/^The log ends, .+ cannot be written: E\w+/)]);
  log.add('BaseApi', request(200));
  expect(next()).toEqual(['requests: 1 × 200']);
  await log.close();
});
