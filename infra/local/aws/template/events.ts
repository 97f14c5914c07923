/** Reads queues and event source mappings. Properties that are not listed here are rejected. */
import * as v from 'valibot';
import type { FunctionDefinition, Mapping, QueueDefinition, QueueMapping, StreamMapping } from './definitions.ts';
import { readFilter } from './event-filter.ts';
import { type Json, unknown } from './json.ts';

/** A property without effect in the emulator. */
const ignored = v.optional(v.unknown());

const queueProperties = v.optional(
  v.strictObject({
    FifoQueue: v.optional(v.literal(true)),
    ContentBasedDeduplication: v.optional(v.literal(false)),
    DeduplicationScope: v.optional(v.picklist(['messageGroup', 'queue']), 'queue'),
    VisibilityTimeout: v.optional(v.number(), 30),
    RedrivePolicy: v.optional(v.strictObject({ deadLetterTargetArn: v.string(), maxReceiveCount: v.number() })),
    // The emulator does not throttle, does not keep messages for days, and writes nothing to a disk.
    FifoThroughputLimit: ignored,
    MessageRetentionPeriod: ignored,
    SqsManagedSseEnabled: ignored,
    RedriveAllowPolicy: ignored,
    Tags: ignored,
  }),
  {},
);

/** A queue with its URL and ARN, and its properties with resolved references. */
interface QueueResource extends Pick<QueueDefinition, 'id' | 'url' | 'arn'> {
  properties: Json | undefined;
}

export const readQueues = (resources: QueueResource[]): QueueDefinition[] => {
  const drafts = resources.map(({ properties, ...names }) => {
    const { FifoQueue: fifo = false, RedrivePolicy, ...queue } = read('queue', names.id, queueProperties, properties);
    const definition = { ...names, fifo, deduplication: queue.DeduplicationScope, visibility: queue.VisibilityTimeout };
    return { definition, redrive: RedrivePolicy };
  });
  return drafts.map(({ definition: { visibility, ...definition }, redrive }) => {
    const dead = drafts.find(({ definition: { arn } }) => arn === redrive?.deadLetterTargetArn)?.definition;
    // The dead-letter queue of a FIFO queue must be FIFO, and of a standard queue standard.
    if (redrive !== undefined && dead?.fifo !== definition.fifo) throw unknown('dead-letter queue', definition.id);
    return {
      ...definition,
      visibility: visibility * 1000,
      deadLetters: redrive && dead && { queue: dead.id, receives: redrive.maxReceiveCount },
    };
  });
};

const mappingProperties = {
  EventSourceArn: v.string(),
  FunctionName: v.string(),
  Enabled: v.optional(v.literal(true)),
  FunctionResponseTypes: v.optional(v.strictTuple([v.literal('ReportBatchItemFailures')])),
  MetricsConfig: ignored,
  Tags: ignored,
};

/** The batch size is limited to 10, Lambda's maximum for FIFO queues. */
const queueMappingProperties = v.strictObject({
  ...mappingProperties,
  BatchSize: v.optional(v.pipe(v.number(), v.maxValue(10)), 10),
  MaximumBatchingWindowInSeconds: v.optional(v.literal(0)),
  ScalingConfig: v.optional(v.strictObject({ MaximumConcurrency: v.optional(v.number()) })),
});

/** A limit for which -1, the default, means unlimited. */
const unlimited = v.pipe(
  v.optional(v.number(), -1),
  v.transform((max) => (max === -1 ? Number.POSITIVE_INFINITY : max)),
);

const streamMappingProperties = v.strictObject({
  ...mappingProperties,
  BatchSize: v.optional(v.number(), 100),
  MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
  StartingPosition: v.literal('TRIM_HORIZON'),
  ParallelizationFactor: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(10)), 1),
  FilterCriteria: v.optional(v.strictObject({ Filters: v.array(v.strictObject({ Pattern: v.string() })) })),
  BisectBatchOnFunctionError: v.optional(v.boolean(), false),
  MaximumRetryAttempts: unlimited,
  MaximumRecordAgeInSeconds: unlimited,
  DestinationConfig: v.optional(v.strictObject({ OnFailure: v.optional(v.strictObject({ Destination: v.string() })) })),
});

/** The event sources and destinations of mappings. */
interface Ends {
  queues: QueueDefinition[];
  /** The table's stream, as references to it resolve. */
  stream: string;
}

/** Reads the properties of a mapping. References must be resolved. */
export const readMapping = (
  id: string,
  target: FunctionDefinition,
  properties: Json | undefined,
  { queues, stream }: Ends,
): Mapping => {
  const source = v.is(v.object({ EventSourceArn: v.string() }), properties) ? properties.EventSourceArn : undefined;
  const queue = queues.find(({ arn }) => arn === source);
  if (queue !== undefined) return readQueueMapping(id, target, properties, queue);
  if (source === stream) return readStreamMapping(id, target, properties, { queues, stream });
  throw unknown('event source', source);
};

const readQueueMapping = (
  id: string,
  target: FunctionDefinition,
  properties: Json | undefined,
  queue: QueueDefinition,
): QueueMapping => {
  const { FunctionResponseTypes, ...mapping } = read('event source mapping', id, queueMappingProperties, properties);
  // Lambda rejects this, because a message could be delivered again while the function still handles it.
  if (queue.visibility < target.timeout) throw unknown("queue's visibility below its function's timeout", queue.id);
  return {
    kind: 'queue',
    id,
    function: target.id,
    queue: queue.id,
    batchSize: mapping.BatchSize,
    reportsFailures: FunctionResponseTypes !== undefined,
    concurrency: mapping.ScalingConfig?.MaximumConcurrency ?? Number.POSITIVE_INFINITY,
    needs: ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map((action) => ({
      action: `sqs:${action}`,
      resource: queue.arn,
    })),
  };
};

const readStreamMapping = (
  id: string,
  target: FunctionDefinition,
  properties: Json | undefined,
  { queues, stream }: Ends,
): StreamMapping => {
  const mapping = read('event source mapping', id, streamMappingProperties, properties);
  const destination = mapping.DestinationConfig?.OnFailure?.Destination;
  const onFailure = queues.find(({ arn, fifo }) => arn === destination && !fifo);
  if (destination !== undefined && onFailure === undefined) throw unknown('destination on failure', destination);
  return {
    kind: 'stream',
    id,
    function: target.id,
    batchSize: mapping.BatchSize,
    parallelization: mapping.ParallelizationFactor,
    reportsFailures: mapping.FunctionResponseTypes !== undefined,
    window: mapping.MaximumBatchingWindowInSeconds * 1000,
    filter: readFilter(mapping.FilterCriteria?.Filters.map(({ Pattern }) => Pattern) ?? []),
    bisects: mapping.BisectBatchOnFunctionError,
    retries: mapping.MaximumRetryAttempts,
    oldest: mapping.MaximumRecordAgeInSeconds * 1000,
    onFailure: onFailure?.id,
    needs: [
      ...['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((action) => ({
        action: `dynamodb:${action}`,
        resource: stream,
      })),
      ...(onFailure ? [{ action: 'sqs:SendMessage', resource: onFailure.arn }] : []),
    ],
  };
};

const read = <Schema extends v.GenericSchema>(
  what: string,
  id: string,
  schema: Schema,
  properties: Json | undefined,
): v.InferOutput<Schema> => {
  const { success, output, issues } = v.safeParse(schema, properties);
  if (!success) throw unknown(what, issues.map((issue) => `${id}.${v.getDotPath(issue)}: ${issue.message}`).join('; '));
  return output;
};
