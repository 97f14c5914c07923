/**
 * `operator status`: pending messages, circuits, queues, batches and alarms, of the local stack and in AWS as a test simulates
 * it.
 *
 * @module-tag long
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, inject, test } from 'vitest';
import { batchKey, ofPendingBatch } from '../../../../shared/campaigns/entities.ts';
import { put } from '../../../../shared/table/client.ts';
import { spawnOperator } from '../../../support/operator-command.ts';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import {
  addPendingEntries,
  type Environment,
  failingTable,
  hasTerminal,
  machine,
  newId,
  newOutgoing,
  openCircuit,
  operatorIn,
  remote,
} from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';

const OWN = `${inject('stack').table}-status`;

useOwnTable('status');

const NAME = 'business-api-production';

const outputs = { ...servedOutputs, TableName: OWN };

const resource = (type: string, id: string, physical: string): string =>
  `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${physical}</PhysicalResourceId><ResourceType>${type}</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus><LastUpdatedTimestamp>2027-01-31T12:00:00Z</LastUpdatedTimestamp></member>`;

const list = (members: string[], more = ''): string =>
  `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries>${more}</ListStackResourcesResult></ListStackResourcesResponse>`;

const ALARM = 'business-api-production-AlarmsOldestEntry0A1B2C3D-XYZ';

const QUEUES = ['WakeUps', 'Expansions', 'DeadLetters', 'FailedBatches'];

/** The queues and an alarm of a stack, in two pages. */
const resources = (body: string): string =>
  body.includes('NextToken')
    ? list([resource('AWS::CloudWatch::Alarm', 'AlarmsOldestEntry0A1B2C3D', ALARM)])
    : list(
        QUEUES.map((name) => resource('AWS::SQS::Queue', `${name}0A1B2C3D`, `https://sqs/1/${name}`)),
        '<NextToken>2</NextToken>',
      );

const lengths: Record<string, string> = { WakeUps: '1234', Expansions: '2', DeadLetters: '3', FailedBatches: '4' };

const answers = {
  ListStackResources: resources,
  GetQueueAttributes: (body: string) => {
    const name = String(JSON.parse(body).QueueUrl).split('/').at(-1) ?? '';
    return { Attributes: { ApproximateNumberOfMessages: lengths[name] } };
  },
  DescribeAlarms: { MetricAlarms: [] as object[] },
};

const raised = (body: string) => {
  const { AlarmNames, StateValue } = JSON.parse(body);
  const AlarmDescription =
    'An entry is late. Runbook: https://api.example.com/docs/runbooks.html#oldestentry\u001b[31m';
  const alarm = { AlarmName: AlarmNames[0], AlarmDescription, StateUpdatedTimestamp: 1_801_396_800 };
  const ofAnother = { ...alarm, AlarmName: 'of-another-stack' };
  return { MetricAlarms: StateValue === 'ALARM' ? [alarm, ofAnother] : [] };
};

/** Runs the command with `--json`. */
const statusIn = async (env: Environment, ...args: string[]) => {
  const { code, stdout, stderr } = await operatorIn(env, 'status', '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const here = () => machine({ pid: process.pid, table: OWN });

describe('on the local stack', () => {
  test('an empty stack has nothing that waits, and no alarms', async () => {
    expect(await statusIn(await here())).toEqual({
      ...{
        time: expect.any(String),
        alarms: null,
        oldest_pending: null,
        pending_conversations: 0,
        more_pending: false,
      },
      ...{ open_circuits: [], wake_ups: expect.any(Number), expansions: expect.any(Number) },
      ...{ failed_batches: expect.any(Number), dead_letters: expect.any(Number), postponed_batches: 0 },
    });
    const { stdout } = await operatorIn(await here(), 'status');
    expect(stdout).toMatch(/^Alarms +none on the local stack\nOldest pending message +none\n/);
  });

  test('pending messages, the oldest of them, an open circuit and a postponed batch are shown', async () => {
    const account = newId();
    const conversation = { direction: 'platform', account, phone: newPhone() } as const;
    await addPendingEntries(conversation, [newOutgoing(conversation)], { since: '2026-01-31T12:00:00.000000' });
    const young = { ...conversation, phone: newPhone() };
    await addPendingEntries(young, [newOutgoing(young)]);
    await openCircuit(`platform#${account}`);
    const began = { id: 'began', rank: 1, due: '2026-01-31T12:00:00.000Z' };
    const later = { ...began, id: 'later', due: '2999-01-31T12:00:00.000Z' };
    for (const [batch, retry_at] of [
      [began, '2999-01-31T12:00:00.000Z'],
      [{ ...began, id: 'repeated' }, '2026-01-31T12:00:00.000Z'],
      [{ ...began, id: 'never failed' }, undefined],
      [later, undefined],
    ] as const) {
      await put({
        ...batchKey(account, batch.id),
        ...ofPendingBatch(account, batch),
        account,
        expires_at: 99_999_999_999,
        ...(retry_at && { retry_at }),
      });
    }

    expect(await statusIn(await here())).toMatchObject({
      oldest_pending: '2026-01-31T12:00:00.000000',
      pending_conversations: 2,
      open_circuits: [{ destination: `platform#${account}`, failures: 3, open_until: expect.any(String) }],
      postponed_batches: 1,
    });
    const { stdout } = await operatorIn(await here(), 'status');
    expect(stdout).toMatch(/^Oldest pending message +[\d,]+ h \d+ min, since 2026-01-31 12:00 UTC$/m);
    expect(stdout).toMatch(new RegExp(`^OPEN CIRCUIT .+\nplatform#${account} .+ 3$`, 'm'));
  });
});

describe('in AWS', () => {
  test('raised alarms of the stack have their names in the runbooks, and queues their lengths', async () => {
    const env = await serveStacks({ [NAME]: outputs }, { answers: { ...answers, DescribeAlarms: raised } });
    const status = await statusIn(env, '--stack', NAME);
    expect(status).toMatchObject({
      alarms: [
        { name: 'OldestEntry', meaning: expect.stringMatching(/^An entry is late/), since: '2027-01-31T12:00:00.000Z' },
      ],
      ...{ wake_ups: 1_234, expansions: 2, dead_letters: 3, failed_batches: 4 },
    });
    const { stdout } = await operatorIn(env, 'status', '--stack', NAME);
    expect(stdout).toMatch(/^Alarms +1$/m);
    expect(stdout).toMatch(/^Queue of wake-ups +1,234$/m);
    expect(stdout).toMatch(/^OldestEntry {2}2027-01-31 12:00:00 UTC {2}An entry is late\. Runbook: .+#oldestentry/m);
    expect(stdout).not.toContain('\u001b');
  });

  test('without raised alarms, the stack has none', async () => {
    const env = await serveStacks({ [NAME]: outputs }, { answers });
    expect(await statusIn(env, '--stack', NAME)).toMatchObject({ alarms: [] });
  });

  test('what the credentials may not read is named with its right, and the rest is shown', async () => {
    const denied = {
      DescribeAlarms: { error: 'AccessDeniedException' },
      GetQueueAttributes: { error: 'AccessDeniedException' },
    };
    const env = await serveStacks({ [NAME]: outputs }, { answers: { ...answers, ...denied } });
    expect(await statusIn(env, '--stack', NAME)).toMatchObject({
      alarms: { lacks: 'cloudwatch:DescribeAlarms' },
      dead_letters: { lacks: 'sqs:GetQueueAttributes' },
      postponed_batches: expect.any(Number),
    });
    const { stdout } = await operatorIn(env, 'status', '--stack', NAME);
    expect(stdout).toMatch(/^Alarms +not read: needs the right cloudwatch:DescribeAlarms$/m);
  });

  const failures: [what: string, answers: object, line: RegExp][] = [
    [
      'a denied list of resources',
      { ListStackResources: { error: 'AccessDenied' } },
      /cloudformation:ListStackResources/,
    ],
    ['a stack without queues', { ListStackResources: list([]) }, /^error: The stack has no queue \w+\./],
    ['an alarm of another form', { DescribeAlarms: { MetricAlarms: [{}] } }, /unexpected form: MetricAlarms\.0/],
  ];
  test.each(failures)('%s is an error of one line', async (_what, change, line) => {
    const env = await serveStacks({ [NAME]: outputs }, { answers: { ...answers, ...change } });
    const { code, stdout, stderr } = await operatorIn(env, 'status', '--stack', NAME);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(line) });
    expect(stderr).toMatch(/^error: .+\n$/);
  });

  test('a table has no queues and alarms', async () => {
    const { code, stderr } = await operatorIn({ ...remote, TABLE_NAME: OWN }, 'status');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('name its stack with --stack') });
  });

  test('a table that does not answer is an error that a repeat may end', async () => {
    const { env } = await failingTable('InternalServerError', 500);
    const served = await serveStacks({ [NAME]: outputs }, { answers });
    const all = { ...served, AWS_ENDPOINT_URL_DYNAMODB: env.AWS_ENDPOINT_URL_DYNAMODB };
    const child = spawn(process.execPath, ['infra/operator/main.ts', 'status', '--stack', NAME], { env: all });
    expect(await once(child, 'exit')).toEqual([4, null]);
  });
});

describe('--watch', () => {
  /** Starts the command in a separate process. */
  const watch = (env: Environment, ...args: string[]) => spawnOperator(['status', '--watch', ...args], env);

  test('adds plain lines every five seconds without a terminal, until Ctrl-C, which is the usual end', async () => {
    const { child, written } = watch(await here());
    await expect.poll(() => written.stdout.match(/^Alarms /gm)?.length ?? 0).toBeGreaterThan(1);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(written.stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n\nAlarms /);
    expect(written.stdout).not.toContain('\u001b');
  });

  test('prints a document on each line with --json, and says what fails for a moment', async () => {
    let isBroken = false;
    const flaky = {
      ...answers,
      DescribeAlarms: () => (isBroken ? { error: 'ThrottlingException' } : { MetricAlarms: [] }),
    };
    const env = await serveStacks({ [NAME]: outputs }, { answers: flaky });
    const { child, written } = watch(env, '--json', '--stack', NAME);
    const documents = () =>
      written.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    await expect.poll(() => documents()[0]).toMatchObject({ alarms: [] });
    isBroken = true;
    await expect
      .poll(() => documents().at(-1))
      .toMatchObject({ error: expect.stringContaining('AWS throttles the calls') });
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test.skipIf(!hasTerminal)(
    'writes over the previous lines on a terminal, and clears the screen only once',
    async () => {
      const command = `'${process.execPath}' infra/operator/main.ts status --watch`;
      const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { env: await here() });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      await expect.poll(() => printed.split('\u001b[H').length).toBeGreaterThan(2);
      // Ctrl-C
      child.stdin.write('\u0003');
      await once(child, 'exit');
      expect(printed.split('\u001b[2J')).toHaveLength(2);
      expect(printed).toContain('none on the local stack\u001b[K');
    },
  );
});
