/** Which traces and calls the filters of a list select. */
import type { CallRow, Filters, TraceRow } from './views.ts';

const KINDS: readonly Filters['kind'][] = ['all', 'messages', 'consent', 'profilers', 'pending', 'failed'];

/** The filters in the query of a list: what it does not name selects everything. */
export const filtersIn = (query: Record<string, string>): Filters => {
  const { kind, business = '', of = '', route = '', status = '', q = '' } = query;
  return { kind: KINDS.find((name) => name === kind) ?? 'all', business, of, route, status, q };
};

/** @param ids - all ids of the trace: a row has only some of a job */
export const isSelectedTrace = (
  row: TraceRow,
  ids: ReadonlySet<string>,
  { kind, business, of, route, status, q }: Filters,
): boolean =>
  isOfKind(row, kind) &&
  (business === '' || row.account === business) &&
  (of === '' || row.phone === of) &&
  (route === '' || row.route === route) &&
  isInClass(row.status, status) &&
  isFound(
    q,
    [row.id, ...ids].map((id) => id.replace(/^rapidpro /, '')),
    row.phone,
    [row.title, row.preview],
  );

export const isSelectedCall = (row: CallRow, { kind, business, of, route, status, q }: Filters): boolean =>
  (business === '' || row.account === business) &&
  (of === '' || row.phone === of) &&
  (route === '' || row.route === route) &&
  (kind !== 'failed' || row.status === null || row.status >= 400) &&
  isInClass(row.status, status) &&
  isFound(q, [row.id, ...(row.trace ? [row.trace] : [])], row.phone, [row.route]);

const isOfKind = ({ kind, isPending, isFailed }: TraceRow, wanted: Filters['kind']): boolean => {
  if (wanted === 'all') return true;
  if (wanted === 'pending') return isPending;
  return wanted === 'failed' ? isFailed : kind === wanted;
};

/** Whether a status is in a class such as `4xx`; `none` is a call without a response. */
const isInClass = (status: number | null, wanted: string): boolean =>
  wanted === '' || (wanted === 'none' ? !status : String(status ?? '').startsWith(wanted.charAt(0)));

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

/** A number as a user enters it: digits, at least three of them, so that few digits of an id are no number. */
const digitsIn = (text: string): string => {
  const digits = text.replaceAll(/[\s()+-]/g, '');
  return /^\d{3,15}$/.test(digits) ? digits : '';
};
