/**
 * Messages that end before their delivery, because their job was cancelled or their time is over. An attempt finds this
 * out by itself. But while no attempt is made, because a retry is scheduled or a circuit is open, wake-ups of `sweep` end
 * such messages, wherever they are in the conversation. A wake-up names the entries whose time is over. Only after a
 * cancellation, the whole outbox is read, once a minute at most. Other wake-ups look for nothing.
 */

import { jobKey } from '../messaging/entities.ts';
import { isCancelled, type JobItem } from '../messaging/jobs/job.ts';
import type { AnyConversation } from '../outbox/entities.ts';
import { entriesAt, pendingEntries } from '../outbox/entries.ts';
import type { Entry } from '../outbox/event.ts';
import type { Ends } from '../outbox/wake-ups/conversations.ts';
import { getManyConsistent } from '../table/client.ts';
import { settle } from './apply-result.ts';
import { isOver, preflight } from './attempt.ts';

/**
 * Ends messages of a conversation whose job was cancelled, or whose time is over. 1 read unit for 4 KB of entries that are
 * looked at, and 1 for each job; for each message that ends, 4 more read units, and 4 write units, 8 if its state is
 * reported. So messages that end by their time cost the same each, however many are pending.
 *
 * @param begin - is called before an entry is ended
 * @param isLate - returns whether no further message may be ended now
 */
export const endCancelled = async (
  conversation: AnyConversation,
  { ended = [], cancelled }: Ends,
  begin: (entry: Entry) => Promise<void>,
  isLate: () => boolean,
): Promise<{ settled: number; isUnfinished: boolean }> => {
  const jobs = new Map<string, boolean>();
  let settled = 0;
  if (ended.length === 0 && !cancelled) return { settled, isUnfinished: false };
  for await (const entries of cancelled ? pendingEntries(conversation) : [await entriesAt(conversation, ended)]) {
    await readJobs(conversation.account, entries, jobs);
    for (const entry of entries.filter((each) => isEnding(each, jobs))) {
      if (isLate()) return { settled, isUnfinished: true };
      await begin(entry);
      if (await end(entry)) settled += 1;
    }
  }
  return { settled, isUnfinished: false };
};

/** Reads the jobs of these entries that are not known yet. */
const readJobs = async (account: string, entries: Entry[], jobs: Map<string, boolean>): Promise<void> => {
  const named = new Set(entries.flatMap(({ outgoing }) => (isCancellable(outgoing) ? outgoing.message.job_id : [])));
  const missing = [...named].filter((job) => !jobs.has(job));
  const found = await getManyConsistent<JobItem[]>(missing.map((job) => jobKey(account, job)));
  for (const [index, job] of missing.entries()) jobs.set(job, isCancelled(found[index]));
};

type Sent = Extract<Entry['outgoing'], { type: 'message.send' }>;

const isCancellable = (outgoing: Entry['outgoing']): outgoing is Sent =>
  outgoing.type === 'message.send' && outgoing.cancellable === true;

const isEnding = ({ outgoing }: Entry, jobs: Map<string, boolean>): boolean =>
  outgoing.type === 'message.send' &&
  (isOver(outgoing) || (isCancellable(outgoing) && jobs.get(outgoing.message.job_id) === true));

/** Ends an entry, after the same check as before an attempt. Returns whether it is gone from the outbox. */
const end = async (entry: Entry): Promise<boolean> => {
  const found = await preflight(entry);
  if (found.status === 'clear') return false;
  if (found.status === 'withheld') await settle(entry, found, []);
  return true;
};
