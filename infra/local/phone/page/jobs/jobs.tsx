/** The jobs of the businesses: a list, and a job's details beside it, or instead of it on a small screen. */
import { useEffect, useRef } from 'preact/hooks';
import type { JobListView } from '../../jobs/views.ts';
import type { JobCounts, Setup } from '../../views.ts';
import { Funnel } from '../activity/funnel.tsx';
import type { Address, Go } from '../data/address.ts';
import { useView, type Versions } from '../data/live.ts';
import { Detail } from './detail.tsx';
import { Editor } from './editor.tsx';
import { JobListPane } from './list.tsx';

interface JobsProps {
  list: JobListView | undefined;
  versions: Versions;
  address: Address;
  go: Go;
  setup: Setup | undefined;
  online: boolean;
}

export const Jobs = ({ list, versions, address, go, setup, online }: JobsProps) => {
  const pane = useRef<HTMLDivElement>(null);
  const { job, editor, filter } = address;
  const close = () => {
    go({ job: '', editor: false });
    // The row of the job, which the list has not redrawn yet.
    requestAnimationFrame(() => {
      const row = pane.current?.querySelector<HTMLElement>(`[data-job="${CSS.escape(job)}"]`);
      (row ?? pane.current?.querySelector<HTMLElement>('.new-job'))?.focus();
    });
  };
  useEffect(() => {
    if (job === '' && !editor) return;
    const closeByKey = (event: KeyboardEvent) => {
      const { activeElement } = document;
      const isHere = activeElement === document.body || pane.current?.contains(activeElement) === true;
      if (event.key === 'Escape' && isHere) close();
    };
    document.addEventListener('keydown', closeByKey);
    return () => document.removeEventListener('keydown', closeByKey);
  }, [job, editor]);
  return (
    <section class="split" data-open={job !== '' || editor} ref={pane}>
      <JobListPane
        list={list}
        filter={filter}
        open={editor ? '' : job}
        onFilter={(name) => go({ filter: name })}
        onOpen={(id) => go({ job: id, editor: false })}
        onNew={() => go({ job: '', editor: true })}
      />
      <div class="detail-pane">
        {editor && setup && (
          <Editor
            bots={setup.bots.filter(({ sends }) => sends)}
            online={online}
            onClose={close}
            onSent={(id) => go({ job: id, editor: false, filter: 'all' })}
          />
        )}
        {!editor && job !== '' && <Detail key={job} id={job} version={versions.jobs} online={online} onClose={close} />}
        {!editor && job === '' && <Overview version={versions.funnel} />}
      </div>
    </section>
  );
};

/** Without a job: the messages of all jobs. */
const Overview = ({ version }: { version: number }) => {
  const jobs = useView<JobCounts[]>('/view/funnel', version);
  return (
    <div class="overview">
      <Funnel jobs={jobs ?? []} />
      <p class="quiet">Select a job to see what became of its messages.</p>
    </div>
  );
};
