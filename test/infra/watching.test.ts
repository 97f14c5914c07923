/** What operators watch by: alarms with their runbooks, the dashboard, saved queries, all over metrics that there are. */
import { readFile } from 'node:fs/promises';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { renderGuide } from '../../infra/docs/guide.ts';
import { events } from '../../shared/telemetry/metrics.ts';
import { useStack } from './support/synthesised.ts';

const { synthesise } = await useStack('linked');
const template = synthesise();

interface Query {
  Expression?: string;
  MetricStat?: { Metric: object };
}

interface AlarmProperties {
  AlarmDescription: string;
  Namespace?: string;
  MetricName?: string;
  Metrics?: Query[];
}

const alarmsOf = (own: Template): [string, AlarmProperties][] =>
  Object.entries(own.findResources('AWS::CloudWatch::Alarm')).map(([id, { Properties }]) => [
    id.replace(/^Alarms(.*?)[0-9A-F]{8}$/, '$1'),
    Properties,
  ]);

/** The dashboard's body, with the names of resources in the places of references. */
const dashboard = (): string => {
  const [found] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const parts: (string | object)[] = found?.Properties.DashboardBody['Fn::Join'][1];
  return parts.map((part) => (typeof part === 'string' ? part : 'resource')).join('');
};

const NAMESPACE = 'BusinessApi/production';

/** Our metrics, with what each is told apart by. */
const measured = new Map(
  Object.values(events).flatMap(({ by, metrics }) => Object.keys(metrics).map((name) => [name, [...by]] as const)),
);

describe('alarms', () => {
  test('are raised for what fails permanently, waits, fails, falls behind, is throttled, or has stopped', () => {
    expect(alarmsOf(template).map(([name]) => name)).toEqual([
      'OldestEntry',
      'AppNetworkFailing',
      'PermanentFailures',
      'DeadLetters',
      'FailedBatches',
      'QueueBehind',
      'FailedRequests',
      'AuthorizerErrors',
      'Throttled',
      'NoSweep',
      'WorkerErrors',
      'StreamBehind',
      'TableThrottled',
    ]);
  });

  test('lead to a section of the runbooks each, and there is none without an alarm', async () => {
    const page = renderGuide(await readFile('infra/docs/runbooks.md', 'utf8'));
    const sections = [...page.matchAll(/<h2 id="(\w+)">/g)].map(([, id]) => id);
    const named = alarmsOf(template).map(([, { AlarmDescription }]) => AlarmDescription.split('runbooks.md#')[1]);
    expect(named.toSorted()).toEqual(sections.toSorted());
  });

  test("lead to the documentation's site, where the setting names it", () => {
    const own = synthesise({ docsUrl: 'https://docs.example.com/api/' });
    expect(alarmsOf(own)[0]?.[1].AlarmDescription).toMatch(
      / Runbook: https:\/\/docs\.example\.com\/api\/runbooks\.html#oldestentry$/,
    );
  });

  test('are sent to the topic that the setting names, and the age of what waits is a setting', () => {
    const alarmTopic = 'arn:aws:sns:eu-west-1:111122223333:operators';
    const own = synthesise({ alarmTopic, alarmAge: 5 });
    own.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [alarmTopic] });
    own.hasResourceProperties('AWS::CloudWatch::Alarm', { MetricName: 'oldest_s', Threshold: 300 });
  });

  test.each(['DeadLetters', 'FailedBatches'])('%s looks at its queue, and one message is enough', (name) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmDescription: Match.stringLikeRegexp(`#${name.toLowerCase()}$`),
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [
        { Name: 'QueueName', Value: { 'Fn::GetAtt': [Match.stringLikeRegexp(`${name}[0-9A-F]{8}$`), 'QueueName'] } },
      ],
      Threshold: 0,
    });
  });

  test('a sweep that is silent is one that has stopped; other silence means that all is well', () => {
    const missing = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).filter(
      ([, { Properties }]) => Properties.TreatMissingData !== 'notBreaching',
    );
    expect(missing.map(([id, { Properties }]) => [id.slice(0, 13), Properties.TreatMissingData])).toEqual([
      ['AlarmsNoSweep', 'breaching'],
    ]);
  });

  test('look at metrics of ours that there are', () => {
    const ours = alarmsOf(template).flatMap(([, { Namespace, MetricName, Metrics = [] }]) => [
      ...(Namespace === NAMESPACE ? [MetricName] : []),
      ...[...JSON.stringify(Metrics).matchAll(/"MetricName":"(\w+)","Namespace":"BusinessApi\/production"/g)].map(
        ([, name]) => name,
      ),
    ]);
    expect(ours.length).toBeGreaterThan(4);
    for (const name of ours) expect([...measured.keys()]).toContain(name);
  });
});

describe('the dashboard', () => {
  test('begins with the alarms, all of them', () => {
    const { widgets } = JSON.parse(dashboard());
    const status = widgets.find(({ type }: { type: string }) => type === 'alarm');
    expect(status.properties.alarms).toHaveLength(alarmsOf(template).length);
    expect(status.y).toBeLessThan(2);
  });

  test('shows every metric of ours, by what it is told apart by', () => {
    const body = dashboard().replaceAll('\\"', '"');
    const plain = [...body.matchAll(/\["BusinessApi\/production","(\w+)"/g)].map(([, name = '']) => name);
    const searched = [...body.matchAll(/SEARCH\('\{(.+?)\} MetricName="(\w+)"/g)];
    for (const [, set = '', name = ''] of searched) {
      expect(set.replaceAll('"', '').split(','), name).toEqual([NAMESPACE, ...(measured.get(name) ?? ['none'])]);
    }
    const shown = new Set([...plain, ...searched.map(([, , name = '']) => name)]);
    expect([...shown].toSorted()).toEqual([...measured.keys()].toSorted());
  });

  test('stays within the grid, and nothing lies upon anything else', () => {
    const { widgets } = JSON.parse(dashboard()) as { widgets: Record<'x' | 'y' | 'width' | 'height', number>[] };
    const cells = widgets.flatMap(({ x, y, width, height }) =>
      Array.from({ length: width * height }, (_, cell) => `${x + (cell % width)} ${y + Math.floor(cell / width)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...widgets.map(({ x, width }) => x + width))).toBe(24);
  });
});

test('functions file their metrics under the deployment', () => {
  const own = synthesise({ stage: 'trial' });
  own.allResourcesProperties('AWS::Lambda::Function', {
    Environment: { Variables: { METRICS_NAMESPACE: 'BusinessApi/trial' } },
  });
});

test('a message is followed by a saved query, over the logs of all functions and hosts', () => {
  const groups = Object.keys(template.findResources('AWS::Logs::LogGroup'));
  template.hasResourceProperties('AWS::Logs::QueryDefinition', {
    Name: 'BusinessApi/production/Follow a message',
    QueryString: Match.stringLikeRegexp("filter message_id = 'MESSAGE'"),
    LogGroupNames: groups.map((Ref) => ({ Ref })),
  });
  const functions = Object.keys(template.findResources('AWS::Lambda::Function'));
  expect(groups).toHaveLength(functions.length + 2);
});
