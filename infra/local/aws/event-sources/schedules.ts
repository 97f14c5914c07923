/** EventBridge's schedules on this machine. */
import { randomUUID } from 'node:crypto';
import { invokeAsynchronously } from '../lambda/asynchronous.ts';
import type { ScheduleDefinition, ScheduleTarget } from '../template/definitions.ts';
import type { Clock } from '../time/clock.ts';

const MINUTE = 60_000;

interface SchedulesSettings {
  clock: Clock;
  /** Milliseconds that count as one minute: with fewer, schedules run more often. */
  minute: number;
  invoke: (functionId: string, event: unknown) => Promise<unknown>;
}

/** Whether a function is to be called, with this input if its target has one. */
export type IsNeeded = (functionId: string, input?: unknown) => boolean;

/**
 * Calls the functions of each schedule at its rate, at whole multiples of it. What a jump of the clock skips is not made up
 * for. Neither is what is due during a target's call while the clock runs faster, or minutes are shorter: the machine does
 * not get faster, so calls would pile up. On AWS, a call ends before the next one is due.
 */
export class Schedules {
  readonly #settings: SchedulesSettings;
  readonly #stopping = new AbortController();
  readonly #timers = new Map<ScheduleDefinition, NodeJS.Timeout>();
  readonly #due = new Map<ScheduleDefinition, number>();
  readonly #unwatch: () => void;
  #isNeeded: IsNeeded = () => true;
  /** Calls in progress, by target. */
  readonly #calls = new Map<ScheduleTarget, number>();

  /** Starts at once. */
  constructor(schedules: ScheduleDefinition[], settings: SchedulesSettings) {
    this.#settings = settings;
    for (const schedule of schedules) this.#plan(schedule);
    this.#unwatch = settings.clock.watch(() => {
      for (const schedule of schedules) this.#check(schedule);
    });
  }

  /** The number of calls in progress. */
  get calls(): number {
    return Array.from(this.#calls.values()).reduce((sum, calls) => sum + calls, 0);
  }

  /** Sets the clock. Schedules whose time comes by this call only the targets that are needed. */
  setClock(time: number, isNeeded: IsNeeded): void {
    const before = this.#isNeeded;
    this.#isNeeded = isNeeded;
    try {
      this.#settings.clock.set(time);
    } finally {
      this.#isNeeded = before;
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#unwatch();
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #plan(schedule: ScheduleDefinition): void {
    const { clock, minute } = this.#settings;
    const interval = schedule.minutes * minute;
    this.#due.set(schedule, (Math.floor(clock.now() / interval) + 1) * interval);
    this.#wait(schedule);
  }

  #wait(schedule: ScheduleDefinition): void {
    clearTimeout(this.#timers.get(schedule));
    // The time may have come since the last look.
    const left = Math.max((this.#due.get(schedule) ?? 0) - this.#settings.clock.now(), 0);
    this.#timers.set(
      schedule,
      setTimeout(() => this.#check(schedule), left),
    );
  }

  /** Calls the functions if it is time. The clock may also have been set back. */
  #check(schedule: ScheduleDefinition): void {
    const left = (this.#due.get(schedule) ?? 0) - this.#settings.clock.now();
    if (left > schedule.minutes * this.#settings.minute) this.#plan(schedule);
    else if (left > 0) this.#wait(schedule);
    else {
      this.#plan(schedule);
      this.#call(schedule);
    }
  }

  get #isFaster(): boolean {
    return this.#settings.clock.rate !== 1 || this.#settings.minute < MINUTE;
  }

  #call(schedule: ScheduleDefinition): void {
    const { id, targets } = schedule;
    const { clock, minute, invoke } = this.#settings;
    const { signal } = this.#stopping;
    for (const target of targets) {
      const { id: name, asynchronous, input } = target;
      const callsOf = (): number => this.#calls.get(target) ?? 0;
      if (!this.#isNeeded(name, input) || (this.#isFaster && callsOf() > 0)) continue;
      const event = input ?? scheduledEvent(id, new Date(clock.now()));
      const counted = async (): Promise<unknown> => {
        this.#calls.set(target, callsOf() + 1);
        try {
          return await invoke(name, event);
        } finally {
          this.#calls.set(target, callsOf() - 1);
        }
      };
      void invokeAsynchronously({ ...asynchronous, invoke: counted, minute, signal });
    }
  }
}

/** The event that EventBridge sends for a rule's schedule. */
const scheduledEvent = (rule: string, time: Date) => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: '000000000000',
  time: `${time.toISOString().slice(0, 19)}Z`,
  region: 'us-east-1',
  resources: [`arn:aws:events:us-east-1:000000000000:rule/${rule}`],
  detail: {},
});
