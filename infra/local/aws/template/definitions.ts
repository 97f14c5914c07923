/** The resources of the template, in the form that the emulator uses. An `id` is a logical id. */

import type { Statement, TableCall } from '../iam/policies.ts';
import type { EventFilter } from './event-filter.ts';
import type { Json } from './json.ts';

/** A function. Its logical id is its access key, and the source of its log lines. */
export interface FunctionDefinition {
  id: string;
  /** The folder of its asset. */
  folder: string;
  /** `file.export`, as Lambda writes it. */
  handler: string;
  /** Milliseconds. */
  timeout: number;
  /** Megabytes. */
  memory: number;
  environment: Record<string, string>;
  /** The statements of its role. */
  policy: Statement[];
  /** How long events are repeated for which it is invoked asynchronously. */
  asynchronous: AsynchronousLimits;
}

/** Limits of asynchronous invocation. */
export interface AsynchronousLimits {
  /** How often an event is repeated whose invocation failed. */
  retries: number;
  /** Milliseconds after which an event is dropped. */
  oldest: number;
}

export interface AuthorizerDefinition {
  id: string;
  function: string;
  /** `$request.header.Name` and the like. All are required. */
  identitySources: string[];
  /** Milliseconds that a decision is cached for an identity; 0 disables the cache. */
  cached: number;
}

/** Requests per second, sustained and at once. */
export interface ThrottleDefinition {
  rate: number;
  burst: number;
}

export interface RouteDefinition {
  /** `POST /v1/things/{id}` */
  key: string;
  function: string;
  authorizer: AuthorizerDefinition | undefined;
  /** The limits of the route's own settings; undefined if it has those of its stage. */
  throttle?: ThrottleDefinition | undefined;
}

export interface HostDefinition {
  id: string;
  routes: RouteDefinition[];
  /** The format of the access log. */
  format: string;
}

/** A function that a schedule calls. */
export interface ScheduleTarget extends Pick<FunctionDefinition, 'id' | 'asynchronous'> {
  /** What it receives instead of the event. */
  input?: Json;
}

export interface ScheduleDefinition {
  id: string;
  /** Minutes between two runs. */
  minutes: number;
  targets: ScheduleTarget[];
}

export interface TableDefinition {
  id: string;
  /** The ARN in statements, if the table is not of the template. */
  arn?: string;
  /** The properties in the template, or those of the table that it names. */
  properties: Record<string, unknown>;
  keys: TableKeys;
}

/** The names of key attributes. */
export interface TableKeys {
  /** The primary key. */
  attributes: string[];
  /** The table's partition key. */
  partition: string;
  /** The partition keys of indexes, by the index's name. */
  indexes: Record<string, string>;
}

export interface QueueDefinition {
  id: string;
  arn: string;
  url: string;
  fifo: boolean;
  /** The scope of a deduplication id: its message group, or the whole queue. */
  deduplication: 'messageGroup' | 'queue';
  /** The visibility timeout in milliseconds. */
  visibility: number;
  /** The dead-letter queue, and the number of receives after which a message moves there. */
  deadLetters: { queue: string; receives: number } | undefined;
}

/** Calls a function with messages of a queue. `needs` are the touches that the function's role must allow. */
export interface QueueMapping {
  kind: 'queue';
  id: string;
  function: string;
  /** The queue's id. */
  queue: string;
  batchSize: number;
  /** Whether the function reports the failed messages of a batch. */
  reportsFailures: boolean;
  /** Maximum number of concurrent calls. */
  concurrency: number;
  needs: TableCall[];
}

/** Calls a function with records of the table's stream. `needs` are the touches that the function's role must allow. */
export interface StreamMapping {
  kind: 'stream';
  id: string;
  function: string;
  batchSize: number;
  /** How many batches of a shard are handled at the same time. */
  parallelization: number;
  reportsFailures: boolean;
  /** Milliseconds to wait for a full batch. */
  window: number;
  filter: EventFilter;
  /** Whether a failed batch is split in two. */
  bisects: boolean;
  /** Maximum number of retries of the same records. */
  retries: number;
  /** Maximum age of a record in milliseconds: older ones are discarded. */
  oldest: number;
  /** Id of the queue that receives a message about discarded records. */
  onFailure: string | undefined;
  needs: TableCall[];
}

export type Mapping = QueueMapping | StreamMapping;

export interface SecretDefinition {
  id: string;
  arn: string;
}

/** A bucket. */
export interface BucketDefinition {
  id: string;
  name: string;
  arn: string;
}

export interface Template {
  table: TableDefinition;
  functions: FunctionDefinition[];
  /** HTTP APIs, by their names in the emulator's options. */
  hosts: Record<string, HostDefinition>;
  schedules: ScheduleDefinition[];
  queues: QueueDefinition[];
  mappings: Mapping[];
  secrets: SecretDefinition[];
  buckets: BucketDefinition[];
}
