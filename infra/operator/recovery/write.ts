/**
 * Writes of a restore. Each puts items on condition that none is there, and that no deletion was recorded since the items
 * were judged: nothing newer is overwritten, and an erasure at the same moment wins.
 */
import { now } from '../../../shared/core/clock.ts';
import { partsOf, sizeInJson } from '../../../shared/core/parts.ts';
import { conversationOf } from '../../../shared/outbox/entities.ts';
import { type OutboxEvent, subjectOf } from '../../../shared/outbox/event.ts';
import { addEntriesWrite, readHead } from '../../../shared/outbox/head.ts';
import type { AnyItem } from '../../../shared/table/entity.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { conditionCheckWrite, putIfAbsentWrite, transact, type Write } from '../../../shared/table/transactions.ts';
import type { Candidate } from './judge.ts';
import { nameOf, patiently } from './tables.ts';

/** Items and bytes of a transaction: DynamoDB takes 100 writes and 4 MB. An item has at most three markers. */
const MOST = { items: 25, bytes: 1_000_000 };

/** An item with the candidate that it was made of. */
export interface Restorable {
  item: AnyItem;
  candidate: Candidate;
}

/** Groups of items that fit a transaction. */
export const groupsOf = (all: Restorable[]): Restorable[][] =>
  partsOf(all, { ...MOST, sizeOf: ({ item }) => sizeInJson(item) });

/** Puts a group of items. Returns whether it did: not, if one is there by now, or was deleted meanwhile. */
export const putTogether = async (group: Restorable[]): Promise<boolean> => {
  const checks = new Map(
    group.flatMap(({ candidate }) => candidate.markers.map((marker) => [nameOf(marker.key), unchangedWrite(marker)])),
  );
  const writes = [...group.map(({ item }) => putIfAbsentWrite(item)), ...checks.values()];
  return (await patiently(() => transact(writes))).length === 0;
};

/** Holds that a marker is as it was read. */
const unchangedWrite = ({ key, deleted }: { key: Key; deleted: string | undefined }): Write =>
  conditionCheckWrite(
    key,
    deleted === undefined
      ? {
          ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :present',
          ExpressionAttributeValues: { ':present': Math.floor(now() / 1000) },
        }
      : { ConditionExpression: 'deleted = :deleted', ExpressionAttributeValues: { ':deleted': deleted } },
  );

/**
 * Puts an outbox entry with its id, and notes it in the head of its conversation, so that a worker delivers it. Returns
 * whether it did.
 */
export const putEntry = async ({ item, candidate }: Restorable): Promise<boolean> => {
  const conversation = conversationOf(item);
  const id = String(item.id);
  for (;;) {
    const head = await readHead(conversation);
    const newest = head !== undefined && head.newest > id ? head.newest : id;
    const failed = await patiently(() =>
      transact([
        addEntriesWrite(
          conversation,
          {
            ...{ count: 1, newest, created: String(item.created) },
            phone: subjectOf(item.outgoing as OutboxEvent).phone,
          },
          head === undefined
            ? { ConditionExpression: 'attribute_not_exists(pk)' }
            : { ConditionExpression: 'newest = :seen', ExpressionAttributeValues: { ':seen': head.newest } },
        ),
        putIfAbsentWrite(item),
        ...candidate.markers.map(unchangedWrite),
      ]),
    );
    if (failed.length === 0) return true;
    // The head alone has changed: once more.
    if (failed.some((index) => index > 0)) return false;
  }
};
