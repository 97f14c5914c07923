/** The failures of a job by reason, with the attempts to deliver the latest ones. */
import { useState } from 'preact/hooks';
import type { FailureView, JobView } from '../../jobs/views.ts';
import type { Attempts as AttemptList } from '../../views.ts';
import { useView } from '../data/live.ts';
import { numberOf, Time } from '../text.tsx';
import { figure, reasonOf } from './words.ts';

export const Failures = ({ job: { id, failures, parts } }: { job: JobView }) => {
  const [open, setOpen] = useState('');
  const known = failures.filter(({ reason }) => reason !== 'cancelled');
  const cancelled = failures.find(({ reason }) => reason === 'cancelled');
  return (
    <section class="block failures">
      <h3>
        {known.length > 0 ? 'Failed' : 'Stopped'}{' '}
        <span class={`count-chip ${known.length > 0 ? 'bad' : ''}`}>
          {figure(known.length > 0 ? parts.failed : parts.stopped)}
        </span>
      </h3>
      <ul>
        {[...known, ...(cancelled ? [cancelled] : [])].map(({ reason, count, traced }) => (
          <li key={reason}>
            <code>{reason}</code>
            <span class="sentence">{reasonOf(reason)}</span>
            <strong>{figure(count)}</strong>
            {traced ? (
              <button
                type="button"
                class="text-button"
                aria-expanded={open === reason}
                onClick={() => setOpen(open === reason ? '' : reason)}
              >
                {open === reason ? 'Hide traces' : 'Show traces'}
                <span class="unseen"> of {reason}</span>
              </button>
            ) : (
              <span />
            )}
            {open === reason && <Traces job={id} reason={reason} count={count} />}
          </li>
        ))}
      </ul>
    </section>
  );
};

const Traces = ({ job, reason, count }: { job: string; reason: string; count: number }) => {
  const failures = useView<FailureView[]>(`/view/jobs/${job}/failures/${reason}`, count);
  return (
    <div class="traces">
      {failures !== undefined && failures.length < count && <p class="quiet">The last {failures.length}</p>}
      <ul>
        {failures?.map(({ id, phone, attempts }) => (
          <li key={id}>
            <span>{numberOf(phone)}</span> <code>{id}</code>
            <Attempts attempts={attempts} />
          </li>
        ))}
      </ul>
    </div>
  );
};

const Attempts = ({ attempts }: { attempts: AttemptList }) => (
  <ol class="attempts" aria-label="Attempts">
    {attempts.map(({ time, outcome, taken }) => (
      <li key={time}>
        <Time at={time} exact /> <Outcome outcome={outcome} taken={taken} />
      </li>
    ))}
  </ol>
);

const Outcome = ({ outcome, taken }: { outcome: string; taken: boolean }) => (
  <span class={`outcome ${taken || outcome === 'waiting' ? 'good' : 'bad'}`}>{outcome}</span>
);
