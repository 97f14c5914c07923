/** Delivery logs (spec §2, §4.6): one entry for each message and state that it reached. */

import { now } from '../core/clock.ts';
import { contactOf } from '../messaging/contacts.ts';
import { type LogItem, type State, states } from '../messaging/message.ts';
import { page } from '../table/client.ts';
import { hasExpired } from '../table/expiry.ts';
import { type Key, logPartitions, positionOfAccount } from '../table/keys.ts';

/** What an entry says (spec §2). */
export interface LogEntry {
  created: string;
  contact: string;
  state: string;
  job_id: string;
}

export interface LogFilter {
  phone?: string | undefined;
  state?: State | undefined;
  job_id?: string | undefined;
  /** Seconds since 1970: the first one that counts, and the first one after it that no longer does. */
  start?: number | undefined;
  end?: number | undefined;
}

/** What an index holds of an entry. */
type Listed = Key & Pick<LogItem, 'created' | 'phone' | 'state' | 'job_id' | 'expires_at'> & Record<string, string>;

/** Without a start, entries of so many seconds before the end are listed. */
const PERIOD = 30 * 86_400;
/** So many items are read for a page at most where a filter leaves most of them out. */
const MAX_READ = 1_000;

/**
 * An account's log entries, newest first (by time, message, state), at most `limit`; `next` is the position of the next page.
 * One query where contact, or state, or both state and job are given; else one for each state, of at most `limit`
 * entries. Filtering a contact's entries reads at most 1,000 of them: a short page may have a next one.
 *
 * @param after - position of the last entry that is not listed again
 */
export const listLogs = async (
  account: string,
  filter: LogFilter,
  limit: number,
  after?: string,
): Promise<{ entries: LogEntry[]; next?: string }> => {
  // Clocks differ a little: what another one has just written counts too.
  const end = filter.end ?? Math.floor(now() / 1000) + 60;
  const start = filter.start ?? end - PERIOD;
  const span = { from: timeText(start), to: after ?? timeText(end), limit };
  if (span.to < span.from) return { entries: [] };

  const slices = await Promise.all(sourcesOf(account, filter).map((source) => readSlice(source, span)));
  const found = slices
    .flatMap(({ items }) => items)
    .filter(({ position }) => position !== after)
    .sort((a, b) =>
      // Stryker disable next-line EqualityOperator: No two are equal, or their order is not defined.
      a.position > b.position ? -1 : 1,
    );
  const shown = found.slice(0, limit);
  // A page is short of entries that are behind it only where a filter left some out, of the one slice that there is then.
  // Stryker disable next-line OptionalChaining: It never happens; only the compiler asks for it.
  const last = found.length > limit ? shown.at(-1)?.position : slices[0]?.end;
  return {
    entries: shown.filter(({ item }) => !hasExpired(item)).map(({ item }) => toEntry(item)),
    ...(last && { next: last }),
  };
};

/** Where entries are read: an index's partition, and what is left to filter. */
interface Source {
  index: keyof typeof logPartitions;
  partition: string;
  /** The prefix of each position. */
  prefix: string;
  keep: (item: Listed) => boolean;
  /** Whether `keep` may leave entries out. */
  filtered: boolean;
}

const sourcesOf = (account: string, { phone, state, job_id }: LogFilter): Source[] => {
  // Stryker disable next-line BooleanLiteral: Only the number of calls differs; the capacity tests count them.
  const plain = { prefix: '', keep: () => true, filtered: false };
  if (phone !== undefined) {
    const keep = (item: Listed) =>
      (state === undefined || item.state === state) && (job_id === undefined || item.job_id === job_id);
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
  items: { item: Listed; position: string }[];
  /** Position of the last item that was read, where more may follow. */
  end?: string;
}

/** Reads the newest entries of a source up to `to`, until there is one more than the limit, or enough was read. */
const readSlice = async (
  { index, partition, prefix, keep, filtered }: Source,
  { from, to, limit }: { from: string; to: string; limit: number },
): Promise<Slice> => {
  const items: Slice['items'] = [];
  // Stryker disable next-line ConditionalExpression,EqualityOperator: Only the number of calls differs; the capacity tests count them.
  const isShort = (): boolean => items.length < limit + 2;
  // One more tells whether there is more; another, since `to` may be the entry that the page before ended with.
  let left = filtered ? MAX_READ : limit + 2;
  let last: Record<string, string> | undefined;
  do {
    const { items: read, next } = await page<Listed>({
      IndexName: index,
      KeyConditionExpression: `${index}pk = :pk AND ${index}sk BETWEEN :from AND :to`,
      ExpressionAttributeValues: { ':pk': partition, ':from': prefix + from, ':to': prefix + to },
      ScanIndexForward: false,
      // Stryker disable next-line MethodExpression: Only the number of calls differs; the capacity tests count them.
      Limit: Math.min(left, limit + 2),
      ...(last && { ExclusiveStartKey: last }),
    });
    items.push(
      // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
      ...read.filter(keep).map((item) => ({ item, position: (item[`${index}sk`] ?? '').slice(prefix.length) })),
    );
    left -= read.length;
    last = next;
  } while (last && left > 0 && isShort());
  const end = last?.[`${index}sk`]?.slice(prefix.length);
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  return { items, ...(end !== undefined && { end }) };
};

const toEntry = ({ created, phone, state, job_id }: Listed): LogEntry => ({
  created,
  contact: contactOf(phone),
  state,
  job_id,
});

/** A time in seconds since 1970, as it begins in the entries' positions. */
const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19);
