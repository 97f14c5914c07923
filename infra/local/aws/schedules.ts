/** EventBridge's schedules on this machine. */
import { randomUUID } from 'node:crypto';
import { invokeAsynchronously } from './lambda/asynchronous.ts';
import type { ScheduleDefinition } from './template/definitions.ts';

/**
 * Calls the functions of each schedule at its rate.
 *
 * @param minute - milliseconds that count as one minute: with fewer, schedules run more often
 * @returns a function that stops them
 */
export const runSchedules = (
  schedules: ScheduleDefinition[],
  minute: number,
  invoke: (functionId: string, event: unknown) => Promise<unknown>,
): (() => void) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const timers = schedules.map(({ id, minutes, functions }) =>
    setInterval(() => {
      for (const { id: name, asynchronous } of functions) {
        const event = scheduledEvent(id, new Date());
        void invokeAsynchronously({ ...asynchronous, invoke: () => invoke(name, event), minute, signal });
      }
    }, minutes * minute),
  );
  return () => {
    stopping.abort();
    for (const timer of timers) clearInterval(timer);
  };
};

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
