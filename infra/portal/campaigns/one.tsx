/** One campaign: live progress, what became of its messages, its report, and the button that stops it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { BarTable } from '../../web/bars.tsx';
import { present } from '../../web/clock.ts';
import { figure, percent } from '../../web/figures.ts';
import { Icon } from '../../web/icons.tsx';
import { Dialog, Empty, Notice, Skeleton } from '../../web/parts.tsx';
import { instant, Time } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { ApiError, addressOf, call } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Download } from '../shell/download.tsx';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Facts, Id, Page, Section } from '../shell/page.tsx';
import { timeLeft } from '../times.ts';
import { useAction, useCall } from '../use-call.ts';
import { campaigns } from '../words/campaigns.ts';
import { shell } from '../words/shell.ts';
import { countedIn, recentDays } from './counts.ts';
import { Failures, useReasons } from './failures.tsx';
import { type Parts, partsOf, sentOf } from './parts.ts';
import { Legend, StackedBar } from './progress.tsx';
import { reportOf } from './report.ts';
import { StatusChip, titleOf } from './status.tsx';
import { type Job, statusOf } from './watch.ts';

const words = campaigns.one;

/** Milliseconds until a campaign is read again. When all is sent, phones still report. */
const EVERY = { running: 2_000, resting: 10_000 };

interface CampaignProps {
  id: string;
  session: Session;
}

const isActive = ({ status, pending }: Job): boolean => status === 'running' || (status === 'cancelled' && pending > 0);

/** One that was stopped before its start never began. */
const startLabel = ({ status, start, cancelled }: Job): string => {
  if (status === 'scheduled') return words.starts;
  return cancelled !== undefined && instant(cancelled) < instant(start) ? words.planned : words.started;
};

/** A campaign; with a token that may only count, its counts. */
export const Campaign = (props: CampaignProps) =>
  props.session.may('readJob') ? <FullCampaign {...props} /> : <CountedCampaign {...props} />;

const FullCampaign = ({ id, session }: CampaignProps) => {
  const [every, setEvery] = useState(EVERY.running);
  const {
    data: job,
    error,
    reload,
  } = useCall('readJob', session.may('readJob') ? { path: { job_id: id } } : undefined, every);
  const active = job === undefined || isActive(job);
  const canEnd = job?.status === 'running' || job?.status === 'scheduled';
  const wasRunning = useRef(false);
  wasRunning.current ||= canEnd;
  useEffect(() => setEvery(active ? EVERY.running : EVERY.resting), [active]);
  const { sending_failed = 0, delivery_failed = 0 } = job?.states ?? {};
  const mayList = session.may('listLogs');
  const failures = useReasons(id, { since: job?.created, failed: sending_failed + delivery_failed, enabled: mayList });
  const back = { href: linkTo('campaigns'), label: words.back };
  const isMissing = error instanceof ApiError && error.status === 404;
  if (job === undefined) {
    return (
      <Page title={words.one} back={back}>
        {isMissing ? (
          <Empty icon="search">
            <p>{words.notFound}</p>
            <ButtonLink href={back.href}>{words.back}</ButtonLink>
          </Empty>
        ) : error === undefined ? (
          <Skeleton rows={6} />
        ) : (
          <Failure error={error} onRetry={reload} title={shell.notLoaded} />
        )}
      </Page>
    );
  }
  const { states, recipients, status } = job;
  const parts = partsOf({
    states,
    recipients,
    isStopped: status === 'cancelled',
    cancelled: failures.reasons?.get('cancelled'),
  });
  const rows = Object.values(states).reduce<number>((sum, count = 0) => sum + count, 0);
  return (
    <Page
      // The title of the page gets the focus once the name is known.
      key={id}
      title={titleOf(id, job)}
      back={back}
      actions={
        <>
          {session.may('exportJobLog') && (
            <Report id={id} name={job.reference ?? id} missing={rows === 0 ? words.noReport : undefined} />
          )}
          {mayList && (
            <ButtonLink href={linkTo('messages', { job_id: id })} icon="chat">
              {words.messages}
            </ButtonLink>
          )}
          {/* Messages of no campaign cannot be stopped. */}
          {(canEnd || (wasRunning.current && status === 'completed')) &&
            job.day === undefined &&
            session.may('cancelJob') && <Stop job={job} parts={parts} isOver={!canEnd} onStopped={reload} />}
        </>
      }
    >
      {!isMissing && <Failure error={error} onRetry={reload} />}
      <Progress job={job} parts={parts} />
      {(status === 'running' || sentOf(parts) > 0) && <Funnel states={states} parts={parts} all={recipients} />}
      <Section title={words.details}>
        <Facts
          facts={[
            [words.peopleLabel, figure(recipients)],
            [words.created, <Time key="created" at={job.created} as="when" />],
            [startLabel(job), <Time key="start" at={job.start} as="when" />],
            job.cancelled !== undefined && [words.stoppedAt, <Time key="stopped" at={job.cancelled} as="when" />],
            [words.id, <Id key="id" id={id} label={words.copyId} />],
          ]}
        />
      </Section>
      {parts.failed > 0 && (
        <Section title={words.failures}>
          {mayList ? <Failures id={id} states={states} {...failures} /> : <p>{words.noReasons}</p>}
        </Section>
      )}
    </Page>
  );
};

const CountedCampaign = ({ id }: CampaignProps) => {
  const period = useMemo(recentDays, []);
  const { data, ready, error, reload } = useCall('listJobs', { query: period });
  const counts = countedIn(data).find((one) => one.id === id);
  const all = counts?.states.sent ?? 0;
  return (
    <Page
      title={titleOf(id, undefined)}
      back={{ href: linkTo('campaigns'), label: words.back }}
      actions={counts && <Report id={id} name={id} />}
    >
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {counts ? (
        <Funnel states={counts.states} parts={partsOf({ ...counts, recipients: all, isStopped: false })} all={all} />
      ) : ready ? (
        <Empty icon="search">
          <p>{words.notFound}</p>
        </Empty>
      ) : (
        error === undefined && <Skeleton rows={4} />
      )}
    </Page>
  );
};

interface FunnelProps {
  states: Partial<Record<string, number>>;
  parts: Parts;
  all: number;
}

/** Each row contains the next one. */
const Funnel = ({ states, parts, all }: FunnelProps) => {
  const { sent, accepted, delivered, read } = words.funnelRows;
  const rows = [
    { label: sent, count: sentOf(parts) },
    { label: accepted, count: states.delivered_to_server ?? 0 },
    { label: delivered, count: Math.max(states.delivered_to_user ?? 0, states.read ?? 0) },
    { label: read, count: states.read ?? 0 },
  ];
  return (
    <Section title={words.funnel}>
      <BarTable
        caption={words.funnel}
        max={all}
        rows={rows.map((row) => ({ ...row, share: percent(row.count, all) }))}
      />
    </Section>
  );
};

const Progress = ({ job, parts }: { job: Job; parts: Parts }) => {
  const { recipients, status, estimated_end, pace, waits_until } = job;
  const left = status === 'running' && estimated_end ? timeLeft(instant(estimated_end), present()) : '';
  const sent = sentOf(parts);
  const delivered = parts.read + parts.delivered;
  const sentences = (
    <>
      <p>{words.done({ all: recipients, delivered, read: parts.read, failed: parts.failed })}</p>
      <p>{status === 'running' || parts.underway > 0 ? words.still : words.settled}</p>
    </>
  );
  return (
    <Section
      title={words.progress}
      actions={
        <span role="status">
          <StatusChip status={statusOf(job)} />
        </span>
      }
    >
      <div class="parts">
        <div class="campaign-hero">
          <p class="campaign-count">
            <strong>{figure(sent)}</strong> {words.sentOf(recipients)}
          </p>
          <p class="campaign-aside">
            {status === 'scheduled' && (
              <>
                {words.scheduled}{' '}
                <strong>
                  <Time at={job.start} as="when" />
                </strong>
              </>
            )}
            {status === 'completed' && (
              <>
                <strong>{words.finished}</strong>
                <span>
                  {words.began} <Time at={job.start} as="when" />
                </span>
              </>
            )}
            {status === 'running' && (
              <>
                <strong>{left === '' ? words.estimating : words.left(left)}</strong>
                <span>
                  {words.ends} {estimated_end ? <Time at={estimated_end} as="when" /> : words.unknownEnd}
                  {pace !== undefined && pace > 0 && `, ${words.pace(pace)}`}
                </span>
              </>
            )}
          </p>
        </div>
        <StackedBar parts={parts} />
        <Legend parts={parts} isWhole={status === 'running' || status === 'completed'} />
        {status === 'running' && waits_until && (
          <Notice tone="warn" title={words.waits}>
            <p>
              {words.waitsUntil} <Time at={waits_until} as="when" />.
            </p>
          </Notice>
        )}
        {status === 'running' && (
          // As tall as the result, which takes its place. No live region: it changes all the time.
          <div class="notice">
            <Icon name="clock" />
            <div>
              <strong>{words.soFar}</strong>
              {sentences}
            </div>
          </div>
        )}
        {status === 'completed' && (
          <Notice tone="ok" title={words.summary}>
            {sentences}
          </Notice>
        )}
        {status === 'cancelled' && (
          <Notice tone="plain" title={words.summary}>
            <p>{words.doneStopped({ all: recipients, sent, stopped: parts.stopped })}</p>
          </Notice>
        )}
      </div>
    </Section>
  );
};

interface StopProps {
  job: Job;
  parts: Parts;
  /** Whether all is sent. Then the button stays, so that nothing moves under the reader's finger. */
  isOver: boolean;
  onStopped: () => void;
}

const Stop = ({ job, parts, isOver, onStopped }: StopProps) => {
  const [asking, setAsking] = useState(false);
  const toast = useToast();
  const stop = useAction(async () => {
    await call('cancelJob', { path: { job_id: job.job_id } });
    setAsking(false);
    toast(words.stopped);
    onStopped();
  });
  return (
    <>
      <button type="button" class="danger" disabled={isOver} onClick={() => setAsking(true)}>
        <Icon name="stop" />
        {words.stop}
      </button>
      {asking && (
        <Dialog
          title={words.stopTitle}
          close={job.status === 'scheduled' ? words.keepScheduled : words.keep}
          onClose={() => setAsking(false)}
          actions={
            <button type="button" class="danger" disabled={stop.busy} onClick={() => stop.run()}>
              {words.stopConfirm}
            </button>
          }
        >
          <p>
            <strong>{words.stopBody(parts.left + parts.pending)}</strong>
          </p>
          <p>
            {job.status === 'running' && words.stopHint} {words.stopEnds}
          </p>
          <Failure error={stop.error} />
        </Dialog>
      )}
    </>
  );
};

const Report = ({ id, name, missing }: { id: string; name: string; missing?: string | undefined }) => (
  <Download
    address={addressOf('exportJobLog', { path: { job_id: id, file: 'log.ndjson' } })}
    convert={reportOf}
    name={`${name.slice(0, 80)}.csv`}
    missing={missing}
  >
    {words.report}
  </Download>
);
