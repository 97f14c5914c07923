/** The button that stops a job, and the question before. */
import { useRef, useState } from 'preact/hooks';
import type { JobView } from '../../jobs/views.ts';
import { describeError, submit } from '../data/api.ts';
import { Icon } from '../icons.tsx';
import { people } from './words.ts';

export const StopDialog = ({ job, online }: { job: JobView; online: boolean }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const stop = async () => {
    setBusy(true);
    setProblem('');
    try {
      await submit('DELETE', `/businesses/${job.business.id}/jobs/${job.id}`);
      dialog.current?.close();
    } catch (error) {
      setProblem(describeError(error));
    }
    setBusy(false);
  };
  return (
    <div class="job-actions">
      <button type="button" class="danger" disabled={!online} onClick={() => dialog.current?.showModal()}>
        <Icon name="stop" />
        Stop job
      </button>
      <dialog ref={dialog} aria-labelledby="stop-question" onKeyDown={(event) => event.stopPropagation()}>
        <p id="stop-question">Stop? {people(job.parts.not_sent + job.parts.pending)} will not get it.</p>
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <button type="button" class="danger" disabled={busy || !online} onClick={() => void stop()}>
            Stop job
          </button>
        </div>
      </dialog>
    </div>
  );
};
