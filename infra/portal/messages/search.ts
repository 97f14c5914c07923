/** What people search for, and the filters of the list in the address. */
import type { RequestTo } from '../client.ts';
import { call } from '../client.ts';
import { phoneIn } from '../phone-numbers.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';

/** The filters, by their names in the address and in the API. Times are in UTC, so that a link shows everybody the same. */
export const filterNames = ['contact', 'state', 'job_id', 'reference', 'start', 'end'] as const;

export type FilterName = (typeof filterNames)[number];

export type Filters = Partial<Record<FilterName, string>>;

export const filtersOf = (query: Record<string, string>): Filters =>
  Object.fromEntries(filterNames.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

export const listLink = (filters: Filters): string => linkTo('messages', filters);

type LogQuery = NonNullable<RequestTo<'listLogs'>['query']>;

// The API rejects a state that it does not have, and says which ones it has.
export const queryOf = (filters: Filters): LogQuery => filters as LogQuery;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => UUID.test(text);

/** A number in national format, which the log does not have. */
export const isNational = (text: string): boolean => /^\(?0[\d\s()./-]{6,}$/.test(text) && !text.startsWith('00');

/** A contact of the log: with its domain, or the pseudonym of an erased person. */
const isContact = (text: string): boolean => /^(?:\d{7,15}|erased-[0-9a-f-]{36})(?:@\S+)?$/i.test(text);

/**
 * The address that shows what somebody searches for: a number, the id of a message or a campaign, else a reference.
 *
 * @param filters - further filters, which stay, except for an id of a message
 * @throws as `call`
 */
export const find = async (text: string, filters: Filters, session: Session): Promise<string> => {
  const given = text.trim();
  const contact = phoneIn(given) ?? (isContact(given) ? given : undefined);
  if (contact !== undefined) return listLink({ ...filters, contact });
  if (!isId(given)) return listLink({ ...filters, reference: given });
  if (!session.may('readMessage')) return listLink({ ...filters, job_id: given });
  // Both kinds of ids look alike. The log knows campaigns of any age.
  const { body } = await call('listLogs', { query: { job_id: given, limit: '1', start: '0' } });
  return body === undefined ? linkTo('messages', given) : listLink({ ...filters, job_id: given });
};
