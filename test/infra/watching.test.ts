/** Monitoring: alarms with their runbooks, the dashboard and saved queries, all with existing metrics. */
import { readFile } from 'node:fs/promises';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { renderGuide } from '../../infra/docs/site/guide.ts';
import type { OutboxEvent } from '../../shared/outbox/event.ts';
import { events } from '../../shared/telemetry/metrics.ts';
import { useStack } from './support/synthesised.ts';

const { synthesise } = await useStack('linked');
const template = synthesise();

const alarmTopic = 'arn:aws:sns:eu-west-1:111122223333:operators';
/** The stack with other settings: with a topic, with an email address, and with both. */
const toTopic = synthesise({
  stage: 'trial',
  alarmTopic,
  alarmAge: 5,
  alarmLatency: 5,
  accountConcurrency: 10,
});
const toEmail = synthesise({ alarmEmail: 'operators@example.com', monthlyBudget: 250 });
const toBoth = synthesise({ alarmEmail: 'operators@example.com', alarmTopic });

interface Query {
  Expression?: string;
  MetricStat?: { Metric: { Namespace: string; Dimensions?: object[] } };
}

interface AlarmProperties {
  /** Joined by CloudFormation, because it contains the URL of the API host. */
  AlarmDescription: object;
  Namespace?: string;
  MetricName?: string;
  Dimensions?: object[];
  Metrics?: Query[];
  AlarmActions?: string[];
  OKActions?: string[];
}

const alarmsOf = (own: Template): [string, AlarmProperties][] =>
  Object.entries(own.findResources('AWS::CloudWatch::Alarm')).map(([id, { Properties }]) => [
    id.replace(/^Alarms(.*?)[0-9A-F]{8}$/, '$1'),
    Properties,
  ]);

/** The dashboard's body, with "resource" in place of references. */
const dashboard = (): string => {
  const [found] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const parts: (string | object)[] = found?.Properties.DashboardBody['Fn::Join'][1];
  return parts.map((part) => (typeof part === 'string' ? part : 'resource')).join('');
};

const NAMESPACE = 'BusinessApi/production';

/** The service's metrics, each with its dimensions. */
const dimensionsOf = new Map(
  Object.values(events).flatMap(({ by, metrics }) => Object.keys(metrics).map((name) => [name, [...by]] as const)),
);

describe('alarms', () => {
  test('exist for permanent failures, backlog, failed calls, delays, throttling and a stopped sweep', () => {
    expect(alarmsOf(template).map(([name]) => name)).toEqual([
      'OldestEntry',
      'AppNetworkFailing',
      'PermanentFailures',
      'SlowDelivery',
      'PostponedBatches',
      'WebhookDisabled',
      'DeadLetters',
      'FailedRequests',
      'Concurrency',
      'NoSweep',
      'WorkerErrors',
      'WorkersBehind',
      'TableThrottled',
    ]);
  });

  test('have one section each in the runbooks, and no section is without an alarm', async () => {
    const page = renderGuide(await readFile('infra/docs/runbooks.md', 'utf8'));
    const sections = [...page.matchAll(/<h2 id="(\w+)">/g)].map(([, id]) => id);
    const named = alarmsOf(template).map(
      ([, { AlarmDescription }]) => /\/docs\/runbooks\.html#(\w+)"/.exec(JSON.stringify(AlarmDescription))?.[1],
    );
    expect(named.toSorted()).toEqual(sections.toSorted());
  });

  test('have one row each in the guide for operators', async () => {
    const guide = await readFile('infra/docs/operator.md', 'utf8');
    const [, table = ''] = /^\| alarm +\| what is wrong +\|\n([\s\S]+?)\n\n/m.exec(guide) ?? [];
    const named = [...table.matchAll(/^\| (`.+?) +\|/gm)].flatMap(([, names = '']) =>
      names.replaceAll('`', '').split(', '),
    );
    expect(named.toSorted()).toEqual(
      alarmsOf(template)
        .map(([name]) => name)
        .toSorted(),
    );
  });

  test("notify the topic of the setting, and the limit of the backlog's age is a setting", () => {
    for (const [name, { AlarmActions, OKActions }] of alarmsOf(toTopic)) {
      expect(AlarmActions, name).toEqual([alarmTopic]);
      // Whoever was told that something is wrong is told when it is over.
      expect(OKActions, name).toEqual(AlarmActions);
    }
    toTopic.hasResourceProperties('AWS::CloudWatch::Alarm', { MetricName: 'oldest_s', Threshold: 300 });
  });

  test('have at most ten metrics each, the limit of CloudWatch', () => {
    for (const [name, { Metrics = [] }] of alarmsOf(template)) {
      expect(Metrics.filter(({ MetricStat }) => MetricStat).length, name).toBeLessThanOrEqual(10);
    }
  });

  test('count the throttled calls of functions that no client waits for, and of no other stack', () => {
    const reserved = synthesise({ fetchConcurrency: 200 });
    const throttled = (own: Template) => {
      const [, { Metrics = [] } = { Metrics: [] }] = alarmsOf(own).find(([name]) => name === 'Concurrency') ?? [];
      return Metrics.flatMap(({ MetricStat }) =>
        MetricStat && JSON.stringify(MetricStat).includes('"Throttles"')
          ? [JSON.stringify(MetricStat.Metric.Dimensions).replace(/.*"Ref":"(\w+)Function.*/, '$1')]
          : [],
      );
    };
    const all = ['Authorizer', 'Relay', 'Count', 'Expand', 'Deliver', 'Sweep', 'Erase'];
    expect(throttled(template)).toEqual(all);
    expect(throttled(reserved)).toEqual([...all, 'FetchUserData']);
    // Without a dimension, a metric of Lambda counts all functions of the region: they share the account's concurrency.
    for (const [name, { Namespace, Metrics = [] }] of alarmsOf(template)) {
      expect(Namespace, name).not.toBe('AWS/Lambda');
      for (const { MetricStat } of Metrics) {
        if (MetricStat?.Metric.Namespace !== 'AWS/Lambda') continue;
        const isShared = JSON.stringify(MetricStat).includes('ClaimedAccountConcurrency');
        expect(MetricStat.Metric.Dimensions ?? [], name).toHaveLength(isShared ? 0 : 1);
      }
    }
  });

  test('notify an email address by a topic of the stack, which accepts the alarms of this account over TLS only', () => {
    toEmail.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'operators@example.com',
      TopicArn: { Ref: Match.stringLikeRegexp('^AlarmTopic') },
    });
    for (const [name, { AlarmActions }] of alarmsOf(toEmail)) {
      expect(AlarmActions, name).toEqual([{ Ref: expect.stringMatching('^AlarmTopic') }]);
    }
    toEmail.hasOutput('AlarmTopicArn', { Value: { Ref: Match.stringLikeRegexp('^AlarmTopic') } });
    const [policy] = Object.values(toEmail.findResources('AWS::SNS::TopicPolicy'));
    expect(policy?.Properties.PolicyDocument.Statement).toMatchObject([
      { Effect: 'Deny', Principal: '*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      { Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } },
    ]);
    expect(JSON.stringify(policy?.Properties.PolicyDocument.Statement[1].Condition.ArnLike)).toMatch(
      /:cloudwatch:.*AWS::Region.*AWS::AccountId.*:alarm:\*"/,
    );
  });

  test('notify both an email address and a topic of the settings', () => {
    for (const [name, { AlarmActions }] of alarmsOf(toBoth)) {
      expect(AlarmActions, name).toEqual([{ Ref: expect.stringMatching('^AlarmTopic') }, alarmTopic]);
    }
  });

  test('without such settings notify no one, and the stack has no topic', () => {
    for (const [name, { AlarmActions, OKActions }] of alarmsOf(template)) {
      expect([AlarmActions, OKActions], name).toEqual([undefined, undefined]);
    }
    template.resourceCountIs('AWS::SNS::Topic', 0);
  });

  test('SlowDelivery compares the 99th percentile of messages to users with the setting, from 20 deliveries on', () => {
    const alarm = (own: Template) =>
      alarmsOf(own).find(([name]) => name === 'SlowDelivery')?.[1] as AlarmProperties & { Threshold: number };
    expect(alarm(template).Threshold).toBe(30_000);
    expect(alarm(toTopic).Threshold).toBe(5_000);
    expect(alarm(template)).toMatchObject({ EvaluationPeriods: 3, ComparisonOperator: 'GreaterThanThreshold' });
    const { Metrics = [] } = alarm(template);
    expect(Metrics).toMatchObject([
      { Expression: 'IF(done >= 20, slow, 0)' },
      { Id: 'slow', MetricStat: { Metric: { MetricName: 'delivery_ms' }, Stat: 'p99', Period: 300 } },
      { Id: 'done', MetricStat: { Metric: { MetricName: 'delivery_ms' }, Stat: 'SampleCount', Period: 300 } },
    ]);
    const message: OutboxEvent['type'] = 'message.send';
    for (const { MetricStat } of Metrics.slice(1)) {
      expect(MetricStat?.Metric).toMatchObject({ Dimensions: [{ Name: 'type', Value: message }] });
    }
    expect(dimensionsOf.get('delivery_ms')).toEqual(['type']);
  });

  test.each([
    [1_000, template],
    [10, toTopic],
  ])('Concurrency is raised at 80 %% of an account concurrency of %i, and while calls are throttled', (limit, own) => {
    const [, alarm] = alarmsOf(own).find(([name]) => name === 'Concurrency') ?? [];
    expect(alarm).toMatchObject({
      EvaluationPeriods: 3,
      Threshold: 80,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    });
    expect(alarm?.Metrics?.[0]?.Expression).toBe(
      `IF(FILL(SUM([f0, f1, f2, f3, f4, f5, f6]), 0) > 0, 100, 100 * claimed / ${limit})`,
    );
    expect(alarm?.Metrics).toContainEqual({
      Id: 'claimed',
      MetricStat: {
        Metric: { Namespace: 'AWS/Lambda', MetricName: 'ClaimedAccountConcurrency' },
        Period: 60,
        Stat: 'Maximum',
      },
      ReturnData: false,
    });
  });

  test('DeadLetters is raised by one message in a queue of what failed each time', () => {
    const [, alarm] = alarmsOf(template).find(([name]) => name === 'DeadLetters') ?? [];
    expect(alarm).toMatchObject({ Threshold: 0, EvaluationPeriods: 1 });
    const queues = alarm?.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
    expect(queues).toMatchObject(
      ['DeadLetters', 'FailedBatches'].map((name) => ({
        MetricName: 'ApproximateNumberOfMessagesVisible',
        Dimensions: [
          { Value: { 'Fn::GetAtt': [expect.stringMatching(new RegExp(`^${name}[0-9A-F]{8}$`)), 'QueueName'] } },
        ],
      })),
    );
  });

  test('missing data raises only the alarm NoSweep', () => {
    const missing = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).filter(
      ([, { Properties }]) => Properties.TreatMissingData !== 'notBreaching',
    );
    expect(missing.map(([id, { Properties }]) => [id.slice(0, 13), Properties.TreatMissingData])).toEqual([
      ['AlarmsNoSweep', 'breaching'],
    ]);
  });

  test('use only existing metrics of the service', () => {
    const ours = alarmsOf(template).flatMap(([, { Namespace, MetricName, Metrics = [] }]) => [
      ...(Namespace === NAMESPACE ? [MetricName] : []),
      ...[...JSON.stringify(Metrics).matchAll(/"MetricName":"(\w+)","Namespace":"BusinessApi\/production"/g)].map(
        ([, name]) => name,
      ),
    ]);
    expect(ours.length).toBeGreaterThan(4);
    for (const name of ours) expect([...dimensionsOf.keys()]).toContain(name);
  });
});

test('a monthly budget of the account notifies the email address at 80 %, at 100 %, and if 100 % are expected', () => {
  template.resourceCountIs('AWS::Budgets::Budget', 0);
  toEmail.hasResourceProperties('AWS::Budgets::Budget', {
    Budget: {
      // A name would make it impossible to replace the budget.
      BudgetName: Match.absent(),
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 250, Unit: 'USD' },
    },
    NotificationsWithSubscribers: [
      ['ACTUAL', 80],
      ['FORECASTED', 100],
      ['ACTUAL', 100],
    ].map(([NotificationType, Threshold]) => ({
      Notification: { NotificationType, Threshold, ThresholdType: 'PERCENTAGE', ComparisonOperator: 'GREATER_THAN' },
      Subscribers: [{ SubscriptionType: 'EMAIL', Address: 'operators@example.com' }],
    })),
  });
});

describe('the dashboard', () => {
  test('begins with all alarms', () => {
    const { widgets } = JSON.parse(dashboard());
    const status = widgets.find(({ type }: { type: string }) => type === 'alarm');
    expect(status.properties.alarms).toHaveLength(alarmsOf(template).length);
    expect(status.y).toBeLessThan(2);
  });

  test('shows every metric of the service by its dimensions', () => {
    const body = dashboard().replaceAll('\\"', '"');
    const plain = [...body.matchAll(/\["BusinessApi\/production","(\w+)"/g)].map(([, name = '']) => name);
    const searched = [...body.matchAll(/SEARCH\('\{(.+?)\} MetricName="(\w+)"/g)];
    for (const [, set = '', name = ''] of searched) {
      expect(set.replaceAll('"', '').split(','), name).toEqual([NAMESPACE, ...(dimensionsOf.get(name) ?? ['none'])]);
    }
    const shown = new Set([...plain, ...searched.map(([, , name = '']) => name)]);
    expect([...shown].toSorted()).toEqual([...dimensionsOf.keys()].toSorted());
  });

  test('stays within the grid, and no widgets overlap', () => {
    const { widgets } = JSON.parse(dashboard()) as { widgets: Record<'x' | 'y' | 'width' | 'height', number>[] };
    const cells = widgets.flatMap(({ x, y, width, height }) =>
      Array.from({ length: width * height }, (_, cell) => `${x + (cell % width)} ${y + Math.floor(cell / width)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...widgets.map(({ x, width }) => x + width))).toBe(24);
  });
});

test('the metrics of all functions are in the namespace of the stage', () => {
  toTopic.allResourcesProperties('AWS::Lambda::Function', {
    Environment: { Variables: { METRICS_NAMESPACE: 'BusinessApi/trial' } },
  });
});

test('a saved query finds the lines with an id, of all functions and hosts', () => {
  template.hasResourceProperties('AWS::Logs::QueryDefinition', {
    Name: 'BusinessApi/production/Follow an id',
    QueryString: Match.stringLikeRegexp('filter @message like /ID/'),
    LogGroupNames: Object.keys(template.findResources('AWS::Logs::LogGroup')).map((Ref) => ({ Ref })),
  });
});
