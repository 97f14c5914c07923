/** Research profilers: questions with options, owned by a vendor's account. */
import { validate as isUuid } from 'uuid';
import { now, secondsFromNow, sortableTime, timestamp } from '../core/clock.ts';
import { idempotencyKeyReused } from '../core/idempotency.ts';
import { idInSeries, idOf, newId, newIdAt, positionInSeries, SERIES_DIGITS } from '../core/ids.ts';
import { unkeyedHash } from '../core/keyed-hashes.ts';
import { TOMBSTONE_DAYS } from '../core/lifetimes.ts';
import { Problem } from '../core/problems.ts';
import { MAX_BODY_IN_RESPONSE, sizeInResponse } from '../core/response-size.ts';
import { getConsistent, page, putIfAbsent, update, updateAndGet } from '../table/client.ts';
import { deletionWrite } from '../table/deletion-markers.ts';
import { dueAt, type Key } from '../table/keys.ts';
import { deleteWrite, putIfAbsentWrite, putWrite, transact, updateWrite } from '../table/transactions.ts';
import { lowerCased } from '../validation/schemas.ts';
import { answerableKey, profilerIdOf, profilerKey, profilerOfKey, profilersAfter } from './entities.ts';

interface Option {
  id: string;
  option: string;
}

export interface Profiler {
  id: string;
  question: string;
  created_at: string;
  options: Option[];
}

interface ProfilerItem extends Key {
  id: string;
  question: string;
  options: Option[];
  created_at: string;
  /** SHA-256 of the request: distinguishes a repeat from another request with the same idempotency key. */
  request: string;
  /** Sort key of the item of its idempotency key, if it was created with one. */
  keyed?: string;
  /**
   * When it was deleted. The tombstone gets its `expires_at` (seconds since 1970) when the last answer is removed.
   */
  deleted_at?: string;
  /** Identifies the call that deleted it: another one may have the same microsecond. */
  deletion?: string;
  expires_at?: number;
}

/**
 * What an answer to a profiler is checked by, in an item of one read unit: a profiler itself may have 88. It exists as long
 * as the profiler is not deleted.
 */
interface AnswerableItem extends Key {
  /** The number of options, whose ids follow from the profiler's. */
  options: number;
  /** That of the profiler: a restore of what is newer brings back both. */
  created_at: string;
}

/** Largest stored profiler, in bytes. DynamoDB's limit is 400 KB, with attribute names and the marks of a deletion. */
const MAX_STORED = 350_000;
/** Seconds that the tombstone of a deleted profiler is kept. */
const TOMBSTONE_LIFETIME = TOMBSTONE_DAYS * 86_400;
/** Milliseconds from the deletion of a profiler to that of its answers, for answers that are in progress. */
const GRACE = 60_000;

/** The item of an idempotency key. It expires with the tombstone of the profiler. */
interface KeyedItem extends Key, Pick<ProfilerItem, 'id' | 'created_at' | 'request'> {
  expires_at?: number;
}

/** Unknown, or another account's: the API does not reveal which. */
const profilerNotFound = (): Problem =>
  new Problem('profiler_not_found', 'None of your profilers has this id. GET /v1/research_profilers lists them.');

/**
 * Creates a profiler. Options are lower-cased and deduplicated, nothing else. With an idempotency key, a repeat returns
 * the first response, until the tombstone of the deleted profiler expires. One transaction: 2 write units for each KB,
 * at most 684, and 2. 1 write unit more with a key, and 1 read unit for each 4 KB for a repeat.
 *
 * @throws profiler_too_large — over 350 KB as stored
 * @throws idempotency_key_reused — the key belongs to another request
 */
export const createProfiler = async (
  account: string,
  draft: { question: string; options: string[] },
  idempotencyKey?: string,
): Promise<Pick<Profiler, 'id' | 'options'>> => {
  const texts = lowerCased(draft.options);
  const optionsOf = (id: string): Option[] => texts.map((option, index) => ({ id: optionIdAt(id, index), option }));
  // All ids have the same length.
  if (storedSize([draft.question, optionsOf(newId())]) > MAX_STORED) {
    throw new Problem('profiler_too_large', 'Question and options exceed 350 KB as stored. Shorten them.');
  }
  const request = unkeyedHash(JSON.stringify([draft.question, draft.options]));
  const { id, created_at, sk: keyed } = await identityOf(account, request, idempotencyKey);
  const options = optionsOf(id);
  const item: ProfilerItem = {
    ...profilerKey(account, id),
    id,
    question: draft.question,
    options,
    created_at,
    request,
    ...(keyed !== undefined && { keyed }),
  };
  const answerable: AnswerableItem = { ...answerableKey(account, id), options: options.length, created_at };
  // If the request is a repeat, the profiler exists, or is deleted; its options are the same.
  await transact([putIfAbsentWrite(item), putWrite(answerable)]);
  return item;
};

/** The id of an option: it contains a hash of the profiler's id, and the place of the option. */
const optionIdAt = (profiler: string, index: number): string => idInSeries(seriesOf(profiler), index);

const seriesOf = (profiler: string): string => unkeyedHash(`options of ${profiler}`).slice(0, SERIES_DIGITS);

/**
 * Id and time of a new profiler. With an idempotency key, they are first reserved in an item of their own. So a repeat
 * puts the same profiler, even if the first request failed between the two writes. 1 write unit with a key, else none.
 *
 * @throws idempotency_key_reused — the key belongs to another request
 */
const identityOf = async (
  account: string,
  request: string,
  idempotencyKey: string | undefined,
): Promise<Pick<ProfilerItem, 'id' | 'created_at'> & Partial<Key>> => {
  const created_at = timestamp();
  const fresh = { id: newIdAt(created_at), created_at };
  if (idempotencyKey === undefined) return fresh;
  const key = profilerOfKey(account, idOf(account, 'createProfiler', idempotencyKey));
  const reserved: KeyedItem = { ...key, ...fresh, request };
  const first = (await putIfAbsent(reserved)) ?? reserved;
  if (first.request !== request) throw idempotencyKeyReused('profiler');
  return first;
};

/**
 * Most pages of the table that a list reads. Eight have more profilers than fit into a response, so that a list is shorter only
 * where many were deleted lately.
 */
const MAX_PAGES = 8;

/**
 * An account's profilers, oldest first, as many as fit into a response of about 5 MB. `next` is the position of the
 * next page, if there is one. Reads the pages of the table that contain these profilers, and at most one more: 256 read
 * units each, at most eight. Deleted profilers are read, too, until they expire: so a page may be short, or empty, and
 * have a next one.
 *
 * @param after - id of the last profiler of the previous page
 */
export const listProfilers = async (
  account: string,
  after?: string,
): Promise<{ profilers: Profiler[]; next?: string }> => {
  const { pk, from, to } = profilersAfter(account, after);
  const profilers: Profiler[] = [];
  let size = 0;
  let start: { ExclusiveStartKey?: Key } = {};
  for (let read = 0; read < MAX_PAGES; read += 1) {
    const { items, next } = await page<ProfilerItem>({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      FilterExpression: 'attribute_not_exists(deleted_at)',
      ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
      ConsistentRead: true,
      ...start,
    });
    for (const profiler of items.map(toProfiler)) {
      size += sizeInResponse(profiler);
      const last = profilers.at(-1);
      if (last && size > MAX_BODY_IN_RESPONSE) return { profilers, next: last.id };
      profilers.push(profiler);
    }
    if (next === undefined) return { profilers };
    start = { ExclusiveStartKey: { pk: String(next.pk), sk: String(next.sk) } };
  }
  return { profilers, ...(start.ExclusiveStartKey && { next: profilerIdOf(start.ExclusiveStartKey) }) };
};

/**
 * A profiler of the account, by a consistent read: a deleted one must be neither shown nor answered. 1 read unit.
 *
 * @throws profiler_not_found — unknown, deleted, or another account's
 */
export const readProfiler = async (account: string, id: string): Promise<Profiler> => {
  const item = isUuid(id) ? await getConsistent<ProfilerItem>(profilerKey(account, id)) : undefined;
  if (item === undefined || item.deleted_at !== undefined) throw profilerNotFound();
  return toProfiler(item);
};

/** A profiler as far as its answers need it. */
export interface Answerable {
  id: string;
  /** The number of options. */
  options: number;
}

/**
 * Finds a profiler of the account for an answer, by a consistent read. 1 read unit, however large the profiler is.
 *
 * @throws profiler_not_found — unknown, deleted, or another account's
 */
export const findAnswerable = async (account: string, id: string): Promise<Answerable> => {
  const item = isUuid(id) ? await getConsistent<AnswerableItem>(answerableKey(account, id)) : undefined;
  if (item === undefined) throw profilerNotFound();
  return { id, options: item.options };
};

/** Whether an id is that of an option of the profiler. */
export const hasOption = ({ id, options }: Answerable, option: string): boolean => {
  const { series, position = options } = positionInSeries(option) ?? {};
  return series === seriesOf(id) && position < options;
};

/**
 * Deletes a profiler. A small tombstone replaces it; `sweep` removes the answers after a minute, and the tombstone is
 * kept for `TOMBSTONE_DAYS` more. One transaction: 2 write units for each KB of the profiler, at most 684, 4, and 2 on
 * the index by which `sweep` finds the tombstone.
 *
 * @throws profiler_not_found — unknown, deleted before, or another account's
 */
export const deleteProfiler = async (account: string, id: string): Promise<void> => {
  const { gsi1pk, gsi1sk } = dueAt('profilers', { account, id, time: sortableTime(now() + GRACE) });
  const mark = {
    Key: profilerKey(account, id),
    UpdateExpression: 'SET deleted_at = :now, deletion = :this, gsi1pk = :due, gsi1sk = :time REMOVE question, options',
    // Also true for the client's own retry, after DynamoDB's first response was lost.
    ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(deleted_at) OR deletion = :this)',
    ExpressionAttributeValues: {
      ':now': timestamp(),
      ':this': newId(),
      ':due': gsi1pk,
      ':time': gsi1sk,
    },
  };
  if (!isUuid(id)) throw profilerNotFound();
  const failed = await transact([
    updateWrite(mark),
    deleteWrite(answerableKey(account, id)),
    // A restore would put back only the second of the two items, because the tombstone is in the place of the first.
    deletionWrite('profiler', id),
  ]);
  if (failed.length > 0) throw profilerNotFound();
};

/**
 * Lets a tombstone expire, with the item of its idempotency key, after the last answer was removed. If they expired
 * earlier, remaining answers would belong to the next profiler with the same idempotency key.
 */
export const answersRemoved = async ({ pk, sk }: Key): Promise<void> => {
  const end = secondsFromNow(TOMBSTONE_LIFETIME);
  const tombstone = await updateAndGet<Pick<ProfilerItem, 'keyed'>>({
    Key: { pk, sk },
    UpdateExpression: 'SET expires_at = if_not_exists(expires_at, :end) REMOVE gsi1pk, gsi1sk',
    ConditionExpression: 'attribute_exists(deleted_at)',
    ExpressionAttributeValues: { ':end': end },
  });
  if (tombstone?.keyed === undefined) return;
  await update({
    Key: { pk, sk: tombstone.keyed },
    UpdateExpression: 'SET expires_at = if_not_exists(expires_at, :end)',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':end': end },
  });
};

const toProfiler = ({ id, question, created_at, options }: ProfilerItem): Profiler => ({
  id,
  question,
  created_at,
  options: options.map((option) => ({ id: option.id, option: option.option })),
});

/** Bytes of a value in an item: texts and names of attributes in UTF-8, 3 for a list or map, and 1 for each element. */
const storedSize = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce((size, element) => size + 1 + storedSize(element), 3);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).reduce(
      (size, [name, part]) => size + 1 + Buffer.byteLength(name) + storedSize(part),
      3,
    );
  }
  return typeof value === 'string' ? Buffer.byteLength(value) : 21;
};
