/** The time limit of requests: one timer serves all of them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { inTime } from '../../../shared/http/time-limit.ts';

/** What `getRemainingTimeInMillis` returns, less what is reserved. */
const counting = (milliseconds: number) => {
  const end = performance.now() + milliseconds;
  return () => end - performance.now();
};

const endless = () => new Promise<never>(() => undefined);
const tooLate = { code: 'unavailable', retryAfter: 1 };

test('returns the result or the error of work that ends in time', async () => {
  expect(await inTime(Promise.resolve('done'), counting(10_000))).toBe('done');
  await expect(inTime(Promise.reject(new Error('broken')), counting(10_000))).rejects.toThrow('broken');
});

test('work that has no time left is over at once', async () => {
  await expect(inTime(endless(), () => -1)).rejects.toMatchObject(tooLate);
});

test('each request ends at its own time, whichever began first', async () => {
  // The test's own time, which a busy machine does not change.
  let time = 0;
  const ended: string[] = [];
  const endOf = (name: string, milliseconds: number) =>
    inTime(endless(), () => milliseconds - time).catch(() => ended.push(name));
  const quick = inTime(Promise.resolve('done'), () => 10 - time);
  const all = Promise.all([quick, endOf('third', 120), endOf('first', 20), endOf('second', 60)]);
  for (const [at, names] of [
    [20, ['first']],
    [60, ['first', 'second']],
    [120, ['first', 'second', 'third']],
  ] as const) {
    time = at;
    await expect.poll(() => ended).toEqual(names);
  }
  await all;
});

test('the time of a request that ends does not limit the next one', async () => {
  await inTime(Promise.resolve(), counting(30));
  const { promise, resolve } = Promise.withResolvers<string>();
  setTimeout(() => resolve('later'), 90);
  expect(await inTime(promise, counting(10_000))).toBe('later');
});

test('a timer that ends late or early, as after a freeze, ends no request that has time left', async () => {
  let left = 10;
  const { promise, resolve } = Promise.withResolvers<string>();
  const result = inTime(promise, () => left);
  left = 10_000;
  setTimeout(() => resolve('done'), 60);
  expect(await result).toBe('done');
});

test('work that fails after its time changes nothing', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  await expect(inTime(promise, () => 0)).rejects.toMatchObject(tooLate);
  reject(new Error('late'));
  // An unhandled rejection would fail the run.
  expect(await inTime(Promise.resolve('next'), counting(10_000))).toBe('next');
});

/** Runs a script in a process of its own. Returns what it prints. */
const printed = async (script: string): Promise<string> => {
  const file = new URL('../../../shared/http/time-limit.ts', import.meta.url).href;
  const source = `import { inTime } from '${file}'; ${script}`;
  return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source])).stdout;
};

test('a process without work ends, although the timer of its last request has not', async () => {
  const script = "console.log(await inTime(Promise.resolve('done'), () => 600_000));";
  expect(await printed(script)).toBe('done\n');
});

test('a request that keeps the process by nothing else is over at its time, also after others', async () => {
  const script = `
    const end = performance.now() + 200;
    await inTime(Promise.resolve(), () => 100);
    await inTime(new Promise(() => {}), () => end - performance.now()).catch(({ code }) => console.log(code));`;
  expect(await printed(script)).toBe('unavailable\n');
});
