/** EventBridge's schedules on this machine. */
import { randomUUID } from 'node:crypto';
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
  const timers = schedules.map(({ id, minutes, functions }) =>
    setInterval(() => {
      // The function logs its own failure. EventBridge does not report failures either.
      for (const name of functions) void invoke(name, scheduledEvent(id, new Date())).catch(() => undefined);
    }, minutes * minute),
  );
  return () => {
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
