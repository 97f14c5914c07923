import { accountKey, accountListKey } from '../../../shared/accounts/entities.ts';
import { chunksOf, isBatchKey } from '../../../shared/campaigns/entities.ts';
import { inParallel } from '../../../shared/core/parallel.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { profilerKey } from '../../../shared/profilers/entities.ts';
import { type Claimable, isSealed, type Mark, sealedAmong } from '../../../shared/stats/claims.ts';
import { pages, remove, removeAll } from '../../../shared/table/client.ts';
import { deletionWrite, recordDeletion } from '../../../shared/table/deletion-markers.ts';
import type { AnyItem } from '../../../shared/table/entity.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { deleteWrite, transact } from '../../../shared/table/transactions.ts';
import { UserError, updateAccount } from '../queries/accounts-admin.ts';
import { deleteMedia, listMedia, type StoredMedia } from '../queries/media-admin.ts';
import { listTokens, revokeToken } from '../queries/tokens-admin.ts';
import { isLogEntry, kindsOf } from './item-kinds.ts';
import { profilersOfAccount, scanPage } from './tables.ts';

/** Parts of the table that are read at the same time, and items of a page. */
const SEGMENTS = 4;
const PAGE = 500;
/** Most passes over the table: workers that were under way may have written behind the first one. */
const PASSES = 5;

interface Deletion {
  /** Deletes the bytes of an image or a file. */
  deleteBytes: (media: StoredMedia) => Promise<void>;
  /** Receives how many items were read and removed. */
  onProgress: (read: number, removed: number) => void;
}

/**
 * Deletes a suspended account. What ends its rights comes first: tokens, number, platform. 0.5 read units for 4 KB of the
 * whole table in each pass, at least two, and 1 for each claim of its log entries; 1 write unit for each item and 1 KB of it.
 *
 * @returns how many items were removed, by kind
 * @throws UserError — there is no such account, workers still write for it, or another command has given it a number meanwhile
 */
export const deleteAccount = async (
  id: string,
  { deleteBytes, onProgress }: Deletion,
): Promise<Record<string, number>> => {
  // Also at the beginning, so that a restore at the same time leaves the account out.
  await transact([deletionWrite('account', id)]);
  await updateAccount(id, { bot_number: null, platform: null, consent_webhook: null });
  for (const token of await listTokens(id)) await revokeToken(id, token.id);
  for (const media of await listMedia(id)) await deleteMedia(media.id, () => deleteBytes(media));
  const profilers = await profilersOfAccount(tableName(), id);
  // Answers and results name only their profiler.
  for (const profiler of profilers) await recordDeletion('profiler', profiler);

  const counts: Record<string, number> = {};
  const kept = new Set(
    [accountKey(id), accountListKey(id), ...[...profilers].map((one) => profilerKey(id, one))].map(nameOf),
  );
  let read = 0;
  let removed = 0;
  const removeSegment = async (segment: number): Promise<number> => {
    let found = 0;
    let after: Parameters<typeof scanPage>[1]['after'];
    do {
      const { items, next } = await scanPage(tableName(), { segment, segments: SEGMENTS, after, limit: PAGE });
      const own = items.filter((item) => isOf(item, id, profilers) && !kept.has(nameOf(item)));
      await removeItems(own);
      for (const item of own) counts[kindOf(item)] = (counts[kindOf(item)] ?? 0) + 1;
      found += own.length;
      read += items.length;
      removed += own.length;
      onProgress(read, removed);
      after = next;
    } while (after !== undefined);
    return found;
  };
  for (let pass = 1, isClean = false; !isClean; pass += 1) {
    if (pass > PASSES) throw new UserError(`Workers still write for the account "${id}". Repeat the command.`);
    const found = await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => removeSegment(segment)));
    isClean = found.every((number) => number === 0);
  }

  // What leads to other items goes last, so that an interrupted deletion can be continued.
  await removeAll([...profilers].map((profiler) => profilerKey(id, profiler)));
  const failed = await transact([
    // Another command may have given it a number behind the last pass, which would then belong to no account for ever.
    deleteWrite(accountKey(id), { ConditionExpression: 'attribute_not_exists(bot_number)' }),
    deleteWrite(accountListKey(id)),
    deletionWrite('account', id),
  ]);
  if (failed.length > 0)
    throw new UserError(`The account "${id}" was given a bot number meanwhile. Repeat the command.`);
  return { ...counts, ...(profilers.size > 0 && { profiler: profilers.size }), account: 1 };
};

const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

const kindOf = (item: AnyItem): string => kindsOf(item)[0]?.name ?? 'unknown';

/** Receipts of consent stay: users may ask who received their data. */
const isOf = (item: AnyItem, account: string, profilers: ReadonlySet<string>): boolean => {
  const [kind] = kindsOf(item);
  if (kind === undefined || kind.outlivesAccount) return false;
  return kind.account?.(item) === account || (kind.profiler !== undefined && profilers.has(kind.profiler(item)));
};

/** Removes items; the recipients of a batch before the batch, which names them. */
const removeItems = async (items: AnyItem[]): Promise<void> => {
  for (const { upload } of items.filter(isBatchKey)) {
    if (typeof upload === 'string') await removeChunks(upload);
  }
  const entries = items.filter(isEntry);
  const sealed = await sealedAmong(entries.map(({ counted }) => counted));
  const uncounted = new Set(entries.filter(({ counted }) => counted !== true && !sealed.has(counted)));
  await removeAll(items.filter((item) => !isEntry(item) || !uncounted.has(item)));
  await inParallel([...uncounted], TOGETHER, removeUncounted);
};

/** Log entries that are removed at the same time, because nobody has counted them. */
const TOGETHER = 25;

type Entry = AnyItem & Claimable & { counted: Mark };

const isEntry = (item: AnyItem): item is Entry => {
  const [kind] = kindsOf(item);
  return kind !== undefined && isLogEntry(kind);
};

/**
 * Removes a log entry as it was read, after its claim is sealed or void. Otherwise, a worker that has claimed it might add to a
 * counter of the account behind the last pass.
 */
const removeUncounted = async ({ pk, sk, counted, expires_at }: Entry): Promise<void> => {
  if (typeof counted === 'string') await isSealed(counted, { expires_at });
  await remove({ pk, sk }, { ConditionExpression: 'counted = :seen', ExpressionAttributeValues: { ':seen': counted } });
};

const removeChunks = async (upload: string): Promise<void> => {
  for await (const keys of pages<Key>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': chunksOf(upload) },
    ConsistentRead: true,
    ProjectionExpression: 'pk, sk',
  })) {
    await removeAll(keys);
  }
};
