/** What the template says, in the words of the parts that serve it. An `id` is a logical id. */

import type { Statement, Touch } from '../iam/policies.ts';
import type { EventFilter } from './event-filter.ts';

/** A function, by its logical id: the name that its credentials and its log lines carry here. */
export interface FunctionDefinition {
  id: string;
  /** Folder of its asset. */
  folder: string;
  /** `file.export`, as Lambda writes it. */
  handler: string;
  /** Milliseconds. */
  timeout: number;
  /** Megabytes. */
  memory: number;
  environment: Record<string, string>;
  /** What its role allows it to do. */
  policy: Statement[];
}

export interface AuthorizerDefinition {
  id: string;
  function: string;
  /** `$request.header.Name` and the like; all must be there. */
  identitySources: string[];
  /** Milliseconds that an answer holds for the same identity; 0 for none. */
  cached: number;
}

export interface RouteDefinition {
  /** `POST /v1/things/{id}` */
  key: string;
  function: string;
  authorizer: AuthorizerDefinition | undefined;
}

export interface HostDefinition {
  id: string;
  routes: RouteDefinition[];
  /** Of the access log. */
  format: string;
}

export interface ScheduleDefinition {
  id: string;
  /** Minutes from one run to the next. */
  minutes: number;
  functions: string[];
}

export interface TableDefinition {
  id: string;
  /** As the template has them. */
  properties: Record<string, unknown>;
  keys: TableKeys;
}

/** The names of attributes that are keys. */
export interface TableKeys {
  /** Of an item. */
  attributes: string[];
  /** The table's partition key. */
  partition: string;
  /** The indexes' partition keys, by the index's name. */
  indexes: Record<string, string>;
}

export interface QueueDefinition {
  id: string;
  arn: string;
  url: string;
  fifo: boolean;
  /** Where a deduplication id counts: among the messages of its group, or in the whole queue. */
  deduplication: 'messageGroup' | 'queue';
  /** Milliseconds that a message is hidden for once it has been received. */
  visibility: number;
  /** The queue that a message goes to when it has been received so often and is still there. */
  deadLetters: { queue: string; receives: number } | undefined;
}

/** Has a function called with messages of a queue. `needs` is what the function's role must allow for that. */
export interface QueueMapping {
  kind: 'queue';
  id: string;
  function: string;
  /** The queue's id. */
  queue: string;
  batchSize: number;
  /** Whether the function says which messages of a batch it could not handle. */
  reportsFailures: boolean;
  /** Calls at a time. */
  concurrency: number;
  needs: Touch[];
}

/** Has a function called with records of the table's stream. `needs` as above. */
export interface StreamMapping {
  kind: 'stream';
  id: string;
  function: string;
  batchSize: number;
  reportsFailures: boolean;
  /** Milliseconds that it is waited for a full batch. */
  window: number;
  filter: EventFilter;
  /** Whether a batch that failed is cut in two. */
  bisects: boolean;
  /** Times that the same records are tried again. */
  retries: number;
  /** Milliseconds after which a record is too old to be handled. */
  oldest: number;
  /** Id of the queue that hears of records that were given up. */
  onFailure: string | undefined;
  needs: Touch[];
}

export type Mapping = QueueMapping | StreamMapping;

export interface SecretDefinition {
  id: string;
  arn: string;
}

/** A bucket, by the name that it has here. */
export interface BucketDefinition {
  id: string;
  name: string;
  arn: string;
}

export interface Template {
  table: TableDefinition;
  functions: FunctionDefinition[];
  /** By their names in the emulator's options. */
  hosts: Record<string, HostDefinition>;
  schedules: ScheduleDefinition[];
  queues: QueueDefinition[];
  mappings: Mapping[];
  secrets: SecretDefinition[];
  buckets: BucketDefinition[];
}
