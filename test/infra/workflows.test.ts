/** The workflows on GitHub, Dependabot, and the role in AWS that the workflow Deploy assumes. */
import { readFile } from 'node:fs/promises';
import { parseYaml } from '@redocly/openapi-core';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { STAGES_FOLDER, stagesIn } from '../../infra/stages.ts';
import { deploymentRole, isLimitedByTags, leadingKeysIn } from '../support/deployment-role.ts';

const step = v.object({
  uses: v.optional(v.string(), ''),
  run: v.optional(v.string(), ''),
  with: v.optional(v.record(v.string(), v.unknown()), {}),
});

const job = v.object({
  uses: v.optional(v.string()),
  needs: v.optional(v.string()),
  environment: v.optional(v.string()),
  permissions: v.record(v.string(), v.string()),
  steps: v.optional(v.array(step), []),
});

const workflow = v.object({
  on: v.record(v.string(), v.unknown()),
  permissions: v.strictObject({}),
  concurrency: v.object({ 'cancel-in-progress': v.boolean() }),
  jobs: v.record(v.string(), job),
});

const read = async (name: string) => {
  const text = await readFile(`.github/workflows/${name}.yml`, 'utf8');
  return { text, ...v.parse(workflow, parseYaml(text)) };
};

const check = await read('check');
const deploy = await read('deploy');
const laptops = await read('laptops');

describe.each([
  ['check', check],
  ['deploy', deploy],
  ['laptops', laptops],
])('the workflow %s', (_, { text, jobs }) => {
  test('uses actions by commit, because a tag may move, and leaves no token in the checkout', () => {
    const steps = Object.values(jobs).flatMap((one) => one.steps);
    const actions = steps.filter(({ uses }) => uses !== '');
    expect(actions.length).toBeGreaterThan(0);
    for (const { uses, with: options } of actions) {
      expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      if (uses.startsWith('actions/checkout@')) expect(options).toMatchObject({ 'persist-credentials': false });
    }
  });

  test('puts no expression into a script, where its value would be code', () => {
    for (const { run } of Object.values(jobs).flatMap((one) => one.steps)) expect(run).not.toContain('${{');
  });

  test('has no stored secret', () => {
    expect(text).not.toMatch(/\bsecrets\b|ACCESS_KEY/);
  });
});

describe('the workflow check', () => {
  test('runs each part of .ci/run for pull requests and main, with the right to read only', async () => {
    expect(check.on).toMatchObject({ pull_request: null, push: { branches: ['main'] }, workflow_call: null });
    expect(Object.values(check.jobs)).toMatchObject([{ permissions: { contents: 'read' } }]);
    expect(check.jobs.check?.steps.at(-1)).toMatchObject({ run: '.ci/run $PARTS' });
    const parts = [...(await readFile('.ci/run', 'utf8')).matchAll(/^run_([a-z-]+)\(/gm)].map(([, part]) => part);
    expect(check.text).toContain(`parts: [${parts.join(', ').replace('test, long', 'test long')}]`);
  });
});

test('the workflow laptops installs and tests on the systems of other laptops, with the right to read only', () => {
  expect(laptops.on).toMatchObject({ pull_request: null, push: { branches: ['main'] } });
  expect(Object.values(laptops.jobs)).toMatchObject([{ permissions: { contents: 'read' } }]);
  expect(laptops.jobs.test?.steps.at(-1)).toMatchObject({ run: 'npm cit' });
  expect(laptops.text).toContain('system: [macos-15, windows-2025]');
});

describe('the workflow deploy', () => {
  const runs = deploy.jobs.deploy?.steps.map(({ run, uses }) => run || uses.replace(/@.*/, '')) ?? [];

  test('offers the stages that have a file', () => {
    const { workflow_dispatch } = v.parse(
      v.object({
        workflow_dispatch: v.object({ inputs: v.object({ stage: v.object({ options: v.array(v.string()) }) }) }),
      }),
      deploy.on,
    );
    expect(workflow_dispatch.inputs.stage.options.toSorted()).toEqual(stagesIn(STAGES_FOLDER));
  });

  test('waits for the checks, and for the approval of the environment that is called like the stage', () => {
    expect(deploy.jobs.check?.uses).toBe('./.github/workflows/check.yml');
    expect(deploy.jobs.deploy).toMatchObject({
      needs: 'check',
      environment: `\${{ inputs.stage }}`,
      permissions: { contents: 'read', 'id-token': 'write' },
    });
  });

  test('deploys exactly what it synthesised before it had credentials, then runs the smoke test', () => {
    expect(runs).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'npm ci',
      'npx cdk synth --quiet -c stage="$STAGE"',
      'aws-actions/configure-aws-credentials',
      'npx cdk diff --app cdk.out',
      'npx cdk deploy --app cdk.out --require-approval never',
      'npm run --silent operator -- smoke --stack "business-api-$STAGE" $SMOKE_OPTIONS',
    ]);
  });

  test('does not interrupt a deployment', () => {
    expect(deploy.concurrency['cancel-in-progress']).toBe(false);
  });
});

describe('the role for GitHub', async () => {
  const { trust, statements } = await deploymentRole();

  test('can be assumed only by jobs of one environment of one repository', () => {
    expect(trust).toMatchObject([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: {
            'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
            'token.actions.githubusercontent.com:sub': { 'Fn::Sub': `repo:\${Repository}:environment:\${Stage}` },
          },
        },
      },
    ]);
  });

  test('can use three roles of the bootstrap', () => {
    const [assume] = statements;
    expect(assume).toMatchObject({ Action: ['sts:AssumeRole'] });
    expect(assume?.Resource.map((arn) => arn.split(':role/')[1])).toEqual(
      ['deploy', 'file-publishing', 'lookup'].map(
        (name) => `cdk-\${Qualifier}-${name}-role-\${AWS::AccountId}-\${AWS::Region}`,
      ),
    );
  });

  // What the smoke test needs of these is checked where it runs: test/stack/http/operator/smoke.test.ts.
  test('can otherwise only do what the smoke test does, on resources of its stage, and on items by their keys', () => {
    const [, ...others] = statements;
    for (const { Sid, Action, Resource, Condition } of others) {
      // CloudFormation names the secret by its logical id. Its tags tell the stage.
      const ofStage = isLimitedByTags(Condition) ? /:secret:HashSecret\*$/ : /[:/]business-api-\$\{Stage\}[-/]/;
      for (const arn of Resource) expect(arn, Sid).toMatch(ofStage);
      const keys = leadingKeysIn(Condition);
      expect(keys !== undefined, Sid).toBe(Action.every((action) => action.startsWith('dynamodb:')));
      expect(keys ?? [], Sid).not.toContain('*');
    }
    expect(others.map(({ Sid, Action }) => `${Sid}: ${Action.join(' ')}`)).toEqual([
      'SmokeTestStack: cloudformation:DescribeStacks',
      'SmokeTestHashes: secretsmanager:GetSecretValue',
      'SmokeTestAccount: dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem dynamodb:DeleteItem',
      'SmokeTestRemoval: dynamodb:Query dynamodb:BatchWriteItem',
      'SmokeTestIndexes: dynamodb:Query',
      'SmokeTestMedia: s3:DeleteObject',
    ]);
  });
});

test('Dependabot keeps packages and actions up to date, and leaves alone what cannot be updated', async () => {
  const { updates } = v.parse(
    v.object({
      updates: v.array(
        v.object({
          'package-ecosystem': v.string(),
          ignore: v.optional(v.array(v.object({ 'dependency-name': v.string() })), []),
        }),
      ),
    }),
    parseYaml(await readFile('.github/dependabot.yml', 'utf8')),
  );
  expect(updates.map((update) => update['package-ecosystem'])).toEqual(['npm', 'github-actions']);
  const ignored = updates[0]?.ignore.map((one) => one['dependency-name']) ?? [];
  expect(ignored).toContain('@swc/core');
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  for (const name of ignored) expect(names).toContain(name);
});
