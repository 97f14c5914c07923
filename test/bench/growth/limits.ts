/** Limits of AWS that the simulation of growth uses, each with the page that documents it. Read in November 2026. */

export interface Limit {
  value: number;
  unit: string;
  /** The page of AWS, or our own page or file. */
  source: string;
}

const DYNAMODB = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide';
const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/dg';

export const limits = {
  /** A partition, and therefore an item or a key whose items are written in their order. */
  partitionWrites: { value: 1_000, unit: 'write units/s', source: `${DYNAMODB}/bp-partition-key-design.html` },
  partitionReads: { value: 3_000, unit: 'read units/s', source: `${DYNAMODB}/bp-partition-key-design.html` },
  /** A new table or index on demand. */
  newWrites: { value: 4_000, unit: 'write units/s', source: `${DYNAMODB}/warm-throughput-scenarios.html` },
  newReads: { value: 12_000, unit: 'read units/s', source: `${DYNAMODB}/warm-throughput-scenarios.html` },
  /** Traffic may be this many times the previous peak; more is throttled until the peak is so old. */
  growth: {
    value: 2,
    unit: 'times the previous peak',
    source: 'https://repost.aws/knowledge-center/on-demand-table-throttling-dynamodb',
  },
  growthTime: {
    value: 1_800,
    unit: 's',
    source: 'https://repost.aws/knowledge-center/on-demand-table-throttling-dynamodb',
  },
  /** The default quota of a table. */
  tableQuota: { value: 40_000, unit: 'write units/s', source: `${DYNAMODB}/ServiceQuotas.html` },
  /** Executions at once of an AWS account in a region, unless the quota is raised. */
  executions: { value: 1_000, unit: 'executions', source: `${LAMBDA}/lambda-concurrency.html` },
  /** How many executions a function may add in a second: 1,000 in ten. */
  executionsPerSecond: { value: 100, unit: 'executions/s', source: `${LAMBDA}/scaling-behavior.html` },
  /** The most executions that a queue may invoke at once. For FIFO queues, also the number of groups. */
  queueExecutions: { value: 1_000, unit: 'executions', source: `${LAMBDA}/services-sqs-scaling.html` },
  /** Calls of an action of high-throughput FIFO queues, in the regions with the highest quota. */
  queueCalls: {
    value: 70_000,
    unit: 'calls/s',
    source: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html',
  },
  /** Calls that Lambda makes of a shard in a second. */
  streamPolls: { value: 4, unit: 'calls/s', source: `${LAMBDA}/with-ddb.html` },
  /** Requests of an AWS account in a region, over all its APIs. */
  apiRequests: {
    value: 10_000,
    unit: 'requests/s',
    source: 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
  },
} satisfies Record<string, Limit>;

/** What AWS does not document. */
export const assumed = {
  /** Seconds for which a partition is at its limit before it is split. */
  splitAfter: 300,
  /** The part of its limit at which a partition counts as hot. */
  hot: 0.9,
} as const;
