/**
 * Messages that end before their delivery, because their job was cancelled or their time is over. An attempt finds this
 * out by itself. But while no attempt is made, because a retry is scheduled or a circuit is open, such messages are
 * looked for in the whole outbox, so that each one ends in time, wherever it is in the conversation.
 */
import { isCancelled, type JobItem } from '../jobs/job.ts';
import { type Entry, mayEnd } from '../messaging/events.ts';
import { pendingEntries } from '../messaging/outbox.ts';
import { jobKey } from '../table/batch-keys.ts';
import { getManyConsistent } from '../table/client.ts';
import type { AnyConversation } from '../table/keys.ts';
import { checkBeforeAttempt, isOver } from './attempts/clearance.ts';
import { settle } from './settle.ts';

/** What is left of a conversation's outbox, and how many entries ended. */
interface EarlyEnds {
  settled: number;
  /** The oldest pending entry; undefined if none is left, or it was not read because time ran out. */
  oldest: Entry | undefined;
  isUnfinished: boolean;
}

/**
 * Ends the messages of a conversation whose job was cancelled, or whose time is over. 1 read unit for 4 KB of entries,
 * and 1 for each job; for each message that ends, 4 more read units, and 4 write units, 8 if its state is reported.
 *
 * @param isLate - returns whether no further message may be ended now
 */
export const endEarly = async (conversation: AnyConversation, isLate: () => boolean): Promise<EarlyEnds> => {
  const jobs = new Map<string, boolean>();
  const ends: EarlyEnds = { settled: 0, oldest: undefined, isUnfinished: false };
  for await (const entries of pendingEntries(conversation)) {
    await readJobs(conversation.account, entries, jobs);
    for (const entry of entries) {
      if (isLate()) return { ...ends, isUnfinished: true };
      if (isEnding(entry, jobs) && (await end(entry))) ends.settled += 1;
      else ends.oldest ??= entry;
    }
  }
  return ends;
};

/** Reads the jobs of these entries that are not known yet. */
const readJobs = async (account: string, entries: Entry[], jobs: Map<string, boolean>): Promise<void> => {
  const named = new Set(entries.flatMap(({ outgoing }) => (isCancellable(outgoing) ? outgoing.message.job_id : [])));
  const missing = [...named].filter((job) => !jobs.has(job));
  const found = await getManyConsistent<JobItem[]>(missing.map((job) => jobKey(account, job)));
  for (const [place, job] of missing.entries()) jobs.set(job, isCancelled(found[place]));
};

type Sent = Extract<Entry['outgoing'], { type: 'message.send' }>;

const isCancellable = (outgoing: Entry['outgoing']): outgoing is Sent =>
  outgoing.type === 'message.send' && outgoing.cancellable === true;

const isEnding = ({ outgoing }: Entry, jobs: Map<string, boolean>): boolean =>
  outgoing.type === 'message.send' &&
  mayEnd(outgoing) &&
  (isOver(outgoing) || (isCancellable(outgoing) && jobs.get(outgoing.message.job_id) === true));

/** Ends an entry, after the same check as before an attempt. Returns whether it is gone from the outbox. */
const end = async (entry: Entry): Promise<boolean> => {
  const clearance = await checkBeforeAttempt(entry);
  if (clearance.status === 'clear') return false;
  if (clearance.status === 'withheld') await settle(entry, clearance, []);
  return true;
};
