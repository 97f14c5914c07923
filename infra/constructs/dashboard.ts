/**
 * The dashboard. First row: alarms. Second row: current figures. Below: graphs for the diagnosis, in the order of a
 * message's path: requests, delivery, destinations, workers and table.
 */
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  type AlarmBase,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  SingleValueWidget,
  Stats,
  TextWidget,
  TextWidgetBackground,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { ServiceTable } from './business-table.ts';
import { type MetricName, MINUTE, type ServiceMetrics } from './service-metrics.ts';

/** The resources whose AWS metrics are watched, in addition to the service's own metrics. */
export interface Watched {
  hosts: { name: string; api: HttpApi }[];
  functions: Record<'authorizer' | 'relay' | 'count' | 'expand' | 'deliver' | 'sweep' | 'erase', IFunction>;
  /** The endpoints' functions with a concurrency of their own. */
  reserved: IFunction[];
  queues: Record<'wakeUps' | 'expansions' | 'deadLetters' | 'failedBatches', IQueue>;
  table: ServiceTable;
}

interface DashboardProps extends Watched {
  metrics: ServiceMetrics;
  alarms: AlarmBase[];
}

/** Columns of the grid. */
const WIDTH = 24;

export class ServiceDashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const rows = [
      [explanation],
      [alarmsOf(props)],
      figures(props),
      requests(props),
      delivery(props),
      destinations(props),
    ];
    new Dashboard(this, 'Dashboard', { widgets: [...rows, parts(props)] });
  }
}

const explanation = new TextWidget({
  markdown:
    '**No alarm means healthy.** If an alarm is red, open it: its description names the section of the runbook. ' +
    'Below: requests, deliveries and the backlog; further down, their causes. Times are UTC, figures per minute.',
  width: WIDTH,
  height: 1,
  background: TextWidgetBackground.TRANSPARENT,
});

const alarmsOf = ({ alarms }: DashboardProps): IWidget =>
  new AlarmStatusWidget({ title: 'Alarms', alarms, width: WIDTH, height: 3 });

/** The row with the figures of the last minute. */
const figures = ({ metrics }: DashboardProps): IWidget[] => {
  const figure = (title: string, name: MetricName, statistic: string): IWidget =>
    new SingleValueWidget({
      title,
      metrics: [metrics.of(name, { statistic, label: ' ' })],
      width: WIDTH / 6,
      height: 3,
    });
  return [
    figure('Requests', 'requests', Stats.SUM),
    figure('Accepted', 'accepted', Stats.SUM),
    figure('Delivered', 'delivered', Stats.SUM),
    figure('Permanently failed', 'permanently_failed', Stats.SUM),
    figure('Pending conversations', 'pending_conversations', Stats.MAXIMUM),
    figure('Oldest entry, s', 'oldest_s', Stats.MAXIMUM),
  ];
};

/** A graph of a third of the row. `right` has its own axis. */
const graph = (title: string, left: IMetric[], right: IMetric[] = []): IWidget =>
  new GraphWidget({
    title,
    left,
    right,
    width: WIDTH / 3,
    height: 6,
    period: MINUTE,
    leftYAxis: { min: 0, showUnits: false },
    rightYAxis: { min: 0, showUnits: false },
  });

/** Percentiles of a duration. */
const spread = (metrics: ServiceMetrics, name: MetricName): IMetric[] =>
  ['p50', 'p90', 'p99'].map((statistic) => metrics.of(name, { statistic, label: statistic }));

const requests = ({ metrics, hosts }: DashboardProps): IWidget[] => [
  graph('Requests, by result', [metrics.each('requests', Stats.SUM)]),
  graph('Time of a request, ms', spread(metrics, 'request_ms')),
  graph(
    'Client and server errors',
    hosts.flatMap(({ name, api }) => [
      api.metricClientError({ label: `${name} 4xx`, period: MINUTE }),
      api.metricServerError({ label: `${name} 5xx`, period: MINUTE }),
    ]),
  ),
];

const delivery = ({ metrics }: DashboardProps): IWidget[] => [
  graph('Accepted, delivered, permanently failed', [
    metrics.of('accepted', { statistic: Stats.SUM, label: 'accepted' }),
    metrics.of('delivered', { statistic: Stats.SUM, label: 'delivered' }),
    metrics.of('permanently_failed', { statistic: Stats.SUM, label: 'permanently failed' }),
  ]),
  graph('From accepted to delivered, ms', spread(metrics, 'delivery_ms')),
  graph(
    'Backlog: pending conversations, and seconds of the oldest entry (right)',
    [
      metrics.of('pending_conversations', { statistic: Stats.MAXIMUM, label: 'conversations' }),
      metrics.of('conversations_woken', { statistic: Stats.SUM, label: 'woken by sweep' }),
    ],
    [metrics.of('oldest_s', { statistic: Stats.MAXIMUM, label: 'oldest, s' })],
  ),
];

const destinations = ({ metrics }: DashboardProps): IWidget[] => [
  graph('Scheduled retries, by reason', [metrics.each('retries_scheduled', Stats.SUM)]),
  graph('Permanent failures and early ends, by reason', [
    metrics.each('permanently_failed', Stats.SUM),
    metrics.each('ended_early', Stats.SUM),
  ]),
  graph('Circuits, disabled webhooks, and postponed batches', [
    metrics.of('circuits_opened', { statistic: Stats.SUM, label: 'opened' }),
    metrics.of('circuits_closed', { statistic: Stats.SUM, label: 'closed' }),
    metrics.of('rate_limited', { statistic: Stats.SUM, label: 'rate limited' }),
    metrics.of('webhooks_disabled', { statistic: Stats.SUM, label: 'webhooks disabled' }),
    metrics.of('batches_postponed', { statistic: Stats.SUM, label: 'batches postponed' }),
    metrics.of('app_network_failing', { statistic: Stats.MAXIMUM, label: 'app network failing' }),
  ]),
];

const parts = ({ metrics, functions, queues, table }: DashboardProps): IWidget[] => [
  graph(
    'Reports of phones; long polls, and their time in ms (right)',
    [
      metrics.each('states', Stats.SUM),
      metrics.each('long_polls', Stats.SUM),
      metrics.of('long_polls_declined', { statistic: Stats.SUM, label: 'long polls without a slot' }),
    ],
    [metrics.of('long_poll_ms', { statistic: 'p50', label: 'long poll, p50' })],
  ),
  graph(
    'Workers: errors, and milliseconds behind (right)',
    Object.entries(functions).map(([label, one]) => one.metricErrors({ label, period: MINUTE })),
    [
      functions.relay.metric('IteratorAge', { statistic: Stats.MAXIMUM, label: 'relay is behind', period: MINUTE }),
      functions.count.metric('IteratorAge', { statistic: Stats.MAXIMUM, label: 'count is behind', period: MINUTE }),
    ],
  ),
  graph(
    'Queues: wake-ups; table: units a minute (right)',
    [
      queues.wakeUps.metricApproximateNumberOfMessagesVisible({ label: 'wake-ups', period: MINUTE }),
      queues.deadLetters.metricApproximateNumberOfMessagesVisible({ label: 'dead letters', period: MINUTE }),
      queues.expansions.metricApproximateNumberOfMessagesVisible({ label: 'expansions', period: MINUTE }),
      queues.failedBatches.metricApproximateNumberOfMessagesVisible({ label: 'failed batches', period: MINUTE }),
    ],
    [
      table.metricConsumedReadCapacityUnits({ label: 'read', period: MINUTE }),
      table.metricConsumedWriteCapacityUnits({ label: 'written', period: MINUTE }),
    ],
  ),
];
