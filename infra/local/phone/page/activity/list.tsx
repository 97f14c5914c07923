/** The list of Activity: traces or calls, with filters, and how many calls of the page are hidden. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { Empty, Skeleton } from '../../../../web/parts.tsx';
import type { SwitchRow } from '../../destinations/views.ts';
import type { CallList, Filters as FilterState, TraceList, TraceRow } from '../../traces/views.ts';
import type { PhoneSummary, Setup } from '../../views.ts';
import type { Address, Go } from '../data/address.ts';
import { filterCount } from '../data/traces.ts';
import { moveFocus } from '../keys.tsx';
import { Filters } from './filters.tsx';
import { CallEntry, SwitchEntry, TraceEntry } from './rows.tsx';

interface ActivityListProps {
  address: Address;
  go: Go;
  setup: Setup | undefined;
  users: PhoneSummary[];
  traces: TraceList | undefined;
  calls: CallList | undefined;
  /** The switches that were set. They are listed among all traces, unless a filter is set. */
  switched: SwitchRow[];
  paused: boolean;
  onPause: () => void;
  /** Whether the calls by the page itself are listed. */
  showOwn: boolean;
  onShowOwn: (show: boolean) => void;
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
  const { address, go, setup, users, traces, calls, switched, paused, onPause, showOwn, onShowOwn, onOpen } = props;
  const areTraces = address.view === 'traces';
  const { rows, found, own, routes } = (areTraces ? traces : calls) ?? {
    rows: undefined,
    found: 0,
    own: 0,
    routes: [],
  };
  const list = useRef<HTMLDivElement>(null);
  const news = useNews(rows?.[0]?.id, list);
  const isFiltered = filterCount(address) > 0 || address.kind !== 'all' || address.q !== '';
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
            .filter(({ name }) => name === address.kind || isOffered(name, traces))
            .map(({ name, label }) => (
              <button type="button" key={name} aria-pressed={name === address.kind} onClick={() => go({ kind: name })}>
                {label}
                {areTraces && (name === 'pending' || name === 'failed') && traces !== undefined && traces[name] > 0 && (
                  <span> {traces[name]}</span>
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
        {rows === undefined && <Skeleton rows={6} />}
        {rows?.length === 0 && (
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
            ? byTime([...(traces?.rows ?? []), ...(isFiltered ? [] : switched)]).map((row) => (
                <li key={row.id}>
                  {'mode' in row ? (
                    <SwitchEntry row={row} />
                  ) : (
                    <TraceEntry row={row} isOpen={isOpenRow(row, address.trace)} onOpen={onOpen} />
                  )}
                </li>
              ))
            : calls?.rows.map((row) => (
                <li key={row.id}>
                  <CallEntry row={row} isOpen={row.id === address.trace} onOpen={onOpen} />
                </li>
              ))}
        </ul>
        {rows !== undefined && found > rows.length && (
          <p class="quiet list-rest">
            The last {rows.length} of {found.toLocaleString('en')}. A search or a filter finds the others.
          </p>
        )}
      </div>
      <footer class="list-foot">
        <Icon name="hidden" />
        <span>
          {own === 1 ? '1 call' : `${own} calls`} by this page {own === 1 ? 'is' : 'are'} {showOwn ? 'shown' : 'hidden'}
        </span>
        <span class="spacer" />
        {own > 0 && (
          <button type="button" class="text-button" onClick={() => onShowOwn(!showOwn)}>
            {showOwn ? 'Hide' : 'Show'}
          </button>
        )}
      </footer>
    </section>
  );
};

const byTime = <Row extends { time: number }>(rows: Row[]): Row[] => rows.sort((a, b) => b.time - a.time);

/** Pending is offered while something is; there is no room for all, so Profilers only if there are some beside. */
const isOffered = (kind: FilterState['kind'], traces: TraceList | undefined): boolean => {
  const isPending = traces !== undefined && traces.pending > 0;
  if (kind === 'pending') return isPending;
  return kind !== 'profilers' || !isPending || traces.hasProfilers;
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
