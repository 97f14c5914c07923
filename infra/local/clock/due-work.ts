/** When the table's next work is due: retries, messages that begin or end, erasures, and consents that end. */
import { inParallel } from '../../../shared/core/parallel.ts';
import { page } from '../../../shared/table/client.ts';
import { duePartitions, erasurePartition } from '../../../shared/table/keys.ts';
import { consentEndPartitions } from '../../../shared/table/people-keys.ts';

const PARTITIONS = [...duePartitions, ...consentEndPartitions, erasurePartition];

/** Partitions that are read at the same time. */
const TOGETHER = 16;

/** When the oldest due work of the table is due, in milliseconds since 1970; undefined if there is none. */
export const nextDueWork = async (): Promise<number | undefined> => {
  const times: number[] = [];
  await inParallel(PARTITIONS, TOGETHER, async (partition) => {
    const { items } = await page<{ gsi1sk: string }>({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :due',
      ExpressionAttributeValues: { ':due': partition },
      ProjectionExpression: 'gsi1sk',
      Limit: 1,
    });
    for (const { gsi1sk } of items) times.push(Date.parse(`${gsi1sk.slice(0, 23)}Z`));
  });
  return times.length === 0 ? undefined : Math.min(...times);
};
