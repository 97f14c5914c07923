/** The list of an account's user data requests: what was asked, and what became of it, without the users' values. */
import { timePrefix } from '../core/clock.ts';
import { MAX_BODY_IN_RESPONSE, sizeInResponse } from '../core/response-size.ts';
import { type RequestedProperty, withReference } from '../outbox/event.ts';
import { getManyEventual, page } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { requestIdOf, requestKey, requestsOf } from './entities.ts';
import { type RequestStatus, requestStatuses } from './statuses.ts';
import { presentResults, type RequestItem, type Result, statusOf } from './stored-request.ts';

/** A property of a request: what was asked, and the result, once the request is completed. */
interface ListedProperty extends RequestedProperty {
  status?: Result['status'];
  /** When a value was granted, or its consent ended. */
  timestamp?: string;
  /** When the consent expires. */
  valid_until?: string;
}

/** A request as the list shows it. */
export interface ListedRequest {
  requestId: string;
  phone_number: string;
  status: RequestStatus;
  created: string;
  completed?: string;
  /** The business's own name for the request. */
  reference?: string;
  reason: string;
  valid_days?: number;
  data: ListedProperty[];
}

export interface RequestFilter {
  status?: RequestStatus | undefined;
  /** The period, in seconds since 1970: it includes `start`, and excludes `end`. */
  start?: number | undefined;
  end?: number | undefined;
}

/** After the positions of all times. */
const END = '~';

/**
 * A page of an account's requests: at most `limit`, newest first (by time, id), and as many as fit into a response of about
 * 5 MB. `next` is the position of the next page: a page from which requests were erased may be short, and have one. One query
 * of at most `limit` + 2 entries for each status, and one call for the requests, 0.5 read units for each and 4 KB. Eventually
 * consistent.
 *
 * @param after - position of the last request of the previous page
 */
export const listRequests = async (
  account: string,
  { status, start = 0, end }: RequestFilter,
  limit: number,
  after?: string,
): Promise<{ requests: ListedRequest[]; next?: string }> => {
  const [from, to] = [timePrefix(start), after ?? (end === undefined ? END : timePrefix(end))];
  if (to < from) return { requests: [] };
  const lists = await Promise.all(
    (status === undefined ? requestStatuses : [status]).map((one) =>
      page<Key & { gsi3sk: string }>({
        IndexName: 'gsi3',
        KeyConditionExpression: 'gsi3pk = :list AND gsi3sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':list': requestsOf(account, one), ':from': from, ':to': to },
        ScanIndexForward: false,
        // One more than the limit shows that a next page exists. Another one, because `to` may be the previous page's last
        // request.
        Limit: limit + 2,
      }),
    ),
  );
  // Below the end of a list that goes on, nothing is known of that list.
  const ends = lists.flatMap(({ items, next }) => (next === undefined ? [] : [items.at(-1)?.gsi3sk ?? '']));
  const known = ends.sort().at(-1) ?? '';
  // A request that has just been completed may be in both lists.
  const positions = [...new Set(lists.flatMap(({ items }) => items.map(({ gsi3sk }) => gsi3sk)))]
    .filter((position) => position !== after && position >= known)
    .sort()
    .reverse();
  const shown = positions.slice(0, limit);
  const items = await getManyEventual<RequestItem[]>(shown.map((position) => requestKey(idAt(position))));
  const requests: ListedRequest[] = [];
  let size = 0;
  for (const [index, item] of items.entries()) {
    // Erased or expired, or completed in the meantime.
    if (item === undefined || (status !== undefined && statusOf(item) !== status)) continue;
    const request = toListed(item);
    size += sizeInResponse(request);
    const last = shown[index - 1];
    if (requests.length > 0 && last !== undefined && size > MAX_BODY_IN_RESPONSE) return { requests, next: last };
    requests.push(request);
  }
  const next = positions.length > limit || ends.length > 0 ? shown.at(-1) : undefined;
  return { requests, ...(next !== undefined && { next }) };
};

/** The id of the request at a position. */
const idAt = (position: string): string => position.slice(position.indexOf('#') + 1);

const toListed = (item: RequestItem): ListedRequest => {
  const { phone, created, completed, reason, valid_days, properties } = item;
  const status = statusOf(item);
  const results = status === 'completed' ? presentResults(item.results) : {};
  return {
    ...{ requestId: requestIdOf(item), phone_number: phone, status, created },
    ...(completed !== undefined && { completed }),
    ...withReference(item),
    reason,
    ...(valid_days !== undefined && { valid_days }),
    data: properties.map((asked) => ({ ...asked, ...withoutValue(results[asked.property]) })),
  };
};

/** A result without the user's value and its source. */
const withoutValue = (result: Result | undefined): Omit<ListedProperty, keyof RequestedProperty> => {
  if (result === undefined) return {};
  return {
    status: result.status,
    ...('timestamp' in result && { timestamp: result.timestamp }),
    ...('valid_until' in result && { valid_until: result.valid_until }),
  };
};
