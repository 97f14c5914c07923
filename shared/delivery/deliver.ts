/**
 * Delivery of a conversation: its outbox is emptied oldest entry first, by one worker at a time. An entry that cannot
 * be delivered now delays the whole conversation, so that the order stays. A crash at any point repeats at most the
 * attempt under way: destinations receive each entry at least once, in order, with the same id.
 */

import { now, pause, scaled, timestamp } from '../core/clock.ts';
import { appNetwork } from '../destinations/app-network.ts';
import type { AttemptResult } from '../destinations/attempt-result.ts';
import type { Destination, Exchange, StatusReceipt } from '../destinations/destination.ts';
import { consentWebhookOf, platformOf } from '../destinations/registry.ts';
import type { AnyConversation } from '../outbox/entities.ts';
import { type Conversation, type Entry, subjectOf } from '../outbox/event.ts';
import {
  endConversation,
  type Head,
  isRetryScheduled,
  needsRefresh,
  oldestEntries,
  postpone,
  readHead,
  resume,
} from '../outbox/outbox.ts';
import type { Ends } from '../outbox/wake-ups/conversations.ts';
import { traced } from '../telemetry/trace.ts';
import { attemptDelivery, type DeliveryContext, RESERVE_MS, resultOf } from './attempts/attempt-entry.ts';
import { waitForDestination } from './attempts/await-destination.ts';
import { conclude, type ProcessedEntry } from './attempts/conclude.ts';
import { breakerOf } from './breaker.ts';
import { type Breaker, type CircuitState, isOpen } from './circuit-breaker.ts';
import { findDisabled } from './disabled.ts';
import { endEarly } from './early-ends.ts';
import { EXHAUSTED, exhaustedOf, settleExhausted } from './exhausted.ts';
import { offerEntry } from './listeners/offer-entry.ts';
import { withdrawOffer } from './listeners/offers.ts';
import { isExpired } from './retry-policy.ts';
import { pauseUntil } from './spacing.ts';
import { checkReported, isSuperseded, type ReportCheck } from './status-receipts.ts';

/** The result of a wake-up. `unfinished` if pending entries remain, because time ran out. */
export interface DeliverySummary {
  settled: number;
  /** Why the conversation is retried later, if it is. */
  retry_scheduled?: string;
  /** When the destination's pause is over, in milliseconds since 1970, if it has asked for one. */
  paused_until?: number;
  unfinished?: true;
  /** The wake-up is unfinished and no entry left the outbox: another wake-up now would end in the same way. */
  stalled?: true;
}

/** Most milliseconds that a worker waits in pauses between entries. Then other conversations of its group continue. */
const PAUSES_MS = 8_000;

/**
 * The destination of a conversation. Without a platform, or while its webhook is disabled, `isMissing` is set.
 *
 * @internal Tests use it, too.
 */
export const resolveDestination = async ({
  direction,
  account,
}: Pick<Conversation, 'direction' | 'account'>): Promise<Destination> => {
  if (direction === 'app') return appNetwork();
  const destination = await (direction === 'consent' ? consentWebhookOf(account) : platformOf(account));
  const { name, version } = destination;
  const disabled = version === undefined ? undefined : await findDisabled(name);
  if (disabled === undefined || disabled.version !== version) return destination;
  return { ...destination, isMissing: true, disabledBy: disabled.cause };
};

/**
 * Delivers pending entries of a conversation, until none is left, a retry is scheduled, or time runs out.
 *
 * @param remaining - returns the milliseconds that are left
 * @param ends - what may have ended, by the wake-up
 */
export const deliver = async (
  conversation: AnyConversation,
  remaining: () => number,
  ends: Ends = {},
): Promise<DeliverySummary> => {
  const summary: DeliverySummary = { settled: 0 };
  let head = await readHead(conversation);
  if (head === undefined) return summary;
  if (isRetryScheduled(head)) {
    const { next, ...ended } = await endScheduled(conversation, head, ends, remaining);
    Object.assign(summary, ended);
    if (next === undefined) return summary;
    head = next;
  }
  const breaker = breakerOf(conversation);
  let circuit = await breaker.acquire();
  if (isOpen(circuit)) {
    const isLate = () => remaining() < RESERVE_MS;
    summary.settled += (await endEarly(conversation, ends, async () => undefined, isLate)).settled;
  }
  let pauses = scaled(PAUSES_MS);
  let waitedFor: string | undefined;
  let hasProgressed = false;
  const unfinished = (): DeliverySummary => ({
    ...summary,
    unfinished: true,
    ...(!hasProgressed && { stalled: true }),
  });

  let most: number | undefined;
  while (head !== undefined) {
    const { entries, all } = await oldestEntries(conversation, most);
    // Resolved after the page was read, so that no entry is delivered by settings that were replaced before it was accepted.
    const destination = await resolveDestination(conversation);
    const free: Head | undefined = destination.isPulled ? head : await withdrawOffer(head);
    if (free === undefined) return { ...summary, retry_scheduled: 'listening' };
    head = free;
    const isAttempted = !destination.isPulled && !destination.isMissing;
    const exhausted = isOpen(circuit) && isAttempted ? exhaustedOf(entries, destination) : [];
    if (isOpen(circuit) && exhausted.length > 0) {
      if (remaining() < RESERVE_MS) return unfinished();
      const result = resultOf(circuit);
      summary.settled += await settleExhausted(exhausted, result, { destination, head });
      hasProgressed = true;
      circuit = await recordResult(destination, breaker, circuit, result);
      if (needsRefresh(head)) head = await resume(head, entries[exhausted.length]?.created ?? timestamp());
      // More of them may follow.
      most = isOpen(circuit) ? EXHAUSTED.page : undefined;
      continue;
    }
    let readsAgain = false;
    for (const [place, entry] of entries.entries()) {
      if (remaining() < RESERVE_MS) return unfinished();
      // A probe is made at once: all others wait for it.
      const turn = destination.isPulled || isOpen(circuit) || circuit === 'half_open' ? undefined : breaker.turn();
      if (turn !== undefined) {
        await postpone(head, turn);
        return { ...summary, retry_scheduled: 'turn', paused_until: turn };
      }
      const pending = entries.slice(place + 1);
      const hasWaited = waitedFor === entry.id;
      const context = {
        destination,
        breaker,
        circuit,
        head,
        entry,
        pending,
        remaining,
        hasWaited,
        exchanges: [] as Exchange[],
      };
      const {
        result,
        settled,
        wait = 0,
        retry_at: _at,
        ...rescheduled
      } = await traced(entry.trace_id, () => processEntry(context));
      if (!destination.isPulled) await breaker.recordTime(timeOf(context.exchanges));
      if (wait > 0) {
        if (wait > pauses || remaining() < RESERVE_MS + wait) return unfinished();
        await pause(wait);
        pauses -= wait;
        waitedFor = entry.id;
        // A later status may have been accepted in the meantime, and supersede this one.
        readsAgain = true;
        break;
      }
      if (rescheduled.retry_scheduled !== undefined) {
        if (result !== 'waiting' || (await resolveDestination(conversation)).isMissing)
          return { ...summary, ...rescheduled };
        // It was set after it was looked up, perhaps before the conversation waited: nothing else would wake it.
        head = await resume(head, entry.created);
        readsAgain = true;
        break;
      }
      summary.settled += settled;
      // An entry that was gone counts, too: it does not return.
      hasProgressed = true;
      const wasOpen = isOpen(circuit);
      if (typeof result === 'object') circuit = await recordResult(destination, breaker, circuit, result);
      if (needsRefresh(head)) head = await resume(head, entries[place + 1]?.created ?? timestamp());
      if (!wasOpen && isOpen(circuit)) {
        // The following entries may fail together.
        readsAgain = true;
        break;
      }
    }
    if (readsAgain || !all) continue;
    if (await endConversation(head)) return summary;
    head = await readHead(conversation);
  }
  return summary;
};

/**
 * Ends messages of a conversation whose next attempt is not due yet. When the failed message was cancelled or has expired,
 * delivery continues with the next one.
 *
 * @returns the head of a conversation that continues now, or none
 */
const endScheduled = async (
  conversation: AnyConversation,
  head: Head,
  ends: Ends,
  remaining: () => number,
): Promise<DeliverySummary & { next?: Head }> => {
  let next: Head | undefined;
  // Before the message ends: if this process stops between the two, `sweep` wakes the conversation in a minute.
  const begin = async ({ id, created }: Entry): Promise<void> => {
    if (id === head.failed) next = await resume(head, created);
  };
  const { settled, isUnfinished } = await endEarly(conversation, ends, begin, () => remaining() < RESERVE_MS);
  if (isUnfinished) return { settled, unfinished: true, ...(settled === 0 && { stalled: true }) };
  return { settled, ...(next !== undefined && { next }) };
};

/** Attempts an entry, and settles it or schedules a retry of its conversation. */
const processEntry = async (context: DeliveryContext): Promise<ProcessedEntry> => {
  const { destination, entry } = context;
  if (destination.isMissing) return waitForDestination(context);
  if (destination.isPulled) return offerEntry(context);
  const { isNew, wait, receipt } = await checkPauses(context, destination.receiptFor?.(entry));
  if (wait > 0) return { result: 'early', settled: 0, wait };
  const result = isNew
    ? await attemptDelivery(receipt ? { ...context, destination: reporting(destination, receipt) } : context)
    : SKIPPED;
  return conclude(context, result, receipt);
};

/** The destination, whose requests report the state of this receipt. */
const reporting = (destination: Destination, { state }: StatusReceipt): Destination => ({
  ...destination,
  buildRequest: (entry) => destination.buildRequest(entry, state),
});

const SKIPPED: AttemptResult = { status: 'skipped' };

/** What a destination must still receive of an entry, and for how many milliseconds the entry has to wait. */
interface Due {
  isNew: boolean;
  wait: number;
  receipt?: StatusReceipt | undefined;
}

const checkPauses = async (
  { destination, circuit, entry, pending, hasWaited }: DeliveryContext,
  given: StatusReceipt | undefined,
): Promise<Due> => {
  const { isNew, until, receipt } = await pauseBefore(destination, entry, pending, given);
  // With an open circuit, no request is made now, and the pause will be over before the next attempt.
  const isDue = hasWaited || isOpen(circuit);
  return { isNew, receipt, wait: isDue || !isNew ? 0 : Math.max(until - now(), 0) };
};

const pauseBefore = async (
  destination: Destination,
  entry: Entry,
  pending: Entry[],
  receipt: StatusReceipt | undefined,
): Promise<Partial<ReportCheck> & Pick<ReportCheck, 'isNew' | 'until'>> => {
  if (receipt) {
    const later = pending.flatMap((other) => destination.receiptFor?.(other) ?? []);
    if (isSuperseded(receipt, later)) return { isNew: false, until: 0 };
    return checkReported(subjectOf(entry.outgoing).account, receipt);
  }
  // The last attempt is made without a pause.
  const spacing = isExpired(entry) ? undefined : destination.spacing?.(entry);
  return { isNew: true, until: spacing ? await pauseUntil(spacing) : 0 };
};

/** Milliseconds that requests took. */
const timeOf = (exchanges: Exchange[]): number =>
  exchanges.reduce((sum, { started, ended }) => sum + ended - started, 0);

/** Results without a response of the destination: they say nothing about it. */
const NO_ANSWERS = new Set<AttemptResult['status']>(['skipped', 'held', 'withheld', 'internal_error']);

/** Records the result of an attempt in the destination's circuit. Returns the state in which the circuit is now. */
const recordResult = async (
  { isPulled }: Destination,
  breaker: Breaker,
  circuit: CircuitState,
  { status }: AttemptResult,
): Promise<CircuitState> => {
  if (isPulled) return circuit;
  if (NO_ANSWERS.has(status)) return circuit;
  if (status === 'rate_limited') return breaker.acquire();
  if (status === 'retry') {
    if (!isOpen(circuit)) await breaker.recordFailure(circuit);
    return breaker.acquire();
  }
  await breaker.recordSuccess(circuit);
  return 'closed';
};
