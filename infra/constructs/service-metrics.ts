/** The metrics that CloudWatch extracts from the functions' log lines (`shared/telemetry/metrics.ts`). */
import { type IMetric, MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import { type EventName, events } from '../../shared/telemetry/metrics.ts';

type MetricOf<Name extends EventName> = Name extends EventName
  ? keyof (typeof events)[Name]['metrics'] & string
  : never;

/** The name of a metric of the service. */
export type MetricName = MetricOf<EventName>;

export const MINUTE = Duration.minutes(1);

export class ServiceMetrics {
  readonly namespace: string;

  /** @param stage - the name of the deployment */
  constructor(stage: string) {
    this.namespace = `BusinessApi/${stage}`;
  }

  /** A metric without dimensions, or with the dimensions of the options. */
  of(metricName: MetricName, options: MetricOptions = {}): Metric {
    return new Metric({ namespace: this.namespace, metricName, period: MINUTE, ...options });
  }

  /** A metric by its event's dimension: one line per value. */
  each(metricName: MetricName, statistic: string): IMetric {
    const by = dimensionsOf(metricName);
    const search = `{${[this.namespace, ...by].map((name) => `"${name}"`).join(',')}} MetricName="${metricName}"`;
    return new MathExpression({
      expression: `SEARCH('${search}', '${statistic}', ${MINUTE.toSeconds()})`,
      usingMetrics: {},
      label: '',
      period: MINUTE,
    });
  }
}

const dimensionsOf = (metric: MetricName): readonly string[] =>
  Object.values(events).find(({ metrics }) => metric in metrics)?.by ?? [];
