/** The list of Activity: traces or calls, with filters, and how many calls of the page are hidden. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SwitchRow } from '../../destinations/views.ts';
import type { CallRow, TraceRow } from '../../traces/views.ts';
import type { PhoneSummary, Setup } from '../../views.ts';
import type { Address, Filters as FilterState, Go } from '../data/address.ts';
import { filterCount, selectCalls, selectTraces } from '../data/traces.ts';
import { Icon } from '../icons.tsx';
import { Empty, moveFocus, Skeleton } from '../parts.tsx';
import { Filters } from './filters.tsx';
import { CallEntry, SwitchEntry, TraceEntry } from './rows.tsx';

interface ActivityListProps {
  address: Address;
  go: Go;
  setup: Setup | undefined;
  users: PhoneSummary[];
  rows: TraceRow[] | undefined;
  calls: CallRow[] | undefined;
  /** The switches that were set. They are listed among all traces, unless a filter is set. */
  switched: SwitchRow[];
  paused: boolean;
  onPause: () => void;
  onOpen: (id: string) => void;
}

const kinds: { name: FilterState['kind']; label: string }[] = [
  { name: 'all', label: 'All' },
  { name: 'messages', label: 'Messages' },
  { name: 'consent', label: 'Consent' },
  { name: 'profilers', label: 'Profilers' },
  { name: 'pending', label: 'Pending' },
  { name: 'failed', label: 'Failed' },
];

const noFilters: FilterState = { kind: 'all', business: '', of: '', route: '', status: '', q: '' };

export const ActivityList = (props: ActivityListProps) => {
  const { address, go, setup, users, rows, calls, switched, paused, onPause, onOpen } = props;
  const [showOwn, setShowOwn] = useState(false);
  const areTraces = address.view === 'traces';
  const all: (TraceRow | CallRow)[] | undefined = areTraces ? rows : calls;
  const own = all?.filter(({ isOwn }) => isOwn).length ?? 0;
  const traces = selectTraces(
    (rows ?? []).filter(({ isOwn }) => showOwn || !isOwn),
    address,
  );
  const found = selectCalls(
    (calls ?? []).filter(({ isOwn }) => showOwn || !isOwn),
    address,
  );
  const shown = areTraces ? traces.map(({ id }) => id) : found.map(({ id }) => id);
  const list = useRef<HTMLDivElement>(null);
  const news = useNews(shown[0], list);
  const counts = {
    pending: (rows ?? []).filter(({ isPending }) => isPending).length,
    failed: (rows ?? []).filter(({ isFailed }) => isFailed).length,
  };
  const isFiltered = filterCount(address) > 0 || address.kind !== 'all' || address.q !== '';
  const routes = [...new Set((areTraces ? rows : calls)?.map(({ route }) => route))].sort();
  return (
    <section class="list-pane" aria-label={areTraces ? 'Traces' : 'Calls'} onKeyDown={moveFocus}>
      <header class="list-head">
        <fieldset class="segmented" aria-label="What is listed">
          <button type="button" aria-pressed={areTraces} onClick={() => go({ view: 'traces', trace: '' })}>
            Traces
          </button>
          <button type="button" aria-pressed={!areTraces} onClick={() => go({ view: 'calls', trace: '' })}>
            Calls
          </button>
        </fieldset>
        <span class="spacer" />
        <Filters address={address} go={go} bots={setup?.bots ?? []} users={users} routes={routes} />
        <button type="button" class="quiet-button" aria-pressed={paused} onClick={onPause}>
          <Icon name={paused ? 'play' : 'pause'} />
          {paused ? 'Resume' : 'Pause'}
        </button>
        <fieldset class="chips">
          <legend class="unseen">Kind</legend>
          {kinds
            .filter(({ name }) => areTraces || name === 'all' || name === 'failed')
            .filter(({ name }) => name === address.kind || isOffered(name, rows ?? []))
            .map(({ name, label }) => (
              <button type="button" key={name} aria-pressed={name === address.kind} onClick={() => go({ kind: name })}>
                {label}
                {areTraces && (name === 'pending' || name === 'failed') && counts[name] > 0 && (
                  <span> {counts[name]}</span>
                )}
              </button>
            ))}
        </fieldset>
      </header>
      <div class="list-rows" ref={list}>
        {news > 0 && (
          <button type="button" class="news" onClick={() => list.current?.scrollTo({ top: 0 })}>
            {news} new
          </button>
        )}
        {all === undefined && <Skeleton rows={6} />}
        {all !== undefined && shown.length === 0 && (
          <Empty icon="activity">
            <p>
              {isFiltered
                ? 'Nothing matches the search and the filters.'
                : 'Requests, messages and deliveries appear here.'}
            </p>
            {isFiltered ? (
              <button type="button" onClick={() => go(noFilters)}>
                Clear search and filters
              </button>
            ) : (
              <button type="button" class="primary" onClick={() => go({ write: true, trace: '' })}>
                Write a message
              </button>
            )}
          </Empty>
        )}
        <ul>
          {areTraces
            ? byTime([...traces, ...(isFiltered ? [] : switched)]).map((row) => (
                <li key={row.id}>
                  {'mode' in row ? (
                    <SwitchEntry row={row} />
                  ) : (
                    <TraceEntry row={row} isOpen={isOpenRow(row, address.trace)} onOpen={() => onOpen(row.id)} />
                  )}
                </li>
              ))
            : found.map((row) => (
                <li key={row.id}>
                  <CallEntry row={row} isOpen={row.id === address.trace} onOpen={() => onOpen(row.id)} />
                </li>
              ))}
        </ul>
      </div>
      <footer class="list-foot">
        <Icon name="hidden" />
        <span>
          {own === 1 ? '1 call' : `${own} calls`} by this page {own === 1 ? 'is' : 'are'} {showOwn ? 'shown' : 'hidden'}
        </span>
        <span class="spacer" />
        {own > 0 && (
          <button type="button" class="text-button" onClick={() => setShowOwn(!showOwn)}>
            {showOwn ? 'Hide' : 'Show'}
          </button>
        )}
      </footer>
    </section>
  );
};

const byTime = <Row extends { time: number }>(rows: Row[]): Row[] => rows.sort((a, b) => b.time - a.time);

/** Pending is offered while something is; there is no room for all, so Profilers only if there are some beside. */
const isOffered = (kind: FilterState['kind'], rows: TraceRow[]): boolean => {
  const isPending = rows.some((row) => row.isPending);
  if (kind === 'pending') return isPending;
  return kind !== 'profilers' || !isPending || rows.some((row) => row.kind === 'profilers');
};

/** A trace is open by its id, or by that of its message. */
const isOpenRow = ({ id, ids }: TraceRow, open: string): boolean => open !== '' && (id === open || ids.includes(open));

/** How many rows have come since the list was scrolled away from its start. */
const useNews = (newest: string | undefined, list: { current: HTMLElement | null }): number => {
  const [count, setCount] = useState(0);
  const last = useRef(newest);
  useEffect(() => {
    if (newest === last.current) return;
    last.current = newest;
    if ((list.current?.scrollTop ?? 0) > 8) setCount((before) => before + 1);
  }, [newest]);
  useEffect(() => {
    const element = list.current;
    const look = () => {
      if ((element?.scrollTop ?? 0) <= 8) setCount(0);
    };
    element?.addEventListener('scroll', look, { passive: true });
    return () => element?.removeEventListener('scroll', look);
  }, []);
  return count;
};
