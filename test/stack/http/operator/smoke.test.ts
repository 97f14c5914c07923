/**
 * `operator smoke`: a day of a customer, and what is left of it.
 *
 * @module-tag long
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { touchesOf } from '../../../../infra/local/aws/database/touches.ts';
import {
  deniedRequest,
  rightsOf,
  rightsUsed,
  type Statement,
  type TableCall,
  transactionEvaluations,
} from '../../../../infra/local/aws/iam/policies.ts';
import { listenOnLoopback } from '../../../../infra/local/aws/loopback.ts';
import { steps } from '../../../../infra/operator/smoke/steps.ts';
import { sharedWaitsKey } from '../../../../shared/accounts/entities.ts';
import { circuitKey } from '../../../../shared/delivery/entities.ts';
import { claimKey } from '../../../../shared/stats/entities.ts';
import { deploymentRole, leadingKeysIn } from '../../../support/deployment-role.ts';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import { type Environment, machine, run } from '../../support/operator.ts';
import { type OwnStack, serveOwnStack } from '../../support/own-stack.ts';

const { dynamodb_endpoint, s3_endpoint, table } = inject('stack');

/** The environment of a machine on which this stack is the local one. */
const machineOf = ({ stack, app }: OwnStack, s3: string, name: string): Promise<Environment> =>
  machine({
    base_url: stack.baseUrl,
    bridge_url: stack.bridgeUrl,
    phone_url: app.phoneUrl,
    dynamodb_endpoint: stack.dynamodbEndpoint,
    s3_endpoint: s3,
    table: name,
    pid: process.pid,
  });

const OPERATOR = { region: 'us-east-1', credentials: { accessKeyId: 'operator', secretAccessKey: 'local' } };

/** The keys of all items in the table, except what concerns all accounts: the network's circuit, and slots of long polls. */
const keysIn = async ({ stack }: OwnStack, TableName: string): Promise<string[]> => {
  const client = new DynamoDBClient({ ...OPERATOR, endpoint: stack.dynamodbEndpoint });
  const { Items = [] } = await client.send(new ScanCommand({ TableName, ProjectionExpression: 'pk, sk' }));
  client.destroy();
  const keys = Items.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`);
  // The record of the command stays.
  const shared = new RegExp(
    `^(OPERATIONS#.*|${circuitKey('app').pk} CIRCUIT|${sharedWaitsKey(0).pk.replace(/0$/, '')}\\d+ WAITS)$`,
  );
  return keys.filter((key) => !shared.test(key)).sort();
};

/** Whether the bucket has an object, by its path. */
const hasObject = async ({ stack }: OwnStack, path: string): Promise<boolean> => {
  const [, Bucket, Key] = path.replace(/\?.*/, '').split('/');
  const client = new S3Client({ ...OPERATOR, endpoint: stack.bucketsEndpoint, forcePathStyle: true });
  try {
    await client.send(new HeadObjectCommand({ Bucket, Key }));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ name: 'NotFound' });
    return false;
  } finally {
    client.destroy();
  }
};

/** The results by step. */
const resultsIn = (stdout: string): Record<string, string> => {
  const { steps: results } = JSON.parse(stdout);
  return Object.fromEntries(results.map(({ step, result }: { step: string; result: string }) => [step, result]));
};

const allPassed = Object.fromEntries(['account', ...Object.keys(steps), 'removal'].map((name) => [name, 'passed']));

/** Reports each message as delivered as soon as its phone has it, as the open local page does. Returns the end of this. */
const reportDeliveries = ({ app }: OwnStack): (() => Promise<void>) => {
  const reported = new Set<string>();
  let isOpen = true;
  const work = (async () => {
    while (isOpen) {
      const shown = app.inbox.phones.flatMap(({ phone }) => app.inbox.shownOn(phone));
      const messages = shown.flatMap(({ type, data }) => (type === 'message.send' ? String(data.id) : []));
      for (const id of messages.filter((one) => !reported.has(one))) {
        reported.add(id);
        await fetch(`${app.phoneUrl}/messages/${id}/states`, { method: 'POST', body: '{"state":"delivered_to_user"}' });
      }
      await pause(10);
    }
  })();
  return async () => {
    isOpen = false;
    await work;
  };
};

const MINUTE = 2_000;

/** Milliseconds for one smoke test: seconds, unless the machine is busy. */
const TIMEOUT_MS = 300_000;

test('on the local stack every step passes; nothing is left, also after a failure and after Ctrl-C', {
  timeout: 3 * TIMEOUT_MS,
}, async () => {
  const name = `${table}-smoke`;
  const own = await serveOwnStack({ name: 'smoke', minute: MINUTE });
  const deleted: string[] = [];
  const bucket = await recording(own.stack.bucketsEndpoint, (method, path) => {
    if (method === 'DELETE') deleted.push(path);
  });
  const env = await machineOf(own, bucket, name);
  const before = await keysIn(own, name);
  const expectNothingLeft = async (runs: number): Promise<void> => {
    // The claims by which log entries were counted are of no account, and expire with them.
    const left = (await keysIn(own, name)).filter((key) => !key.startsWith(claimKey('').pk));
    expect(left).toEqual(before);
    expect(new Set(deleted).size).toBe(runs);
    for (const path of deleted) expect(await hasObject(own, path)).toBe(false);
  };

  const { code, stdout, stderr } = await run(['smoke', '--json'], env, TIMEOUT_MS);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('smoke --remove') });
  expect(resultsIn(stdout)).toEqual(allPassed);
  expect(JSON.parse(stdout)).toMatchObject({ passed: true });
  expect(stdout).not.toContain('bapi_');
  await expectNothingLeft(1);

  // The local page is open: its phones report deliveries at once.
  const stopReports = reportDeliveries(own);
  const watched = await run(['smoke', '--json'], env, TIMEOUT_MS);
  await stopReports();
  expect({ ...watched, results: resultsIn(watched.stdout) }).toMatchObject({ code: 0, results: allPassed });
  await expectNothingLeft(2);

  // The app network fails.
  await fetch(`${own.app.phoneUrl}/behaviour`, { method: 'PUT', body: '{"status":500}' });
  const failing = await run(['smoke', '--wait', '2'], env, TIMEOUT_MS);
  expect(failing.code).toBe(1);
  expect(failing.stdout).toMatch(
    /^The message reaches the app network +FAILED +\d+\.\d +after 2 s: the message is pending/m,
  );
  expect(failing.stdout).toMatch(/^Everything that the test created is removed +passed/m);
  expect(failing.stdout).toMatch(/^The test failed: \d+ passed, \d+ failed/m);
  await expectNothingLeft(3);

  // It is waited for when the test is interrupted.
  const command = spawn(process.execPath, ['infra/operator/main.ts', 'smoke', '--json'], { env, stdio: 'pipe' });
  onTestFinished(() => void command.kill('SIGKILL'));
  const [printed, exited] = [text(command.stdout), once(command, 'exit')];
  command.stderr.resume();
  await expect.poll(async () => (await keysIn(own, name)).some((key) => key.startsWith('MESSAGE#'))).toBe(true);
  command.kill('SIGINT');
  expect(await exited).toEqual([1, null]);
  expect(resultsIn(await printed)).toMatchObject({ account: 'passed', erase: 'skipped', removal: 'passed' });
  await expectNothingLeft(4);
});

/** What the emulator calls the resources of the role for GitHub. */
const RESOURCES: [RegExp, string][] = [
  [/:table\/business-api-\$\{Stage\}-\*\/index\/\*$/, 'Table.Arn/index/*'],
  [/:table\/business-api-\$\{Stage\}-\*$/, 'Table.Arn'],
  [/:s3:::business-api-\$\{Stage\}-\*\/\*$/, 'Bucket.Arn/*'],
  [/:stack\/business-api-\$\{Stage\}\/\*$/, 'Stack.Arn'],
  [/:secret:HashSecret\*$/, 'HashSecret'],
];

/** The statements of that role about the smoke test. */
const roleStatements = async (): Promise<Statement[]> => {
  const { statements } = await deploymentRole();
  return statements
    .filter(({ Sid }) => Sid.startsWith('SmokeTest'))
    .map(({ Action, Resource, Condition }) => ({
      actions: Action,
      resources: Resource.map((arn) => RESOURCES.find(([pattern]) => pattern.test(arn))?.[1] ?? arn),
      leadingKeys: leadingKeysIn(Condition),
    }));
};

/** A proxy that passes calls to a service on. Returns its URL. */
const recording = async (
  target: string,
  onCall: (method: string, path: string, headers: object, body: string) => void,
) => {
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    onCall(incoming.method ?? '', incoming.url ?? '', incoming.headers, body.toString());
    const { method, headers, url = '' } = incoming;
    const call = request(new URL(url, target), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    call.once('error', () => outgoing.destroy()).end(body);
  });
  const url = await listenOnLoopback(server, 0);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return url;
};

const KEYS = { attributes: ['pk', 'sk'], partition: 'pk', indexes: { gsi1: 'gsi1pk', gsi2: 'gsi2pk', gsi3: 'gsi3pk' } };

describe('on a stack in AWS', () => {
  test('every step passes without a server for chat platforms, with the rights of the role for GitHub', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const calls: TableCall[][] = [[{ action: 'cloudformation:DescribeStacks', resource: 'Stack.Arn' }]];
    const tableUrl = await recording(dynamodb_endpoint, (_method, _path, headers, body) => {
      const action = String(Object(headers)['x-amz-target']).replace(/^.*\./, '');
      calls.push(touchesOf({ id: 'Table', keys: KEYS }, action, JSON.parse(body)));
    });
    const bucketUrl = await recording(s3_endpoint, (method) => {
      calls.push([{ action: method === 'DELETE' ? 's3:DeleteObject' : `s3:${method}`, resource: 'Bucket.Arn/object' }]);
    });
    const env = await serveStacks({ trial: servedOutputs });
    const secretsUrl = await recording(String(env.AWS_ENDPOINT_URL_SECRETS_MANAGER), (_method, _path, headers) => {
      calls.push([{ action: String(Object(headers)['x-amz-target']).replace('.', ':'), resource: 'HashSecret' }]);
    });
    const { code, stdout, stderr } = await run(
      ['smoke', '--stack', 'trial', '--json'],
      {
        ...env,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsUrl,
        AWS_ENDPOINT_URL_DYNAMODB: tableUrl,
        AWS_ENDPOINT_URL_S3: bucketUrl,
        // Platforms of this machine, as on the local stack.
        NODE_OPTIONS: '--conditions=local-stack',
        ALLOW_LOOPBACK: 'true',
      },
      TIMEOUT_MS,
    );
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('No chat platform') });
    expect(resultsIn(stdout)).toEqual(allPassed);
    expect(stdout).toContain('both stay pending after a response with 404');

    const statements = await roleStatements();
    for (const evaluation of transactionEvaluations) {
      for (const touches of calls) expect(deniedRequest(statements, touches, evaluation)).toBeUndefined();
    }
    // A statement names several actions and keys, because IAM may evaluate a transaction as a whole.
    const used = calls.flatMap((touches) => rightsUsed(statements, touches));
    const parts = (rights: string[]) => [
      ...new Set(
        rights.flatMap((right) => [right.split(' ').slice(0, 2).join(' '), right.split(' ').slice(1).join(' ')]),
      ),
    ];
    expect(parts(rightsOf(statements)).filter((part) => !parts(used).includes(part))).toEqual([]);
  });

  test('chat platforms without an https address fail their steps, which name the option that helps', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const env = await serveStacks({ trial: servedOutputs });
    const { code, stdout } = await run(['smoke', '--stack', 'trial', '--wait', '20'], env, TIMEOUT_MS);
    expect(code).toBe(1);
    for (const title of ['RapidPro sends a message', 'Turn sends a message', "A user's message and a test message"]) {
      expect(stdout).toMatch(new RegExp(`^${title}.* FAILED .*must be an https address.*--callback-url`, 'm'));
    }
  });

  test('a test that cannot begin changes nothing and says why', async () => {
    const env = await serveStacks({ trial: { ...servedOutputs, TableName: 'not-there' } });
    const { code, stderr } = await run(['smoke', '--stack', 'trial'], env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('There is no table "not-there"') });
  });
});
