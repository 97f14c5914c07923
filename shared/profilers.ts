/** Research profilers: questions with options, each owned by one vendor's account (spec §2, §4.1, §4.3 to §4.5). */
import { validate as isUuid } from 'uuid';
import { idFromKey, newId, now, secondsFromNow, sortableTime, timestamp } from './clock.ts';
import { hashOf, idempotencyKeyReused } from './idempotency.ts';
import { Problem } from './problems.ts';
import { find, pages, putNew, update } from './table/client.ts';
import { dueAt, type Key, profilerKey } from './table/keys.ts';
import { lowerCased } from './text.ts';

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
  /** SHA-256 of the request that made it: tells a repeat from another use of its idempotency key. */
  request: string;
  /** Set when it was deleted; the tombstone stays until `expires_at`, in seconds since 1970, which its answers' end sets. */
  deleted_at?: string;
  /** Tells the call that deleted it from another one of the same microsecond. */
  deletion?: string;
  expires_at?: number;
}

/** Largest profiler as stored, in bytes: the table takes 400 KB an item, names of attributes and deletion included. */
const MAX_STORED = 350_000;
/** How long a deleted profiler is remembered, in seconds. */
const TOMBSTONE_LIFETIME = 7 * 86_400;
/** Answers under way when a profiler is deleted have this many milliseconds to land before they are removed. */
const GRACE = 60_000;
/** Serialised bytes of one page of the list: Lambda answers at most 6 MB. */
const MAX_PAGE = 5_000_000;

/** Unknown, or another account's: nobody learns which (spec §4.2, rule 2). */
const profilerNotFound = (): Problem =>
  new Problem('profiler_not_found', 'None of your profilers has this id. GET /v1/research_profilers lists them.');

/**
 * Creates a profiler. Options are lower-cased and deduplicated, nothing else (spec §2). With an idempotency key, the
 * same request gives the first answer again, until seven days after the profiler is deleted. 1 write unit.
 *
 * @throws profiler_too_large — over 350 KB as stored
 * @throws idempotency_key_reused — the key belongs to another request
 */
export const createProfiler = async (
  account: string,
  draft: { question: string; options: string[] },
  idempotencyKey?: string,
): Promise<Pick<Profiler, 'id' | 'options'>> => {
  const id = idempotencyKey === undefined ? newId() : idFromKey(account, 'createProfiler', idempotencyKey);
  const item: ProfilerItem = {
    ...profilerKey(account, id),
    id,
    question: draft.question,
    options: lowerCased(draft.options).map((option) => ({ id: newId(), option })),
    created_at: timestamp(),
    request: hashOf([draft.question, draft.options]),
  };
  if (storedSize(item) > MAX_STORED) {
    throw new Problem('profiler_too_large', 'Question and options take more than 350 KB as stored. Shorten them.');
  }
  const first = await putNew(item);
  if (first && first.request !== item.request) throw idempotencyKeyReused('profiler');
  return first ?? item;
};

/**
 * An account's profilers, oldest first, as many as fit 5 MB; `next` is where to go on, if there is more.
 * Reads the account's whole partition, consistently, but holds one page of it at a time.
 */
export const listProfilers = async (
  account: string,
  after?: string,
): Promise<{ profilers: Profiler[]; next?: string }> => {
  let page: Profiler[] = [];
  let more = false;
  const { pk, sk } = profilerKey(account, '');
  for await (const items of pages<ProfilerItem>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    FilterExpression: 'attribute_not_exists(deleted_at)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ConsistentRead: true,
  })) {
    const found = items.map(toProfiler).filter((profiler) => after === undefined || position(profiler) > after);
    const sorted = [...page, ...found].sort((a, b) => (position(a) < position(b) ? -1 : 1));
    page = fitting(sorted);
    more ||= page.length < sorted.length;
  }
  const last = page.at(-1);
  return more && last ? { profilers: page, next: position(last) } : { profilers: page };
};

/**
 * One profiler of the account. 0.5 read units.
 *
 * @throws profiler_not_found — unknown, deleted, or another account's
 */
export const readProfiler = async (account: string, id: string): Promise<Profiler> => {
  const item = isUuid(id) ? await find<ProfilerItem>(profilerKey(account, id)) : undefined;
  if (item === undefined || item.deleted_at !== undefined) throw profilerNotFound();
  return toProfiler(item);
};

/**
 * Deletes a profiler: its answers are removed by `sweep` after a minute, and a tombstone stays for seven days more.
 * 1 write unit, and 1 on the index through which `sweep` finds the tombstone.
 *
 * @throws profiler_not_found — unknown, deleted before, or another account's
 */
export const deleteProfiler = async (account: string, id: string): Promise<void> => {
  const { gsi1pk, gsi1sk } = dueAt(id, sortableTime(now() + GRACE));
  const deleted =
    isUuid(id) &&
    (await update({
      Key: profilerKey(account, id),
      UpdateExpression: 'SET deleted_at = :now, deletion = :this, gsi1pk = :due, gsi1sk = :time REMOVE question',
      // Holds for its own repetition too, when the first answer of the table was lost on the way.
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(deleted_at) OR deletion = :this)',
      ExpressionAttributeValues: {
        ':now': timestamp(),
        ':this': newId(),
        ':due': gsi1pk,
        ':time': gsi1sk,
      },
    }));
  if (!deleted) throw profilerNotFound();
};

/** The id of the profiler that a key in `PROFILERS#…` belongs to. */
export const profilerOf = ({ sk }: Key): string => sk.slice(profilerKey('', '').sk.length);

/**
 * Ends the wait of a tombstone: its answers are gone, and it expires. Not before: answers that outlived it would be taken
 * for answers to the next profiler with the same idempotency key.
 */
export const answersRemoved = async ({ pk, sk }: Key): Promise<void> => {
  await update({
    Key: { pk, sk },
    UpdateExpression: 'SET expires_at = if_not_exists(expires_at, :end) REMOVE gsi1pk, gsi1sk',
    ConditionExpression: 'attribute_exists(deleted_at)',
    ExpressionAttributeValues: { ':end': secondsFromNow(TOMBSTONE_LIFETIME) },
  });
};

const toProfiler = ({ id, question, created_at, options }: ProfilerItem): Profiler => ({
  id,
  question,
  created_at,
  options: options.map((option) => ({ id: option.id, option: option.option })),
});

/** Where a profiler stands in the list: by age, then by id. */
const position = ({ created_at, id }: Profiler): string => `${created_at} ${id}`;

/** The first profilers whose serialised list stays under the page's limit; at least one. */
const fitting = (profilers: Profiler[]): Profiler[] => {
  let size = 0;
  const end = profilers.findIndex((profiler, index) => {
    size += Buffer.byteLength(JSON.stringify(profiler)) + 1;
    return index > 0 && size > MAX_PAGE;
  });
  return end === -1 ? profilers : profilers.slice(0, end);
};

/** Bytes of an item in the table: texts in UTF-8, names of attributes, 3 bytes a list or map and 1 an element. */
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
