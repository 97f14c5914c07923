/** Divides the messages of a job into parts. */
import type { JobParts } from './views.ts';

/**
 * What became of a job's messages, by its counts. Counts are late, and reports arrive in any order: no part is negative.
 *
 * @param people - the number of messages
 * @param cancelled - how many of the failures are due to the stop of the job
 */
export const partsOf = (counts: Record<string, number>, people: number, cancelled: number): JobParts => {
  const { sent = 0, delivered_to_server = 0, delivered_to_user = 0, read = 0 } = counts;
  const { sending_failed = 0, delivery_failed = 0 } = counts;
  const stopped = Math.min(cancelled, sending_failed);
  const parts = {
    read,
    delivered_to_user: atLeastNone(delivered_to_user - read),
    delivered_to_server: atLeastNone(delivered_to_server - Math.max(delivered_to_user, read) - delivery_failed),
    pending: atLeastNone(sent - delivered_to_server - sending_failed),
    failed: sending_failed - stopped + delivery_failed,
    stopped,
  };
  return { ...parts, not_sent: atLeastNone(people - sentOf(parts) - stopped) };
};

/** How many messages were sent: they are delivered, pending, or failed. */
export const sentOf = (parts: Omit<JobParts, 'stopped' | 'not_sent'>): number =>
  parts.read + parts.delivered_to_user + parts.delivered_to_server + parts.pending + parts.failed;

const atLeastNone = (count: number): number => Math.max(count, 0);
