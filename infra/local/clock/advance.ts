/**
 * Moves the clock of the local stack ahead. It stops at each time at which something is due, and waits there until the
 * stack has done it, so that work happens in the order in which it would have happened.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Progress } from '../aws/clock-driver.ts';
import type { AwsEmulator } from '../aws/emulator.ts';
import type { IsNeeded } from '../aws/event-sources/schedules.ts';
import type { Clock } from '../aws/time/clock.ts';
import { type DueWork, dueWorkOf } from './due-work.ts';

/** What moves ahead, and what it has to wait for. */
export interface Moving {
  clock: Clock;
  /** Sets the clock. Schedules whose time comes by this call only the targets that are needed. */
  setClock: (time: number, isNeeded: IsNeeded) => void;
  /** What the stack works on now: see `ClockDriver.inProgress`. */
  inProgress: () => Progress | undefined;
  /** When a function or a message of a queue continues, in milliseconds since 1970. */
  nextDue: () => number | undefined;
  /** Reads the records of the stream that are left, without a pause. */
  readNow: () => void;
  /** Handles records that wait for a batch. */
  closeBatches: () => void;
  /** Begins to watch the work of the table that is due. The next run of the schedule starts it. */
  watchDueWork: () => DueWork;
  /** Milliseconds between two runs of the schedule. */
  minute: number;
}

/** What moves ahead in a local stack with this clock and table. */
export const movingOf = (
  stack: Pick<AwsEmulator, 'clockDriver' | 'dynamodbEndpoint' | 'watchRecords'>,
  { clock, table, minute }: Pick<Moving, 'clock' | 'minute'> & { table: string },
): Moving => ({
  clock,
  setClock: (time, isNeeded) => stack.clockDriver.setClock(time, isNeeded),
  inProgress: () => stack.clockDriver.inProgress,
  nextDue: () => stack.clockDriver.nextDue,
  readNow: () => stack.clockDriver.readNow(),
  closeBatches: () => stack.clockDriver.closeBatches(),
  watchDueWork: dueWorkOf(stack, table),
  minute,
});

/** Milliseconds between two looks at the stack, and how many looks in a row must find no work. */
const LOOK = { pause: 1, times: 3 };

/** Milliseconds of real time that the stack may work at one time of the clock. */
const TIMEOUT_MS = 300_000;

/** The stack does not come to rest. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/**
 * Moves the clock ahead to `end`, in milliseconds since 1970.
 *
 * @returns at how many times something was due
 * @throws BusyError — at some time, the stack works for longer than five minutes. The clock stays there
 */
export const advanceTo = async (end: number, moving: Moving): Promise<number> => {
  const { clock } = moving;
  const dueWork = moving.watchDueWork();
  const stops = await stopAtWork(end, moving, dueWork).finally(() => dueWork.end());
  if (end > clock.now()) clock.set(end);
  await rest(moving, true);
  return stops;
};

/** Moves the clock to each time before `end` at which something is due. Returns at how many times it was. */
const stopAtWork = async (end: number, moving: Moving, dueWork: DueWork): Promise<number> => {
  const { clock, minute, nextDue, setClock } = moving;
  let stops = 0;
  for (;;) {
    await rest(moving, false);
    const soonest = nextDue() ?? end;
    // No run of the schedule is before the next whole minute.
    const needsRead = soonest > minuteAfter(clock.now(), minute);
    const work = needsRead ? await dueWork.next() : undefined;
    // Work that is due already was started, and was not done: the next run of the schedule tries again.
    const run = work === undefined ? end : minuteAfter(Math.max(work - 1, clock.now()), minute);
    const next = Math.min(run, soonest);
    if (next >= end) return stops;
    if (next > clock.now()) setClock(next, (functionId, input) => !needsRead || dueWork.needs(next, functionId, input));
    stops += 1;
  }
};

/** The first whole minute after a time. */
const minuteAfter = (time: number, minute: number): number => Math.ceil((time + 1) / minute) * minute;

/** Waits until the stack has no work. If it is the end, records that wait for a batch are handled, too. */
const rest = async ({ inProgress, readNow, closeBatches }: Moving, isEnd: boolean): Promise<void> => {
  const latest = Date.now() + TIMEOUT_MS;
  for (let quiet = 0; quiet < LOOK.times; ) {
    const now = inProgress();
    if (now === 'records') readNow();
    if (now === 'batches' && isEnd) closeBatches();
    quiet = now === undefined || (now === 'batches' && !isEnd) ? quiet + 1 : 0;
    if (Date.now() > latest)
      throw new BusyError(`The stack still works at the same time after ${TIMEOUT_MS / 1000} s.`);
    await pause(LOOK.pause);
  }
};
