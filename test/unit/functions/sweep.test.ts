/** The sweep with a fake table and a fake queue, which fail on purpose. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/workers/sweep.ts';
import { type SweepStep, sweepSteps } from '../../../shared/api/workers.ts';
import { uploadKey } from '../../../shared/campaigns/entities.ts';
import { conversationName, entryKey, headKey, named } from '../../../shared/outbox/entities.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import { readWakeUp } from '../../../shared/outbox/wake-ups/conversations.ts';
import { readExpansionWakeUp } from '../../../shared/outbox/wake-ups/expansions.ts';
import { profilerKey } from '../../../shared/profilers/entities.ts';
import { documents } from '../../../shared/table/client.ts';
import { dueOrder } from '../../../shared/table/keys.ts';
import { captureLog } from '../../support/captured-log.ts';
import { useFakeQueue } from '../support/fake-queue.ts';

const written = captureLog();
const queue = useFakeQueue();

/** Calls in order: for the table, the command and its partition key; for the queue, "wake-up". */
const calls: string[] = [];

/** Items of the index of scheduled work by partition. */
let due: Record<string, { gsi1sk: string }[]> = {};
/** The item of the app network's circuit breaker, and the positions of the run before. */
let [app, positions]: (object | undefined)[] = [];
/** All updates. */
let updates: { Key?: { pk: string }; ExpressionAttributeValues?: Record<string, unknown> }[] = [];

const NOW = Date.parse('2030-01-01T00:00:00Z');
const DUE = '2029-12-31T23:59:00.000Z';
const LATER = '2030-01-01T00:00:00.001Z';

const tombstone = (profiler: string, account = 'acme') => ({
  ...profilerKey(account, profiler),
  gsi1sk: dueOrder(account, DUE),
});

const conversation = (phone: string, account = 'acme'): Conversation => ({ direction: 'app', account, phone });

const head = (phone: string, since: string, { time = DUE, account = 'acme' } = {}) => ({
  ...headKey(conversationName(conversation(phone, account))),
  gsi1sk: dueOrder(account, time),
  since,
});

/** The table's response to a command. The removal of the answers of profiler "bad" fails. */
const answerTo = (name: string, input: Record<string, unknown>): unknown => {
  const values = (input.ExpressionAttributeValues as Record<string, string>) ?? {};
  const key = JSON.stringify(input.Key ?? '');
  calls.push(`${name} ${JSON.stringify(input.Key ?? input.RequestItems ?? Object.values(values))}`);
  if (name === 'QueryCommand' && input.IndexName === 'gsi1') {
    const { ':due': partition = '', ':after': after = '', ':from': from = '', ':to': to = '~' } = values;
    const all = due[partition] ?? [];
    const start = all.indexOf(input.ExclusiveStartKey as (typeof all)[number]) + 1;
    const Items = all.slice(start).filter(({ gsi1sk }) => gsi1sk > after && gsi1sk >= from && gsi1sk <= to);
    const page = Items.slice(0, Number(input.Limit));
    return { Items: page, ...(page.length < Items.length && { LastEvaluatedKey: page.at(-1) }) };
  }
  if (name === 'GetCommand' && key.includes('SWEEP')) return { Item: positions };
  if (name === 'GetCommand') return { Item: app };
  if (name === 'UpdateCommand') updates.push(input);
  if (name === 'QueryCommand') return { Items: [{ pk: values[':pk'], sk: 'ANSWER#27821234567' }] };
  if (name === 'BatchWriteCommand' && JSON.stringify(input).includes('ANSWERS#bad'))
    throw new Error('27821234567 is stuck');
  return {};
};

beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'table');
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  vi.spyOn(documents, 'send').mockImplementation(async (command: { constructor: { name: string }; input: object }) =>
    answerTo(command.constructor.name, { ...command.input }),
  );
  due = {};
  [app, positions, updates] = [undefined, undefined, []];
  queue.takes = () => calls.push('wake-up') > 0;
});

afterEach(() => {
  expect(written.join(), 'the log').not.toMatch(/2782\d{7}/);
  vi.useRealTimers();
  vi.unstubAllEnvs();
  calls.length = 0;
});

const MEASURED = ['backlog', 'due conversations woken'];

/** All log lines except those with metrics. */
const lines = () => written.map((line) => JSON.parse(line)).filter(({ message }) => !MEASURED.includes(message));

const backlog = () => written.map((line) => JSON.parse(line)).filter(({ message }) => message === 'backlog');

const sweep = (step: SweepStep, remaining = () => 55_000): Promise<unknown> =>
  handler({ step }, { awsRequestId: 'call-1', getRemainingTimeInMillis: remaining });

/** The names of the conversations that were woken, in order. */
const woken = (): string[] =>
  queue.taken.map(({ MessageBody }) => conversationName(readWakeUp(MessageBody).conversation));

const nameOf = (phone: string, account?: string): string => conversationName(conversation(phone, account));

const ofConversations = (shard: number): string => `DUE#conversations#${shard}`;

test('each step reads its own work alone, so that none can take the time of another one', async () => {
  const read: Partial<Record<SweepStep, string[]>> = {};
  for (const step of sweepSteps) {
    calls.length = 0;
    await sweep(step);
    const partitions = calls.flatMap((call) => /DUE#(\w+)#/.exec(call)?.[1] ?? []);
    read[step] = [...new Set(partitions)];
  }
  expect(read).toEqual({
    conversations: ['conversations'],
    expansions: ['expansions'],
    leftovers: ['uploads', 'profilers'],
    backlog: ['conversations'],
  });
});

test('with 9 s left, no step starts work', async () => {
  due = {
    [ofConversations(1)]: [head('27821234567', '2029-12-31T23:58:00.000000')],
    'DUE#expansions#1': [{ ...tombstone('batch') }],
    'DUE#profilers#1': [tombstone('good')],
  };
  for (const step of sweepSteps) await sweep(step, () => 9_000);
  expect(calls.filter((call) => !/^(Query|Get)Command/.test(call) && !call.includes('SWEEP'))).toEqual([]);
});

describe('the step "conversations"', () => {
  test('wakes those that are due, and each wake-up has the due time in its deduplication id', async () => {
    due = {
      [ofConversations(0)]: [
        head('27821234567', '2029-12-31T23:58:00.000000'),
        head('27820000000', '2029-12-31T23:58:00.000000', { time: LATER }),
      ],
      [ofConversations(7)]: [head('27827654321', '2029-12-31T23:58:00.000000')],
    };
    await sweep('conversations');
    expect(
      queue.taken.map(({ MessageBody, MessageDeduplicationId }) => [
        readWakeUp(MessageBody).conversation,
        MessageDeduplicationId,
      ]),
    ).toEqual(
      ['27821234567', '27827654321'].map((phone) => [
        named(conversation(phone)),
        `OUTBOX#${nameOf(phone)}#2029-12-31T23:59:00.000Z`,
      ]),
    );
    expect(lines()).toMatchObject([{ message: 'sweep', step: 'conversations', woken: 2, failed: 0 }]);
  });

  test('wakes the conversation of an expired message each minute, until the message has ended', async () => {
    const phone = '27821234567';
    const name = conversationName(conversation(phone));
    const gsi1sk = dueOrder('acme', DUE);
    due = { [ofConversations(0)]: ['one', 'two'].map((id) => ({ ...entryKey(name, id), gsi1sk })) };
    await sweep('conversations');
    vi.setSystemTime(NOW + 60_000);
    await sweep('conversations');
    expect(woken()).toEqual([nameOf(phone), nameOf(phone)]);
    // Each wake-up names the messages, so that its worker need not look for them.
    expect(queue.taken.map(({ MessageBody }) => readWakeUp(MessageBody).ended)).toEqual(
      Array(2).fill(['ENTRY#one', 'ENTRY#two']),
    );
    expect(new Set(queue.taken.map(({ MessageDeduplicationId }) => MessageDeduplicationId)).size).toBe(2);
  });

  test('if the queue fails, still wakes those of other partitions, and the run fails', async () => {
    due = {
      [ofConversations(0)]: [head('27821234567', '2029-12-31T23:58:00.000000')],
      [ofConversations(1)]: [head('27827654321', '2029-12-31T23:58:00.000000')],
    };
    const { user } = named(conversation('27821234567'));
    queue.takes = ({ MessageBody }) => !MessageBody.includes(user);
    await expect(sweep('conversations')).rejects.toThrow('sweep failed');
    expect(woken()).toEqual([nameOf('27827654321')]);
    expect(lines().map(({ message }) => message)).toEqual(['due work failed', 'sweep']);
  });

  test.each([0, 10_000])(
    'wakes the one conversation of an account in its first turn, beside %i of another one',
    { tags: 'long' },
    async (many) => {
      const mine = head('27820000000', '2029-12-31T23:58:00.000000', { account: 'zebra' });
      const theirs = Array.from({ length: many }, (_, user) => head(`2783${user}`, '2029-12-31T23:58:00.000000'));
      due = { [ofConversations(0)]: [...theirs, mine] };
      await sweep('conversations');
      // The first page of the other account is at most 150.
      expect(woken()).toContain(nameOf('27820000000', 'zebra'));
      expect(woken().indexOf(nameOf('27820000000', 'zebra'))).toBeLessThanOrEqual(150);
      expect(woken()).toHaveLength(many + 1);
    },
  );

  test('has deduplication ids within the limit of SQS, with an account and a direction of the greatest length', async () => {
    const account = '01890a5d-ac96-774b-bcce-b302099a8057';
    const platform: Conversation = { direction: 'platform', account, phone: '278212345678901' };
    due = { [ofConversations(0)]: [{ ...headKey(conversationName(platform)), gsi1sk: dueOrder(account, DUE) }] };
    await sweep('conversations');
    expect(woken()).toEqual([conversationName(platform)]);
  });

  test.each([
    [0, 10_000],
    [50_001, 150],
  ])(
    'while %i wake-ups wait, sends at most %i for an account, because no other one could be received behind 120,000 of them',
    { tags: 'long' },
    async (waiting, max) => {
      const theirs = (shard: number) =>
        Array.from({ length: 400 }, (_, user) => head(`2783${shard}${user}`, '2029-12-31T23:58:00.000000'));
      const mine = head('27820000000', '2029-12-31T23:58:00.000000', { account: 'zebra' });
      due = Object.fromEntries(
        [...Array(64).keys()].map((shard) => [ofConversations(shard), [...theirs(shard), mine]]),
      );
      queue.waiting = waiting;
      await sweep('conversations');
      const sent = Map.groupBy(queue.taken, ({ MessageBody }) => readWakeUp(MessageBody).conversation.account);
      expect(sent.get('zebra')).toHaveLength(64);
      // The pages that are read at the same time may exceed it.
      expect(sent.get('acme')?.length).toBeGreaterThanOrEqual(max);
      expect(sent.get('acme')?.length).toBeLessThan(max + 16 * 150);
      expect(updates.at(-1)?.ExpressionAttributeValues?.[':positions']).not.toEqual([]);
    },
  );

  test('stores where it stopped if its time was over, the next run continues there, and then nothing is stored', async () => {
    const at = (user: number): string => new Date(Date.parse(DUE) - 60_000 + user).toISOString();
    due = {
      [ofConversations(0)]: Array.from({ length: 600 }, (_, user) => head(`2783${user}`, '', { time: at(user) })),
    };
    const left = [55_000, 55_000];
    await sweep('conversations', () => left.shift() ?? 9_000);
    expect(woken()).toHaveLength(300);
    const stored = updates.at(-1)?.ExpressionAttributeValues;
    expect(stored).toMatchObject({ ':positions': [{ partition: ofConversations(0), account: 'acme', time: at(299) }] });

    positions = { positions: stored?.[':positions'], expires_at: NOW / 1_000 + 60 };
    queue.taken.length = 0;
    await sweep('conversations');
    expect(woken().slice(150)).toEqual(Array.from({ length: 301 }, (_, user) => nameOf(`2783${user + 299}`)));
    expect(updates.at(-1)?.ExpressionAttributeValues).toMatchObject({ ':positions': [] });

    positions = { positions: [], expires_at: NOW / 1_000 + 60 };
    updates = [];
    await sweep('conversations');
    expect(updates).toEqual([]);
  });
});

test('the step "expansions" wakes each account once, whatever the number of its batches', async () => {
  const batches = (account: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      pk: `BATCH#${account}#${index}`,
      sk: 'BATCH',
      gsi1sk: dueOrder(account, DUE),
    }));
  due = {
    'DUE#expansions#0': [...batches('acme', 20_000), ...batches('birch', 1)],
    'DUE#expansions#1': [...batches('acme', 1), ...batches('cedar', 400)],
  };
  await sweep('expansions');
  const accounts = queue.taken.map(({ MessageBody }) => readExpansionWakeUp(MessageBody).account);
  expect(accounts.toSorted()).toEqual(['acme', 'birch', 'cedar']);
  // A query of each partition, and one more after each account whose work does not end within the page.
  expect(calls.filter((call) => call.startsWith('Query'))).toHaveLength(8 + 2);
});

describe('the step "leftovers"', () => {
  const finished = () =>
    updates.filter(({ Key }) => Key?.pk.startsWith('PROFILERS#')).map(({ Key }) => JSON.stringify(Key));

  test('removes the answers of the others if those of one profiler cannot be removed, and the run fails', async () => {
    due = { 'DUE#profilers#0': [tombstone('bad'), tombstone('good')] };
    await expect(sweep('leftovers')).rejects.toThrow('sweep failed');
    expect(finished()).toEqual([JSON.stringify(profilerKey('acme', 'good'))]);
    expect(lines()).toMatchObject([
      { level: 'error', message: 'due work failed', error: 'Error' },
      { level: 'error', message: 'sweep', error: 'Error' },
    ]);
  });

  test.each([1, 100])(
    'does one piece of work of each account in turn: one profiler, beside %i of another account',
    async (many) => {
      due = {
        'DUE#profilers#0': [
          ...Array.from({ length: many }, (_, index) => tombstone(`mole-${index}`, 'mole')),
          tombstone('mine', 'zebra'),
        ],
        'DUE#uploads#3': [{ ...uploadKey('upload-1'), gsi1sk: dueOrder('mole', DUE) }],
      };
      await sweep('leftovers');
      expect(finished().indexOf(JSON.stringify(profilerKey('zebra', 'mine')))).toBeLessThanOrEqual(1);
      expect(finished()).toHaveLength(many + 1);
      expect(lines()).toMatchObject([{ answers: many + 1, profilers: many + 1, uploads: 1, failed: 0 }]);
    },
  );
});

describe('the step "backlog"', () => {
  test.each([
    [
      'the age of the oldest entry of all partitions, in seconds',
      ['23:59:30.000000', '23:58:00.250000', '23:59:00.000000'],
      120,
    ],
    ['an age of one day', ['00:00:00.000000'], 86_400],
    ['no entry', [], 0],
  ])('counts due and scheduled conversations: %s', async (_, times, oldest) => {
    for (const time of [DUE, LATER]) {
      const waiting = times.map((at, index): [string, { gsi1sk: string }[]] => [
        ofConversations(index),
        [head(`2782000000${index}`, `2029-12-31T${at}`, { time })],
      ]);
      due = Object.fromEntries(waiting);
      await sweep('backlog');
    }
    const expected = { pending_conversations: times.length, oldest_s: oldest, app_network_failing: 0 };
    expect(backlog()).toMatchObject([expected, expected]);
  });

  test('counts a head without a creation time with age 0, and neither an expired message nor the age of an offer', async () => {
    const entry = { ...entryKey(conversationName(conversation('27821234567')), 'one'), gsi1sk: dueOrder('acme', DUE) };
    const offered = { ...head('27821234568', '2029-12-31T00:00:00.000000'), status: 'listening' };
    due = { [ofConversations(0)]: [{ ...head('27821234567', ''), since: undefined }, entry, offered] as never };
    await sweep('backlog');
    expect(backlog()).toMatchObject([{ pending_conversations: 2, oldest_s: 0 }]);
  });

  test('counts a page of each account even if one has more than 10,000, and then no more', async () => {
    const since = '2029-12-31T23:59:00.000000';
    const theirs = Array.from({ length: 12_000 }, (_, user) => head(`2783${user}`, since));
    due = {
      ...Object.fromEntries([...Array(63).keys()].map((shard) => [ofConversations(shard), theirs])),
      [ofConversations(63)]: [...theirs, head('27821234567', '2029-12-31T22:00:00.000000', { account: 'zebra' })],
    };
    await sweep('backlog');
    // 64 first pages of 150, the one of the other account, and pages in turn until there are 10,000.
    expect(backlog()).toMatchObject([{ pending_conversations: 64 * 150 + 1 + 3 * 150, oldest_s: 7_200 }]);
  });

  test.each([
    [
      'an open circuit after failures is reported as failing',
      { failures: 3, open_until: '2030-01-01T00:01:00.000Z' },
      1,
    ],
    ['a closed circuit with recent failures is not reported as failing', { evidence: new Set(['failed 1 a b']) }, 0],
    ['a pause is not reported as failing', { paused_until: '2030-01-01T00:01:00.000Z' }, 0],
    [
      "an account's open circuit without a success since is reported as failing",
      { suspected_since: '2030-01-01T00:00:00.000000' },
      1,
    ],
  ])('%s', async (_, circuit, failing) => {
    app = circuit;
    await sweep('backlog');
    expect(backlog()).toMatchObject([{ app_network_failing: failing }]);
  });
});
