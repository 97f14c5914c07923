/** The campaigns whose messages moved last. */
import { Chip, Skeleton, type Tone } from '../../web/parts.tsx';
import { percent, whenOf } from '../../web/text.tsx';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Section } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { home } from '../words/home.ts';
import { failures, type JobCounts, sumOf } from './counts.ts';
import { EVERY } from './refresh.ts';

const words = home.campaigns;

const SHOWN = 5;

interface RecentCampaignsProps {
  session: Session;
  /** The counts of the last 30 days, with the job of the latest activity first. */
  rows: JobCounts | undefined;
}

export const RecentCampaigns = ({ session, rows = [] }: RecentCampaignsProps) => {
  // Messages of people belong to jobs, too.
  const jobs = [...new Set(rows.filter(({ state }) => state === 'sent').map(({ job_id }) => job_id))].slice(0, SHOWN);
  return (
    <Section title={words.title} actions={<a href={linkTo('campaigns')}>{words.all}</a>}>
      {jobs.length === 0 ? (
        <p class="quiet">{words.none}</p>
      ) : (
        <ul class="campaign-rows">
          {jobs.map((job) => (
            <Campaign key={job} job={job} session={session} counted={rows.filter(({ job_id }) => job_id === job)} />
          ))}
        </ul>
      )}
    </Section>
  );
};

const tones = { scheduled: 'plain', running: 'business', completed: 'ok', cancelled: 'warn' } as const satisfies Record<
  string,
  Tone
>;

interface CampaignProps {
  job: string;
  session: Session;
  counted: JobCounts;
}

const Campaign = ({ job, session, counted }: CampaignProps) => {
  const { data, error } = useCall('readJob', session.may('readJob') ? { path: { job_id: job } } : undefined, EVERY);
  const isWaiting = session.may('readJob') && data === undefined && error === undefined;
  if (isWaiting) {
    return (
      <li>
        <Skeleton rows={1} />
      </li>
    );
  }
  const states = data && Object.entries(data.states).map(([state, count = 0]) => ({ state, count }));
  const counts = sumOf(states ?? counted);
  const total = data?.recipients ?? counts.sent;
  const title = data === undefined ? words.job(job.slice(0, 8)) : (data.reference ?? words.unnamed(whenOf(data.start)));
  const failed = failures.reduce((sum, state) => sum + counts[state], 0);
  return (
    <li>
      <div class="line">
        <a href={linkTo('campaigns', job)}>{title}</a>
        {data && <Chip tone={tones[data.status]}>{words.status[data.status]}</Chip>}
      </div>
      <Progress
        total={total}
        parts={[
          ['read', counts.read],
          ['user', counts.delivered_to_user - counts.read],
          ['server', counts.delivered_to_server - Math.max(counts.delivered_to_user, counts.read)],
          ['failed', failed],
        ]}
      />
      <p class="quiet">
        {words.summary(total, percent(counts.delivered_to_user, total), percent(counts.read, total))}
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
  <span class="progress" aria-hidden="true">
    {parts.map(
      ([name, count]) =>
        count > 0 && <span key={name} class={name} style={{ width: `${(count / Math.max(total, 1)) * 100}%` }} />,
    )}
  </span>
);
