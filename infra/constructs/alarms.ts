/** The alarms. Each description names the section of the runbook with the diagnosis and the fix. */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
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
import { Construct } from 'constructs';
import { indexes } from '../../shared/table/indexes.ts';
import type { Watched } from './dashboard.ts';
import { MINUTE, type ServiceMetrics } from './service-metrics.ts';

interface AlarmsProps {
  /** SNS topics that are notified; without one, alarms notify no one. */
  topics: ITopic[];
  /** URL of the documentation; without one, alarms name the runbook's file. */
  docsUrl: string | undefined;
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
/** Metrics that an alarm may have: "Limits that apply to alarms based on metric math expressions", CloudWatch user guide. */
const MOST_METRICS = 10;

export class Alarms extends Construct {
  readonly all: AlarmBase[] = [];
  readonly #actions: SnsAction[];
  readonly #docsUrl: string | undefined;

  constructor(scope: Construct, id: string, metrics: ServiceMetrics, watched: Watched, props: AlarmsProps) {
    super(scope, id);
    const { topics, docsUrl } = props;
    this.#docsUrl = docsUrl;
    this.#actions = topics.map((topic) => new SnsAction(topic));
    this.#watchDelivery(metrics, watched, props);
    this.#watchRequests(watched);
    this.#watchThrottling(metrics, watched);
    this.#watchConcurrency(props.accountConcurrency);
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
          done: metrics.of('delivered', { statistic: Stats.SUM, ...toUsers }),
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
    this.#raise('DeadLetters', 'Deliver failed five times on a conversation.', hasMessages(queues.deadLetters));
    this.#raise('DeadExpansions', 'Expand failed five times on an account.', hasMessages(queues.deadExpansions));
    this.#raise(
      'FailedBatches',
      'Relay or count failed a batch of the stream permanently.',
      hasMessages(queues.failedBatches),
    );
    this.#raise('QueueBehind', `A wake-up has been queued for more than ${BEHIND} minutes: deliver does not keep up.`, {
      metric: queues.wakeUps.metricApproximateAgeOfOldestMessage({ period: MINUTE, statistic: Stats.MAXIMUM }),
      threshold: BEHIND * 60,
      periods: 3,
    });
  }

  #watchRequests({ hosts, functions }: Watched): void {
    const sum = (letter: string): string => `SUM([${hosts.map((_, place) => `${letter}${place}`).join(', ')}])`;
    this.#raise('FailedRequests', 'More than one of a hundred requests returns a server error.', {
      metric: new MathExpression({
        expression: `IF(${sum('e')} >= ${FEW_ERRORS}, 100 * ${sum('e')} / ${sum('n')}, 0)`,
        usingMetrics: Object.fromEntries(
          hosts.flatMap(({ api }, place) => [
            [`e${place}`, api.metricServerError()],
            [`n${place}`, api.metricCount()],
          ]),
        ),
        period: Duration.minutes(5),
        label: 'Server errors, %',
      }),
      threshold: 1,
    });
    this.#raise('AuthorizerErrors', 'The authorizer fails: requests return 500, whatever their token.', {
      metric: functions.authorizer.metricErrors({ period: Duration.minutes(5) }),
      threshold: FEW_ERRORS,
    });
  }

  /**
   * The metric without a dimension would count every function of the region. There are more functions than one alarm may
   * have metrics, so parts watch some functions each, and one alarm watches the parts and notifies.
   */
  #watchThrottling({ namespace }: ServiceMetrics, { allFunctions }: Watched): void {
    const parts: Alarm[] = [];
    for (let start = 0; start < allFunctions.length; start += MOST_METRICS) {
      const some = allFunctions.slice(start, start + MOST_METRICS);
      const part = new Alarm(this, `Throttled${parts.length + 1}`, {
        metric: ofAll(
          some.map((one, place) => [`f${place}`, one]),
          (one) => one.metricThrottles(),
          'SUM',
          'Throttled calls',
        ),
        threshold: 0,
        alarmDescription: `Part of the alarm Throttled: functions ${start + 1} to ${start + some.length}.`,
        evaluationPeriods: 3,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
      parts.push(part);
    }
    this.#notify(
      new CompositeAlarm(this, 'Throttled', {
        // The default name is the same in each stage, and names are unique in an account.
        compositeAlarmName: `${namespace}/Throttled`,
        alarmDescription: this.#describe('Throttled', 'Lambda throttles calls of our functions.'),
        alarmRule: AlarmRule.anyOf(...parts.map((part) => AlarmRule.fromAlarm(part, AlarmState.ALARM))),
      }),
    );
  }

  /** Before calls are throttled: of all functions in this account and region, because they share the limit. */
  #watchConcurrency(accountConcurrency: number): void {
    this.#raise('ConcurrencyClaimed', `${CLAIMED} % of the account's concurrency in Lambda is in use or reserved.`, {
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: Stats.MAXIMUM,
        period: MINUTE,
      }),
      threshold: (accountConcurrency * CLAIMED) / 100,
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      periods: 3,
    });
  }

  #watchWorkers(metrics: ServiceMetrics, { functions, table }: Watched): void {
    this.#raise('NoSweep', 'Sweep has not woken conversations for five minutes: scheduled retries do not start.', {
      metric: metrics.of('conversations_woken', { statistic: Stats.SAMPLE_COUNT, period: Duration.minutes(5) }).with({
        label: 'Sweeps',
      }),
      threshold: 0,
      comparison: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
      missing: TreatMissingData.BREACHING,
    });
    const workers = Object.entries(functions).filter(([name]) => name !== 'authorizer');
    this.#raise('WorkerErrors', 'A worker fails repeatedly.', {
      metric: ofAll(workers, (worker) => worker.metricErrors(), 'SUM', 'Errors of workers'),
      threshold: 0,
      periods: 5,
    });
    const fed = workers.filter(([name]) => name === 'relay' || name === 'count');
    this.#raise('StreamBehind', `Relay or count is more than ${BEHIND} minutes behind the stream.`, {
      metric: ofAll(fed, iteratorAge, 'MAX', 'Age, ms'),
      threshold: BEHIND * 60_000,
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
    this.#notify(
      new Alarm(this, name, {
        metric,
        threshold,
        alarmDescription: this.#describe(name, meaning),
        evaluationPeriods: periods,
        comparisonOperator: comparison,
        treatMissingData: missing,
      }),
    );
  }

  #notify(alarm: AlarmBase): void {
    if (this.#actions.length > 0) alarm.addAlarmAction(...this.#actions);
    this.all.push(alarm);
  }

  #describe(name: string, meaning: string): string {
    return `${meaning} Runbook: ${this.#runbookOf(name)}`;
  }

  #runbookOf(name: string): string {
    const section = `#${name.toLowerCase()}`;
    return this.#docsUrl === undefined
      ? `infra/docs/runbooks.md${section}`
      : `${this.#docsUrl.replace(/\/$/, '')}/runbooks.html${section}`;
  }
}

/** Raised by any message in a queue that should be empty. */
const hasMessages = (queue: IQueue): AlarmSettings => ({
  metric: queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: Stats.MAXIMUM }),
  threshold: 0,
});

/** One metric over several functions. Functions without data are ignored. */
const ofAll = (
  functions: [string, IFunction][],
  metricOf: (one: IFunction) => IMetric,
  how: 'SUM' | 'MAX',
  label: string,
): MathExpression =>
  new MathExpression({
    expression: `${how}(METRICS())`,
    usingMetrics: Object.fromEntries(functions.map(([name, one]) => [name, metricOf(one)])),
    period: MINUTE,
    label,
  });

const iteratorAge = (worker: IFunction): IMetric => worker.metric('IteratorAge', { statistic: Stats.MAXIMUM });
