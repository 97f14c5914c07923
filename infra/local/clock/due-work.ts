/** When the table's next work is due: retries, messages that begin or end, erasures, and consents that end. */
import { inParallel } from '../../../shared/core/parallel.ts';
import { duePartitions, erasurePartition } from '../../../shared/table/keys.ts';
import { consentEndPartitions } from '../../../shared/table/people-keys.ts';
import type { AwsEmulator } from '../aws/emulator.ts';
import type { StreamRecord } from '../aws/event-sources/stream.ts';
import { signedCall } from '../aws/signed-call.ts';

const PARTITIONS = [...duePartitions, ...consentEndPartitions, erasurePartition];

/** Partitions that are read at the same time. */
const TOGETHER = 16;

/** Milliseconds after which a read ends with an error. */
const PATIENCE = 20_000;

interface Page {
  Items: { gsi1sk: { S: string } }[];
}

/** The due work of a table, from the beginning of a movement of the clock to its end. */
export interface DueWork {
  /** When the oldest work is due, in milliseconds since 1970; undefined if there is none. The stack is at rest. */
  next(): Promise<number | undefined>;
  end(): void;
}

/**
 * Returns a function that begins to watch the due work of a stack's table. The first read is of all partitions, the
 * following ones are of those with changes, which the table's stream names.
 */
export const dueWorkOf =
  (stack: Pick<AwsEmulator, 'dynamodbEndpoint' | 'watchRecords'>, table: string) => (): DueWork => {
    const { dynamodbEndpoint } = stack;
    /** When the oldest work of each partition is due. Those with changes since then are missing. */
    const known = new Map<string, Promise<number | undefined>>();
    const end = stack.watchRecords(({ dynamodb: { OldImage, NewImage } }: StreamRecord) => {
      for (const image of [OldImage, NewImage]) known.delete(image?.gsi1pk?.S ?? '');
    });
    const next = async (): Promise<number | undefined> => {
      const times: number[] = [];
      await inParallel(PARTITIONS, TOGETHER, async (partition) => {
        const time = known.get(partition) ?? oldestOf(partition, dynamodbEndpoint, table);
        known.set(partition, time);
        const found = await time;
        if (found !== undefined) times.push(found);
      });
      return times.length === 0 ? undefined : Math.min(...times);
    };
    return { next, end };
  };

/** When the oldest work of a partition is due. Without the SDK, which takes three quarters of the time. */
const oldestOf = async (partition: string, endpoint: string, table: string): Promise<number | undefined> => {
  const { status, text } = await signedCall({
    endpoint,
    target: 'DynamoDB_20120810.Query',
    input: {
      TableName: table,
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :due',
      ExpressionAttributeValues: { ':due': { S: partition } },
      ProjectionExpression: 'gsi1sk',
      Limit: 1,
    },
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (status !== 200) throw new Error(`The database returned ${status} for work that is due: ${text}`);
  const [oldest] = (JSON.parse(text) as Page).Items;
  return oldest && Date.parse(`${oldest.gsi1sk.S.slice(0, 23)}Z`);
};
