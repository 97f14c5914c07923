/** The check before each attempt: since an entry was accepted, its user, job, bot, outbox or opt-out may have changed. */
import type { Account } from '../../accounts/accounts.ts';
import { accountKey } from '../../accounts/entities.ts';
import { now, scaled, sortableTime } from '../../core/clock.ts';
import type { WithheldCause } from '../../destinations/attempt-result.ts';
import { erasureKey, jobKey, optOutKey } from '../../messaging/entities.ts';
import type { ErasureItem } from '../../messaging/erased-identity.ts';
import { dropErased, dropOutdatedStop } from '../../messaging/erasure-outbox.ts';
import { isCancelled, type JobItem } from '../../messaging/jobs/job.ts';
import { hasStopped, type OptOutItem } from '../../messaging/opt-outs/opt-outs.ts';
import { conversationOf } from '../../outbox/entities.ts';
import { type Entry, namesOf, type Outgoing, subjectOf } from '../../outbox/event.ts';
import { type Head, scheduleRetry } from '../../outbox/outbox.ts';
import { getManyConsistent } from '../../table/client.ts';
import type { Key } from '../../table/keys.ts';
import { log } from '../../telemetry/log.ts';

/**
 * - `clear`: the entry may be delivered, with the content that is returned.
 * - `gone`: the entry is no longer in the outbox, and its state is logged. Another worker or an erasure has settled it.
 * - `held`: the account is suspended, and the entry stays pending.
 * - `withheld`: the entry must not be delivered, and fails with the cause.
 */
export type Clearance =
  | { status: 'clear'; entry: Entry }
  | { status: 'gone' }
  | { status: 'held' }
  | { status: 'withheld'; cause: WithheldCause };

/**
 * Checks an entry, in one call. 2 read units, 4 for a user data request or a message to a user, 5 if its job can be
 * cancelled. While its user is being erased, the costs of `dropErased` are added.
 */
export const checkBeforeAttempt = async (known: Entry): Promise<Clearance> => {
  const [entry, erasure, optOut, sender, job] = await getManyConsistent<
    [Entry, ErasureItem, OptOutItem?, Account?, JobItem?]
  >(keysOf(known));
  if (entry === undefined) return { status: 'gone' };
  if (erasure !== undefined && (await dropErased(entry, erasure))) return { status: 'gone' };
  if (await dropOutdatedStop(entry)) return { status: 'gone' };
  // For messages and user data requests: only their keys include that of the opt-out.
  if (hasStopped(optOut)) return { status: 'withheld', cause: 'opted_out' };
  if (entry.outgoing.type !== 'message.send')
    return sender?.suspended ? { status: 'held' } : { status: 'clear', entry };
  if (isCancelled(job)) return { status: 'withheld', cause: 'cancelled' };
  if (isOver(entry.outgoing)) return { status: 'withheld', cause: 'expired' };
  if (sender?.suspended) return { status: 'held' };
  return fromPresentNumber(entry, entry.outgoing, sender);
};

/** Whether the time is over for which a message is valid. */
export const isOver = ({ valid_until }: Extract<Outgoing, { type: 'message.send' }>): boolean =>
  valid_until !== undefined && valid_until <= sortableTime(now());

/** The keys of an entry and of everything that may prevent its delivery. */
const keysOf = ({ pk, sk, outgoing }: Entry): [Key, Key, Key?, Key?, Key?] => {
  const { direction } = conversationOf({ pk });
  const { account, phone } = subjectOf(outgoing);
  const both: [Key, Key] = [{ pk, sk }, erasureKey(phone)];
  if (direction !== 'app') return both;
  const toUser: [Key, Key, Key] = [...both, optOutKey(account, phone)];
  if (outgoing.type !== 'message.send' && outgoing.type !== 'user_data.request') return toUser;
  const sent: [Key, Key, Key, Key] = [...toUser, accountKey(account)];
  if (outgoing.type !== 'message.send') return sent;
  const { cancellable, message } = outgoing;
  return cancellable ? [...sent, jobKey(account, message.job_id)] : sent;
};

/**
 * A message is sent with the present number of its account's bot. The number at the time of acceptance may belong to
 * another account by now. If the account has lost the number, the message is withheld. An account without a bot, then
 * and now, sends without a number.
 */
const fromPresentNumber = (
  entry: Entry,
  { from, ...outgoing }: Extract<Outgoing, { type: 'message.send' }>,
  sender: Account | undefined,
): Clearance => {
  const number = sender?.bot_number;
  if (number === undefined && from !== undefined) return { status: 'withheld', cause: 'bot_number_released' };
  return {
    status: 'clear',
    entry: { ...entry, outgoing: { ...outgoing, ...(number !== undefined && { from: number }) } },
  };
};

/** Milliseconds after which a conversation of a suspended account is looked at again. Its resumption makes it due at once. */
const HOLD_MS = 600_000;

/** Holds the conversation of a suspended account. This is no failed attempt, and concerns no destination's circuit. */
export const hold = async (head: Head, { id, created, outgoing }: Entry, cause: string): Promise<void> => {
  const until = now() + scaled(HOLD_MS);
  await scheduleRetry(head, { until, since: created, failed: id, cause, attempts: head.attempts ?? 0 });
  log('info', 'held', { ...namesOf(outgoing), cause });
};
