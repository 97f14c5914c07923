/** The newest campaigns. A token that may only count sees those whose messages moved last. */

import { percent } from '../../web/figures.ts';
import { Skeleton } from '../../web/parts.tsx';
import { whenOf } from '../../web/text.tsx';
import { StatusChip, titleOf } from '../campaigns/status.tsx';
import { type ListedJob, type Status, useCampaign } from '../campaigns/watch.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { Section } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { home } from '../words/home.ts';
import { shell } from '../words/shell.ts';
import { type Counts, failures, type JobCounts, sumOf } from './counts.ts';
import { EVERY, errorToShow } from './refresh.ts';

const words = home.campaigns;

const SHOWN = 5;

interface RecentCampaignsProps {
  session: Session;
  /** The counts of the last 30 days, with the job of the latest activity first. */
  rows: JobCounts | undefined;
}

export const RecentCampaigns = ({ session, rows = [] }: RecentCampaignsProps) => {
  const mayList = session.may('listRecentJobs');
  const { data, ready, error, reload } = useCall(
    'listRecentJobs',
    mayList ? { query: { limit: `${SHOWN}` } } : undefined,
    EVERY,
  );
  const countedOf = (job: string): Counts => sumOf(rows.filter(({ job_id }) => job_id === job));
  // Messages of people belong to jobs, too.
  const counted = [...new Set(rows.filter(({ state }) => state === 'sent').map(({ job_id }) => job_id))];
  const shown = mayList
    ? data?.map((job) => <Listed key={job.job_id} job={job} counted={countedOf(job.job_id)} />)
    : counted.slice(0, SHOWN).map((id) => {
        const counts = countedOf(id);
        return <Campaign key={id} {...{ id, counts }} title={titleOf(id, undefined)} total={counts.sent} />;
      });
  return (
    <Section title={words.title} actions={<a href={linkTo('campaigns')}>{words.all}</a>}>
      <Failure error={errorToShow({ ready, error })} onRetry={reload} title={shell.notLoaded} />
      {mayList && !ready ? (
        error === undefined && <Skeleton rows={SHOWN} />
      ) : shown === undefined || shown.length === 0 ? (
        <p class="quiet">{mayList ? words.none : words.noneCounted}</p>
      ) : (
        <ul class="campaign-rows">{shown}</ul>
      )}
    </Section>
  );
};

const Listed = ({ job, counted }: { job: ListedJob; counted: Counts }) => {
  const { status, states, recipients, loading } = useCampaign(job, counted);
  if (loading) {
    return (
      <li>
        <Skeleton rows={1} />
      </li>
    );
  }
  const counts = sumOf(Object.entries(states).map(([state, count = 0]) => ({ state, count })));
  return (
    <Campaign
      {...{ id: job.job_id, status, counts }}
      title={titleOf(job.job_id, job)}
      total={recipients}
      starts={status === 'scheduled' ? whenOf(job.start) : undefined}
    />
  );
};

interface CampaignProps {
  id: string;
  title: string;
  status?: Status | undefined;
  counts: Counts;
  /** All messages. */
  total: number;
  /** When it starts, if it has not started. */
  starts?: string | undefined;
}

const Campaign = ({ id, title, status, counts, total, starts }: CampaignProps) => {
  const failed = failures.reduce((sum, state) => sum + counts[state], 0);
  return (
    <li>
      <div class="line">
        <a href={linkTo('campaigns', id)}>{title}</a>
        {status && <StatusChip status={status} />}
      </div>
      <Progress
        total={total}
        parts={[
          ['read', counts.read],
          ['delivered', counts.delivered_to_user - counts.read],
          ['underway', counts.delivered_to_server - Math.max(counts.delivered_to_user, counts.read)],
          ['failed', failed],
        ]}
      />
      <p class="quiet">
        {starts === undefined
          ? words.summary(total, percent(counts.delivered_to_user, total), percent(counts.read, total))
          : words.starts(total, starts)}
        {failed > 0 && ` · ${words.failed(failed)}`}
      </p>
    </li>
  );
};

interface ProgressProps {
  total: number;
  parts: [name: string, count: number][];
}

/** A bar of parts. The text below it has the figures. */
const Progress = ({ total, parts }: ProgressProps) => (
  <span class="people-bar" aria-hidden="true">
    {parts.map(
      ([name, count]) =>
        count > 0 && <span key={name} class={name} style={{ width: `${(count / Math.max(total, 1)) * 100}%` }} />,
    )}
  </span>
);
