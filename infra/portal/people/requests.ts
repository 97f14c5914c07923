/** User data requests as the view shows them: without values. */
import type { Tone } from '../../web/parts.tsx';
import { type BodyFrom, call, callNext } from '../client.ts';
import { people as words } from '../words/people.ts';

export type ListedRequest = NonNullable<BodyFrom<'listUserDataRequests'>>[number];
type ListedProperty = ListedRequest['data'][number];
type UserData = BodyFrom<'fetchUserData'>;

/** What the API knows of a request. `listed` is missing if the request is no longer stored, or not yet listed. */
export interface Request {
  status: ListedRequest['status'];
  data: Omit<ListedProperty, 'required'>[];
  listed?: ListedRequest;
}

/** The status of a request in words, with its colour. */
export const outcomeOf = ({ status, data }: Pick<Request, 'status' | 'data'>): { text: string; tone: Tone } => {
  const { outcome } = words;
  if (status === 'pending') return { text: outcome.pending, tone: 'business' };
  const has = (...wanted: ListedProperty['status'][]) => data.some((one) => wanted.includes(one.status));
  if (has('withdrawn', 'expired')) {
    const text = !has('expired') ? outcome.withdrawn : !has('withdrawn') ? outcome.expired : outcome.ended;
    return { text, tone: 'warn' };
  }
  if (has('approved')) return { text: has('denied') ? outcome.partly : outcome.approved, tone: 'ok' };
  return { text: has('denied') ? outcome.denied : outcome.unavailable, tone: 'plain' };
};

/** When the first of the consents expires that are valid now. */
export const firstEnd = ({ data }: Pick<Request, 'data'>): string | undefined =>
  data
    .flatMap(({ status, valid_until }) => (status === 'approved' && valid_until !== undefined ? [valid_until] : []))
    .sort()
    .at(0);

/** Requests that a search reads at most, 100 at a time. */
const MAX_PAGES = 10;
/** Seconds around the time of a request in which it is searched: the browser's clock may differ. */
const AROUND = 5;

/**
 * Finds a request. The API lists requests by time, and fetches one by its id only with its values: those are dropped here.
 *
 * @param asked - when it was made; without it, the newest requests are searched
 * @throws ApiError — 404: there is no such request; OfflineError
 */
export const findRequest = async (id: string, asked: string | undefined, signal: AbortSignal): Promise<Request> => {
  const at = asked === undefined ? Number.NaN : Date.parse(`${asked.slice(0, 19)}Z`);
  const secondsFrom = (seconds: number): string => new Date(at + seconds * 1_000).toISOString();
  const period = Number.isNaN(at) ? {} : { start: secondsFrom(-AROUND), end: secondsFrom(AROUND + 1) };
  const query = { limit: '100', ...period };
  let page = await call('listUserDataRequests', { query, signal });
  for (let pages = 1; ; pages += 1) {
    const listed = page.body?.find(({ requestId }) => requestId === id);
    if (listed !== undefined) return { status: listed.status, data: listed.data, listed };
    if (page.next === undefined || pages === MAX_PAGES || signal.aborted) break;
    page = await callNext('listUserDataRequests', page.next);
  }
  const { body } = await call('fetchUserData', { path: { id }, signal });
  return { status: body.status, data: withoutValues(body) };
};

const withoutValues = ({ results }: UserData): Request['data'] =>
  Object.entries(results).map(([property, result]) => ({
    property,
    status: result.status,
    ...('timestamp' in result && { timestamp: result.timestamp }),
    ...('valid_until' in result && result.valid_until !== undefined && { valid_until: result.valid_until }),
  }));
