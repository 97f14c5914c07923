/** A job: what became of its messages, how fast they are sent, and why some failed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobView } from '../../jobs/views.ts';
import { BarTable } from '../activity/funnel.tsx';
import { Announced } from '../announced.tsx';
import { BusinessAvatar } from '../avatars.tsx';
import { useViewOrProblem } from '../data/live.ts';
import { Close, Copy, Empty, Skeleton, usePresent } from '../parts.tsx';
import { Failures } from './failures.tsx';
import { Hero } from './hero.tsx';
import { Pace } from './pace.tsx';
import { StopDialog } from './stop-dialog.tsx';
import { momentOf, percent, shortId, statusWords, titleOf } from './words.ts';

interface DetailProps {
  id: string;
  /** How often jobs have changed. */
  version: number;
  online: boolean;
  onClose: () => void;
}

export const Detail = ({ id, version, online, onClose }: DetailProps) => {
  const present = usePresent();
  const [ticks, setTicks] = useState(0);
  const { view: job, problem } = useViewOrProblem<JobView>(
    `/view/jobs/${encodeURIComponent(id)}`,
    version && version + ticks,
  );
  const heading = useRef<HTMLHeadingElement>(null);
  const known = job !== undefined || problem !== undefined;
  useEffect(() => heading.current?.focus(), [known]);
  const canStop = job?.status === 'running' || job?.status === 'scheduled';
  // A button that is gone has lost the focus.
  useEffect(() => {
    if (!canStop && document.activeElement === document.body) heading.current?.focus();
  }, [canStop]);
  // The pace of a running job changes each second.
  useEffect(() => {
    if (job?.status === 'running' && !document.hidden) setTicks((before) => before + 1);
  }, [present]);

  if (job === undefined) {
    return (
      <article class="detail" aria-busy={problem === undefined}>
        <header class="detail-head">
          <Close onClose={onClose} label="Jobs" />
          <h2 ref={heading} tabIndex={-1}>
            {problem === undefined ? 'Job' : 'No such job'}
          </h2>
        </header>
        {problem === undefined ? (
          <Skeleton rows={3} />
        ) : (
          <Empty icon="layers">
            <p>{problem}</p>
            <button type="button" onClick={onClose}>
              Show all jobs
            </button>
          </Empty>
        )}
      </article>
    );
  }
  return (
    <article class="detail" aria-labelledby="job-title">
      <header class={`detail-head ${canStop ? 'with-actions' : ''}`}>
        <Close onClose={onClose} label="Jobs" />
        <h2 id="job-title" ref={heading} tabIndex={-1} title={titleOf(job)}>
          {titleOf(job)}
        </h2>
        <span class={`chip ${job.status}`}>{statusWords[job.status]}</span>
        <Announced news={statusWords[job.status]} />
        <span class="spacer" />
        <Copy text={location.href} label="Copy link" icon="link" />
      </header>
      <Facts job={job} present={present} />
      <Hero job={job} present={present} />
      {job.status !== 'scheduled' && <Steps job={job} />}
      {(job.status === 'running' || job.curve.values.some((value) => value > 0)) && <Pace curve={job.curve} />}
      {job.failures.length > 0 && <Failures job={job} />}
      {canStop && <StopDialog job={job} online={online} />}
    </article>
  );
};

const Facts = ({ job, present }: { job: JobView; present: number }) => (
  <dl class="facts">
    <dt>Job</dt>
    <dd>
      <code>{shortId(job.id)}</code>
      <Copy text={job.id} label="Copy job id" icon="copy" />
    </dd>
    <dt>Business</dt>
    <dd>
      <BusinessAvatar {...job.business} />
      {job.business.name}
    </dd>
    <dt>{job.source === null ? 'Accepted' : 'Messages'}</dt>
    <dd>
      {job.source ?? (
        <>
          <code>{job.request ?? momentOf(job.created, present)}</code>
          {job.request !== null && <span class="chip ok">200</span>}
        </>
      )}
    </dd>
    <dt>{job.status === 'scheduled' ? 'Starts' : 'Started'}</dt>
    <dd>{[momentOf(job.start, present), job.priority && `${job.priority} priority`].filter(Boolean).join(', ')}</dd>
  </dl>
);

const steps = [
  { state: 'delivered_to_server', label: 'Delivered to server' },
  { state: 'delivered_to_user', label: 'Delivered to user' },
  { state: 'read', label: 'Read' },
];

const Steps = ({ job: { counts, sent, people, source } }: { job: JobView }) => {
  const rows =
    source !== null && counts.received !== undefined
      ? [{ label: 'Received', count: counts.received }]
      : [{ label: 'Sent', count: sent }, ...steps.map(({ state, label }) => ({ label, count: counts[state] ?? 0 }))];
  return (
    <section class="block">
      <h3>Funnel</h3>
      <BarTable
        caption="How many messages reached each state"
        max={people}
        rows={rows.map((row) => ({ ...row, share: percent(row.count, people) }))}
      />
    </section>
  );
};
