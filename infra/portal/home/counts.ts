/** Counts of messages by state. */
import type { State } from '../../../shared/outbox/message.ts';
import type { BodyFrom } from '../client.ts';

export type Counts = Record<State, number>;

export type JobCounts = NonNullable<BodyFrom<'listJobs'>>;

/** The sums over jobs, days and kinds of content. */
export const sumOf = (rows: readonly { state: string; count: number }[] | undefined): Counts => {
  const counts: Counts = {
    sent: 0,
    received: 0,
    delivered_to_server: 0,
    delivered_to_user: 0,
    read: 0,
    delivery_failed: 0,
    sending_failed: 0,
    reception_failed_http: 0,
  };
  for (const { state, count } of rows ?? []) if (state in counts) counts[state as State] += count;
  return counts;
};

/** The states of failures, and in which order they are shown. */
export const failures = ['sending_failed', 'delivery_failed', 'reception_failed_http'] as const;
