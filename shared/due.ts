/** Work that waits for its time. Items that carry the index attributes of `dueAt` are found here when it has come. */
import { pages } from './table/client.ts';
import { duePartitions, type Key } from './table/keys.ts';

/** Keys of what is due at `time` (as `sortableTime` writes it), a page at a time, the oldest of each shard first. */
export async function* dueWork(time: string): AsyncGenerator<Key[]> {
  for (const partition of duePartitions) {
    yield* pages<Key>({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :due AND gsi1sk <= :time',
      ExpressionAttributeValues: { ':due': partition, ':time': time },
      ProjectionExpression: 'pk, sk',
    });
  }
}
