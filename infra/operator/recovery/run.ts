/** Goes through a restored table, page by page, and brings its items back; or removes what must not come back. */
import { DeleteCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { isBatchKey } from '../../../shared/campaigns/entities.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { isEntryKey } from '../../../shared/outbox/entities.ts';
import { answeredProfilerOf, isAnswerKey, resultKey } from '../../../shared/profilers/entities.ts';
import { claimKey } from '../../../shared/stats/entities.ts';
import { documents } from '../../../shared/table/client.ts';
import type { AnyItem, Entity } from '../../../shared/table/entity.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { putParts } from './batches.ts';
import { Checkpoint } from './checkpoint.ts';
import { isCountable, isLogEntry, kindsOf } from './item-kinds.ts';
import { amended, type Candidate, judge, markersOf, type Selection } from './judge.ts';
import { itemsAt, nameOf, type Position, patiently, type Source, scanPage } from './tables.ts';
import { groupsOf, putEntry, putTogether, type Restorable } from './write.ts';

/** Items of a page. After each, the position is saved. */
const PAGE = 200;
/** Pages that are worked on at the same time. */
const SEGMENTS = 4;
/** How often an item is judged again that has changed meanwhile. */
const ATTEMPTS = 5;

/** What a restore does with the items. */
export type Mode = 'restore' | 'dry-run' | 'clean' | 'clean-dry-run';

interface Run {
  source: Source;
  selection: Selection;
  mode: Mode;
  checkpoint: Checkpoint;
  /** Receives how many items were read. */
  onProgress: (read: number) => void;
}

/** Goes through the table. After each page, the checkpoint is saved. */
export const run = async ({ source, selection, mode, checkpoint, onProgress }: Run): Promise<void> => {
  const { segments } = checkpoint.progress;
  const isDry = mode === 'dry-run' || mode === 'clean-dry-run';
  const work = mode.startsWith('clean') ? cleanPage : restorePage;
  let read = Object.values(checkpoint.progress.counts).reduce((sum, each) => sum + total(each), 0);
  const goThrough = async (segment: number): Promise<void> => {
    let position = segments[segment] ?? null;
    while (position !== 'done') {
      const after: Position | undefined = position ?? undefined;
      const { items, next } = await scanPage(source.name, { segment, segments: segments.length, after, limit: PAGE });
      const results = await work(source.name, items, selection, isDry);
      const uncounted = await uncountedOf(source.name, results);
      // Without a pause until the checkpoint is saved: it contains the counts of all segments.
      for (const { item, result } of [...results, ...uncounted])
        checkpoint.add(kindsOf(item)[0]?.name ?? 'unknown', result);
      position = next ?? 'done';
      segments[segment] = position;
      read += items.length;
      if (!isDry) checkpoint.save();
      onProgress(read);
    }
  };
  await Promise.all(segments.map((_, segment) => goThrough(segment)));
  checkpoint.remove();
};

const total = (counts: Record<string, number>): number =>
  Object.entries(counts).reduce((sum, [result, number]) => sum + (result === 'uncounted' ? 0 : number), 0);

interface Result {
  item: AnyItem;
  result: string;
}

/** The restored log entries that were in no counter of the restored table. */
const uncountedOf = async (source: string, results: Result[]): Promise<Result[]> => {
  const entries = results.flatMap(({ item, result }) => {
    const [kind] = kindsOf(item);
    return result === 'restored' && kind && isLogEntry(kind) && item.counted !== true ? [item] : [];
  });
  const keyOf = ({ counted }: AnyItem): Key[] => (typeof counted === 'string' ? [claimKey(counted)] : []);
  const claims = await itemsAt(source, entries.flatMap(keyOf));
  return entries
    .filter((entry) => !keyOf(entry).some((key) => claims.get(nameOf(key))?.is === 'sealed'))
    .map((item) => ({ item, result: 'uncounted' }));
};

type Work = (source: string, items: AnyItem[], selection: Selection, isDry: boolean) => Promise<Result[]>;

const restorePage: Work = async (source, items, selection, isDry) => {
  const verdicts = await judge(source, items, selection);
  const excluded = verdicts.flatMap((verdict) =>
    'exclusion' in verdict ? [{ item: verdict.item, result: verdict.exclusion }] : [],
  );
  const candidates = verdicts.flatMap((verdict) => ('candidate' in verdict ? [verdict.candidate] : []));
  if (isDry) return [...excluded, ...candidates.map(({ item }) => ({ item, result: 'restored' }))];
  const results: Result[] = [];
  const restorable = await Promise.all(candidates.map((candidate) => restorableOf(source, candidate)));
  // Each in a transaction of its own: it writes the head too. A marker may be checked by another item of its group.
  const [alone, together] = [restorable.filter(isWrittenAlone), restorable.filter((one) => !isWrittenAlone(one))];
  for (const group of groupsOf(together)) {
    if (await putTogether(group)) results.push(...group.map(({ candidate }) => restored(candidate)));
    else alone.push(...group);
  }
  for (const one of alone) results.push(await restoreAlone(source, one, selection));
  return [...excluded, ...results];
};

const restored = ({ item }: Candidate): Result => ({ item, result: 'restored' });

const restorableOf = async (source: string, candidate: Candidate): Promise<Restorable> => ({
  item: await amended(source, candidate.item, candidate.kind, [tableName(), source]),
  candidate,
});

const isWrittenAlone = ({ candidate: { kind } }: Restorable): boolean =>
  kind.restore === 'outbox' || kind.restore === 'everything';

/** Puts an item by itself, with what belongs to it. Returns whether it did. */
const putAlone = async (source: string, one: Restorable): Promise<boolean> => {
  if (isEntryKey(one.item)) return putEntry(one);
  if (isBatchKey(one.item)) await putParts(source, one.item);
  return putTogether([one]);
};

/** Puts an item by itself. If that fails because something has changed, the item is judged again. */
const restoreAlone = async (source: string, one: Restorable, selection: Selection): Promise<Result> => {
  let restorable = one;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const isDone = await putAlone(source, restorable);
    const { item } = restorable.candidate;
    if (isDone) return { item, result: 'restored' };
    const [again] = await judge(source, [item], selection);
    if (again === undefined || 'exclusion' in again) return { item, result: again?.exclusion ?? 'exists' };
    restorable = await restorableOf(source, again.candidate);
  }
  throw new Error('An item changes all the time.');
};

/** Removes an item of a table, and an answer from the results, too. */
const removeFrom = async (TableName: string, { pk, sk, ...item }: AnyItem): Promise<void> => {
  if (!isAnswerKey({ pk }) || item.counted !== true) {
    await documents.send(new DeleteCommand({ TableName, Key: { pk, sk } }));
    return;
  }
  const counter = resultKey(answeredProfilerOf({ pk, sk }), String(item.option_id), Number(item.counted_in ?? 0));
  const command = new TransactWriteCommand({
    TransactItems: [
      { Delete: { TableName, Key: { pk, sk } } },
      {
        Update: {
          TableName,
          Key: counter,
          UpdateExpression: 'ADD #count :less',
          ExpressionAttributeNames: { '#count': 'count' },
          ExpressionAttributeValues: { ':less': -1 },
        },
      },
    ],
  });
  await documents.send(command);
};

/** Removes from the restored table what was deleted or revoked since, and outbox entries that are not pending any more. */
const cleanPage: Work = async (source, items, { outbox }, isDry) => {
  const markers = await markersOf(source, items);
  const entries = items.filter((item) => isPending(kindsOf(item)[0]));
  const pending = await itemsAt(tableName(), entries);
  const results: Result[] = [];
  for (const item of items) {
    const [kind] = kindsOf(item);
    const result = kind === undefined ? 'unknown' : await cleanItem(item, kind);
    results.push({ item, result });
  }
  return results;

  async function cleanItem(item: AnyItem, kind: Entity): Promise<string> {
    const isOver = isPending(kind) && !outbox && !pending.has(nameOf(item));
    if (isOver || markers.isDeleted(item, kind)) {
      if (!isDry) await patiently(() => removeFrom(source, item));
      return isOver ? 'delivered' : 'deleted';
    }
    const changed = isCountable(kind) ? item : await amended(source, item, kind, [source]);
    if (changed === item) return 'kept';
    if (!isDry) await patiently(() => documents.send(new PutCommand({ TableName: source, Item: changed })));
    return 'changed';
  }
};

/** Whether items of a kind exist only while messages are pending. */
const isPending = (kind: Entity | undefined): boolean => kind?.restore === 'outbox' || kind?.restore === 'batch';

/** A checkpoint for a restore with these tables and options. */
export const openCheckpoint = (source: string, mode: Mode, { profilers: _profilers, ...selection }: Selection) =>
  new Checkpoint([tableName(), source, mode, selection], SEGMENTS);
