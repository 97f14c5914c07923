/**
 * Cancelled jobs with many batches and messages: an account ends its own, a page at a time, and no other account waits.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { scheduleMessage } from '../../../../shared/campaigns/accept.ts';
import { endCancelled } from '../../../../shared/campaigns/cancelled-jobs.ts';
import { batchKey, ofPendingBatch } from '../../../../shared/campaigns/entities.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { startDueWork } from '../../../../shared/due-work/start-due-work.ts';
import { jobKey } from '../../../../shared/messaging/entities.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import type { JobItem } from '../../../../shared/messaging/jobs/job.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName } from '../../../../shared/outbox/entities.ts';
import { conversationsOf } from '../../../../shared/outbox/event.ts';
import { readWakeUp } from '../../../../shared/outbox/wake-ups/conversations.ts';
import { readExpansionWakeUp } from '../../../../shared/outbox/wake-ups/expansions.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents, getConsistent } from '../../../../shared/table/client.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { putAll } from '../../support/many-items.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccount, newPhone } from '../../support/world.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

useOwnTable('cancelled-jobs');

const queue = useFakeQueue();

const NOW = Date.UTC(2030, 0, 1, 12);
const MINUTE = 60_000;
const DAY = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const text = (to = newPhone()) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

const endedOf = async (account: string): Promise<number> =>
  (await listLogs(account, { state: 'sending_failed' }, 1_000)).entries.filter(({ reason }) => reason === 'cancelled')
    .length;

/** Adds pending batches of another job to an account: only their rows, which are in the index. */
const addOtherBatches = async (account: string, count: number): Promise<void> => {
  const job_id = randomUUID();
  await putAll(
    Array.from({ length: count }, (_, index) => {
      const id = String(index).padStart(27, '0');
      const due = new Date(NOW + DAY).toISOString();
      return {
        ...batchKey(account, id),
        id,
        account,
        job_id,
        ...ofPendingBatch(account, { id, rank: 1, due }),
      };
    }),
  );
};

test('all scheduled batches of a cancelled job end in runs of its account, and each run continues where the last one stopped', async () => {
  const account = await newAccount();
  const job_id = randomUUID();
  await addOtherBatches(account, 600);
  for (let batch = 0; batch < 20; batch += 1) {
    await scheduleMessage(account, text(), { job_id, send_at: NOW + 2 * DAY });
  }
  await cancelJob(account, job_id);
  // The time of the first run is over with the first batches.
  const endBatch = async (): Promise<number> => {
    vi.setSystemTime(NOW + 10);
    return 0;
  };
  expect(await endCancelled(account, NOW + 5, endBatch)).toEqual({ ended: 0, unfinished: true });
  // The next run does not read the first page again, which has only batches of another job.
  const job = await getConsistent<JobItem>(jobKey(account, job_id));
  expect(job?.batches_from).toMatch(/^1#.+#0*499$/);
  const { expanded: ended, unfinished } = await expand(account, undefined, Date.now() + MINUTE);
  expect(unfinished).toBe(false);
  expect(ended).toBe(20);
  expect(await endedOf(account)).toBe(20);
});

test('the conversations with pending messages of a cancelled job are woken once in a look, until none is pending', async () => {
  const account = await newAccount();
  const job_id = randomUUID();
  const phones = [newPhone(), newPhone()];
  for (const phone of [...phones, ...phones]) await sendMessage(account, text(phone), { job_id });
  await cancelJob(account, job_id);
  const woken = async (): Promise<string[]> => {
    queue.taken.length = 0;
    await expand(account, undefined, Date.now() + MINUTE);
    return queue.taken.map(({ MessageBody }) => conversationName(readWakeUp(MessageBody).conversation)).toSorted();
  };
  // Without sending hours, and with them.
  const names = phones
    .flatMap((phone) => conversationsOf(account, phone).filter(({ direction }) => direction === 'app'))
    .map(conversationName)
    .toSorted();
  expect(await woken()).toEqual(names);
  expect(await woken()).toEqual([]);
  vi.setSystemTime(NOW + MINUTE);
  expect(await woken()).toEqual(names);
});

test.each([0, 400])(
  'beside %i batches of a cancelled job, another account waits for as many calls as without them',
  async (many) => {
    const [attacker, other] = [await newAccount(), await newAccount()];
    const job_id = randomUUID();
    await addOtherBatches(attacker, many);
    await scheduleMessage(attacker, text(), { job_id, send_at: NOW + DAY });
    await cancelJob(attacker, job_id);
    await scheduleMessage(other, text(), { send_at: NOW + MINUTE });
    vi.setSystemTime(NOW + MINUTE);
    const send = documents.send.bind(documents);
    let calls = 0;
    vi.spyOn(documents, 'send').mockImplementation((async (command: Parameters<typeof send>[0]) => {
      calls += 1;
      return send(command);
    }) as typeof documents.send);
    queue.taken.length = 0;
    await startDueWork('expansions', () => 55_000);
    const accounts = queue.taken.map(({ MessageBody }) => readExpansionWakeUp(MessageBody).account);
    // One wake-up for each account. The account's batches are no work of sweep.
    expect(accounts.filter((account) => [attacker, other].includes(account)).toSorted()).toEqual(
      [attacker, other].toSorted(),
    );
    expect(calls).toBe(8);
    expect(await expand(other, undefined, Date.now() + 5_000)).toMatchObject({ expanded: 1, unfinished: false });
  },
);
