/** What calls the workers: the table's stream and the queue, each with the rights that reading them takes. */
import { Duration } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { ServiceFunction } from './service-function.ts';

interface StreamFeed {
  /** Which changes it gets: the beginnings of their keys. */
  keys: { pk: string; sk?: string };
  /** Whether items count that were there before, as long as they lack this attribute; else only new ones do. */
  without?: string;
  /** Changes in a batch, at most. */
  batchSize: number;
  /** Takes the positions of batches that are given up. */
  failures: IQueue;
}

/** How often a batch is given again, cut in halves, before it is given up. */
const RETRIES = 10;

/** Feeds a worker with changes of the table. */
export const feedFromStream = (
  { function: target, allow }: ServiceFunction,
  { tableStreamArn }: TableV2,
  { keys, without, batchSize, failures }: StreamFeed,
): void => {
  if (tableStreamArn === undefined) throw new Error('The table has no stream.');
  allow(
    ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
    tableStreamArn,
  );
  allow(['sqs:SendMessage'], failures.queueArn);
  const prefixes = Object.entries(keys).map(([name, prefix]) => [name, { S: FilterRule.beginsWith(prefix) }]);
  new EventSourceMapping(target, 'Stream', {
    target,
    eventSourceArn: tableStreamArn,
    // What was written before the mapping was there must not be missed.
    startingPosition: StartingPosition.TRIM_HORIZON,
    batchSize,
    filters: [
      FilterCriteria.filter({
        eventName: without === undefined ? FilterRule.isEqual('INSERT') : FilterRule.or('INSERT', 'MODIFY'),
        dynamodb: {
          Keys: Object.fromEntries(prefixes),
          ...(without !== undefined && { NewImage: { [without]: { BOOL: FilterRule.notExists() } } }),
        },
      }),
    ],
    bisectBatchOnError: true,
    retryAttempts: RETRIES,
    maxRecordAge: Duration.hours(24),
    onFailure: { bind: () => ({ destination: failures.queueArn }) },
  });
};

/** Feeds a worker with the messages of a queue, one at a time for each of its groups. It may leave a message on the queue. */
export const feedFromQueue = (
  { function: target, allow }: ServiceFunction,
  { queueArn }: IQueue,
  maxConcurrency: number | undefined,
): void => {
  allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'], queueArn);
  new EventSourceMapping(target, 'Queue', {
    target,
    eventSourceArn: queueArn,
    batchSize: 1,
    reportBatchItemFailures: true,
    ...(maxConcurrency !== undefined && { maxConcurrency }),
  });
};
