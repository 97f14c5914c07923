/** The options of the emulator. */
import type { StaleReadsOptions } from './consistency/stale-reads.ts';
import type { FaultInjection } from './fault-injection.ts';
import type { Exchange } from './gateway/gateway.ts';
import type { EmptyRest } from './gateway/routes.ts';
import type { TransactionEvaluation } from './iam/policies.ts';
import type { MadeCall } from './iam/roles.ts';
import type { LambdaPool, LocalFunction } from './lambda/lambda-pool.ts';
import type { Latency } from './latency.ts';
import type { Clock } from './time/clock.ts';

export interface EmulatorOptions {
  /** The folder of the synthesised stack. The emulator opens its ports before the promise resolves. */
  assembly: Promise<string>;
  /** The name of the stack in that folder: `<name>.template.json`. */
  stackName: string;
  /** The HTTP APIs to serve, by names that the caller chooses. */
  hosts: Record<string, HostOptions>;
  /** A database to use instead of the embedded one. */
  dynamodbEndpoint: string | undefined;
  /** A folder for the embedded database and the buckets, which stay after the end. Default: nothing stays. */
  dataFolder?: string | undefined;
  tableName: string;
  /**
   * Milliseconds that count as a minute: for schedules, for the deduplication of queues, and for the retries of
   * messages whose function has failed.
   */
  minute: number;
  /** The clock of due times and of functions. Default: real time. */
  clock?: Clock;
  /** Environment variables of every function, which override the template's. */
  environment?: Record<string, string>;
  /** The values of the template's secrets, by the beginnings of their logical ids. */
  secrets?: Record<string, string>;
  /** The failures that a test injects. */
  faultInjection?: FaultInjection;
  /** Makes eventually consistent reads of the table return older data at times, as DynamoDB may. */
  staleReads?: StaleReadsOptions;
  /**
   * Milliseconds that a transaction takes. Other writes of its items conflict with it. By default, there are no
   * conflicts.
   */
  transactionsHeldFor?: number;
  /** Makes event sources and starts of functions as slow as on AWS. By default, they are as fast as they can be. */
  latency?: Latency | undefined;
  /** Whether `{rest+}` in a route matches an empty rest. By default, it does not. */
  emptyRest?: EmptyRest;
  /**
   * Whether routes with a throttle of their own reject requests over it. Default: true. Tests of all endpoints send more to a
   * route than any client.
   */
  throttles?: boolean;
  /** How IAM evaluates transactions, which AWS does not document. Default: per action. */
  transactionEvaluation?: TransactionEvaluation;
  /** Receives every log line: of functions, and of the hosts' access logs. */
  onLine: (source: string, line: string) => void;
  /** Receives every request to a host, with its response. */
  onExchange?: (exchange: Exchange) => void;
  /** Receives every kind of call of AWS that functions make, once each. */
  onCall?: (call: MadeCall) => void;
  /** The class that runs a function. Default: worker threads. */
  functions?: new (
    ...of: ConstructorParameters<typeof LambdaPool>
  ) => LocalFunction;
}

/** An HTTP API of the template, and its port. */
interface HostOptions {
  /** The template's output that contains the API's URL. */
  output: string;
  /** 0 selects a free port. */
  port: number;
}
