/** How far a job is: the number of messages sent, the time left, and a bar of all messages by what became of them. */
import type { JobView } from '../../jobs/views.ts';
import { dateOf, figure, partWords, timeLeft } from './words.ts';

export const Hero = ({ job, present }: { job: JobView; present: number }) => {
  const { parts, people, sent, counts } = job;
  const received = job.source !== null && counts.received !== undefined;
  const shown = partWords.filter(({ part }) => parts[part] > 0);
  return (
    <section class="block hero" aria-label="Progress">
      <div class="hero-line">
        <p class="hero-count">
          <strong>{figure(received ? people : sent)}</strong> {received ? 'received' : `of ${figure(people)} sent`}
        </p>
        <Aside job={job} present={present} />
      </div>
      {!received && (
        <>
          <div class="stack" aria-hidden="true">
            {shown.map(({ part }) => (
              <span key={part} class={part} style={{ flexGrow: parts[part] }} />
            ))}
          </div>
          <ul class="legend">
            {shown.map(({ part, label }) => (
              <li key={part}>
                <span class={`dot ${part}`} aria-hidden="true" />
                {part === 'not_sent' ? (NOT_SENT[job.status] ?? label) : label} <strong>{figure(parts[part])}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
};

const NOT_SENT: Partial<Record<JobView['status'], string>> = { stopped: 'Not logged yet' };

const Aside = ({
  job: { status, estimated_end, pace, start, stopped },
  present,
}: {
  job: JobView;
  present: number;
}) => {
  const left = status === 'running' ? timeLeft(estimated_end, present) : '';
  return (
    <p class="aside">
      {left && <strong>{left}</strong>}
      {status === 'running' && <span>{pace === null ? 'No pace yet' : `${figure(pace)} a second`}</span>}
      {status === 'scheduled' && <strong>{dateOf(start)}</strong>}
      {stopped !== null && <span>Stopped {dateOf(stopped)}</span>}
    </p>
  );
};
