/** When the table's next work is due: retries, messages that begin or end, erasures, and consents that end. */
import { inParallel } from '../../../shared/core/parallel.ts';
import { duePartitions, erasurePartition } from '../../../shared/table/keys.ts';
import { consentEndPartitions } from '../../../shared/table/people-keys.ts';
import { signedCall } from '../aws/signed-call.ts';

const PARTITIONS = [...duePartitions, ...consentEndPartitions, erasurePartition];

/** Partitions that are read at the same time. */
const TOGETHER = 16;

/** Milliseconds after which a read ends with an error. */
const PATIENCE = 20_000;

interface Page {
  Items: { gsi1sk: { S: string } }[];
}

/**
 * Returns a function that reads when the oldest due work of a table is due, in milliseconds since 1970; undefined if there
 * is none. It runs at each stop of the clock, so it does without the SDK, which takes three quarters of the time.
 */
export const nextDueWorkIn = (dynamodbEndpoint: string, table: string) => async (): Promise<number | undefined> => {
  const times: number[] = [];
  await inParallel(PARTITIONS, TOGETHER, async (partition) => {
    const { status, text } = await signedCall({
      endpoint: dynamodbEndpoint,
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
    for (const { gsi1sk } of (JSON.parse(text) as Page).Items) times.push(Date.parse(`${gsi1sk.S.slice(0, 23)}Z`));
  });
  return times.length === 0 ? undefined : Math.min(...times);
};
