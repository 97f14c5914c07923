/** When the table's next work is due: retries, messages that begin or end, erasures, and consents that end. */
import type { EraseStep, SweepStep } from '../../../shared/api/workers.ts';
import { inParallel } from '../../../shared/core/parallel.ts';
import { erasurePartition, markedPartition } from '../../../shared/messaging/entities.ts';
import { afterDueOf, allDuePartitions, type DueKind, dueOf, duePartitions } from '../../../shared/table/keys.ts';
import type { AwsEmulator } from '../aws/emulator.ts';
import type { Image, StreamRecord } from '../aws/event-sources/stream.ts';
import { signedCall } from '../aws/signed-call.ts';

/** The kinds of due work of each step of `sweep`. A measurement is no work. */
const KINDS: Record<SweepStep, DueKind[]> = {
  conversations: ['conversations'],
  expansions: ['expansions'],
  leftovers: ['uploads', 'profilers'],
  backlog: [],
};

/** The partitions of each step of `erase`. */
const OF_ERASE: Record<EraseStep, string[]> = {
  erasures: [erasurePartition],
  batches: [markedPartition],
  consents: duePartitions('consents'),
};

const ALL = [...allDuePartitions, erasurePartition, markedPartition];

/** The partitions with the work of a function that a schedule calls; undefined for other functions. */
const partitionsOf = (functionId: string, input: unknown): readonly string[] | undefined => {
  if (functionId.startsWith('Erase')) return OF_ERASE[(input as { step: EraseStep }).step];
  if (!functionId.startsWith('Sweep')) return undefined;
  return KINDS[(input as { step: SweepStep }).step].flatMap(duePartitions);
};

/** Partitions that are read at the same time. */
const TOGETHER = 16;

/** Milliseconds after which a read ends with an error. */
const TIMEOUT_MS = 20_000;

/** An item that is due, in the form of DynamoDB's API. */
interface DueItem extends Image {
  gsi1sk: { S: string };
}

/** The oldest item of each account in a partition. While the partition is read, the items are not known. */
interface Oldest {
  items: Promise<DueItem[]>;
  keys: ReadonlySet<string> | undefined;
}

/** The due work of a table, from the beginning of a movement of the clock to its end. */
export interface DueWork {
  /** When the oldest work is due, in milliseconds since 1970; undefined if there is none. The stack is at rest. */
  next(): Promise<number | undefined>;
  /**
   * Whether a function has work that is due by a time, as of the last call of `next`: a step of `sweep` or `erase`. Others
   * always have work when their schedule calls them.
   */
  needs(time: number, functionId: string, input?: unknown): boolean;
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
      for (const [partition, { keys }] of known) {
        const entered = NewImage?.gsi1pk?.S === partition;
        if (entered || keys === undefined || keys.has(changed)) known.delete(partition);
      }
    });
    const read = (partition: string): Oldest => {
      const oldest: Oldest = { items: oldestIn(partition, dynamodbEndpoint, table), keys: undefined };
      known.set(partition, oldest);
      return oldest;
    };
    const next = async (): Promise<number | undefined> => {
      times.clear();
      await inParallel(ALL, TOGETHER, async (partition) => {
        const oldest = known.get(partition) ?? read(partition);
        const items = await oldest.items;
        oldest.keys = new Set(items.map(keyOf));
        if (items.length > 0) times.set(partition, Math.min(...items.map(timeOf)));
      });
      return times.size === 0 ? undefined : Math.min(...times.values());
    };
    const needs = (time: number, functionId: string, input?: unknown): boolean =>
      partitionsOf(functionId, input)?.some((partition) => (times.get(partition) ?? Infinity) <= time) ?? true;
    return { next, needs, end };
  };

/** An item's key in the table, as text. */
const keyOf = ({ pk, sk }: Image): string => `${pk?.S} ${sk?.S}`;

/** When an item is due. The place of due work of `sweep` begins with the account. */
const timeOf = ({ gsi1sk: { S: place } }: DueItem): number => Date.parse(`${place.replace(/^.*#/, '').slice(0, 23)}Z`);

/** The oldest item of each account in a partition, or of the partition, if it is not by account. */
const oldestIn = async (partition: string, endpoint: string, table: string): Promise<DueItem[]> => {
  const items: DueItem[] = [];
  for (let after = ' '; ; ) {
    const item = await firstAfter(after, partition, endpoint, table);
    if (item === undefined) return items;
    items.push(item);
    if (!item.gsi1sk.S.includes('#')) return items;
    after = afterDueOf(dueOf({ gsi1sk: item.gsi1sk.S }).account);
  }
};

/** Without the SDK, which takes three quarters of the time. */
const firstAfter = async (
  place: string,
  partition: string,
  endpoint: string,
  table: string,
): Promise<DueItem | undefined> => {
  const { status, text } = await signedCall({
    endpoint,
    target: 'DynamoDB_20120810.Query',
    input: {
      TableName: table,
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :due AND gsi1sk > :place',
      ExpressionAttributeValues: { ':due': { S: partition }, ':place': { S: place } },
      ProjectionExpression: 'pk, sk, gsi1sk',
      Limit: 1,
    },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (status !== 200) throw new Error(`The database returned ${status} for work that is due: ${text}`);
  return (JSON.parse(text) as { Items: DueItem[] }).Items[0];
};
