/**
 * Delivery: empties a conversation's outbox, oldest entry first, one worker at a time. What cannot go out now puts the
 * whole conversation off, so that order stays. A crash at any point repeats at most the attempt under way: receivers see
 * each entry at least once, in order, with the same id.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { now, scaled, timestamp } from '../core/clock.ts';
import { type Conversation, namesOf, type Outgoing, subjectOf } from '../messaging/events.ts';
import type { State } from '../messaging/message.ts';
import {
  dequeueing,
  type Entry,
  endConversation,
  goOn,
  type Head,
  isBehind,
  isPutOff,
  oldestEntries,
  putOff,
  readHead,
  transactInOrder,
} from '../messaging/outbox.ts';
import { reaching } from '../messaging/states.ts';
import type { Outcome } from '../outbound/attempt-result.ts';
import { attempt, type Receiver, type Telling } from '../outbound/destination.ts';
import type { Write } from '../table/transactions.ts';
import { describeError, log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import { traced } from '../telemetry/trace.ts';
import { enter, noteFailure, noteSuccess, type Passage, setPause } from './circuit-breaker.ts';
import { checkBeforeAttempt } from './clearance.ts';
import { receiverOf } from './resolve-destination.ts';
import { isExpired, nextAttempt } from './retry-policy.ts';
import { pauseUntil, pauseWrite } from './spacing.ts';
import { isSuperseded, type News, newsOf, noting } from './status-receipts.ts';

/** What came of a wake-up; `unfinished` where there was no time for the rest. */
export interface Drained {
  settled: number;
  put_off?: string;
  /** When the receiver's pause is over, in milliseconds since 1970, if it has asked for one. */
  paused_until?: number;
  unfinished?: true;
}

/** Milliseconds without which no attempt is begun: the attempt's own, and some to note what came of it. */
const RESERVE_MS = 12_000;
/**
 * Milliseconds from the start of an attempt that failed to the next one, before the conversation is put off, and the least
 * pause between. RapidPro takes the same text of the same sender for a repeat for 2 s at least, from the moment
 * when it stored the first. So a repeat is recognised if the first attempt ended within 1.75 s; after a time-out of 10 s it
 * may be taken for a new message.
 */
const SECOND_TRY = { afterMs: 1_500, leastMs: 250 };
/** Milliseconds that a worker waits in all for pauses that a destination needs. After that, others have their turn. */
const PAUSES_MS = 8_000;

/**
 * Delivers what waits in a conversation, as far as it goes.
 *
 * @param remaining - milliseconds that are left for it
 */
export const deliver = async (conversation: Conversation, remaining: () => number): Promise<Drained> => {
  const drained: Drained = { settled: 0 };
  let head = await readHead(conversation);
  if (head === undefined || isPutOff(head)) return drained;
  const receiver = await receiverOf(conversation);
  let passage = await enter(receiver.name);
  let pauses = scaled(PAUSES_MS);
  let waitedFor: string | undefined;

  while (head !== undefined) {
    const { entries, all } = await oldestEntries(conversation);
    let isOutdated = false;
    for (const [place, entry] of entries.entries()) {
      // Stryker disable next-line EqualityOperator: No test can meet this exact moment.
      if (remaining() < RESERVE_MS) return { ...drained, unfinished: true };
      const pending = entries.slice(place + 1);
      const handing = { receiver, passage, head, entry, pending, remaining, hasWaited: waitedFor === entry.id };
      const { outcome, settled, wait = 0, ...rescheduled } = await traced(entry.trace_id, () => handle(handing));
      if (wait > 0) {
        if (wait > pauses || remaining() < RESERVE_MS + wait) return { ...drained, unfinished: true };
        await pause(wait);
        pauses -= wait;
        waitedFor = entry.id;
        // A later status that came meanwhile may say more.
        isOutdated = true;
        break;
      }
      if (rescheduled.put_off !== undefined) return { ...drained, ...rescheduled };
      drained.settled += settled;
      if (typeof outcome === 'object') passage = await next(receiver, passage, outcome);
      // Stryker disable next-line ConditionalExpression: Only the number of calls differs; the capacity tests count them.
      if (isBehind(head)) head = await goOn(head, entries[place + 1]?.created ?? timestamp());
    }
    if (isOutdated || !all) continue;
    if (await endConversation(head)) return drained;
    head = await readHead(conversation);
  }
  return drained;
};

interface Handing {
  receiver: Receiver;
  passage: Passage;
  head: Head;
  entry: Entry;
  /** Entries that follow. */
  pending: Entry[];
  /** Whether the pause before the entry is over. */
  hasWaited: boolean;
  remaining: () => number;
}

/** What came of an entry: the result of the attempt, or that the entry was gone before it was attempted. */
type Processed = Outcome | 'gone';

/** What came of handling an entry. */
interface Handled {
  outcome: Processed | 'early';
  /** 1 where this settled the entry, else 0. */
  settled: number;
  /** Why the conversation is put off, if it is. */
  put_off?: string;
  /** When the receiver's pause is over, in milliseconds since 1970, if it has asked for one. */
  paused_until?: number;
  /** For how many milliseconds to wait before the entry may be attempted, if it is too early. */
  wait?: number;
}

/** Attempts an entry, and settles it or schedules a retry of its conversation. */
const handle = async (handing: Handing): Promise<Handled> => {
  const { receiver, passage, entry } = handing;
  const telling = receiver.telling?.(entry);
  const { isNews, wait } = await checkPauses(handing, telling);
  if (wait > 0) return { outcome: 'early', settled: 0, wait };
  const outcome = isNews ? await hand(handing) : PASSED_OVER;
  if (outcome === 'gone') return { outcome, settled: 0 };
  if (outcome.result === 'limited') {
    const paused_until = await pauseReceiver(outcome, handing);
    if (!isExpired(entry)) {
      await putOffUntil(paused_until, outcome, handing);
      return { outcome, settled: 0, put_off: outcome.cause, paused_until };
    }
  }
  if (outcome.result === 'again' && !isExpired(entry)) {
    await putOffAfter(outcome, handing);
    if (typeof passage !== 'object') await noteFailure(receiver.name, passage);
    return { outcome, settled: 0, put_off: outcome.cause };
  }
  const notes = outcome.result === 'taken' ? notesOf(receiver, entry, telling) : [];
  return { outcome, settled: (await settle(entry, outcome, notes)) ? 1 : 0 };
};

const PASSED_OVER: Outcome = { result: 'passed_over' };

/** Whether an entry is news to its receiver, and for how many milliseconds it has to wait there. */
const checkPauses = async (
  { receiver, passage, entry, pending, hasWaited }: Handing,
  telling: Telling | undefined,
): Promise<{ isNews: boolean; wait: number }> => {
  const { isNews, until } = await pauseBefore(receiver, entry, pending, telling);
  // Nobody calls the receiver now, and later it will not be too early.
  const isDue = hasWaited || typeof passage === 'object';
  return { isNews, wait: isDue || !isNews ? 0 : Math.max(until - now(), 0) };
};

const pauseBefore = async (
  receiver: Receiver,
  entry: Entry,
  pending: Entry[],
  telling: Telling | undefined,
): Promise<News> => {
  if (telling) {
    const later = pending.flatMap((other) => receiver.telling?.(other) ?? []);
    if (isSuperseded(telling, later)) return { isNews: false, until: 0 };
    return newsOf(subjectOf(entry.outgoing).account, telling);
  }
  // The last attempt waits for nothing.
  const spacing = isExpired(entry) ? undefined : receiver.spacing?.(entry);
  return { isNews: true, until: spacing ? await pauseUntil(spacing) : 0 };
};

/** Hands an entry over, unless the receiver is left alone. */
const hand = async ({ receiver, passage, entry, remaining }: Handing): Promise<Processed> => {
  if (typeof passage !== 'object') return attemptWithRetry(receiver, entry, remaining);
  const { cause, until } = passage;
  return cause === 'rate_limited' ? { result: 'limited', cause, wait: until - now() } : { result: 'again', cause };
};

/** Attempts an entry, and once more soon where the receiver does not ask for a longer pause. */
const attemptWithRetry = async (receiver: Receiver, entry: Entry, remaining: () => number): Promise<Processed> => {
  const start = now();
  const first = await attemptIfClear(receiver, entry);
  const wait = Math.max(start + scaled(SECOND_TRY.afterMs) - now(), scaled(SECOND_TRY.leastMs));
  if (first === 'gone' || first.result !== 'again') return first;
  // Stryker disable next-line EqualityOperator: No test can meet this exact moment.
  if ((first.retryAfter ?? 0) > scaled(SECOND_TRY.afterMs) || remaining() < RESERVE_MS + wait) return first;
  await pause(wait);
  return attemptIfClear(receiver, entry);
};

/** Attempts an entry, unless the check before the attempt finds that it is gone, or must not go out. */
const attemptIfClear = async (receiver: Receiver, entry: Entry): Promise<Processed> => {
  const clearance = await checkBeforeAttempt(entry);
  if (clearance.status === 'gone') return 'gone';
  return clearance.status === 'withheld'
    ? { result: 'withheld', cause: clearance.cause }
    : tryOnce(receiver, clearance.entry);
};

/**
 * Tries. Where our own code fails at an entry, the wake-up fails, and goes to the dead letters: someone may mend it for as
 * long as entries wait. Then it is given up, as what nobody takes, so that it does not hold up those behind it for ever.
 */
const tryOnce = async (receiver: Receiver, entry: Entry): Promise<Outcome> => {
  try {
    return await attempt(receiver, entry);
  } catch (error) {
    if (!isExpired(entry)) throw error;
    log('error', 'broken', { ...namesOf(entry.outgoing), ...describeError(error) });
    return { result: 'broken', cause: 'unexpected_error' };
  }
};

const putOffAfter = async (
  { cause, retryAfter }: Extract<Outcome, { result: 'again' }>,
  { passage, head, entry }: Handing,
): Promise<void> => {
  const { attempts: before = 0 } = head;
  const attempts = typeof passage === 'object' ? before : before + 1;
  const until = typeof passage === 'object' ? passage.until : nextAttempt(attempts, retryAfter);
  await putOff(head, { until, since: entry.created, cause, attempts });
  measure('warn', 'put off', { ...namesOf(entry.outgoing), cause, reason: reasonOf(cause), attempts, put_off: 1 });
};

/** Milliseconds that a receiver is paused at least and at most that asks for fewer calls. */
const PAUSE = { leastMs: 1_000, mostMs: 600_000 };

/** Pauses a receiver that has asked for fewer calls: it responds, so nothing has failed. Returns when the pause is over. */
const pauseReceiver = async (
  { wait }: Extract<Outcome, { result: 'limited' }>,
  { receiver: { name }, passage }: Handing,
): Promise<number> => {
  if (typeof passage === 'object') return passage.until;
  const until = now() + Math.min(Math.max(wait, scaled(PAUSE.leastMs)), scaled(PAUSE.mostMs));
  await noteSuccess(name, passage);
  await setPause(name, until);
  return until;
};

/** Puts a conversation off until its receiver's pause is over. */
const putOffUntil = async (
  until: number,
  { cause }: Extract<Outcome, { result: 'limited' }>,
  { head, entry }: Handing,
): Promise<void> => {
  await putOff(head, { until, since: entry.created, cause, attempts: head.attempts ?? 0 });
  measure('info', 'asked to wait', { ...namesOf(entry.outgoing), cause, asked_to_wait: 1 });
};

/** Tells the receiver's circuit what came of an attempt. Answers how to go on with the receiver. */
const next = async ({ name }: Receiver, passage: Passage, { result }: Outcome): Promise<Passage> => {
  if (result === 'passed_over' || result === 'withheld' || result === 'broken') return passage;
  if (result === 'limited') return enter(name);
  if (result === 'again') {
    if (typeof passage !== 'object') await noteFailure(name, passage);
    return enter(name);
  }
  await noteSuccess(name, passage);
  // Stryker disable next-line StringLiteral: Only the number of calls differs; the capacity tests count them.
  return 'working';
};

/** What is noted of an entry that was delivered: the receipt of a status, or the time of a user's text. */
const notesOf = (receiver: Receiver, entry: Entry, telling: Telling | undefined): Write[] => {
  if (telling) return [noting(subjectOf(entry.outgoing).account, telling)];
  const spacing = receiver.spacing?.(entry);
  return spacing ? [pauseWrite(spacing)] : [];
};

/**
 * Settles an entry in one transaction: removes it, logs its state with the report of it, and writes the receipt of a status.
 * If somebody else removed the entry meanwhile, it is settled already and nothing is written. A state that is logged
 * already is not logged or reported again.
 * 4 write units, 8 if the state is reported, 4 with a note.
 *
 * @returns whether this settled the entry
 */
const settle = async (entry: Entry, outcome: Outcome, notes: Write[]): Promise<boolean> => {
  const { outgoing } = entry;
  const cause = 'cause' in outcome ? outcome.cause : undefined;
  const state = stateAfter(outgoing, cause);
  const reached =
    state !== undefined && 'message' in outgoing
      ? { message: outgoing.message, state, created: timestamp(), reason: cause }
      : undefined;
  const settled = await removeWith(entry, notes, (after) => (reached ? reaching(reached, after) : []));
  if (settled) tell(entry, outcome, cause);
  return settled;
};

/**
 * Removes an entry together with what is to be written, leaving out what was written before.
 *
 * @returns whether the entry was there
 */
const removeWith = async (
  entry: Entry,
  receipt: Write[],
  stateWrites: (after: string | undefined) => Write[],
): Promise<boolean> => {
  const failed = await transactInOrder((after) => [dequeueing(entry), ...receipt, ...stateWrites(after)]);
  if (failed.length === 0) return true;
  if (failed.includes(0)) return false;
  return removeWith(entry, receipt, () => []);
};

/** Says in the log how an entry ended. */
const tell = ({ outgoing, created }: Entry, { result }: Outcome, cause: string | undefined): void => {
  const names = namesOf(outgoing);
  if (cause !== undefined) {
    measure('error', 'given up', { ...names, cause, reason: reasonOf(cause), given_up: 1 });
  } else if (result === 'taken') {
    measure('info', 'delivered', {
      ...names,
      delivered: 1,
      delivery_ms: Math.max(now() - Date.parse(`${created}Z`), 0),
    });
  } else log('info', 'passed over', names);
};

/** A cause as figures tell it apart: receivers answer with any status, and each one would be another metric. */
// Stryker disable next-line Regex: A cause ends with three digits or has none.
const reasonOf = (cause: string): string => cause.replace(/^(status_\d)\d\d$/, '$1xx');

const stateAfter = ({ type }: Outgoing, cause: string | undefined): State | undefined => {
  if (type === 'message.send') return cause === undefined ? 'delivered_to_server' : 'sending_failed';
  return type === 'message.received' && cause !== undefined ? 'reception_failed_http' : undefined;
};
