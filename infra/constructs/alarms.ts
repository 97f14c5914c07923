/** What an operator is woken for: something was given up, or waits too long. */
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

interface AlarmsProps {
  /** Names the deployment in the metrics. */
  stage: string;
  /** ARN of the SNS topic that is told; nobody is, without one. */
  topic: string | undefined;
}

const MINUTE = Duration.minutes(1);

export class Alarms extends Construct {
  readonly #stage: string;
  readonly #action: SnsAction | undefined;

  constructor(scope: Construct, id: string, { stage, topic }: AlarmsProps) {
    super(scope, id);
    this.#stage = stage;
    this.#action = topic === undefined ? undefined : new SnsAction(Topic.fromTopicArn(this, 'Topic', topic));
  }

  /** As soon as there is a message in a queue that should be empty. */
  whenUsed(name: string, queue: IQueue, alarmDescription: string): void {
    const metric = queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: Stats.MAXIMUM });
    this.#raise(name, { metric, threshold: 0, alarmDescription });
  }

  /** As soon as a number in a function's log lines is greater than `threshold`. */
  whenLogged(name: string, logGroup: ILogGroup, field: string, threshold: number, alarmDescription: string): void {
    const namespace = `BusinessApi/${this.#stage}`;
    new MetricFilter(this, `${name}Filter`, {
      logGroup,
      filterPattern: FilterPattern.exists(`$.${field}`),
      metricNamespace: namespace,
      metricName: field,
      metricValue: `$.${field}`,
    });
    const metric = new Metric({ namespace, metricName: field, period: MINUTE, statistic: Stats.MAXIMUM });
    this.#raise(name, { metric, threshold, alarmDescription });
  }

  #raise(name: string, what: { metric: IMetric; threshold: number; alarmDescription: string }): void {
    const alarm = new Alarm(this, name, {
      ...what,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (this.#action) alarm.addAlarmAction(this.#action);
  }
}
