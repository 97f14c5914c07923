/**
 * `operator doctor`: on AWS as a test simulates it, and on the local stack.
 *
 * @module-tag long
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { closeServer, freePort, listenOnLoopback } from '../../../../infra/local/aws/loopback.ts';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import { type Environment, machine, operatorIn, remote, run, withoutCredentials } from '../../support/operator.ts';

/** Nothing listens there. */
const UNREACHABLE = `http://127.0.0.1:${await freePort()}`;

const NAME = 'business-api-production';
const TOPIC = 'arn:aws:sns:us-east-1:123456789012:alarms';
const ARN = 'arn:aws:sts::123456789012:assumed-role/deployer/anna';

const outputs = {
  ...servedOutputs,
  BridgeUrl: servedOutputs.BridgeUrl.replace('127.0.0.1', 'localhost'),
  MediaBucketName: 'media-bucket',
  AlarmTopicArn: TOPIC,
};

const subscriptions = (...arns: string[]): string =>
  `<Subscriptions>${arns.map((arn) => `<member><Endpoint>anna@example.com</Endpoint><SubscriptionArn>${arn}</SubscriptionArn></member>`).join('')}</Subscriptions>`;

const SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;

const secretOf = (value: object | string) => ({
  SecretString: typeof value === 'string' ? value : JSON.stringify(value),
});

/** The responses to reads of the app network's secret, and of the secret of hashes. */
const secrets =
  (appNetwork: object, hashes: object = secretOf('of hashes')) =>
  (body: string): object =>
    JSON.parse(body).SecretId === outputs.HashSecretName ? hashes : appNetwork;

const SET_UP = secretOf({ url: 'https://app.example.com', secret: SECRET });

const quota = (ConcurrentExecutions: number) => ({ AccountLimit: { ConcurrentExecutions } });

/** The responses of an account in which all is well. */
const well = {
  GetCallerIdentity: `<GetCallerIdentityResult><Arn>${ARN}</Arn></GetCallerIdentityResult>`,
  GetParameter: { Parameter: { Value: '6' } },
  GetAccountSettings: quota(1_000),
  GetSecretValue: secrets(SET_UP),
  ListSubscriptionsByTopic: subscriptions(`${TOPIC}:1`),
};

type Answers = Record<string, string | object | ((body: string) => string | object)>;

interface Found {
  name: string;
  result: string;
  detail: string;
  fix?: string;
}

/** Runs the command. Returns its checks by name, and the exit code. */
const examine = async (env: Environment, name = NAME) => {
  const { code, stdout, stderr } = await operatorIn(env, 'doctor', '--stack', name, '--json');
  expect(stderr).toBe('');
  const checks: Found[] = JSON.parse(stdout).checks;
  return { code, checks, found: Object.fromEntries(checks.map((check) => [check.name, check])) };
};

describe('in AWS', () => {
  test('a healthy stack passes every check, each on a line of its own', async () => {
    const env = await serveStacks({ [NAME]: outputs }, { answers: well });
    const { code, stdout, stderr } = await operatorIn(env, 'doctor', '--stack', NAME);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.replace(/ {2,}/, '  '))).toEqual([
      '✓ Region  us-east-1',
      expect.stringMatching(/^✓ Clock {2}\d s (behind|ahead of) AWS$/),
      `✓ Credentials  ${ARN}`,
      '✓ Settings  infra/stages/production.json',
      '✓ CDK bootstrap  version 6',
      '✓ Concurrency  1,000 executions: long polls 500, deliver 100, at least 341 for requests',
      '✓ Stack  CREATE_COMPLETE',
      '✓ Outputs  complete',
      '✓ Deployed settings  counterRetention 400, baseDomain none, bridgeDomain none',
      '✓ App network  URL and secret are set',
      '✓ Secret of hashes  exists',
      '✓ 127.0.0.1  resolves',
      '✓ localhost  resolves',
      '✓ Alarms  1 subscription, confirmed',
      '',
    ]);
    expect(stdout).not.toContain(SECRET);
  });

  test('before the first deployment, the checks of the account are made, and the command says which are not', async () => {
    const { code, checks } = await examine(await serveStacks({}, { answers: well }));
    expect(code).toBe(0);
    expect(checks.map(({ name }) => name)).toEqual([
      ...['Region', 'Clock', 'Credentials', 'Settings', 'CDK bootstrap', 'Concurrency', 'Stack'],
    ]);
    expect(checks.at(-1)).toMatchObject({
      result: 'attention',
      detail: `${NAME} is not deployed: the checks of a stack were not made`,
    });
  });

  /** What is wrong, the response that differs, the check that shows it, and its text with the fix. */
  const failures: [what: string, answers: Answers, name: string, text: RegExp][] = [
    [
      'an account without bootstrap',
      { GetParameter: { error: 'ParameterNotFound' } },
      'CDK bootstrap',
      /not prepared for CDK Run "npx cdk bootstrap"\./,
    ],
    [
      'an old bootstrap',
      { GetParameter: { Parameter: { Value: '5' } } },
      'CDK bootstrap',
      /^version 5, and the stack needs 6 Run "npx cdk bootstrap"\./,
    ],
    [
      'a bootstrap version that is no number',
      { GetParameter: { Parameter: { Value: 'six' } } },
      'CDK bootstrap',
      /Parameter\.Value must be/,
    ],
    [
      'the quota of a new account',
      { GetAccountSettings: quota(10) },
      'Concurrency',
      /^Lambda allows 10 executions, and accountConcurrency is 1,000 .+"accountConcurrency": 10 in infra\/stages\/production\.json\./,
    ],
    ['throttling', { GetAccountSettings: { error: 'TooManyRequestsException' } }, 'Concurrency', /TooManyRequests/],
    ['a response that is not JSON', { GetAccountSettings: '<html>' }, 'Concurrency', /^Unexpected error: SyntaxError/],
    [
      'a secret that CloudFormation has generated',
      { GetSecretValue: secrets(secretOf('fxWq3')) },
      'App network',
      /messages stay pending Run "npm run operator -- app-network set --url .+ --stack business-api-production"/,
    ],
    [
      'a secret without URL',
      { GetSecretValue: secrets(secretOf({ secret: SECRET })) },
      'App network',
      /no valid URL and signing secret/,
    ],
    [
      'a secret that is malformed',
      { GetSecretValue: secrets(secretOf({ url: 'https://app.example.com', secret: 'hunter2' })) },
      'App network',
      /no valid URL and signing secret/,
    ],
    [
      'a secret without value',
      { GetSecretValue: secrets({ error: 'ResourceNotFoundException' }) },
      'App network',
      /no valid URL and signing secret/,
    ],
    [
      'a secret of hashes that does not exist',
      { GetSecretValue: secrets(SET_UP, { error: 'ResourceNotFoundException' }) },
      'Secret of hashes',
      /^It does not exist, or has no value Never write another value/,
    ],
    [
      'a secret of hashes that is empty',
      { GetSecretValue: secrets(SET_UP, secretOf('')) },
      'Secret of hashes',
      /^It has no value Never write another value/,
    ],
    [
      'a secret of hashes that somebody has deleted',
      { GetSecretValue: secrets(SET_UP, { error: 'InvalidRequestException' }) },
      'Secret of hashes',
      /^It is marked for deletion Run "aws secretsmanager restore-secret --secret-id hash-secret" /,
    ],
    [
      'a throttled read of the secret of hashes',
      { GetSecretValue: secrets(SET_UP, { error: 'ThrottlingException' }) },
      'Secret of hashes',
      /^AWS throttles the calls/,
    ],
    [
      'a subscription that waits',
      { ListSubscriptionsByTopic: subscriptions(`${TOPIC}:1`, 'PendingConfirmation') },
      'Alarms',
      /^1 of 2 subscriptions not confirmed Open the link/,
    ],
    [
      'a topic without subscriber',
      { ListSubscriptionsByTopic: subscriptions('Deleted') },
      'Alarms',
      /no subscriber Subscribe to arn:/,
    ],
  ];
  test.each(failures)('%s fails its check alone, with the fix', async (_what, answers, name, text) => {
    const env = await serveStacks({ [NAME]: outputs }, { answers: { ...well, ...answers } });
    const { code, checks, found } = await examine(env);
    expect(code).toBe(1);
    expect(checks.filter(({ result }) => result !== 'ok').map((check) => check.name)).toEqual([name]);
    expect(found[name]).toMatchObject({ result: 'failed' });
    expect([found[name]?.detail, found[name]?.fix].join(' ')).toMatch(text);
    for (const secret of ['hunter2', SECRET, 'fxWq3', 'anna@example.com']) {
      expect(JSON.stringify(checks)).not.toContain(secret);
    }
  });

  test.each([
    ['GetParameter', 'AccessDeniedException', 'CDK bootstrap', 'ssm:GetParameter'],
    ['GetAccountSettings', 'AccessDeniedException', 'Concurrency', 'lambda:GetAccountSettings'],
    ['DescribeStacks', 'AccessDenied', 'Stack', 'cloudformation:DescribeStacks'],
    ['GetSecretValue', 'AccessDeniedException', 'App network', 'secretsmanager:GetSecretValue'],
    ['GetSecretValue', 'AccessDeniedException', 'Secret of hashes', 'secretsmanager:GetSecretValue'],
    ['ListSubscriptionsByTopic', 'AuthorizationError', 'Alarms', 'sns:ListSubscriptionsByTopic'],
  ])('a denied %s is a check that was not made, and does not fail', async (action, error, name, right) => {
    const env = await serveStacks({ [NAME]: outputs }, { answers: { ...well, [action]: { error } } });
    const { code, found } = await examine(env);
    expect(code).toBe(0);
    expect(found[name]).toEqual({ name, result: 'attention', detail: `not checked: needs the right ${right}` });
  });

  test.each([
    ['UPDATE_COMPLETE', 'ok', undefined],
    ['UPDATE_IN_PROGRESS', 'attention', /when CloudFormation has finished/],
    ['UPDATE_ROLLBACK_COMPLETE', 'attention', /last deployment failed/],
    ['ROLLBACK_COMPLETE', 'failed', /deploy again/],
    ['UPDATE_ROLLBACK_FAILED', 'failed', /deploy again/],
  ])('a stack with the status %s is %s', async (status, result, fix) => {
    const { found } = await examine(await serveStacks({ [NAME]: outputs }, { answers: well, status }));
    expect(found.Stack).toMatchObject({ result, detail: status });
    if (fix !== undefined) expect(found.Stack?.fix).toMatch(fix);
  });

  test('after a deletion that failed, doctor and all other commands say how to empty the bucket', async () => {
    const env = await serveStacks({ [NAME]: outputs }, { answers: well, status: 'DELETE_FAILED' });
    const { code, checks } = await examine(env);
    expect(code).toBe(1);
    const { detail, fix } = checks.at(-1) ?? {};
    expect(detail).toContain('"The bucket you tried to delete is not empty"');
    expect(fix).toContain('"aws s3 rm s3://media-bucket --recursive"');
    const guide = await readFile('infra/docs/operator.md', 'utf8');
    const steps = String(fix).replace('media-bucket', 'BUCKET').replace(NAME, 'business-api-STAGE');
    expect([...steps.matchAll(/"(aws .+?)"/g)].map(([, line = '']) => guide.includes(`   ${line}\n`))).toEqual([
      true,
      true,
    ]);
    const { code: other, stderr } = await operatorIn(env, 'status', '--stack', NAME);
    expect({ other, stderr }).toEqual({ other: 1, stderr: expect.stringContaining(String(fix)) });
  });

  test('a host without DNS record and missing outputs fail', async () => {
    const { TableName: _, ...rest } = outputs;
    const env = await serveStacks({ [NAME]: { ...rest, BaseUrl: 'https://api.invalid' } }, { answers: well });
    const { code, found } = await examine(env);
    expect(code).toBe(1);
    expect(found['api.invalid']).toMatchObject({ result: 'failed', detail: 'does not resolve' });
    expect(found.Outputs).toMatchObject({ result: 'failed', detail: 'TableName missing' });
  });

  test.each([
    ['127.0.0.1', 'ok', 'resolves to 127.0.0.1'],
    ['127.0.0.2', 'attention', 'resolves, but not to 127.0.0.2'],
    ['d-1.invalid', 'attention', 'resolves, but not to d-1.invalid'],
  ])('a domain at 127.0.0.1 whose target in API Gateway is %s: %s', async (target, result, detail) => {
    const own = { ...outputs, BaseDomainTarget0A1B2C3D: target };
    const { found } = await examine(await serveStacks({ [NAME]: own }, { answers: well }));
    expect(found['127.0.0.1']).toMatchObject({ result, detail });
  });

  test('deployed settings that differ from the file of the stage need attention', async () => {
    const own = { ...outputs, CounterRetention: '365', BaseDomainTarget0A1B2C3D: '127.0.0.1' };
    const { code, found } = await examine(await serveStacks({ [NAME]: own }, { answers: well }));
    expect({ code, found: found['Deployed settings'] }).toEqual({
      code: 0,
      found: {
        name: 'Deployed settings',
        result: 'attention',
        detail:
          'counterRetention 365, baseDomain 127.0.0.1, bridgeDomain none; the file of the stage has counterRetention: 400, baseDomain: none',
        fix: 'Deploy the stack, or correct infra/stages/production.json.',
      },
    });
  });

  test('temporary credentials are shown with their end', async () => {
    const env = {
      ...(await serveStacks({}, { answers: well })),
      AWS_SESSION_TOKEN: 'session',
      AWS_CREDENTIAL_EXPIRATION: '2099-01-31T12:00:00Z',
    };
    const { found } = await examine(env);
    expect(found.Credentials).toMatchObject({ result: 'ok', detail: `${ARN}, until 2099-01-31 12:00 UTC` });
  });

  test('a stack whose alarms notify nobody, and a higher quota than the setting, need attention only', async () => {
    const { AlarmTopicArn: _, ...rest } = outputs;
    const env = await serveStacks({ [NAME]: rest }, { answers: { ...well, GetAccountSettings: quota(3_000) } });
    const { code, found } = await examine(env);
    expect(code).toBe(0);
    expect(found.Alarms).toMatchObject({ result: 'attention', detail: 'notify nobody' });
    expect(found.Concurrency).toMatchObject({
      result: 'attention',
      fix: expect.stringContaining('"accountConcurrency": 3000'),
    });
  });

  test.each([
    ['trial', 'attention', /not named business-api-STAGE/],
    ['business-api-trial', 'failed', /There is no infra\/stages\/trial\.json/],
  ])('the settings of the stack %s need attention or fail', async (name, result, detail) => {
    const { found } = await examine(await serveStacks({ [name]: outputs }, { answers: well }), name);
    expect(found.Settings).toMatchObject({ result, detail: expect.stringMatching(detail) });
    expect(found.Concurrency).toMatchObject({ result: 'ok', detail: '1,000 executions' });
  });

  test.each([
    [-240_000, 'ok'],
    [360_000, 'failed'],
    [-360_000, 'failed'],
  ])('a clock that differs by %i ms from that of AWS is %s', async (difference, result) => {
    const date = new Date(Date.now() + difference);
    const { found } = await examine(await serveStacks({ [NAME]: outputs }, { answers: well, date }));
    expect(found.Clock).toMatchObject({ result });
  });

  test.each([
    ['without region', { AWS_REGION: undefined, AWS_CONFIG_FILE: '/dev/null' }, ['Region'], /Set AWS_REGION/],
    ['without credentials', withoutCredentials, ['Region', 'Clock', 'Credentials'], /No AWS credentials were found/],
    ['without network', { AWS_ENDPOINT_URL_STS: UNREACHABLE }, ['Region', 'Clock', 'Credentials'], /refuses/],
  ])('%s, the command ends with the check that failed', async (_what, change, names, text) => {
    const env = { ...(await serveStacks({ [NAME]: outputs }, { answers: well })), ...change };
    const { code, stdout } = await run(['doctor', '--stack', NAME, '--json'], env);
    const checks: Found[] = JSON.parse(stdout).checks;
    expect({ code, names: checks.map(({ name }) => name) }).toEqual({ code: 1, names });
    expect(checks.at(-1)).toMatchObject({ result: 'failed', detail: expect.stringMatching(text) });
  });

  test.each([
    ['InvalidClientTokenId', /AWS rejects the credentials/],
    ['ExpiredToken', /credentials have expired/],
    ['SignatureDoesNotMatch', /AWS rejects the credentials/],
  ])('credentials that AWS rejects with %s fail, without AWS words', async (error, text) => {
    const answers = { ...well, GetCallerIdentity: { error } };
    const { code, checks } = await examine(await serveStacks({ [NAME]: outputs }, { answers }));
    expect({ code, last: checks.at(-1) }).toEqual({
      code: 1,
      last: { name: 'Credentials', result: 'failed', detail: expect.stringMatching(text) },
    });
  });

  test('control characters of AWS do not reach the terminal', async () => {
    const answers = { ...well, GetCallerIdentity: '<Arn>arn:\u001b[31m</Arn>' };
    const { stdout } = await operatorIn(await serveStacks({}, { answers }), 'doctor', '--stack', NAME);
    expect(stdout).not.toContain('\u001b');
  });

  test('a table has no deployment', async () => {
    const { code, stderr } = await operatorIn(remote, 'doctor');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('name its stack with --stack') });
  });
});

describe('on the local stack', () => {
  /** Serves the page and the clock of a local stack. Returns the machine on which it runs. */
  const machineWith = async (clock: object, status = 200): Promise<Environment> => {
    const server = createServer((request, response) =>
      response.writeHead(status).end(request.url === '/clock' ? JSON.stringify(clock) : ''),
    );
    const phone_url = await listenOnLoopback(server, 0);
    onTestFinished(() => closeServer(server));
    return machine({ pid: process.pid, phone_url });
  };
  const real = { time: '2027-01-31T12:00:00.000Z', ahead_s: 0, rate: 1 };

  test('a healthy one passes every check', async () => {
    const { code, stdout, stderr } = await operatorIn(await machineWith(real), 'doctor');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('--stack') });
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^✓ Table {5}\d+ accounts$/),
      expect.stringMatching(/^[✓!] Queues {4}/),
      '✓ API host  answers',
      '✓ Phone     answers',
      '✓ Clock     real time',
    ]);
  });

  test('a page that fails is a failed check, with the fix', async () => {
    const { code, stdout } = await operatorIn(await machineWith(real, 500), 'doctor');
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/✗ Phone +answers with 500\n +Fix: .+npm start/),
    });
  });

  test('a host that does not answer is a failed check', async () => {
    const env = await machine({ pid: process.pid, base_url: UNREACHABLE });
    const { code, stdout } = await operatorIn(env, 'doctor');
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/✗ API host +does not answer/) });
  });

  test('a clock that is ahead needs attention', async () => {
    // In a process of its own, which takes over the clock.
    const { code, stdout } = await run(['doctor', '--json'], await machineWith({ ...real, ahead_s: 60 }));
    expect(code).toBe(0);
    expect(JSON.parse(stdout).checks.at(-1)).toMatchObject({
      name: 'Clock',
      result: 'attention',
      detail: `at ${real.time}`,
    });
  });

  test('without one, the command says how to start it', async () => {
    const { code, stderr } = await operatorIn(await machine(), 'doctor');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('npm start') });
  });
});
