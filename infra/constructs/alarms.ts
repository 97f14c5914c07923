/** The alarms. Each description names the section of the runbook with the diagnosis and the fix. */
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { indexes } from '../../shared/table/indexes.ts';
import type { Watched } from './dashboard.ts';
import { MINUTE, type ServiceMetrics } from './service-metrics.ts';

interface AlarmsProps {
  /** SNS topics that are notified; without one, alarms notify no one. */
  topics: ITopic[];
  /** URL of the host that serves the runbooks. */
  baseUrl: string;
  /** Age in minutes of a pending entry that raises an alarm. */
  age: number;
  /** Seconds that the delivery of a message may take. */
  latency: number;
  /** Concurrent executions of the AWS account. */
  accountConcurrency: number;
}

interface AlarmSettings {
  metric: IMetric;
  threshold: number;
  /** Number of consecutive periods. */
  periods?: number;
  /** How missing data is treated; by default, as healthy. */
  missing?: TreatMissingData;
  /** Default: greater than the threshold. */
  comparison?: ComparisonOperator;
}

/** Minimum number of server errors in five minutes: with fewer, their share is not evaluated. */
const FEW_ERRORS = 5;
/** Minimum number of permanent failures in 15 minutes: with fewer, their share is not evaluated. */
const FEW_FAILURES = 20;
/** Minimum number of deliveries in 5 minutes: with fewer, one slow delivery would be the 99th percentile. */
const FEW_DELIVERIES = 20;
/** Share of the account's concurrency that raises an alarm, in percent: time to request a higher limit. */
const CLAIMED = 80;
/** Period over which the share of permanent failures is evaluated. */
const FAILURES_PERIOD = Duration.minutes(15);
/** The longest time between two attempts of a failing step of a batch. The alarm lasts for as long as the step fails. */
const LONGEST_POSTPONEMENT = Duration.hours(1);
/** Maximum delay of the stream and the queue, in minutes. */
const BEHIND = 5;

export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  readonly #actions: SnsAction[];
  readonly #baseUrl: string;

  constructor(scope: Construct, id: string, metrics: ServiceMetrics, watched: Watched, props: AlarmsProps) {
    super(scope, id);
    const { topics, baseUrl } = props;
    this.#baseUrl = baseUrl;
    this.#actions = topics.map((topic) => new SnsAction(topic));
    this.#watchDelivery(metrics, watched, props);
    this.#watchRequests(watched);
    this.#watchConcurrency(watched, props.accountConcurrency);
    this.#watchWorkers(metrics, watched);
  }

  #watchDelivery(metrics: ServiceMetrics, { queues }: Watched, { age, latency }: AlarmsProps): void {
    this.#raise('OldestEntry', `An entry has been pending for more than ${age} minutes.`, {
      metric: metrics.of('oldest_s', { statistic: Stats.MAXIMUM }),
      threshold: age * 60,
    });
    this.#raise('AppNetworkFailing', 'The app network accepts nothing, as far as messages show: none reaches a user.', {
      metric: metrics.of('app_network_failing', { statistic: Stats.MAXIMUM }),
      threshold: 0,
      periods: 3,
    });
    this.#raise('PermanentFailures', 'More than one of twenty deliveries fails permanently.', {
      metric: new MathExpression({
        expression: `IF(up >= ${FEW_FAILURES}, 100 * up / SUM([up, done]), 0)`,
        usingMetrics: {
          up: metrics.of('permanently_failed', { statistic: Stats.SUM, period: FAILURES_PERIOD }),
          done: metrics.of('delivered', { statistic: Stats.SUM, period: FAILURES_PERIOD }),
        },
        period: FAILURES_PERIOD,
        label: 'Permanently failed, %',
      }),
      threshold: 5,
    });
    // Without messages to customers: one slow server of a customer would be the 99th percentile of all.
    const toUsers = { period: Duration.minutes(5), dimensionsMap: { type: 'message.send' } };
    this.#raise('SlowDelivery', `One message to a user of a hundred takes longer than ${latency} seconds.`, {
      metric: new MathExpression({
        expression: `IF(done >= ${FEW_DELIVERIES}, slow, 0)`,
        usingMetrics: {
          slow: metrics.of('delivery_ms', { statistic: 'p99', ...toUsers }),
          // A line of a sample counts for many deliveries, but has one time.
          done: metrics.of('delivery_ms', { statistic: Stats.SAMPLE_COUNT, ...toUsers }),
        },
        period: Duration.minutes(5),
        label: 'Delivery time (p99), ms',
      }),
      threshold: latency * 1000,
      periods: 3,
    });
    this.#raise('PostponedBatches', 'A step of a batch fails again and again: its messages wait.', {
      metric: metrics.of('batches_postponed', { statistic: Stats.SUM, period: LONGEST_POSTPONEMENT }),
      threshold: 0,
    });
    this.#raise('WebhookDisabled', 'A webhook returned 410: it gets no more events until it is set again.', {
      metric: metrics.of('webhooks_disabled', { statistic: Stats.SUM }),
      threshold: 0,
    });
    this.#raise(
      'DeadLetters',
      'Deliver, expand, relay or count failed each time on the same work, and left it aside.',
      {
        metric: new MathExpression({
          expression: 'SUM(METRICS())',
          usingMetrics: { wakeUps: lengthOf(queues.deadLetters), batches: lengthOf(queues.failedBatches) },
          period: MINUTE,
          label: 'Messages',
        }),
        threshold: 0,
      },
    );
  }

  #watchRequests({ hosts }: Watched): void {
    const sum = (letter: string): string => `SUM([${hosts.map((_, index) => `${letter}${index}`).join(', ')}])`;
    this.#raise('FailedRequests', 'More than one of a hundred requests returns a server error.', {
      metric: new MathExpression({
        expression: `IF(${sum('e')} >= ${FEW_ERRORS}, 100 * ${sum('e')} / ${sum('n')}, 0)`,
        usingMetrics: Object.fromEntries(
          hosts.flatMap(({ api }, index) => [
            [`e${index}`, api.metricServerError()],
            [`n${index}`, api.metricCount()],
          ]),
        ),
        period: Duration.minutes(5),
        label: 'Server errors, %',
      }),
      threshold: 1,
    });
  }

  /**
   * Before calls are throttled: of all functions in this account and region, because they share the limit. Throttled calls
   * of functions that no client waits for count as all of it. To a client, API Gateway returns a server error for a
   * throttled call, which the alarm FailedRequests counts.
   */
  #watchConcurrency({ functions, reserved }: Watched, accountConcurrency: number): void {
    const throttled = [...Object.values(functions), ...reserved].map((one, index): [string, IMetric] => [
      `f${index}`,
      one.metricThrottles({ statistic: Stats.SUM, period: MINUTE }),
    ]);
    this.#raise(
      'Concurrency',
      `${CLAIMED} % of the account's concurrency in Lambda is in use, or calls are throttled.`,
      {
        metric: new MathExpression({
          expression: `IF(FILL(SUM([${throttled.map(([name]) => name).join(', ')}]), 0) > 0, 100, 100 * claimed / ${accountConcurrency})`,
          usingMetrics: {
            ...Object.fromEntries(throttled),
            claimed: new Metric({
              namespace: 'AWS/Lambda',
              metricName: 'ClaimedAccountConcurrency',
              statistic: Stats.MAXIMUM,
              period: MINUTE,
            }),
          },
          period: MINUTE,
          label: 'Concurrency, %',
        }),
        threshold: CLAIMED,
        comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        periods: 3,
      },
    );
  }

  #watchWorkers(metrics: ServiceMetrics, { functions, queues, table }: Watched): void {
    this.#raise('NoSweep', 'Sweep has not woken conversations for five minutes: scheduled retries do not start.', {
      metric: metrics.of('conversations_woken', { statistic: Stats.SAMPLE_COUNT, period: Duration.minutes(5) }).with({
        label: 'Sweeps',
      }),
      threshold: 0,
      comparison: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
      missing: TreatMissingData.BREACHING,
    });
    this.#raise('WorkerErrors', 'A worker or the authorizer fails repeatedly.', {
      metric: new MathExpression({
        expression: 'SUM(METRICS())',
        usingMetrics: Object.fromEntries(Object.entries(functions).map(([name, one]) => [name, one.metricErrors()])),
        period: MINUTE,
        label: 'Errors of workers',
      }),
      threshold: 0,
      periods: 5,
    });
    this.#raise('WorkersBehind', `Relay, count or deliver is more than ${BEHIND} minutes behind.`, {
      metric: new MathExpression({
        expression: 'MAX([stream, queue])',
        usingMetrics: {
          stream: new MathExpression({
            expression: 'MAX([relay, count]) / 1000',
            usingMetrics: { relay: iteratorAge(functions.relay), count: iteratorAge(functions.count) },
            period: MINUTE,
          }),
          queue: queues.wakeUps.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM }),
        },
        period: MINUTE,
        label: 'Behind, s',
      }),
      threshold: BEHIND * 60,
      periods: 3,
    });
    const throttles = [undefined, ...Object.keys(indexes)].map((index): [string, Metric] => [
      index ?? 'table',
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName: 'WriteThrottleEvents',
        dimensionsMap: {
          TableName: table.tableName,
          ...(index !== undefined && { GlobalSecondaryIndexName: index }),
        },
        statistic: Stats.SUM,
      }),
    ]);
    this.#raise('TableThrottled', 'The table, or an index, throttles writes: one key receives too many.', {
      metric: new MathExpression({
        expression: 'SUM(METRICS())',
        usingMetrics: Object.fromEntries(throttles),
        period: MINUTE,
        label: 'Throttled writes',
      }),
      threshold: 0,
      periods: 3,
    });
  }

  #raise(
    name: string,
    meaning: string,
    {
      metric,
      threshold,
      periods = 1,
      missing = TreatMissingData.NOT_BREACHING,
      comparison = ComparisonOperator.GREATER_THAN_THRESHOLD,
    }: AlarmSettings,
  ): void {
    const alarm = new Alarm(this, name, {
      metric,
      threshold,
      alarmDescription: this.#describe(name, meaning),
      evaluationPeriods: periods,
      comparisonOperator: comparison,
      treatMissingData: missing,
    });
    if (this.#actions.length > 0) {
      alarm.addAlarmAction(...this.#actions);
      // Whoever was told that something is wrong is told when it is over.
      alarm.addOkAction(...this.#actions);
    }
    this.all.push(alarm);
  }

  #describe(name: string, meaning: string): string {
    return `${meaning} Runbook: ${this.#baseUrl}/docs/runbooks.html#${name.toLowerCase()}`;
  }
}

const lengthOf = (queue: IQueue): IMetric =>
  queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: Stats.MAXIMUM });

const iteratorAge = (worker: IFunction): IMetric => worker.metric('IteratorAge', { statistic: Stats.MAXIMUM });
