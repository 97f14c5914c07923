/** The listener: claims events, forwards them to a program, several users' at once, and settles them. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../../../shared/core/clock.ts';
import { type Forwarded, forward } from './forward.ts';
import type { ClaimedEvent, Session, Settlement } from './session.ts';

/** Events that are forwarded at the same time: each of another user. */
const TOGETHER = 10;
/**
 * Seconds that a call waits for events. A stop waits for the call's end. With events in progress, their next ones may be
 * due soon.
 */
const WAITS = { idle: 5, busy: 1 };
/** Milliseconds before the next call, after one that did not wait: no more calls may wait now. */
const BREATH = 1_000;
/**
 * Milliseconds: a listener that ends when nothing is due waits for attempts that follow so soon, and for the index that
 * lists them.
 */
const SOON = { within: 3_000, seen: 1_000 };

/** An event that was forwarded and settled. */
export interface Handled {
  event: ClaimedEvent;
  forwarded: Forwarded;
  settlement: Settlement;
}

interface Listening {
  session: Pick<Session, 'claim' | 'settle'>;
  to: URL;
  /** Whether it continues when nothing is due. */
  follow: boolean;
  /** Ends it after the call that waits for events, and the events in progress. */
  stop: AbortSignal;
  onHandled: (handled: Handled) => void;
}

/**
 * Forwards events until it is stopped, or nothing is due. An event that was forwarded is also settled.
 *
 * @throws UserError — another command has ended the mode
 */
export const listen = async ({ session, to, follow, stop, onHandled }: Listening): Promise<void> => {
  const inProgress = new Set<Promise<void>>();
  const failures: unknown[] = [];
  /** Until when something may be due. */
  let end = 0;
  const handle = async (event: ClaimedEvent): Promise<void> => {
    const forwarded = await forward(to, event);
    const settlement = await session.settle(event.claim, forwarded.outcome);
    if (settlement.status === 'pending') {
      const next = Date.parse(`${settlement.next_attempt}Z`);
      if (next < now() + SOON.within) end = Math.max(end, next + SOON.seen);
    }
    onHandled({ event, forwarded, settlement });
  };
  const begin = (event: ClaimedEvent): void => {
    const work: Promise<void> = handle(event)
      .catch((error) => void failures.push(error))
      .finally(() => inProgress.delete(work));
    inProgress.add(work);
  };
  try {
    while (!stop.aborted && failures.length === 0) {
      const free = TOGETHER - inProgress.size;
      if (free === 0) {
        await Promise.race(inProgress);
        continue;
      }
      const isIdle = inProgress.size === 0;
      const start = performance.now();
      const events = await session.claim(free, isIdle && follow ? WAITS.idle : WAITS.busy);
      for (const event of events) begin(event);
      if (events.length > 0) continue;
      if (!follow && isIdle && now() > end) break;
      const isEarly = performance.now() - start < (WAITS.busy * 1_000) / 2;
      if (isEarly) await pause(BREATH, undefined, { signal: stop }).catch(() => undefined);
    }
  } finally {
    await Promise.all(inProgress);
  }
  if (failures.length > 0) throw failures[0];
};
