/** Research profilers: questions with options, each owned by one vendor's account (spec §2, §4.1, §4.3 to §4.5). */
import { validate as isUuid } from 'uuid';
import { now, secondsFromNow, sortableTime, timestamp } from '../core/clock.ts';
import { hashOf, idempotencyKeyReused } from '../core/idempotency.ts';
import { idFromKey, newId, newIdAt } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { MAX_BODY_IN_RESPONSE, sizeInResponse } from '../core/response-size.ts';
import { getConsistent, pages, putIfAbsent, update, updateAttributes } from '../table/client.ts';
import { dueAt, type Key, profilerKey, profilerOfKey, profilersAfter } from '../table/keys.ts';
import { lowerCased } from '../validation/schemas.ts';

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
  /** Sort key of the row of its idempotency key, where it was made with one. */
  keyed?: string;
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
/** What an idempotency key made, in the table. It expires with the tombstone of the profiler. */
interface KeyedItem extends Key, Pick<ProfilerItem, 'id' | 'created_at' | 'request'> {
  expires_at?: number;
}

/** Unknown, or another account's: the API does not reveal which (spec §4.2, rule 2). */
const profilerNotFound = (): Problem =>
  new Problem('profiler_not_found', 'None of your profilers has this id. GET /v1/research_profilers lists them.');

/**
 * Creates a profiler. Options are lower-cased and deduplicated, nothing else (spec §2). With an idempotency key, the
 * same request gives the first answer again, until seven days after the profiler is deleted. 1 write unit; 2 with a key.
 *
 * @throws profiler_too_large — over 350 KB as stored
 * @throws idempotency_key_reused — the key belongs to another request
 */
export const createProfiler = async (
  account: string,
  draft: { question: string; options: string[] },
  idempotencyKey?: string,
): Promise<Pick<Profiler, 'id' | 'options'>> => {
  const options = lowerCased(draft.options).map((option) => ({ id: newId(), option }));
  if (storedSize([draft.question, options]) > MAX_STORED) {
    throw new Problem('profiler_too_large', 'Question and options exceed 350 KB as stored. Shorten them.');
  }
  const request = hashOf([draft.question, draft.options]);
  const { id, created_at, sk: keyed } = await identityOf(account, request, idempotencyKey);
  const item: ProfilerItem = {
    ...profilerKey(account, id),
    id,
    question: draft.question,
    options,
    created_at,
    request,
    ...(keyed !== undefined && { keyed }),
  };
  // One is there already where the request is a repeat.
  return (await putIfAbsent(item)) ?? item;
};

/**
 * Id and time of a new profiler. With an idempotency key they are reserved in a row of their own, before the profiler is
 * put: whoever repeats the request, however far it came, puts the same profiler. 1 write unit, where there is a key.
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
  // Stryker disable next-line StringLiteral: Any other word separates these ids from others too.
  const key = profilerOfKey(account, idFromKey(account, 'createProfiler', idempotencyKey));
  const reserved: KeyedItem = { ...key, ...fresh, request };
  const first = (await putIfAbsent(reserved)) ?? reserved;
  if (first.request !== request) throw idempotencyKeyReused('profiler');
  return first;
};

/**
 * An account's profilers, oldest first, as many as fit a response of about 5 MB; `next` is where to go on, if there is
 * more. Reads no more pages of the table than these profilers take, and one.
 *
 * @param after - id of the last profiler that is not listed again
 */
export const listProfilers = async (
  account: string,
  after?: string,
): Promise<{ profilers: Profiler[]; next?: string }> => {
  const { pk, from, to } = profilersAfter(account, after);
  const profilers: Profiler[] = [];
  let size = 0;
  for await (const items of pages<ProfilerItem>({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    FilterExpression: 'attribute_not_exists(deleted_at)',
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
    // Stryker disable next-line BooleanLiteral: The embedded database always reads consistently.
    ConsistentRead: true,
  })) {
    for (const profiler of items.map(toProfiler)) {
      size += sizeInResponse(profiler);
      const last = profilers.at(-1);
      if (last && size > MAX_BODY_IN_RESPONSE) return { profilers, next: last.id };
      profilers.push(profiler);
    }
  }
  return { profilers };
};

/**
 * One profiler of the account as it is at this moment: once deleted, it is neither shown nor answered. 1 read unit.
 *
 * @throws profiler_not_found — unknown, deleted, or another account's
 */
export const readProfiler = async (account: string, id: string): Promise<Profiler> => {
  const item = isUuid(id) ? await getConsistent<ProfilerItem>(profilerKey(account, id)) : undefined;
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

/**
 * Ends the wait of a tombstone: its answers are gone, and it expires, with the row of its idempotency key. Not before:
 * answers that outlived it would be taken for answers to the next profiler with the same idempotency key.
 */
export const answersRemoved = async ({ pk, sk }: Key): Promise<void> => {
  const end = secondsFromNow(TOMBSTONE_LIFETIME);
  const tombstone = await updateAttributes<{ keyed: string }>({
    Key: { pk, sk },
    // `keyed` is set so that it is returned.
    UpdateExpression:
      'SET expires_at = if_not_exists(expires_at, :end), keyed = if_not_exists(keyed, :none) REMOVE gsi1pk, gsi1sk',
    ConditionExpression: 'attribute_exists(deleted_at)',
    ExpressionAttributeValues: { ':end': end, ':none': '' },
  });
  if (!tombstone?.keyed) return;
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

/** Bytes of an item in the table: texts in UTF-8, names of attributes, 3 bytes a list or map and 1 an element. */
const storedSize = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce((size, element) => size + 1 + storedSize(element), 3);
  // Stryker disable next-line ConditionalExpression: No item holds null.
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).reduce(
      (size, [name, part]) => size + 1 + Buffer.byteLength(name) + storedSize(part),
      3,
    );
  }
  return typeof value === 'string' ? Buffer.byteLength(value) : 21;
};
