/** Which traces and calls the filters select, and how many traces the user has not seen. */
import { useRef } from 'preact/hooks';
import type { CallRow, TraceList, TraceRow } from '../../traces/views.ts';
import type { Filters } from './address.ts';
import { useView } from './live.ts';
import { present } from './present.ts';

/** The largest number that a badge shows. */
const MOST_NEWS = 99;

/** How many traces have come since Activity was last on the screen. The page's own are not counted. */
export const useUnseenTraces = (version: number, isShown: boolean): number => {
  const list = useView<TraceList>('/view/traces', isShown ? 0 : version);
  const since = useRef(present());
  // The clock of the stack may return to real time.
  if (isShown || since.current > present()) since.current = present();
  const unseen = list?.rows.filter(({ time, isOwn }) => !isOwn && time > since.current).length ?? 0;
  return isShown ? 0 : Math.min(unseen, MOST_NEWS);
};

/** Whether a status is in a class such as `4xx`; `none` is a call without a response. */
const isInClass = (status: number | null, wanted: string): boolean =>
  wanted === '' || (wanted === 'none' ? !status : String(status ?? '').startsWith(wanted.charAt(0)));

/** A number as a user enters it: digits, at least three of them, so that few digits of an id are no number. */
const digitsIn = (text: string): string => {
  const digits = text.replaceAll(/[\s()+-]/g, '');
  return /^\d{3,15}$/.test(digits) ? digits : '';
};

const isFound = (q: string, ids: string[], phone: string | null, texts: string[]): boolean => {
  const wanted = q.trim().toLowerCase();
  if (wanted === '') return true;
  const digits = digitsIn(wanted);
  return (
    (digits !== '' && phone?.includes(digits)) ||
    ids.some((id) => id.toLowerCase().startsWith(wanted)) ||
    texts.some((text) => text.toLowerCase().includes(wanted))
  );
};

const isOfKind = ({ kind, isPending, isFailed }: TraceRow, wanted: Filters['kind']): boolean => {
  if (wanted === 'all') return true;
  if (wanted === 'pending') return isPending;
  return wanted === 'failed' ? isFailed : kind === wanted;
};

/** The rows that the filters select, in their order. */
export const selectTraces = (rows: TraceRow[], filters: Filters): TraceRow[] =>
  rows.filter(
    (row) =>
      isOfKind(row, filters.kind) &&
      (filters.business === '' || row.account === filters.business) &&
      (filters.of === '' || row.phone === filters.of) &&
      (filters.route === '' || row.route === filters.route) &&
      isInClass(row.status, filters.status) &&
      isFound(filters.q, [row.id, ...row.ids], row.phone, [row.title, row.preview]),
  );

/** The calls that the filters select, in their order. */
export const selectCalls = (calls: CallRow[], filters: Filters): CallRow[] =>
  calls.filter(
    ({ id, trace, route, account, phone, status }) =>
      (filters.business === '' || account === filters.business) &&
      (filters.of === '' || phone === filters.of) &&
      (filters.route === '' || route === filters.route) &&
      (filters.kind !== 'failed' || status === null || status >= 400) &&
      isInClass(status, filters.status) &&
      isFound(filters.q, [id, ...(trace ? [trace] : [])], phone, [route]),
  );

/** How many filters of the panel are set. */
export const filterCount = ({ business, of, route, status }: Filters): number =>
  [business, of, route, status].filter(Boolean).length;
