/** The campaigns of the last 30 days. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Empty, Skeleton } from '../../web/parts.tsx';
import { dateOf, whenOf } from '../../web/text.tsx';
import { call } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Page } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { campaigns } from '../words/campaigns.ts';
import { shell } from '../words/shell.ts';
import { type Counted, countedIn, recentDays } from './counts.ts';
import { isEmpty } from './draft.ts';
import { useMemory } from './memory.ts';
import { partsOf, sentOf } from './parts.ts';
import { StackedBar } from './progress.tsx';
import { rememberedCampaigns } from './remembered.ts';
import { type Job, StatusChip, titleOf } from './status.tsx';

const words = campaigns.list;

/** Campaigns that are shown at first, and with each click on "Show more". */
const SHOWN = 20;
/** Milliseconds until the list is read again. */
const EVERY = { running: 5_000, resting: 30_000 };

/** The jobs with these ids, as far as they exist. They are read again with each round. */
const useJobs = (ids: string[] | undefined, mayRead: boolean, round: unknown) => {
  const [jobs, setJobs] = useState<Map<string, Job>>();
  const key = ids?.join();
  useEffect(() => {
    if (ids === undefined) return;
    let isOver = false;
    const read = async () => {
      const found = await Promise.all(
        (mayRead ? ids : []).map((id) =>
          call('readJob', { path: { job_id: id } }).then(
            ({ body }) => body,
            () => undefined,
          ),
        ),
      );
      if (!isOver) setJobs(new Map(found.flatMap((job) => (job === undefined ? [] : [[job.job_id, job]]))));
    };
    void read();
    return () => {
      isOver = true;
    };
  }, [key, mayRead, round]);
  return jobs;
};

export const CampaignList = ({ session }: { session: Session }) => {
  const { draft, sending } = useMemory(session.info.account);
  const [shown, setShown] = useState(SHOWN);
  const [isRunning, setRunning] = useState(false);
  // A period without a change, so that the list is not read anew with each drawing.
  const period = useMemo(recentDays, []);
  const mayCount = session.may('listJobs');
  const { data, ready, error, reload } = useCall(
    'listJobs',
    mayCount ? { query: period } : undefined,
    isRunning ? EVERY.running : EVERY.resting,
  );
  const isKnown = !mayCount || ready;
  const counted = useMemo(() => (isKnown ? countedIn(data) : undefined), [data, isKnown]);
  const ids = useMemo(() => {
    if (counted === undefined) return undefined;
    const sent = counted.map(({ id }) => id);
    const mayRead = session.may('readJob');
    return [
      ...(mayRead ? rememberedCampaigns(session.info.account).filter((id) => !sent.includes(id)) : []),
      ...sent.slice(0, shown),
    ];
  }, [counted, shown]);
  const jobs = useJobs(ids, session.may('readJob'), data);
  useEffect(() => {
    setRunning([...(jobs?.values() ?? [])].some(({ status }) => status === 'running'));
  }, [jobs]);
  const rows = ids
    ?.map((id) => ({ id, job: jobs?.get(id), counts: counted?.find((one) => one.id === id) }))
    // A campaign that is neither counted nor stored any more.
    .filter(({ job, counts }) => job !== undefined || counts !== undefined)
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  const mayWrite = session.may('sendMessage');
  const hasDraft = !isEmpty(draft) || sending !== undefined;
  const writeLink = (
    <ButtonLink href={linkTo('campaigns', 'new')} icon={hasDraft ? 'pen' : 'plus'} primary>
      {hasDraft ? words.draft : words.write}
    </ButtonLink>
  );
  return (
    <Page title={shell.views.campaigns} intro={words.intro} actions={mayWrite && rows?.length !== 0 && writeLink}>
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {rows === undefined || jobs === undefined ? (
        error === undefined && <Skeleton rows={6} />
      ) : rows.length === 0 ? (
        <section class="card">
          <Empty icon="campaign">
            <p>
              <strong>{mayCount ? words.empty : words.notListed}</strong>
            </p>
            <p>{mayWrite ? words.emptyHint : words.notAllowed}</p>
            {mayWrite && writeLink}
          </Empty>
        </section>
      ) : (
        <ul class="campaigns" aria-label={words.title}>
          {rows.map((row) => (
            <Row key={row.id} {...row} />
          ))}
        </ul>
      )}
      {counted !== undefined && counted.length > shown && (
        <div>
          <button type="button" onClick={() => setShown(shown + SHOWN)}>
            {words.more}
          </button>
        </div>
      )}
    </Page>
  );
};

interface RowProps {
  id: string;
  job: Job | undefined;
  counts: Counted | undefined;
}

/** When a campaign was made; without its job, its last day. */
const timeOf = ({ job, counts }: RowProps): string => job?.created ?? counts?.day ?? '';

const Row = ({ id, job, counts }: RowProps) => {
  const states = job?.states ?? counts?.states ?? {};
  const recipients = job?.recipients ?? states.sent ?? 0;
  const parts = partsOf({ states, recipients, isStopped: job?.status === 'cancelled' });
  const when = job
    ? whenOf(job.status === 'scheduled' ? job.start : job.created)
    : dateOf(`${counts?.day ?? ''}T12:00:00`);
  return (
    <li>
      <a class="campaign" href={linkTo('campaigns', id)}>
        <span class="campaign-icon">
          <Icon name={job?.status === 'scheduled' ? 'calendar' : 'campaign'} />
        </span>
        <span class="campaign-text">
          <strong class="campaign-name">{titleOf(id, job)}</strong>
          <span class="quiet">
            {[
              job?.reference && when,
              campaigns.people(recipients),
              sentOf(parts) > 0 && words.read(parts.read, recipients),
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
        </span>
        {job && <StatusChip job={job} />}
        <StackedBar parts={parts} />
      </a>
    </li>
  );
};
