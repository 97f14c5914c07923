/** Scheduled work: items with the index attributes of `dueAt` are found here when they are due. */
import { pages } from '../table/client.ts';
import { duePartitions, type Key } from '../table/keys.ts';

/** Work that is due: its key, since when, and when what it is about began, where that is known. */
export interface Due extends Key {
  gsi1sk: string;
  created?: string;
}

/** What is due at `time` (as `sortableTime` writes it), a page at a time, the oldest of each shard first. */
export const dueWork = (time: string): AsyncGenerator<Due[]> => work('<=', time);

/** The same for what is due after `time`. */
export const laterWork = (time: string): AsyncGenerator<Due[]> => work('>', time);

async function* work(when: '<=' | '>', time: string): AsyncGenerator<Due[]> {
  for (const partition of duePartitions) {
    yield* pages<Due>({
      IndexName: 'gsi1',
      KeyConditionExpression: `gsi1pk = :due AND gsi1sk ${when} :time`,
      ExpressionAttributeValues: { ':due': partition, ':time': time },
      ProjectionExpression: 'pk, sk, gsi1sk, created',
    });
  }
}
