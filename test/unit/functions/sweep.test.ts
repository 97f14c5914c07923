/** The sweep with a fake table and a fake queue, which fail on purpose. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/workers/sweep.ts';
import { Backlog } from '../../../shared/due-work/backlog.ts';
import { ScheduledWork } from '../../../shared/due-work/scheduled-work.ts';
import type { Conversation } from '../../../shared/messaging/events.ts';
import { jobKey } from '../../../shared/table/batch-keys.ts';
import { documents } from '../../../shared/table/client.ts';
import {
  conversationName,
  entryKey,
  headKey,
  messageKey,
  named,
  outcomeKey,
  stateKey,
} from '../../../shared/table/keys.ts';
import { readWakeUp } from '../../../shared/wake-ups/conversations.ts';
import { captureLog } from '../../support/captured-log.ts';
import { useFakeQueue } from '../support/fake-queue.ts';

const written = captureLog();
const queue = useFakeQueue();

/** Calls in order: for the table, the command and its partition key; for the queue, "wake-up". */
const calls: string[] = [];

/** Items of the index of scheduled work by shard: due now, and due later. */
let due: Record<string, object[]> = {};
let later: Record<string, object[]> = {};
/** The item of the app network's circuit breaker. */
let app: object | undefined;
/** A cancelled job, its messages in the log, and the states that ended some of them; and the updates of the job. */
let job: object | undefined;
let log: { pk: string; sk: string }[] = [];
let ended: object[] = [];
let updates: object[] = [];

const DUE = '2029-12-31T23:59:00.000Z';
const LATER = '2030-01-01T00:00:00.001Z';

const profilerKey = (profiler: string) => ({ pk: 'PROFILERS#acme', sk: `PROFILER#${profiler}` });

const tombstone = (profiler: string, gsi1sk = DUE) => ({ ...profilerKey(profiler), gsi1sk });

const conversation = (phone: string): Conversation => ({ direction: 'app', account: 'acme', phone });

const head = (phone: string, created: string, gsi1sk = DUE) => ({
  ...headKey(conversationName(conversation(phone))),
  gsi1sk,
  created,
});

/** The table's response to a command. The removal of the answers of profiler "bad" fails. */
const answerTo = (name: string, input: Record<string, unknown>): unknown => {
  const values = Object.values((input.ExpressionAttributeValues as Record<string, string>) ?? {});
  calls.push(`${name} ${JSON.stringify(input.Key ?? input.RequestItems ?? values)}`);
  if (name === 'QueryCommand' && input.IndexName === 'gsi1') {
    const shard = values.find((value) => value.startsWith('DUE#')) ?? '';
    return { Items: [...(due[shard] ?? []), ...(later[shard] ?? [])] };
  }
  if (name === 'GetCommand' && JSON.stringify(input.Key).includes('JOB#')) return { Item: job };
  if (name === 'GetCommand') return { Item: app };
  if (name === 'UpdateCommand' && JSON.stringify(input.Key).includes('JOB#')) updates.push(input);
  if (name === 'BatchGetCommand') return { Responses: { table: ended } };
  if (name === 'QueryCommand' && input.IndexName === 'gsi3') return { Items: log };
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
  due = { 'DUE#0': [tombstone('bad'), tombstone('good')] };
  later = {};
  [app, job, log, ended, updates] = [undefined, undefined, [], [], []];
  queue.takes = () => calls.push('wake-up') > 0;
});

afterEach(() => {
  expect(written.join(), 'the log').not.toMatch(/2782\d{7}/);
  vi.useRealTimers();
  vi.unstubAllEnvs();
  calls.length = 0;
});

const event = { time: '2030-01-01T00:00:00Z' };

/** All log lines except those of the backlog. */
const lines = () => written.map((line) => JSON.parse(line)).filter(({ message }) => message !== 'backlog');

const backlog = () => written.map((line) => JSON.parse(line)).filter(({ message }) => message === 'backlog');

const sweep = (remaining = () => 55_000): Promise<unknown> =>
  handler(event, { awsRequestId: 'call-1', getRemainingTimeInMillis: remaining });

const finished = () => calls.filter((call) => call.startsWith('UpdateCommand') && !call.includes('JOB#'));

test('one failed profiler does not stop the others, and the run fails at its end', async () => {
  await expect(sweep()).rejects.toThrow('sweep failed');
  expect(finished()).toEqual([`UpdateCommand ${JSON.stringify(profilerKey('good'))}`]);
  expect(lines()).toMatchObject([
    { level: 'error', message: 'due work failed', error: 'Error' },
    { level: 'error', message: 'sweep', error: 'Error' },
  ]);
});

test('with 9 s left, sweep starts no work', async () => {
  due['DUE#1'] = [head('27821234567', '2029-12-31T23:58:00.000000')];
  await sweep(() => 9_000);
  expect(calls.filter((call) => !/^(Query|Get)Command/.test(call))).toEqual([]);
  expect(lines()).toMatchObject([{ level: 'info', message: 'sweep', woken: 0, answers: 0, profilers: 0, failed: 0 }]);
});

test('sweep wakes due conversations before it removes answers, and each wake-up has the due time in its deduplication id', async () => {
  due = {
    'DUE#0': [tombstone('good'), head('27821234567', '2029-12-31T23:58:00.000000')],
    'DUE#7': [head('27827654321', '2029-12-31T23:58:00.000000')],
  };
  await sweep();
  expect(
    queue.taken.map(({ MessageBody, MessageDeduplicationId }) => [
      readWakeUp(MessageBody).conversation,
      MessageDeduplicationId,
    ]),
  ).toEqual(
    ['27821234567', '27827654321'].map((phone) => [
      named(conversation(phone)),
      `OUTBOX#${conversationName(conversation(phone))}#2029-12-31T23:59:00.000Z`,
    ]),
  );
  const firstRemoval = calls.findIndex((call) => call.startsWith('BatchWriteCommand'));
  expect(firstRemoval).toBeGreaterThan(calls.lastIndexOf('wake-up'));
  expect(lines()).toMatchObject([{ message: 'sweep', woken: 2, answers: 1, profilers: 1, failed: 0 }]);
});

test('sweep wakes the conversation of an expired message each minute, until the message has ended', async () => {
  const phone = '27821234567';
  const entry = { ...entryKey(conversationName(conversation(phone)), 'one'), gsi1sk: '2029-12-31T23:59:00.000Z' };
  due = { 'DUE#0': [entry, { ...entry, ...entryKey(conversationName(conversation(phone)), 'two') }] };
  await sweep();
  await handler({ time: '2030-01-01T00:01:00Z' }, { awsRequestId: 'call-2', getRemainingTimeInMillis: () => 55_000 });
  expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody).conversation)).toEqual(
    Array(2).fill(named(conversation(phone))),
  );
  expect(new Set(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId)).size).toBe(2);
  expect(backlog()).toMatchObject([{ pending_conversations: 0 }, { pending_conversations: 0 }]);
  expect(finished()).toEqual([]);
});

describe('a cancelled job', () => {
  const key = jobKey('acme', 'job-1');
  const sent = (id: string, phone: string) => ({
    ...messageKey(id),
    phone,
    gsi3sk: `2029-12-31T23:50:00.000000#${id}`,
  });

  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse(event.time), toFake: ['Date'] });
    due = { 'DUE#0': [{ ...key, gsi1sk: '2029-12-31T23:59:59.000Z' }] };
    job = { ...key, cancelled: '2029-12-31T23:59:59.000000', gsi1sk: '2029-12-31T23:59:59.000Z' };
    log = [sent('m1', '27820000001'), sent('m2', '27820000002'), sent('m3', '27820000002'), sent('m4', '27820000004')];
    // An earlier version had a key for each outcome.
    ended = [outcomeKey('m1'), stateKey('m4', 'sending_failed')];
  });

  test('has the conversations woken that have pending messages, once in a run, and the next run looks from there', async () => {
    await sweep();
    expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody).conversation)).toEqual([
      named(conversation('27820000002')),
    ]);
    expect(updates).toMatchObject([
      { Key: key, ExpressionAttributeValues: { ':checked': '2029-12-31T23:49:00.000000' } },
    ]);
    expect(lines()).toMatchObject([{ message: 'sweep', woken: 1, failed: 0 }]);
  });

  test.each([
    ['stays due for two minutes, because a slow request may still log a message', '2029-12-31T23:58:01.000000', 0],
    ['is no longer due afterwards', '2029-12-31T23:58:00.000000', 1],
  ])('without pending messages %s', async (_, cancelled, writes) => {
    ended = log.map(({ pk }) => ({ pk, sk: outcomeKey('').sk }));
    job = { ...job, cancelled };
    await sweep();
    expect(queue.taken).toEqual([]);
    expect(updates).toHaveLength(writes);
    expect(JSON.stringify(updates)).toContain(writes ? 'REMOVE gsi1pk, gsi1sk, checked' : '');
  });

  test('that the index still lists, although its work is done, costs one read', async () => {
    job = { ...key, cancelled: '2029-12-31T23:59:59.000000' };
    await sweep();
    expect([queue.taken, updates]).toEqual([[], []]);
    expect(calls.filter((call) => call.includes('LOGS#'))).toEqual([]);
  });

  test('with too little time left is continued by the next run at the same message', async () => {
    const left = [55_000];
    await sweep(() => left.shift() ?? 9_000);
    expect(queue.taken).toEqual([]);
    expect(updates).toMatchObject([{ ExpressionAttributeValues: { ':checked': '2029-12-31T23:49:00.000000' } }]);
  });
});

test.each([
  [
    'the age of the oldest entry of all shards, in seconds',
    ['23:59:30.000000', '23:58:00.250000', '23:59:00.000000'],
    120,
  ],
  ['an age of one day', ['00:00:00.000000'], 86_400],
  ['no entry', [], 0],
])('the backlog metrics count due and scheduled conversations: %s', async (_, times, oldest) => {
  vi.useFakeTimers({ now: Date.parse(event.time), toFake: ['Date'] });
  const waiting = (until: string) =>
    Object.fromEntries(
      times.map((time, place) => [
        `DUE#${place}`,
        [tombstone('good', until), head(`2782000000${place}`, `2029-12-31T${time}`, until)],
      ]),
    );
  due = waiting(DUE);
  await sweep();
  [due, later] = [{}, waiting(LATER)];
  await sweep();
  expect(lines()).toMatchObject([{ woken: times.length }, { woken: 0 }]);
  const expected = { pending_conversations: times.length, oldest_s: oldest, app_network_failing: 0 };
  expect(backlog()).toMatchObject([expected, expected]);
});

test('a conversation head without a creation time counts as pending, with age 0', async () => {
  due = { 'DUE#0': [{ ...head('27821234567', ''), created: undefined }] };
  await sweep();
  expect(backlog()).toMatchObject([{ pending_conversations: 1, oldest_s: 0 }]);
});

test.each([
  ['with 10,000 due conversations, scheduled ones are not counted', 10_000, () => false, 10_000],
  ['with 9,999 due conversations, scheduled ones are counted', 9_999, () => false, 10_000],
  ['with no time left, scheduled ones are not counted', 1, () => true, 1],
])('%s', async (_, many, isLate, all) => {
  later = { 'DUE#0': [head('27821234567', '2029-12-31T23:58:00.000000', LATER)] };
  const work = new ScheduledWork('2030-01-01T00:00:00.000Z');
  for await (const _due of work.due());
  const counted = new Backlog();
  counted.note(
    Array.from({ length: many }, () => ({ pk: '', sk: '', gsi1sk: '', created: '2029-12-31T23:59:00.000000' })),
  );
  await counted.noteLater(work.later(), isLate);
  expect(counted.waiting).toBe(all);
});

test.each([
  ['an open circuit after failures is reported as failing', { failures: 3, open_until: '2030-01-01T00:01:00.000Z' }, 1],
  ['a closed circuit with recent failures is not reported as failing', { failures: 2 }, 0],
  ['an open circuit after a rate limit is not reported as failing', { open_until: '2030-01-01T00:01:00.000Z' }, 0],
])('%s', async (_, circuit, failing) => {
  app = circuit;
  await sweep().catch(() => undefined);
  expect(backlog()).toMatchObject([{ app_network_failing: failing }]);
});

test('if the queue fails, sweep still handles other shards and removes answers, and the run fails', async () => {
  due = {
    'DUE#0': [head('27821234567', '2029-12-31T23:58:00.000000'), tombstone('good')],
    'DUE#1': [tombstone('other'), head('27827654321', '2029-12-31T23:58:00.000000')],
  };
  queue.takes = ({ MessageBody }) => !MessageBody.includes(named(conversation('27821234567')).user);
  await expect(sweep()).rejects.toThrow('sweep failed');
  expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody).conversation)).toEqual([
    named(conversation('27827654321')),
  ]);
  expect(finished()).toEqual(['good', 'other'].map((name) => `UpdateCommand ${JSON.stringify(profilerKey(name))}`));

  queue.down = true;
  calls.length = 0;
  await expect(sweep()).rejects.toThrow('sweep failed');
  expect(finished()).toHaveLength(2);
  expect(lines().map(({ message }) => message)).toEqual([
    ...['due work failed', 'sweep'],
    ...['due work failed', 'due work failed', 'sweep'],
  ]);
});
