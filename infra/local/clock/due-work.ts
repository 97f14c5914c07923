/** When the table's next work is due: retries, messages that begin or end, erasures, and consents that end. */
import { inParallel } from '../../../shared/core/parallel.ts';
import { duePartitions, erasurePartition } from '../../../shared/table/keys.ts';
import { consentEndPartitions } from '../../../shared/table/people-keys.ts';
import type { AwsEmulator } from '../aws/emulator.ts';
import type { Image, StreamRecord } from '../aws/event-sources/stream.ts';
import { signedCall } from '../aws/signed-call.ts';

/** The partitions of due work, by the beginning of the id of the function that its schedule calls for it. */
const PARTITIONS = { Sweep: duePartitions, Erase: [...consentEndPartitions, erasurePartition] };

const ALL = Object.values(PARTITIONS).flat();

/** Partitions that are read at the same time. */
const TOGETHER = 16;

/** Milliseconds after which a read ends with an error. */
const PATIENCE = 20_000;

/** An item that is due, in the form of DynamoDB's API. */
interface DueItem extends Image {
  gsi1sk: { S: string };
}

/** The oldest item of a partition: undefined if there is none. While the partition is read, its key is not known. */
interface Oldest {
  item: Promise<DueItem | undefined>;
  key: string | undefined;
  isRead: boolean;
}

/** The due work of a table, from the beginning of a movement of the clock to its end. */
export interface DueWork {
  /** When the oldest work is due, in milliseconds since 1970; undefined if there is none. The stack is at rest. */
  next(): Promise<number | undefined>;
  /**
   * Whether a function has work that is due by a time, as of the last call of `next`: `sweep` or `erase`. Others always have
   * work when their schedule calls them.
   */
  needs(functionId: string, time: number): boolean;
  end(): void;
}

/**
 * Returns a function that begins to watch the due work of a stack's table. The first read is of all partitions, the
 * following ones are of those with changes, which the table's stream tells. The stream has only new images
 * (`infra/constructs/business-table.ts`): a removed item's record has its key, and not the partition that it was in.
 */
export const dueWorkOf =
  (stack: Pick<AwsEmulator, 'dynamodbEndpoint' | 'watchRecords'>, table: string) => (): DueWork => {
    const { dynamodbEndpoint } = stack;
    /** The oldest item of each partition. Those with changes since then are missing. */
    const known = new Map<string, Oldest>();
    /** When the oldest item of each partition is due that has one, as of the last call of `next`. */
    const times = new Map<string, number>();
    const end = stack.watchRecords(({ dynamodb: { Keys, NewImage } }: StreamRecord) => {
      const changed = keyOf(Keys);
      for (const [partition, { key, isRead }] of known) {
        const entered = NewImage?.gsi1pk?.S === partition;
        if (entered || !isRead || key === changed) known.delete(partition);
      }
    });
    const read = (partition: string): Oldest => {
      const oldest: Oldest = { item: oldestOf(partition, dynamodbEndpoint, table), key: undefined, isRead: false };
      known.set(partition, oldest);
      return oldest;
    };
    const next = async (): Promise<number | undefined> => {
      times.clear();
      await inParallel(ALL, TOGETHER, async (partition) => {
        const oldest = known.get(partition) ?? read(partition);
        const item = await oldest.item;
        oldest.isRead = true;
        if (item === undefined) return;
        oldest.key = keyOf(item);
        times.set(partition, Date.parse(`${item.gsi1sk.S.slice(0, 23)}Z`));
      });
      return times.size === 0 ? undefined : Math.min(...times.values());
    };
    const needs = (functionId: string, time: number): boolean => {
      const partitions = Object.entries(PARTITIONS).find(([name]) => functionId.startsWith(name))?.[1];
      return partitions?.some((partition) => (times.get(partition) ?? Infinity) <= time) ?? true;
    };
    return { next, needs, end };
  };

/** An item's key in the table, as text. */
const keyOf = ({ pk, sk }: Image): string => `${pk?.S} ${sk?.S}`;

/** The oldest item of a partition. Without the SDK, which takes three quarters of the time. */
const oldestOf = async (partition: string, endpoint: string, table: string): Promise<DueItem | undefined> => {
  const { status, text } = await signedCall({
    endpoint,
    target: 'DynamoDB_20120810.Query',
    input: {
      TableName: table,
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :due',
      ExpressionAttributeValues: { ':due': { S: partition } },
      ProjectionExpression: 'pk, sk, gsi1sk',
      Limit: 1,
    },
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (status !== 200) throw new Error(`The database returned ${status} for work that is due: ${text}`);
  return (JSON.parse(text) as { Items: DueItem[] }).Items[0];
};
