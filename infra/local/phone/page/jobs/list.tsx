/** The list of jobs, with its filters. */
import type { JobListView, JobSummary } from '../../jobs/views.ts';
import { BusinessAvatar } from '../avatars.tsx';
import type { Address } from '../data/address.ts';
import { Icon } from '../icons.tsx';
import { Empty, moveFocus, Skeleton, usePresent } from '../parts.tsx';
import { dateOf, figure, filters, messages, people, statusWords, timeLeft, titleOf } from './words.ts';

interface ListProps {
  list: JobListView | undefined;
  filter: Address['filter'];
  /** The id of the open job. */
  open: string;
  onFilter: (filter: Address['filter']) => void;
  onOpen: (id: string) => void;
  onNew: () => void;
}

export const JobListPane = ({ list, filter, open, onFilter, onOpen, onNew }: ListProps) => {
  const present = usePresent();
  const shown = list?.jobs.filter(({ status }) => filter === 'all' || status === filter) ?? [];
  return (
    <section class="list-pane" aria-labelledby="jobs-title" onKeyDown={moveFocus}>
      <header class="list-head">
        <h2 id="jobs-title">Jobs</h2>
        <button type="button" class="new-job" onClick={onNew}>
          <Icon name="plus" />
          New job
        </button>
        <fieldset class="chips">
          <legend class="unseen">Filter</legend>
          {filters.map(({ name, label }) => (
            <button type="button" key={name} aria-pressed={name === filter} onClick={() => onFilter(name)}>
              {label}
            </button>
          ))}
        </fieldset>
      </header>
      <div class="list-rows">
        {list === undefined && <Skeleton rows={4} />}
        {list !== undefined && shown.length === 0 && (
          <Empty icon="layers">
            <p>
              {filter === 'all'
                ? 'A job is one message to many people, or all messages with the same job id.'
                : `No job is ${statusWords[filter].toLowerCase()}.`}
            </p>
            {filter === 'all' ? (
              <button type="button" class="primary" onClick={onNew}>
                New job
              </button>
            ) : (
              <button type="button" onClick={() => onFilter('all')}>
                Show all jobs
              </button>
            )}
          </Empty>
        )}
        <ul>
          {shown.map((job) => (
            <li key={job.id}>
              <Row job={job} isOpen={job.id === open} present={present} onOpen={() => onOpen(job.id)} />
            </li>
          ))}
        </ul>
      </div>
      <footer class="list-foot">
        <Icon name="layers" />
        {list?.jobs.length === 1 ? '1 job' : `${list?.jobs.length ?? 'No'} jobs`} today, UTC
      </footer>
    </section>
  );
};

interface RowProps {
  job: JobSummary;
  isOpen: boolean;
  present: number;
  onOpen: () => void;
}

const Row = ({ job, isOpen, present, onOpen }: RowProps) => (
  <button
    type="button"
    class={`row-button ${job.status}`}
    data-job={job.id}
    aria-current={isOpen ? 'true' : undefined}
    onClick={onOpen}
  >
    <BusinessAvatar {...job.business} />
    <span class="row-text">
      <span class="row-title">
        <span class="unseen">{job.business.name}: </span>
        {titleOf(job)}
      </span>
      <span class="row-line">
        <span class="row-people">{peopleOf(job)}</span>
        <span class="row-status">{statusOf(job, present)}</span>
      </span>
      {job.status !== 'open' && <Progress job={job} />}
    </span>
  </button>
);

const peopleOf = ({ status, source, people: all, sent }: JobSummary): string => {
  if (status === 'open') return `Today, ${messages(all)} ${source}`;
  return status === 'stopped' ? `${figure(sent)} of ${people(all)}` : people(all);
};

const statusOf = ({ status, start, estimated_end }: JobSummary, present: number): string => {
  if (status === 'scheduled') return dateOf(start);
  const left = status === 'running' ? timeLeft(estimated_end, present) : '';
  return [statusWords[status], left].filter(Boolean).join(', ');
};

const Progress = ({ job: { people: all, sent } }: { job: JobSummary }) => (
  <span class="progress" aria-hidden="true">
    <span style={{ width: `${all === 0 ? 0 : Math.min(sent / all, 1) * 100}%` }} />
  </span>
);
