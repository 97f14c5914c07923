/** How the sweep bears a table that fails, told by a table that fails on purpose. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { handler } from '../../functions/workers/sweep.ts';
import { documents } from '../../shared/table/client.ts';
import { captureLog } from '../support/captured-log.ts';

const written = captureLog();

/** What was asked of the table: the command, and the partition key that it names. */
const asked: string[] = [];

const tombstone = (profiler: string) => ({ pk: 'PROFILERS#acme', sk: `PROFILER#${profiler}` });

/** Two tombstones are due; the answers of the first cannot be removed. */
const answerTo = (name: string, input: Record<string, unknown>): unknown => {
  const values = Object.values((input.ExpressionAttributeValues as Record<string, string>) ?? {});
  asked.push(`${name} ${JSON.stringify(input.Key ?? input.RequestItems ?? values)}`);
  if (name === 'QueryCommand' && input.IndexName === 'gsi1') {
    return { Items: values.includes('DUE#0') ? [tombstone('bad'), tombstone('good')] : [] };
  }
  if (name === 'QueryCommand') return { Items: [{ pk: values[0], sk: 'ANSWER#27821234567' }] };
  if (name === 'BatchWriteCommand' && JSON.stringify(input).includes('ANSWERS#bad'))
    throw new Error('27821234567 is stuck');
  return {};
};

beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'table');
  vi.spyOn(documents, 'send').mockImplementation(async (command: { constructor: { name: string }; input: object }) =>
    answerTo(command.constructor.name, { ...command.input }),
  );
});

afterEach(() => {
  vi.unstubAllEnvs();
  asked.length = 0;
});

const event = { time: '2030-01-01T00:00:00Z' };

test('what fails holds up nothing else, and fails the run when all others had their turn', async () => {
  await expect(handler(event, { getRemainingTimeInMillis: () => 55_000 })).rejects.toThrow('sweep failed');
  const finished = asked.filter((call) => call.startsWith('UpdateCommand'));
  expect(finished).toEqual([`UpdateCommand ${JSON.stringify(tombstone('good'))}`]);
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', message: 'sweep could not remove answers', error: 'Error' },
    { level: 'error', message: 'sweep', error: 'Error' },
  ]);
  expect(written.join()).not.toContain('27821234567');
});

test('nothing is taken up when the time is nearly over', async () => {
  await handler(event, { getRemainingTimeInMillis: () => 9_000 });
  expect(asked.filter((call) => !call.startsWith('QueryCommand'))).toEqual([]);
  expect(JSON.parse(written.join())).toMatchObject({
    level: 'info',
    message: 'sweep',
    answers: 0,
    profilers: 0,
    failed: 0,
  });
});
