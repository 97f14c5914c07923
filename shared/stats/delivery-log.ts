/** The delivery log: one entry for each message and state. */

import { now } from '../core/clock.ts';
import { LOG_PERIOD_DAYS } from '../core/lifetimes.ts';
import { contactOf } from '../messaging/jids.ts';
import { logPartitions, messageIdOf, positionOfAccount } from '../outbox/entities.ts';
import { stateAt, timeAt, timePart } from '../outbox/log-positions.ts';
import { type LogItem, type ReasonCode, type State, states } from '../outbox/message.ts';
import { hasExpired, page } from '../table/client.ts';
import type { Key } from '../table/keys.ts';

/** A log entry, as the API returns it. */
export interface LogEntry {
  /** The message's id. */
  id: string;
  created: string;
  contact: string;
  state: string;
  job_id: string;
  payload_type: string;
  /** The business's own name for the message. */
  reference?: string;
  /** Set if the state is a failure. */
  reason?: ReasonCode;
}

export interface LogFilter {
  phone?: string | undefined;
  state?: State | undefined;
  job_id?: string | undefined;
  reference?: string | undefined;
  /** The period, in seconds since 1970: it includes `start`, and excludes `end`. */
  start?: number | undefined;
  end?: number | undefined;
}

/** The attributes of an entry in an index, whose sort key is the entry's position. */
export type Listed = Key &
  Pick<LogItem, 'phone' | 'job_id' | 'payload_type' | 'reference' | 'reason_code' | 'expires_at'> &
  Record<string, string>;

/** An entry in an index, and its position. */
interface Found {
  item: Listed;
  position: string;
}

/** Seconds of the default period, which ends at `end`. */
const PERIOD = LOG_PERIOD_DAYS * 86_400;
/** Most items that are read for a page if a filter drops most of them. */
const MAX_READ = 1_000;

/**
 * A page of an account's log entries: at most `limit`, newest first, those of the same time by message and state. `next` is the
 * position of the next page. One query if contact, reference or state is given; else one for each state, of at most `limit`
 * entries. A filter of the entries of a contact or a reference reads at most 1,000 of them: a short page may have a next one.
 *
 * @param after - position of the last entry of the previous page
 */
export const listLogs = async (
  account: string,
  filter: LogFilter,
  limit: number,
  after?: string,
): Promise<{ entries: LogEntry[]; next?: string }> => {
  // Clocks differ: include entries that another machine has just written.
  const end = filter.end ?? Math.floor(now() / 1000) + 60;
  const start = filter.start ?? end - PERIOD;
  const span = { from: startOf(start), to: after ?? startOf(end), limit };
  if (span.to < span.from) return { entries: [] };

  const slices = await Promise.all(sourcesOf(account, filter).map((source) => readSlice(source, span)));
  const found = slices
    .flatMap(({ items }) => items)
    .filter(({ position }) => position !== after)
    .sort((a, b) => (a.position > b.position ? -1 : 1));
  const shown = found.slice(0, limit);
  // If at most `limit` entries are found, more may exist only if a filter dropped some. A filtered list has one slice.
  const last = found.length > limit ? shown.at(-1)?.position : slices[0]?.end;
  return {
    entries: shown.filter(({ item }) => !hasExpired(item)).map(toEntry),
    ...(last && { next: last }),
  };
};

/** The beginning of the positions of a time, in seconds since 1970, to the microsecond. */
const startOf = (seconds: number): string => timePart(Math.round(seconds * 1e6));

/** A source of entries: a partition of an index, and a filter. */
interface Source {
  index: keyof typeof logPartitions;
  partition: string;
  /** The prefix of each position. */
  prefix: string;
  keep: (found: Found) => boolean;
  /** Whether `keep` may drop entries. */
  filtered: boolean;
}

const sourcesOf = (account: string, { phone, state, job_id, reference }: LogFilter): Source[] => {
  const plain = { prefix: '', keep: () => true, filtered: false };
  const keep = ({ item, position }: Found) =>
    (state === undefined || stateAt(position) === state) &&
    (job_id === undefined || item.job_id === job_id) &&
    (phone === undefined || item.phone === phone);
  if (reference !== undefined) {
    const filtered = [state, job_id, phone].some((filter) => filter !== undefined);
    return [{ index: 'gsi4', partition: logPartitions.gsi4(account, { reference }), prefix: '', keep, filtered }];
  }
  if (phone !== undefined) {
    const filtered = state !== undefined || job_id !== undefined;
    const partition = logPartitions.gsi2(account, { phone });
    return [{ index: 'gsi2', partition, prefix: positionOfAccount(account), keep, filtered }];
  }
  return (state === undefined ? states : [state]).map((one) =>
    job_id === undefined
      ? { index: 'gsi1', partition: logPartitions.gsi1(account, { state: one }), ...plain }
      : { index: 'gsi3', partition: logPartitions.gsi3(account, { job_id, state: one }), ...plain },
  );
};

interface Slice {
  items: Found[];
  /** Position of the last item that was read, if more may follow. */
  end?: string;
}

/**
 * Reads the newest entries of a source, from `to` backwards, until `limit` + 2 are found or `MAX_READ` items are read.
 */
const readSlice = async (
  { index, partition, prefix, keep, filtered }: Source,
  { from, to, limit }: { from: string; to: string; limit: number },
): Promise<Slice> => {
  const items: Slice['items'] = [];
  const isShort = (): boolean => items.length < limit + 2;
  // One more than the limit shows that a next page exists. Another one, because `to` may be the previous page's last
  // entry.
  let left = filtered ? MAX_READ : limit + 2;
  let last: Record<string, string> | undefined;
  do {
    const { items: read, next } = await page<Listed>({
      IndexName: index,
      KeyConditionExpression: `${index}pk = :pk AND ${index}sk BETWEEN :from AND :to`,
      ExpressionAttributeValues: { ':pk': partition, ':from': prefix + from, ':to': prefix + to },
      ScanIndexForward: false,
      Limit: Math.min(left, limit + 2),
      ...(last && { ExclusiveStartKey: last }),
    });
    items.push(
      ...read.map((item) => ({ item, position: (item[`${index}sk`] ?? '').slice(prefix.length) })).filter(keep),
    );
    left -= read.length;
    last = next;
  } while (last && left > 0 && isShort());
  const end = last?.[`${index}sk`]?.slice(prefix.length);
  return { items, ...(end !== undefined && { end }) };
};

/** An entry, as the API returns it. */
export const toEntry = ({ item, position }: Found): LogEntry => {
  const { phone, job_id, payload_type, reference, reason_code } = item;
  return {
    id: messageIdOf(item),
    created: timeAt(position),
    contact: contactOf(phone),
    state: stateAt(position),
    job_id,
    payload_type,
    ...(reference !== undefined && { reference }),
    ...(reason_code !== undefined && { reason: reason_code }),
  };
};
