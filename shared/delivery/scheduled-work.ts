/** Scheduled work: items with the index attributes of `dueAt` are found here when they are due. */
import { page } from '../table/client.ts';
import { duePartitions, type Key } from '../table/keys.ts';

/**
 * Due work: its key, the time at which it is due (`gsi1sk`), and for a head, the time of its oldest entry (`created`),
 * and whether it is offered to listeners (`state`).
 */
export interface Due extends Key {
  gsi1sk: string;
  created?: string;
  state?: string;
}

/** Shards that are read at the same time, and items of a page. */
const READ = { shards: 8, items: 1_000 };

/**
 * Work that is due at `time` (in the form of `sortableTime`), a page at a time, the oldest of each shard first. 0.5 read
 * units for each shard, and for 4 KB.
 */
export const dueWork = (time: string): AsyncGenerator<Due[]> => work('<=', time);

/** Work that is due after `time`. */
export const laterWork = (time: string): AsyncGenerator<Due[]> => work('>', time);

async function* work(when: '<=' | '>', time: string): AsyncGenerator<Due[]> {
  for (let first = 0; first < duePartitions.length; first += READ.shards) {
    let left: { partition: string; start?: Start }[] = duePartitions
      .slice(first, first + READ.shards)
      .map((partition) => ({ partition }));
    while (left.length > 0) {
      const read = await Promise.all(left.map((shard) => pageOf(shard, when, time)));
      for (const { items } of read) if (items.length > 0) yield items;
      left = read.flatMap(({ partition, next }) => (next === undefined ? [] : [{ partition, start: next }]));
    }
  }
}

type Start = Awaited<ReturnType<typeof page>>['next'];

const pageOf = async ({ partition, start }: { partition: string; start?: Start }, when: '<=' | '>', time: string) => ({
  partition,
  ...(await page<Due>({
    IndexName: 'gsi1',
    KeyConditionExpression: `gsi1pk = :due AND gsi1sk ${when} :time`,
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':due': partition, ':time': time },
    ProjectionExpression: 'pk, sk, gsi1sk, created, #state',
    Limit: READ.items,
    ...(start !== undefined && { ExclusiveStartKey: start }),
  })),
});
