/** Event source mappings: feeds workers from the table's stream or from a queue, and grants the rights to read them. */
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import type { ServiceTable } from './business-table.ts';
import type { ServiceFunction } from './function/service-function.ts';

interface KeyPrefixes {
  pk: string;
  sk?: string;
}

interface StreamFeed {
  /** Prefixes of the keys of the items to receive. */
  keys: KeyPrefixes[];
  /** If set, the worker receives new and changed items while this attribute is `false`. Default: new items. */
  whileFalse?: string;
  /** Maximum number of changes in a batch. */
  batchSize: number;
  /** Seconds that Lambda waits for a batch to be full. Default: none. */
  window?: number;
  /** How many batches of a shard are handled at the same time, by the keys of the items. */
  parallelization: number;
  /** Receives the positions of batches that failed permanently. */
  failures: IQueue;
}

/** Maximum number of retries of a batch. Each failure also bisects the batch. */
const RETRIES = 10;

/** Feeds a worker with changes of the table. */
export const feedFromStream = (
  { function: target, allow }: ServiceFunction,
  { tableStreamArn }: ServiceTable,
  { keys, whileFalse, batchSize, window = 0, parallelization, failures }: StreamFeed,
): void => {
  if (tableStreamArn === undefined) throw new Error('The table has no stream.');
  allow(
    ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
    tableStreamArn,
  );
  allow(['sqs:SendMessage'], failures.queueArn);
  const patterns = keys.map((prefixes) =>
    Object.fromEntries(Object.entries(prefixes).map(([name, prefix]) => [name, { S: FilterRule.beginsWith(prefix) }])),
  );
  new EventSourceMapping(target, 'Stream', {
    target,
    eventSourceArn: tableStreamArn,
    // Changes that were written before the mapping was created must not be missed.
    startingPosition: StartingPosition.TRIM_HORIZON,
    batchSize,
    parallelizationFactor: parallelization,
    ...(window > 0 && { maxBatchingWindow: Duration.seconds(window) }),
    // Lambda documents that a record has to contain every field of a pattern, and that `exists: false` is for a field that
    // is missing. So no pattern uses `exists`: each one names only fields of the records that it is to match.
    filters: patterns.map((Keys) =>
      FilterCriteria.filter(
        whileFalse === undefined
          ? { eventName: FilterRule.isEqual('INSERT'), dynamodb: { Keys } }
          : { dynamodb: { Keys, NewImage: { [whileFalse]: { BOOL: FilterRule.isEqual(false) } } } },
      ),
    ),
    bisectBatchOnError: true,
    retryAttempts: RETRIES,
    maxRecordAge: Duration.hours(24),
    onFailure: { bind: () => ({ destination: failures.queueArn }) },
  });
};

interface QueueFeed {
  /** Maximum number of messages in a batch. Lambda does not wait for more than there are. */
  batchSize: number;
  /** Maximum number of executions. Default: as many as the AWS account has. */
  maxConcurrency: number | undefined;
}

/**
 * Feeds a worker with the messages of a queue. Messages of a group are in one batch at a time, in order. The worker may leave
 * a message in the queue.
 */
export const feedFromQueue = (
  { function: target, allow }: ServiceFunction,
  { queueArn }: IQueue,
  { batchSize, maxConcurrency }: QueueFeed,
): void => {
  allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'], queueArn);
  new EventSourceMapping(target, 'Queue', {
    target,
    eventSourceArn: queueArn,
    batchSize,
    reportBatchItemFailures: true,
    ...(maxConcurrency !== undefined && { maxConcurrency }),
  });
};
