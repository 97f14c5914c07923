/** Campaigns by their counts alone. */
import type { BodyFrom } from '../client.ts';
import { lastDays } from '../times.ts';

export interface Counted {
  id: string;
  /** The last day with activity, `YYYY-MM-DD`. */
  day: string;
  /** Messages by the states that they reached. */
  states: Record<string, number>;
}

/** The last 30 days before today in the reader's zone, as a query. */
export const recentDays = () => ({ ...lastDays(31), by: 'day' }) as const;

/** Sums up counts by job, those with the newest activity first. Messages of users are no campaigns. */
export const countedIn = (rows: BodyFrom<'listJobs'>): Counted[] => {
  const found = new Map<string, Counted>();
  for (const { job_id, day = '', state, count } of rows ?? []) {
    const known = found.get(job_id) ?? { id: job_id, day, states: {} };
    known.states[state] = (known.states[state] ?? 0) + count;
    found.set(job_id, known);
  }
  return [...found.values()].filter(({ states }) => (states.sent ?? 0) + (states.sending_failed ?? 0) > 0);
};
