/**
 * Delivery: empties a conversation's outbox, oldest entry first, one worker at a time. What cannot go out now puts the
 * whole conversation off, so that order stays. A crash at any point repeats at most the attempt under way: receivers see
 * each entry at least once, in order, with the same id.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { close, enter, noteFailure, type Passage } from './circuit.ts';
import { minutes, timestamp } from './clock.ts';
import { log } from './log.ts';
import type { State } from './logs.ts';
import { reaching } from './messages.ts';
import {
  type Conversation,
  dequeueing,
  type Entry,
  endConversation,
  goOn,
  type Head,
  isBehind,
  isExpired,
  isPutOff,
  nextAttempt,
  type Outgoing,
  oldestEntries,
  putOff,
  readHead,
} from './outbox.ts';
import { attempt, type Outcome, type Receiver } from './receiver.ts';
import { receiverOf } from './receivers.ts';
import { transact } from './table/client.ts';

/** What came of a wake-up; `unfinished` where there was no time for the rest. */
export interface Drained {
  settled: number;
  put_off?: string;
  unfinished?: true;
}

/** Milliseconds without which no attempt is begun: the attempt's own, and some to note what came of it. */
const RESERVE = 12_000;
/** Minutes after which an attempt that failed is repeated, before the conversation is put off: 3 s. */
const SECOND_TRY = 1 / 20;

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

  while (head !== undefined) {
    const { entries, all } = await oldestEntries(conversation);
    for (const [place, entry] of entries.entries()) {
      if (remaining() < RESERVE) return { ...drained, unfinished: true };
      const outcome = typeof passage === 'object' ? LEFT_ALONE : await tryTwice(receiver, entry, remaining);
      if (outcome.result === 'again' && !isExpired(entry)) {
        await putOffAfter(outcome, passage, head, entry);
        if (typeof passage !== 'object') await noteFailure(receiver.name, passage);
        return { ...drained, put_off: outcome.cause };
      }
      await settle(entry, outcome);
      drained.settled += 1;
      passage = await next(receiver, passage, outcome);
      if (isBehind(head)) head = await goOn(head, entries[place + 1]?.created ?? timestamp());
    }
    if (!all) continue;
    if (await endConversation(head)) return drained;
    head = await readHead(conversation);
  }
  return drained;
};

/** Nobody tries the receiver now. */
const LEFT_ALONE: Outcome = { result: 'again', cause: 'receiver_fails' };

/** Tries, and once more soon where the receiver does not ask for a longer pause. */
const tryTwice = async (receiver: Receiver, entry: Entry, remaining: () => number): Promise<Outcome> => {
  const first = await attempt(receiver, entry);
  const wait = minutes(SECOND_TRY);
  if (first.result !== 'again' || (first.retryAfter ?? 0) > wait || remaining() < RESERVE + wait) return first;
  await pause(wait);
  return attempt(receiver, entry);
};

const putOffAfter = async (
  { cause, retryAfter }: Extract<Outcome, { result: 'again' }>,
  passage: Passage,
  head: Head,
  entry: Entry,
): Promise<void> => {
  const { attempts: before = 0 } = head;
  const attempts = typeof passage === 'object' ? before : before + 1;
  const until = typeof passage === 'object' ? passage.until : nextAttempt(attempts, retryAfter);
  await putOff(head, { until, since: entry.created, cause, attempts });
  log('warn', 'put off', { ...namesOf(entry), cause, attempts });
};

/** Tells the receiver's circuit what came of an attempt. Answers how to go on with the receiver. */
const next = async ({ name }: Receiver, passage: Passage, { result }: Outcome): Promise<Passage> => {
  if (result === 'again') {
    if (typeof passage !== 'object') await noteFailure(name, passage);
    return enter(name);
  }
  if (passage !== 'working') await close(name);
  return 'working';
};

/** Ends an entry's way, with what is to be logged and told of it, in one transaction: 4 write units, 8 where it is told. */
const settle = async (entry: Entry, outcome: Outcome): Promise<void> => {
  const { outgoing } = entry;
  const state = stateAfter(outgoing, outcome);
  const cause = outcome.result === 'taken' ? undefined : outcome.cause;
  if (cause !== undefined) log('error', 'given up', { ...namesOf(entry), cause });
  if (state !== undefined) {
    const failed = await transact([dequeueing(entry), ...reaching(outgoing.message, state, timestamp(), cause)]);
    if (failed.length === 0) return;
  }
  // Nothing to log, or it is logged already.
  await transact([dequeueing(entry)]);
};

const stateAfter = ({ type }: Outgoing, { result }: Outcome): State | undefined => {
  if (type === 'message.send') return result === 'taken' ? 'delivered_to_server' : 'sending_failed';
  return type === 'message.received' && result !== 'taken' ? 'reception_failed_http' : undefined;
};

const namesOf = ({ outgoing }: Entry) => ({
  type: outgoing.type,
  account: outgoing.message.account,
  message_id: outgoing.message.id,
});
