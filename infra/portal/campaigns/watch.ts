/** Campaigns as they are listed: what became of each by its counts, or, where they do not say it, by the campaign itself. */
import { useEffect, useState } from 'preact/hooks';
import { present } from '../../web/clock.ts';
import { instant } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import { useCall } from '../use-call.ts';

export type Job = NonNullable<BodyFrom<'readJob'>>;
export type ListedJob = NonNullable<BodyFrom<'listRecentJobs'>>[number];

export type Status = Job['status'] | 'waiting';

/** Messages by the states that they reached. */
export type States = Partial<Record<string, number>>;

/** Outside its sending hours, a campaign is paused. */
export const statusOf = ({ status, waits_until }: Job): Status =>
  status === 'running' && waits_until !== undefined ? 'waiting' : status;

interface Watched {
  /** Undefined while it is read, or if it cannot be. */
  status: Status | undefined;
  recipients: number;
  states: States;
  /** Whether nothing is known yet. */
  loading: boolean;
}

/** Milliseconds until a campaign is read again. */
const EVERY = { running: 5_000, resting: 30_000 };

/** The counts of the last 30 days contain all messages of a campaign that is at most so old, in every time zone. */
const COUNTED_MS = 29 * 86_400_000;

/**
 * A campaign of the list. It is read only if list and counts do not say what became of it: while it is sent, if it is old, or
 * without counts.
 *
 * @param counted - the counts of the last 30 days; undefined without counts
 */
export const useCampaign = (job: ListedJob, counted: States | undefined): Watched => {
  const isCounted = instant(job.created).getTime() > present() - COUNTED_MS;
  const states = isCounted ? counted : undefined;
  const known = statusIn(job, states);
  const [every, setEvery] = useState(EVERY.running);
  const { data, error } = useCall('readJob', known === undefined ? { path: { job_id: job.job_id } } : undefined, every);
  const isRunning = data === undefined || data.status === 'running';
  useEffect(() => setEvery(isRunning ? EVERY.running : EVERY.resting), [isRunning]);
  return {
    status: known ?? (data && statusOf(data)),
    recipients: data?.recipients ?? Math.max(job.recipients ?? 0, states?.sent ?? 0),
    states: data?.states ?? states ?? {},
    loading: known === undefined && data === undefined && error === undefined,
  };
};

const statusIn = ({ start, cancelled, recipients = 0 }: ListedJob, states: States | undefined): Status | undefined => {
  const { sent = 0, delivered_to_server = 0, sending_failed = 0 } = states ?? {};
  if (cancelled !== undefined) return states && 'cancelled';
  if (sent === 0 && instant(start).getTime() > present()) return 'scheduled';
  const isDone = sent > 0 && sent >= recipients && delivered_to_server + sending_failed >= sent;
  return isDone ? 'completed' : undefined;
};
