/**
 * The figures of a job, step by step on a separate table: examples, and random histories that are compared with a model.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type BatchOptions, scheduleMessage, sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { readJobStatus } from '../../../../shared/stats/job-status.ts';
import { logOfMessage } from '../../../../shared/stats/message-log.ts';
import { documents } from '../../../../shared/table/client.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccount, newPhones } from '../../support/world.ts';

/** Nothing waits for pauses. */
vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

useOwnTable('job-figures');
useFakeQueue();
useAppNetworkServer();
captureLog();

const NOW = Date.UTC(2030, 0, 1, 12);
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const text = { type: 'text' as const, text: { body: 'Hello' } };

/** A job, and how many messages of it were accepted. */
interface Job {
  account: string;
  job_id: string;
  accepted: number;
  /** When its messages are sent at the earliest. */
  first: number;
  isCancelled: boolean;
  /** The log entries that are counted. */
  counted: Set<string>;
}

const newJob = async (): Promise<Job> => ({
  account: await newAccount(),
  job_id: randomUUID(),
  accepted: 0,
  first: Number.POSITIVE_INFINITY,
  isCancelled: false,
  counted: new Set(),
});

/** Accepts messages, unless the job was cancelled. */
const accept = async (job: Job, count: number, send_at: number | undefined, send: () => Promise<unknown>) => {
  if (job.isCancelled) {
    await expect(send()).rejects.toMatchObject({ code: 'job_cancelled' });
    return;
  }
  await send();
  job.accepted += count;
  job.first = Math.min(job.first, send_at ?? Date.now());
};

const run = ({ account }: Job) => expand(account, undefined, Date.now() + MINUTE);

/** Counts what is logged, as the stream does, and returns the log by message. */
const countLog = async ({ account, job_id, counted }: Job): Promise<Map<string, string[]>> => {
  const { entries } = await listLogs(account, { job_id, start: 0, end: Date.now() / 1_000 + DAY }, 1_000);
  const fresh = entries.filter(({ id, state }) => !counted.has(`${id} ${state}`));
  for (const id of new Set(fresh.map((entry) => entry.id))) await countEntries(await logOfMessage(id));
  for (const { id, state } of fresh) counted.add(`${id} ${state}`);
  const byMessage = Map.groupBy(entries, ({ id }) => id);
  return new Map([...byMessage].map(([id, found]) => [id, found.map(({ state }) => state)]));
};

/** Compares the figures with those of a simple model: the messages that were accepted, and the log. */
const check = async (job: Job): Promise<void> => {
  const logged = [...(await countLog(job)).values()];
  if (job.accepted === 0) return;
  const ended = logged.filter((states) => states.some((state) => ENDS.includes(state))).length;
  const pending = job.isCancelled ? logged.length - ended : job.accepted - ended;
  const { recipients, expanded, pending: shown, states, status } = await readJobStatus(job.account, job.job_id);
  expect({ recipients, expanded, pending: shown, status }).toEqual({
    recipients: job.accepted,
    expanded: logged.length,
    pending,
    status: statusOf(job, logged.length, pending),
  });
  const all = logged.flat();
  expect(states).toEqual(Object.fromEntries([...new Set(all)].map((state) => [state, countOf(all, state)])));
};

const ENDS = ['delivered_to_server', 'sending_failed'];

const countOf = (all: string[], state: string): number => all.filter((one) => one === state).length;

const statusOf = ({ isCancelled, first }: Job, logged: number, pending: number): string => {
  if (isCancelled) return 'cancelled';
  if (logged === 0 && first > Date.now()) return 'scheduled';
  return pending > 0 ? 'running' : 'completed';
};

test('a job of five delivered messages and three for tomorrow has eight recipients, and is running', async () => {
  const job = await newJob();
  const { account, job_id } = job;
  for (const to of newPhones(5)) {
    await accept(job, 1, undefined, () => sendMessage(account, { to, ...text }, { job_id }));
    await deliver({ direction: 'app', account, phone: to }, () => MINUTE);
  }
  const send_at = NOW + DAY;
  await accept(job, 3, send_at, () => sendToMany(account, { to: newPhones(3), ...text }, { job_id, send_at }));
  await check(job);
  expect(await readJobStatus(account, job_id)).toMatchObject({ status: 'running', recipients: 8, pending: 3 });
});

test('messages that end before their turn are counted once', async () => {
  const job = await newJob();
  const { account, job_id } = job;
  const drafts = newPhones(3).map((to, index) => ({ to, ...text, ...(index < 2 && { valid_for: 60 }) }));
  const send_at = NOW + 10 * MINUTE;
  await accept(job, 3, send_at, () => sendEach(account, drafts, { job_id, send_at }));
  vi.setSystemTime(send_at + 2 * MINUTE);
  await endEarly(job);
  await check(job);
  expect(await readJobStatus(account, job_id)).toMatchObject({ recipients: 3, expanded: 2, pending: 1 });
});

/** Ends what has ended, and stops before the rest of the batch becomes messages. */
const endEarly = async (job: Job): Promise<void> => {
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: never) => {
    if (JSON.stringify(command).includes('"message.send"')) throw new Error('The process was killed.');
    return send(command);
  }) as never);
  await run(job).catch(() => undefined);
  spy.mockRestore();
};

test('a cancellation leaves nothing pending at once of 300 messages that do not exist yet', async () => {
  const job = await newJob();
  const { account, job_id } = job;
  await accept(job, 300, undefined, () => sendToMany(account, { to: newPhones(300), ...text }, { job_id }));
  await cancelJob(account, job_id);
  expect(await readJobStatus(account, job_id)).toMatchObject({ status: 'cancelled', recipients: 300, pending: 0 });
});

const PHONES = newPhones(4);
const CROWD = newPhones(26);

const steps = fc.oneof(
  fc.record({ kind: fc.constant('single' as const), to: fc.constantFrom(...PHONES), valid_for: valid() }),
  fc.record({
    kind: fc.constant('list' as const),
    to: fc.uniqueArray(fc.constantFrom(...PHONES), { minLength: 1 }),
    isLong: fc.boolean(),
    valid_for: valid(),
    isLater: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('each' as const),
    to: fc.array(fc.constantFrom(...PHONES), { minLength: 1, maxLength: 6 }),
    isLong: fc.boolean(),
    valid_for: valid(),
    isLater: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('scheduled' as const), to: fc.constantFrom(...PHONES), valid_for: valid() }),
  fc.record({ kind: fc.constant('expand' as const), calls: fc.integer({ min: 1, max: 120 }) }),
  fc.record({ kind: fc.constant('deliver' as const), to: fc.constantFrom(...PHONES) }),
  fc.record({ kind: fc.constant('erase' as const), to: fc.constantFrom(...PHONES) }),
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 6) }),
  fc.record({ kind: fc.constant('cancel' as const) }),
);

function valid() {
  return fc.constantFrom(undefined, undefined, 120);
}

type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never;

/** Makes one step of a history. */
const make = async (job: Job, step: Step): Promise<void> => {
  const { account, job_id } = job;
  const later = Date.now() + 5 * MINUTE;
  switch (step.kind) {
    case 'single':
      return accept(job, 1, undefined, () =>
        sendMessage(account, { to: step.to, ...text }, { job_id, valid_for: step.valid_for }),
      );
    case 'scheduled':
      return accept(job, 1, later, () =>
        scheduleMessage(account, { to: step.to, ...text }, { job_id, valid_for: step.valid_for, send_at: later }),
      );
    case 'list':
    case 'each': {
      const to = step.isLong ? [...step.to, ...CROWD] : step.to;
      const options: BatchOptions = { job_id, ...(step.isLater && { send_at: later }) };
      const { valid_for } = step;
      return accept(job, to.length, options.send_at, () =>
        step.kind === 'list'
          ? sendToMany(account, { to, ...text }, { ...options, valid_for })
          : sendEach(
              account,
              // Every second message ends.
              to.map((one, index) => ({ to: one, ...text, ...(index % 2 === 0 && { valid_for }) })),
              options,
            ),
      );
    }
    case 'expand': {
      let left = step.calls;
      const send = documents.send.bind(documents);
      const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: never) => {
        left -= 1;
        if (left < 0) throw new Error('The process was killed.');
        return send(command);
      }) as never);
      await run(job).catch(() => undefined);
      spy.mockRestore();
      return;
    }
    case 'deliver':
      await deliver({ direction: 'app', account, phone: step.to }, () => MINUTE);
      return;
    case 'erase':
      await eraseUser(step.to);
      return;
    case 'wait':
      vi.setSystemTime(Date.now() + step.minutes * MINUTE);
      return;
    case 'cancel': {
      if (job.accepted === 0) return;
      await cancelJob(account, job_id);
      job.isCancelled = true;
    }
  }
};

test('in random histories, the figures are those of the messages that were accepted, and of the log', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 3, maxLength: 12 }), async (history) => {
      vi.setSystemTime(NOW);
      const job = await newJob();
      for (const step of history) {
        await make(job, step);
        await check(job);
      }
      // At rest, every message has ended, and nothing is pending.
      vi.setSystemTime(Date.now() + 10 * MINUTE);
      await run(job);
      for (const phone of [...PHONES, ...CROWD]) {
        await deliver({ direction: 'app', account: job.account, phone }, () => MINUTE);
      }
      await check(job);
      if (job.accepted > 0) {
        expect(await readJobStatus(job.account, job.job_id)).toMatchObject({ pending: 0, expanded: job.accepted });
      }
    }),
    { numRuns: 12 },
  );
});
