/** The attempt of an entry: after a check, with a second request shortly after one that failed. */
import type { Account } from '../accounts/accounts.ts';
import { accountKey } from '../accounts/entities.ts';
import { now, pause, scaled, sortableTime } from '../core/clock.ts';
import { type AttemptResult, interpretByStatus, type WithheldCause } from '../destinations/attempt-result.ts';
import type { Destination, Exchange, StatusReceipt } from '../destinations/destination.ts';
import { post } from '../destinations/http/http-client.ts';
import { DeliveryError, type OutboundRequest } from '../destinations/http/request.ts';
import { erasureKey, jobKey, optOutKey } from '../messaging/entities.ts';
import type { ErasureItem } from '../messaging/erased-identity.ts';
import { dropErased, dropOutdatedStop } from '../messaging/erasure-outbox.ts';
import { isCancelled, type JobItem } from '../messaging/jobs/job.ts';
import { hasStopped, type OptOutItem } from '../messaging/opt-outs/opt-outs.ts';
import { conversationOf } from '../outbox/entities.ts';
import { type Entry, logFields, type OutboxEvent, subjectOf } from '../outbox/event.ts';
import type { Head } from '../outbox/head.ts';
import { isOutdated } from '../outbox/states.ts';
import { getManyConsistent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { describeError, log } from '../telemetry/log.ts';
import type { Breaker, CircuitState, Open } from './circuit-breaker.ts';
import { isOpen } from './circuit-breaker.ts';
import { pauseUntil } from './min-interval.ts';
import { isExpired } from './retry-policy.ts';
import { checkReported, isSuperseded, type ReportCheck } from './status-receipts.ts';

/** Milliseconds that must be left to begin an attempt: for the attempt itself, and to record its result. */
export const RESERVE_MS = 12_000;
/**
 * Milliseconds from the start of a failed attempt to the second one, before a retry of the conversation is scheduled,
 * and the shortest pause between the two. RapidPro treats the same text of the same sender as a repeat for at least 2 s
 * after it stored the first. So it recognises the second attempt if the first ended within 1.75 s; after a time-out of
 * 10 s, the second may count as a new message.
 */
const SECOND_TRY = { afterMs: 1_500, minPauseMs: 250 };

/** What is known of an attempt. */
export interface AttemptContext {
  destination: Destination;
  breaker: Breaker;
  circuit: CircuitState;
  head: Head;
  entry: Entry;
  /** The requests with the entry, oldest first: the attempt adds them. */
  exchanges: Exchange[];
}

/** The attempt of an entry of a conversation. */
interface Attempting extends AttemptContext {
  /** Entries that follow. */
  pending: readonly Entry[];
  /** Whether the pause before the entry is over. */
  hasWaited: boolean;
  remaining: () => number;
}

/** How an attempt ended. Without a request: `gone`, the entry has left the outbox; `tooEarly`, it must wait. */
export type AttemptEnd =
  | { type: 'result'; result: AttemptResult; receipt?: StatusReceipt | undefined }
  | { type: 'gone' }
  | { type: 'tooEarly'; waitMs: number };

/** Attempts an entry, unless the circuit is open, the destination is paused, or it is too early. */
export const attemptEntry = async (context: Attempting): Promise<AttemptEnd> => {
  const { destination, circuit, entry, hasWaited } = context;
  const { isNew, until, receipt } = await dueStatus(context, destination.receiptFor?.(entry));
  if (!isNew) return { type: 'result', result: { status: 'skipped' }, receipt };
  // With an open circuit, no request is made now, and the pause will be over before the next attempt.
  if (isOpen(circuit)) return { type: 'result', result: resultOf(circuit), receipt };
  const waitMs = hasWaited ? 0 : until - now();
  if (waitMs > 0) return { type: 'tooEarly', waitMs };
  const result = await requestTwice(receipt ? { ...context, destination: reporting(destination, receipt) } : context);
  return result === 'gone' ? { type: 'gone' } : { type: 'result', result, receipt };
};

/** What a destination must still receive of an entry, and from when, in milliseconds since 1970. */
const dueStatus = async (
  { destination, entry, pending }: Attempting,
  receipt: StatusReceipt | undefined,
): Promise<Partial<ReportCheck> & Pick<ReportCheck, 'isNew' | 'until'>> => {
  if (receipt) {
    const following = pending.flatMap((other) => destination.receiptFor?.(other) ?? []);
    if (isSuperseded(receipt, following)) return { isNew: false, until: 0 };
    return checkReported(subjectOf(entry.outgoing).account, receipt);
  }
  // The last attempt is made without a pause.
  const minInterval = isExpired(entry) ? undefined : destination.minInterval?.(entry);
  return { isNew: true, until: minInterval ? await pauseUntil(minInterval) : 0 };
};

/** The destination, whose requests report the state of this receipt. */
const reporting = (destination: Destination, { state }: StatusReceipt): Destination => ({
  ...destination,
  buildRequest: (entry) => destination.buildRequest(entry, state),
});

/** The result of an attempt that is not made, because the circuit is open or the destination is paused. */
export const resultOf = ({ cause, until }: Open): AttemptResult =>
  cause === 'rate_limited' ? { status: 'rate_limited', cause, wait: until - now() } : { status: 'retry', cause };

/** Makes a request, and a second one shortly after a failure, unless the destination refuses the entry or asks for a pause. */
const requestTwice = async (context: Attempting): Promise<AttemptResult | 'gone'> => {
  const start = now();
  const first = await requestIfClear(context);
  if (first === 'gone' || first.status !== 'retry' || first.isRefusal) return first;
  const wait = waitForSecondTry(first, start);
  if (wait === undefined || context.remaining() < RESERVE_MS + wait) return first;
  await pause(wait);
  return requestIfClear(context);
};

/**
 * Milliseconds from now to the second attempt, after a first one that began at `start` and failed; undefined if the
 * destination asks for a longer pause.
 */
export const waitForSecondTry = (
  { retryAfter = 0 }: Extract<AttemptResult, { status: 'retry' }>,
  start: number,
): number | undefined =>
  retryAfter > scaled(SECOND_TRY.afterMs)
    ? undefined
    : Math.max(start + scaled(SECOND_TRY.afterMs) - now(), scaled(SECOND_TRY.minPauseMs));

/**
 * Makes a request, unless the preflight finds that the entry is gone or must not be delivered. If our own code fails to build
 * the request, the wake-up fails and becomes a dead letter, so that a corrected version can deliver the entry. After the
 * last day of retries, the entry fails permanently, so that it does not block its conversation for ever.
 */
const requestIfClear = async ({ destination, entry, exchanges }: Attempting): Promise<AttemptResult | 'gone'> => {
  const [found, isLate] = await Promise.all([preflight(entry), isOutdated(entry)]);
  if (found.status === 'gone') return 'gone';
  if (isLate) return { status: 'skipped' };
  if (found.status === 'held') return { status: 'held', cause: 'account_suspended' };
  if (found.status === 'withheld') return found;
  try {
    return await request(destination, found.entry, (exchange) => exchanges.push(exchange));
  } catch (error) {
    if (!isExpired(entry)) throw error;
    log('error', 'internal error', { ...logFields(entry.outgoing), ...describeError(error) });
    return { status: 'internal_error', cause: 'unexpected_error' };
  }
};

/**
 * Makes the request that delivers an entry.
 *
 * @param observe - receives what happened, if a request was made or could not be built
 * @internal Tests use it, too.
 */
export const request = async (
  { buildRequest, interpret = interpretByStatus }: Destination,
  entry: Entry,
  observe: (exchange: Exchange) => void = () => undefined,
): Promise<AttemptResult> => {
  const started = now();
  let built: OutboundRequest | undefined;
  const seen = () => ({ started, ended: now(), ...(built && { url: built.url }) });
  try {
    built = buildRequest(entry);
    if (built === undefined) return { status: 'skipped' };
    const response = await post(built);
    observe({ ...seen(), response });
    return interpret(response, entry);
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    observe({ ...seen(), error: error.reason });
    return { status: 'retry', cause: error.reason };
  }
};

/**
 * What the check before an attempt finds: since an entry was accepted, its user, job, bot, outbox or opt-out may have changed.
 *
 * - `clear`: the entry may be delivered, with the content that is returned.
 * - `gone`: the entry is no longer in the outbox, and its state is logged. Another worker or an erasure has settled it.
 * - `held`: the account is suspended, and the entry stays pending.
 * - `withheld`: the entry must not be delivered, and fails with the cause.
 */
export type PreflightResult =
  | { status: 'clear'; entry: Entry }
  | { status: 'gone' }
  | { status: 'held' }
  | { status: 'withheld'; cause: WithheldCause };

/**
 * Checks an entry before an attempt, in one call. 2 read units, 4 for a user data request or a message to a user, 5 if its
 * job can be cancelled. While its user is being erased, the costs of `dropErased` are added.
 */
export const preflight = async (known: Entry): Promise<PreflightResult> => {
  const [entry, erasure, optOut, sender, job] = await getManyConsistent<
    [Entry, ErasureItem, OptOutItem?, Account?, JobItem?]
  >(keysOf(known));
  if (entry === undefined) return { status: 'gone' };
  if (erasure !== undefined && (await dropErased(entry, erasure))) return { status: 'gone' };
  if (await dropOutdatedStop(entry)) return { status: 'gone' };
  // Only messages and user data requests respect opt-outs: the keys of others do not include one.
  if (hasStopped(optOut) && !confirmsStop(entry.outgoing)) return { status: 'withheld', cause: 'opted_out' };
  if (entry.outgoing.type !== 'message.send')
    return sender?.suspended ? { status: 'held' } : { status: 'clear', entry };
  if (isCancelled(job)) return { status: 'withheld', cause: 'cancelled' };
  if (isOver(entry.outgoing)) return { status: 'withheld', cause: 'expired' };
  if (sender?.suspended) return { status: 'held' };
  return fromPresentNumber(entry, entry.outgoing, sender);
};

/** Whether an entry tells a user that the opt-out has taken effect. */
const confirmsStop = (outgoing: OutboxEvent): boolean =>
  outgoing.type === 'message.send' && outgoing.confirmsStop === true;

/** Whether the time is over for which a message is valid. */
export const isOver = ({ valid_until }: Extract<OutboxEvent, { type: 'message.send' }>): boolean =>
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
  { from, ...outgoing }: Extract<OutboxEvent, { type: 'message.send' }>,
  sender: Account | undefined,
): PreflightResult => {
  const number = sender?.bot_number;
  if (number === undefined && from !== undefined) return { status: 'withheld', cause: 'bot_number_released' };
  return {
    status: 'clear',
    entry: { ...entry, outgoing: { ...outgoing, ...(number !== undefined && { from: number }) } },
  };
};
