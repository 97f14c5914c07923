/** The list of campaigns. */
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../web/icons.tsx';
import { Empty, Skeleton } from '../../web/parts.tsx';
import { dateOf, whenOf } from '../../web/text.tsx';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, List, Page } from '../shell/page.tsx';
import { useCall, usePages } from '../use-call.ts';
import { campaigns } from '../words/campaigns.ts';
import { shell } from '../words/shell.ts';
import { countedIn, recentDays } from './counts.ts';
import { isEmpty } from './draft.ts';
import { useMemory } from './memory.ts';
import { type Parts, partsOf, sentOf } from './parts.ts';
import { StackedBar } from './progress.tsx';
import { StatusChip, titleOf } from './status.tsx';
import { type ListedJob, type States, useCampaign } from './watch.ts';

const words = campaigns.list;

/** Campaigns that are shown at first, and with each click on "Show more". */
const SHOWN = 20;
/** Milliseconds until the list and its counts are read again. */
const EVERY = 30_000;

/** The campaigns; with a token that may only count, those of the last 30 days, without their names. */
export const CampaignList = ({ session }: { session: Session }) =>
  session.may('listRecentJobs') ? <NamedList session={session} /> : <CountedList session={session} />;

/** The counts of the last 30 days by campaign. */
const useCounts = (session: Session) => {
  // A period without a change, so that the counts are not read anew with each drawing.
  const period = useMemo(recentDays, []);
  const mayCount = session.may('listJobs');
  const { data, ready, error, reload } = useCall('listJobs', mayCount ? { query: period } : undefined, EVERY);
  return { counted: useMemo(() => (ready ? countedIn(data) : undefined), [data, ready]), mayCount, error, reload };
};

const NamedList = ({ session }: { session: Session }) => {
  const pages = usePages('listRecentJobs', { query: { limit: `${SHOWN}` } }, EVERY);
  const { counted, mayCount, error } = useCounts(session);
  const byId = useMemo(() => counted && new Map(counted.map(({ id, states }) => [id, states])), [counted]);
  // Without counts, each campaign is read.
  const isCounting = mayCount && counted === undefined && error === undefined;
  return (
    <Frame session={session} isEmpty={pages.items?.length === 0 && pages.more === undefined}>
      <List
        pages={isCounting ? { ...pages, items: undefined, more: undefined } : pages}
        empty={<Nothing session={session} title={words.empty} />}
      >
        {(jobs) => (
          <ul class="campaigns" aria-label={words.title}>
            {jobs.map((job) => (
              <Named key={job.job_id} job={job} counted={byId && (byId.get(job.job_id) ?? {})} />
            ))}
          </ul>
        )}
      </List>
    </Frame>
  );
};

const CountedList = ({ session }: { session: Session }) => {
  const { counted, error, reload } = useCounts(session);
  const [shown, setShown] = useState(SHOWN);
  return (
    <Frame session={session} isEmpty={counted?.length === 0}>
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {counted === undefined ? (
        error === undefined && <Skeleton rows={6} />
      ) : counted.length === 0 ? (
        <Nothing session={session} title={words.noneCounted} />
      ) : (
        <ul class="campaigns" aria-label={words.counted}>
          {counted.slice(0, shown).map(({ id, day, states }) => {
            const recipients = states.sent ?? 0;
            const parts = partsOf({ states, recipients, isStopped: false });
            return (
              <Row key={id} {...{ id, recipients, parts }} title={titleOf(id, undefined)}>
                {dateOf(`${day}T12:00:00`)}
              </Row>
            );
          })}
        </ul>
      )}
      {counted !== undefined && counted.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + SHOWN)}>
          {shell.more}
        </button>
      )}
    </Frame>
  );
};

interface FrameProps {
  session: Session;
  isEmpty: boolean;
  children: ComponentChildren;
}

/** An empty list has the link to a new campaign itself. */
const Frame = ({ session, isEmpty, children }: FrameProps) => (
  <Page
    title={shell.views.campaigns}
    intro={words.intro}
    actions={session.may('sendMessage') && !isEmpty && <WriteLink session={session} />}
  >
    {children}
  </Page>
);

const WriteLink = ({ session }: { session: Session }) => {
  const { draft, sending } = useMemory(session.info.account);
  const hasDraft = !isEmpty(draft) || sending !== undefined;
  return (
    <ButtonLink href={linkTo('campaigns', 'new')} icon={hasDraft ? 'pen' : 'plus'} primary>
      {hasDraft ? words.draft : words.write}
    </ButtonLink>
  );
};

const Nothing = ({ session, title }: { session: Session; title: string }) => {
  const mayWrite = session.may('sendMessage');
  return (
    <section class="card">
      <Empty icon="campaign">
        <p>
          <strong>{title}</strong>
        </p>
        <p>{mayWrite ? words.emptyHint : words.notAllowed}</p>
        {mayWrite && <WriteLink session={session} />}
      </Empty>
    </section>
  );
};

const Named = ({ job, counted }: { job: ListedJob; counted: States | undefined }) => {
  const { status, states, recipients, loading } = useCampaign(job, counted);
  const parts = partsOf({ states, recipients, isStopped: status === 'cancelled' });
  const isScheduled = status === 'scheduled';
  return (
    <Row
      {...{ id: job.job_id, recipients: loading ? undefined : recipients, parts }}
      title={titleOf(job.job_id, job)}
      icon={isScheduled ? 'calendar' : 'campaign'}
      chip={status && <StatusChip status={status} />}
    >
      {isScheduled ? words.starts(whenOf(job.start)) : job.reference && whenOf(job.created)}
    </Row>
  );
};

interface RowProps {
  id: string;
  title: string;
  icon?: IconName;
  /** Undefined as long as it is not known. */
  recipients: number | undefined;
  parts: Parts;
  chip?: ComponentChildren;
  /** When it was, or will be. */
  children: string | undefined;
}

const Row = ({ id, title, icon = 'campaign', recipients, parts, chip, children }: RowProps) => (
  <li>
    <a class="campaign" href={linkTo('campaigns', id)}>
      <span class="campaign-icon">
        <Icon name={icon} />
      </span>
      <span class="campaign-text">
        <strong class="campaign-name one-line">{title}</strong>
        <span class="quiet">
          {[
            children,
            recipients !== undefined && campaigns.people(recipients),
            recipients !== undefined && sentOf(parts) > 0 && words.read(parts.read, recipients),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </span>
      {chip}
      <StackedBar parts={parts} />
    </a>
  </li>
);
