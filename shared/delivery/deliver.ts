/**
 * Delivery of a conversation: its outbox is emptied oldest entry first, by one worker at a time. An entry that cannot
 * be delivered now delays the whole conversation, so that the order stays. A crash at any point repeats at most the
 * attempt under way: destinations receive each entry at least once, in order, with the same id.
 *
 * `nextStep` decides, `deliver` does it, and what is known of the conversation changes:
 *
 *     read ──> copy to the endpoints of the account ──> next entry
 *      │
 *     read ──> acquire the circuit ──> attempt ──> settled: next entry          wait ──> read
 *      ^                          └──> expire  ──> next entry
 *      |                               retry scheduled, offered, waiting, outside hours, turn over, late: the wake-up ends
 *      └────── no entry left: the conversation ends, unless another entry was accepted
 */
import { now, pause, scaled, timestamp } from '../core/clock.ts';
import { appNetwork } from '../destinations/app-network.ts';
import type { Destination, destinationNameOf } from '../destinations/destination.ts';
import type { Endpoint } from '../destinations/endpoint-settings.ts';
import { consentWebhookOf, copiesOf, platformOf } from '../destinations/registry.ts';
import { type AnyConversation, endpointOf } from '../outbox/entities.ts';
import { oldestEntries } from '../outbox/entries.ts';
import type { Entry } from '../outbox/event.ts';
import {
  endConversation,
  type Head,
  isRetryScheduled,
  needsRefresh,
  postpone,
  readHead,
  resume,
  unlist,
} from '../outbox/head.ts';
import type { Ends } from '../outbox/wake-ups/conversations.ts';
import { traced } from '../telemetry/trace.ts';
import {
  applyResult,
  canSettleTogether,
  expireEntries,
  type Outcome,
  SETTLED_TOGETHER,
  waitForDestination,
  waitForHours,
} from './apply-result.ts';
import { attemptEntry, RESERVE_MS, resultOf } from './attempt.ts';
import { breakerOf } from './breaker.ts';
import { endCancelled } from './cancellations.ts';
import { type CircuitState, isOpen, type Open } from './circuit-breaker.ts';
import { copyToEndpoints } from './copies.ts';
import { findDisabled, findDisabledNow } from './disabled.ts';
import { offerEntry } from './listeners/offer-entry.ts';
import { expiryOf, pendingSince, permittedFrom } from './retry-policy.ts';

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

/** What is known of a conversation. @internal Tests use it, too. */
export interface DeliveryState {
  /** The oldest pending entries; undefined if they must be read. */
  entries: readonly Entry[] | undefined;
  /** Whether the outbox had no other entries when they were read. */
  areAll: boolean;
  destination: Pick<Destination, 'isMissing' | 'isPull' | 'receiptFor' | 'endpoints'>;
  /** Undefined until it is acquired: only when an attempt may follow, because one conversation at a time is elected to probe. */
  circuit: CircuitState | undefined;
  /** For how long the oldest entry must wait, if it must, in milliseconds. */
  waitMs: number;
  /** Milliseconds that this wake-up may still spend in pauses. */
  pausesLeftMs: number;
  /** The time in milliseconds since 1970, and how many are left for this wake-up. */
  now: number;
  remainingMs: number;
  /** When the turn of the conversation's group begins, in milliseconds since 1970; undefined if it is now. */
  turn: number | undefined;
}

/** What is done next. @internal Tests use it, too. */
export type Step =
  | { do: 'read' }
  | { do: 'acquire' }
  | { do: 'attempt' | 'offer' | 'await destination'; entry: Entry; pending: readonly Entry[]; circuit: CircuitState }
  | { do: 'copy'; entry: Entry; endpoints: readonly Endpoint[] }
  /** The sending hours of the entry begin at this time, in milliseconds since 1970. */
  | { do: 'await hours'; entry: Entry; until: number }
  /** These entries fail without a request. */
  | { do: 'expire'; entries: readonly Entry[]; circuit: Open }
  | { do: 'wait'; ms: number }
  | { do: 'postpone'; until: number }
  /** The wake-up ends before its work is done. */
  | { do: 'stop' }
  | { do: 'end conversation' };

/** Most entries that fail together in a step. */
const MAX_EXPIRED = 4 * SETTLED_TOGETHER;

/** The next step of a delivery. @internal Tests use it, too. */
export const nextStep = (state: DeliveryState): Step => {
  const { entries, areAll, destination, circuit, waitMs, pausesLeftMs, remainingMs, turn } = state;
  const [entry, ...pending] = entries ?? [];
  if (entry === undefined) return entries !== undefined && areAll ? { do: 'end conversation' } : { do: 'read' };
  if (remainingMs < RESERVE_MS) return { do: 'stop' };
  if (destination.endpoints) return { do: 'copy', entry, endpoints: destination.endpoints };
  const until = permittedFrom(entry, state.now);
  // Also if it has expired: its last attempt is made within the hours.
  if (until > state.now) return { do: 'await hours', entry, until };
  if (circuit === undefined) return { do: 'acquire' };
  if (destination.isMissing) return { do: 'await destination', entry, pending, circuit };
  if (destination.isPull) return { do: 'offer', entry, pending, circuit };
  const expired = isOpen(circuit) ? expiredEntries([entry, ...pending], state) : [];
  if (isOpen(circuit) && expired.length > 0) return { do: 'expire', entries: expired, circuit };
  // A probe is made at once: all others wait for it.
  if (turn !== undefined && !isOpen(circuit) && circuit !== 'half_open') return { do: 'postpone', until: turn };
  if (waitMs === 0) return { do: 'attempt', entry, pending, circuit };
  return waitMs > pausesLeftMs || remainingMs < RESERVE_MS + waitMs ? { do: 'stop' } : { do: 'wait', ms: waitMs };
};

/** The entries at the beginning whose last attempt is due, and that `expireEntries` can settle together. */
const expiredEntries = (entries: readonly Entry[], { destination, now: present }: DeliveryState): readonly Entry[] => {
  const end = entries.findIndex(
    (entry) =>
      expiryOf(entry) > present ||
      permittedFrom(entry, present) > present ||
      !canSettleTogether(entry) ||
      destination.receiptFor?.(entry) !== undefined,
  );
  return entries.slice(0, Math.min(end === -1 ? entries.length : end, MAX_EXPIRED));
};

/** Most milliseconds that a worker waits in pauses between entries. Then other conversations of its group continue. */
const PAUSES_MS = 8_000;

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
  let hasProgressed = false;
  /** The entry whose pause is over. */
  let waited: string | undefined;
  let destination: Destination = UNKNOWN;
  let state: Omit<DeliveryState, 'destination' | 'now' | 'remainingMs' | 'turn'> = {
    entries: undefined,
    areAll: false,
    circuit: undefined,
    waitMs: 0,
    pausesLeftMs: scaled(PAUSES_MS),
  };
  /** Many entries may have expired while the circuit was open. */
  let pageSize: number | undefined;

  /** Continues with the entries after the first ones, which have left the outbox. */
  const leaveBehind = async (current: Head, count: number, circuit: CircuitState | undefined): Promise<Head> => {
    hasProgressed = true;
    const entries = state.entries?.slice(count) ?? [];
    const [next] = entries;
    state = { ...state, entries, circuit };
    return needsRefresh(current) ? resume(current, next === undefined ? timestamp() : pendingSince(next)) : current;
  };

  for (;;) {
    const step = nextStep({ ...state, destination, now: now(), remainingMs: remaining(), turn: breaker.turn() });
    switch (step.do) {
      case 'read': {
        const { entries, all } = await oldestEntries(conversation, pageSize);
        // Resolved after the page was read, so that no entry is delivered by settings that were replaced before it was accepted.
        destination = await resolveDestination(conversation, head);
        const free: Head | undefined = destination.isPull ? head : await unlist(head);
        if (free === undefined) return { ...summary, retry_scheduled: 'listening' };
        head = free;
        state = { ...state, entries, areAll: all };
        break;
      }
      case 'acquire': {
        const circuit = await breaker.acquire();
        state = { ...state, circuit };
        if (!isOpen(circuit)) break;
        const isLate = () => remaining() < RESERVE_MS;
        const { settled } = await endCancelled(conversation, ends, async () => undefined, isLate);
        summary.settled += settled;
        if (settled > 0) state = { ...state, entries: undefined };
        break;
      }
      case 'copy': {
        const { entry, endpoints } = step;
        const { phone } = head;
        const end = await traced(entry.trace_id, () => copyToEndpoints(entry, phone, endpoints));
        summary.settled += end === 'settled' ? 1 : 0;
        head = await leaveBehind(head, 1, state.circuit);
        break;
      }
      case 'await hours': {
        const end = await waitForHours(head, step.entry, step.until);
        if (end === 'waits') return { ...summary, retry_scheduled: 'outside_hours' };
        summary.settled += end === 'settled' ? 1 : 0;
        head = await leaveBehind(head, 1, state.circuit);
        break;
      }
      case 'attempt':
      case 'offer':
      case 'await destination': {
        const { entry, pending, circuit } = step;
        const context = { destination, breaker, circuit, head, entry, exchanges: [] };
        const attempting = { ...context, pending, remaining, hasWaited: waited === entry.id };
        const outcome = await traced(entry.trace_id, () => {
          if (step.do === 'offer') return offerEntry(context);
          return step.do === 'attempt' ? attemptAndApply(attempting) : waitForDestination(context);
        });
        switch (outcome.type) {
          case 'settled':
          case 'gone':
            // An entry that was gone counts, too: it does not return.
            summary.settled += outcome.type === 'settled' ? 1 : 0;
            head = await leaveBehind(head, 1, outcome.circuit);
            break;
          case 'tooEarly':
            state = { ...state, waitMs: outcome.waitMs };
            break;
          case 'waiting':
            // It waits now: a stale read could miss that its webhook was disabled a moment ago.
            if ((await resolveDestination(conversation, { state: 'waiting' })).isMissing) {
              return { ...summary, retry_scheduled: outcome.cause };
            }
            // It was set after it was looked up, perhaps before the conversation waited: nothing else would wake it.
            head = await resume(head, pendingSince(entry));
            state = { ...state, entries: undefined };
            break;
          case 'offered':
            return { ...summary, retry_scheduled: 'listening' };
          case 'paused':
            return { ...summary, retry_scheduled: outcome.cause, paused_until: outcome.at };
          case 'retryScheduled':
            return { ...summary, retry_scheduled: outcome.cause };
        }
        break;
      }
      case 'expire': {
        summary.settled += await expireEntries(step.entries, resultOf(step.circuit), { destination, head });
        const circuit = await breaker.acquire();
        head = await leaveBehind(head, step.entries.length, circuit);
        // More of them may follow.
        pageSize = isOpen(circuit) ? MAX_EXPIRED : undefined;
        break;
      }
      case 'wait':
        await pause(step.ms);
        waited = state.entries?.[0]?.id;
        // A later status may have been accepted in the meantime, and supersede this one.
        state = { ...state, entries: undefined, waitMs: 0, pausesLeftMs: state.pausesLeftMs - step.ms };
        break;
      case 'postpone':
        await postpone(head, step.until);
        return { ...summary, retry_scheduled: 'turn', paused_until: step.until };
      case 'stop':
        return { ...summary, unfinished: true, ...(!hasProgressed && { stalled: true }) };
      case 'end conversation': {
        if (await endConversation(head)) return summary;
        const present = await readHead(conversation);
        if (present === undefined) return summary;
        head = present;
        state = { ...state, entries: undefined };
      }
    }
  }
};

/** Before it is resolved. */
const UNKNOWN: Destination = { name: '', buildRequest: () => undefined };

/** Attempts an entry, and applies the result. */
const attemptAndApply = async (
  context: Parameters<typeof attemptEntry>[0],
): Promise<Outcome | { type: 'tooEarly'; waitMs: number }> => {
  const end = await attemptEntry(context);
  if (end.type === 'gone') return { type: 'gone', circuit: context.circuit };
  return end.type === 'tooEarly' ? end : applyResult(context, end.result, end.receipt);
};

/**
 * The destination of a conversation. Without a platform, or while its webhook is disabled, `isMissing` is set. A conversation
 * that waits makes no further request because of a stale read.
 *
 * @internal Tests use it, too.
 */
export const resolveDestination = async (
  conversation: Parameters<typeof destinationNameOf>[0],
  { state }: Partial<Pick<Head, 'state'>> = {},
): Promise<Destination> => {
  const { direction, account } = conversation;
  if (direction === 'app') return appNetwork();
  const endpoint = endpointOf(conversation);
  const destination = await (endpoint === undefined
    ? (direction === 'consent' ? consentWebhookOf : platformOf)(account)
    : copiesOf(account, endpoint));
  const { name, version } = destination;
  const find = state === 'waiting' ? findDisabledNow : findDisabled;
  const disabled = version === undefined ? undefined : await find(name);
  if (disabled === undefined || disabled.version !== version) return destination;
  return { ...destination, isMissing: true, disabledBy: disabled.cause };
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
  const begin = async (entry: Entry): Promise<void> => {
    if (entry.id === head.failed) next = await resume(head, pendingSince(entry));
  };
  const { settled, isUnfinished } = await endCancelled(conversation, ends, begin, () => remaining() < RESERVE_MS);
  if (isUnfinished) return { settled, unfinished: true, ...(settled === 0 && { stalled: true }) };
  return { settled, ...(next !== undefined && { next }) };
};
