/** Activity: the traces or calls of the service, and the life of the open one, or the overview. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { SwitchRow } from '../../destinations/views.ts';
import type { CallList, TraceList } from '../../traces/views.ts';
import type { JobCounts, PhoneSummary, Setup } from '../../views.ts';
import type { StackClock } from '../clock/use-clock.ts';
import type { Address, Go } from '../data/address.ts';
import { useView, type Versions } from '../data/live.ts';
import { queryOf } from '../data/traces.ts';
import type { Switches } from '../destinations/use-switches.ts';
import { CallDetail } from '../inspector/call-detail.tsx';
import { Inspector } from '../inspector/inspector.tsx';
import { useKeys } from '../keys.tsx';
import { ActivityList } from './list.tsx';
import { Overview } from './overview.tsx';

interface ActivityProps {
  versions: Versions;
  address: Address;
  go: Go;
  setup: Setup | undefined;
  users: PhoneSummary[];
  online: boolean;
  switches: Switches;
  clock: StackClock;
  /** The detail instead of the overview, while the editor of a message is open. */
  editor: ComponentChildren;
}

/** The last value before a pause; while it is not paused, or of another key, the value itself. */
const usePaused = <Value,>(value: Value, paused: boolean, key = ''): Value => {
  const kept = useRef({ key, value });
  if (!paused || kept.current.value === undefined || kept.current.key !== key) kept.current = { key, value };
  return kept.current.value;
};

/** A view, or the last one while it is read with other filters. */
const useLast = <View,>(view: View | undefined): View | undefined => {
  const last = useRef(view);
  if (view !== undefined) last.current = view;
  return last.current;
};

export const Activity = ({ versions, address, go, setup, users, online, editor, switches, clock }: ActivityProps) => {
  const pane = useRef<HTMLDivElement>(null);
  const [paused, setPaused] = useState(false);
  const [showOwn, setShowOwn] = useState(false);
  const query = queryOf(address, showOwn);
  const present = useView<TraceList>(`/view/traces${query}`, versions.traces);
  const traces = useLast(usePaused(present, paused, query));
  const read = useView<CallList>(`/view/calls${query}`, address.view === 'calls' ? versions.traces : 0);
  const calls = useLast(usePaused(read, paused, query));
  const overview = useLast(present);
  const jobs = useView<JobCounts[]>('/view/funnel', versions.funnel);
  const switched = useView<SwitchRow[]>('/view/switched', versions.destinations);
  const { trace } = address;
  const isOpen = trace !== '' || editor !== null;
  const close = () => {
    go({ trace: '', write: false });
    requestAnimationFrame(() => {
      const row = trace && pane.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(trace)}"]`);
      if (row) row.focus();
    });
  };
  useEffect(() => {
    if (!isOpen) return;
    const closeByKey = (event: KeyboardEvent) => {
      const { activeElement } = document;
      const isHere = activeElement === document.body || pane.current?.contains(activeElement) === true;
      if (event.key === 'Escape' && isHere && !event.defaultPrevented) close();
    };
    document.addEventListener('keydown', closeByKey);
    return () => document.removeEventListener('keydown', closeByKey);
  });
  useKeys({ p: () => setPaused(!paused) });
  const open = useCallback((id: string) => go({ trace: id, write: false }), [go]);
  return (
    <section class="split" data-open={isOpen} ref={pane}>
      <ActivityList
        {...{ address, go, setup, users, traces, calls, paused, showOwn }}
        switched={usePaused(switched, paused) ?? []}
        onPause={() => setPaused(!paused)}
        onShowOwn={setShowOwn}
        onOpen={open}
      />
      <div class="detail-pane">
        {editor}
        {editor === null &&
          trace !== '' &&
          (address.view === 'calls' ? (
            <CallDetail
              key={trace}
              id={trace}
              version={versions.traces}
              onClose={close}
              onTrace={(id) => go({ view: 'traces', trace: id })}
            />
          ) : (
            <Inspector key={trace} {...{ online }} id={trace} version={versions.traces} onClose={close} onOpen={open} />
          ))}
        {editor === null && trace === '' && <Overview {...{ jobs, switches, clock, online }} list={overview} />}
      </div>
    </section>
  );
};
