/** The filters of the lists, and how many traces the user has not seen. */
import { useRef } from 'preact/hooks';
import { present } from '../../../../web/clock.ts';
import type { Filters, TraceList } from '../../traces/views.ts';
import { useView } from './live.ts';

/** The largest number that a badge shows. */
const MOST_NEWS = 99;

/** How many traces have come since Activity was last on the screen. The page's own are not counted. */
export const useUnseenTraces = (version: number, isShown: boolean): number => {
  const list = useView<TraceList>('/view/traces', isShown ? 0 : version);
  const since = useRef(present());
  // The clock of the stack may return to real time.
  if (isShown || since.current > present()) since.current = present();
  const unseen = list?.rows.filter(({ time }) => time > since.current).length ?? 0;
  return isShown ? 0 : Math.min(unseen, MOST_NEWS);
};

/** The query of a list with these filters. */
export const queryOf = ({ kind, business, of, route, status, q }: Filters, own: boolean): string => {
  const set = Object.entries({
    kind: kind === 'all' ? '' : kind,
    business,
    of,
    route,
    status,
    q,
    own: own ? 'true' : '',
  });
  const query = new URLSearchParams(set.filter(([, value]) => value !== ''));
  return query.size === 0 ? '' : `?${query}`;
};

/** How many filters of the panel are set. */
export const filterCount = ({ business, of, route, status }: Filters): number =>
  [business, of, route, status].filter(Boolean).length;
