/** The part of an erasure that concerns outboxes: pending entries of the user, and reports to platforms. */

import { findAccount } from '../accounts/accounts.ts';
import { timestamp } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { enqueueWrites, pendingEntries, transactInOrder } from '../outbox/entries.ts';
import { type Conversation, type Entry, type OutboxEvent, subjectOf, type UserReference } from '../outbox/event.ts';
import { endConversation, readHead } from '../outbox/head.ts';
import { type LogItem, logItem, type State } from '../outbox/message.ts';
import { getConsistent } from '../table/client.ts';
import { deleteExistingWrite, putIfAbsentWrite, transact } from '../table/transactions.ts';
import { userKey } from '../users/entities.ts';
import { eventReceiptWrite } from '../users/event-receipts.ts';
import { type ErasedIdentity, type ErasureItem, erasedIdentityOf } from './erased-identity.ts';
import { isNotified } from './platform-events.ts';

/**
 * Notifies an account's platform, once for each erasure, to send nothing more to a user. 1 read unit, and 6 write
 * units.
 */
export const reportStopped = async (
  { account, phone }: UserReference,
  { pseudonym }: ErasedIdentity,
): Promise<void> => {
  const { platform } = (await findAccount(account)) ?? {};
  if (!isNotified(platform, 'removed')) return;
  const outgoing: OutboxEvent = { type: 'user.stopped', user: { account, phone } };
  await transactInOrder((after) => [
    eventReceiptWrite(`user.stopped ${account} ${pseudonym}`),
    ...enqueueWrites({ direction: 'platform', account, phone }, outgoing, after),
  ]);
};

/** Entries that one call drops, and that are dropped at the same time. */
const [MOST, TOGETHER] = [100, 8];

/**
 * Drops the erased user's pending entries of a conversation, at most 100. Their messages are logged as failed. 1 read unit
 * for 4 KB of the entries, and 4 write units for each. Returns their number, and whether none is left.
 */
export const dropPending = async (
  conversation: Conversation,
  whom: ErasedIdentity,
): Promise<{ dropped: number; isComplete: boolean }> => {
  const head = await readHead(conversation);
  if (head === undefined) return { dropped: 0, isComplete: true };
  let [dropped, found, kept] = [0, 0, 0];
  // A report about the erased user may follow entries of the number's next owner, but none that was accepted after `end`.
  for await (const entries of pendingEntries(conversation)) {
    const theirs = entries.filter((entry) => isTheirs(entry, whom));
    await inParallel(theirs.slice(0, MOST - found), TOGETHER, async (entry) => {
      if (await drop(entry, whom)) dropped += 1;
    });
    found += theirs.length;
    kept += entries.length - theirs.length;
    if (found > MOST) return { dropped, isComplete: false };
    // Copies for an endpoint come from several conversations, so they are not in the order of their times.
    if (conversation.endpoint === undefined && (entries.at(-1)?.created ?? '') > whom.end) break;
  }
  return { dropped, isComplete: kept > 0 || (await endConversation(head)) };
};

/**
 * Drops an entry that is about to be delivered, if it belongs to the erased user: its message is logged as failed under
 * the pseudonym, unless the erasure has already done this. Entries of the number's next owner stay. 1 read unit; 4
 * write units to drop a message.
 *
 * @returns whether the entry belonged to the erased user, and was removed
 */
export const dropErased = async (entry: Entry, erasure: ErasureItem): Promise<boolean> => {
  const whom = await erasedIdentityOf(subjectOf(entry.outgoing).phone, erasure);
  if (!isTheirs(entry, whom)) return false;
  await drop(entry, whom);
  return true;
};

/** Whether an entry belongs to the erased user, and not to the number's next owner. 1 read unit. */
export const isOfErased = async (entry: Entry, erasure: ErasureItem): Promise<boolean> =>
  isTheirs(entry, await erasedIdentityOf(subjectOf(entry.outgoing).phone, erasure));

/**
 * Whether an entry belongs to the erased user: it was created by `until`, or reports a state of a message that was. The
 * notification of the removal itself is kept.
 */
const isTheirs = ({ created, outgoing, replay }: Entry, { until, end }: ErasedIdentity): boolean =>
  outgoing.type !== 'user.stopped' &&
  ((replay?.since ?? created) <= until ||
    (created <= end && outgoing.type === 'message.state' && outgoing.message.accepted <= until));

/**
 * Drops the notification of a user's removal if the number has a new owner, whom the platform must not stop. 1 read
 * unit; 2 write units to drop the entry.
 *
 * @returns whether the entry was dropped
 */
export const dropOutdatedStop = async (entry: Entry): Promise<boolean> => {
  if (entry.outgoing.type !== 'user.stopped') return false;
  if ((await getConsistent(userKey(entry.outgoing.user.phone))) === undefined) return false;
  await transact([deleteExistingWrite(entry)]);
  return true;
};

/** Removes an entry, and logs its failure. Returns whether it was pending: a worker may have just delivered it. */
const drop = async (entry: Entry, whom: ErasedIdentity): Promise<boolean> => {
  const failure = failureLogged(entry.outgoing, whom);
  const failed = await transact([
    deleteExistingWrite(entry),
    ...(failure === undefined ? [] : [putIfAbsentWrite(failure)]),
  ]);
  // If only the log entry failed, it exists already.
  return failed.length === 0 || (!failed.includes(0) && (await transact([deleteExistingWrite(entry)])).length === 0);
};

/** The log entry of a dropped entry: the failure of its message, under the pseudonym. Undefined for other entries. */
const failureLogged = (outgoing: OutboxEvent, { pseudonym }: ErasedIdentity): LogItem | undefined => {
  const state = failureOf(outgoing);
  if (state === undefined || !('message' in outgoing)) return undefined;
  const { reported: _reported, reference: _reference, ...message } = outgoing.message;
  const failed = logItem({ ...message, phone: pseudonym }, state, timestamp());
  return { ...failed, reason_code: 'user_erased', reason: 'user_erased' };
};

const failureOf = ({ type }: OutboxEvent): State | undefined => {
  if (type === 'message.send') return 'sending_failed';
  return type === 'message.received' ? 'reception_failed_http' : undefined;
};
