import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Capture, Match, Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundles, bundleFunctions } from '../../infra/bundle.ts';
import { HttpHost } from '../../infra/constructs/http-host.ts';
import { readSettings } from '../../infra/settings.ts';
import { BusinessApiStack } from '../../infra/stack.ts';
import { api } from '../../shared/api.ts';

let folder: string;
let bundles: Bundles;
let template: Template;

const synthesise = (context: Record<string, unknown> = {}): Template => {
  const app = new App({ analyticsReporting: false, outdir: join(folder, 'out') });
  return Template.fromStack(
    new BusinessApiStack(app, 'BusinessApi', { settings: readSettings((name) => context[name]), bundles }),
  );
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'business-api-'));
  bundles = await bundleFunctions(folder, 'minified');
  template = synthesise();
});

afterAll(() => rm(folder, { recursive: true }));

const resources = (type: string) => Object.entries(template.findResources(type));

/** What a role allows on the table, in the words of the access patterns: `action partitions` or `action partitions index`. */
const allowedTo = (functionId: string): string[] => {
  const policies = resources('AWS::IAM::Policy').filter(([id]) => id.startsWith(`${functionId}Role`));
  expect(policies).toHaveLength(1);
  return policies.flatMap(([, { Properties }]) =>
    Properties.PolicyDocument.Statement.flatMap((statement: Record<string, unknown>) => {
      const actions = [statement.Action].flat() as string[];
      if (actions.every((action) => action.startsWith('logs:'))) {
        expect(actions).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
        expect(statement.Resource).toEqual({ 'Fn::GetAtt': [expect.stringMatching(`^${functionId}Logs`), 'Arn'] });
        return [];
      }
      const condition = statement.Condition as Record<string, Record<string, unknown>>;
      expect(condition.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
      const partitions = condition['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] as string[];
      const index = JSON.stringify(statement.Resource).match(/\/index\/(\w+)"/)?.[1];
      if (index === undefined)
        expect(statement.Resource).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^Table/), 'Arn'] });
      return actions.map((action) => [action.replace('dynamodb:', ''), ...partitions, index].filter(Boolean).join(' '));
    }),
  );
};

describe('each role allows what its function does, and nothing else', () => {
  test.each([
    ['Authorizer', ['GetItem TOKEN#*']],
    ['CreateProfiler', ['PutItem PROFILERS#*']],
    ['ListProfilers', ['Query PROFILERS#*']],
    ['ReadProfiler', ['GetItem PROFILERS#*']],
    ['DeleteProfiler', ['UpdateItem PROFILERS#*']],
    ['AnswerProfiler', ['GetItem PROFILERS#*', 'GetItem USER#*', 'PutItem ANSWERS#*']],
    ['Sweep', ['Query DUE#* gsi1', 'Query ANSWERS#*', 'BatchWriteItem ANSWERS#*', 'UpdateItem PROFILERS#*']],
  ])('%s', (functionId, allowed) => {
    expect(allowedTo(functionId)).toEqual(allowed);
  });

  test('no function is missing from this table, and no role has another policy', () => {
    expect(resources('AWS::IAM::Policy')).toHaveLength(Object.keys(api).length + 2);
    for (const [, { Properties }] of resources('AWS::IAM::Role')) {
      expect(Object.keys(Properties)).toEqual(['AssumeRolePolicyDocument']);
    }
  });
});

describe('each function', () => {
  test('runs its own bundle on Node.js 24 and arm64, with a role and a log group of its own', () => {
    const functions = resources('AWS::Lambda::Function');
    expect(functions).toHaveLength(Object.keys(api).length + 2);
    for (const [, { Properties }] of functions) {
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
    }
    const own = (pick: (properties: Record<string, never>) => unknown) =>
      new Set(functions.map(([, { Properties }]) => JSON.stringify(pick(Properties)))).size;
    expect(own(({ Role }) => Role)).toBe(functions.length);
    expect(own(({ LoggingConfig }) => LoggingConfig)).toBe(functions.length);
    expect(own(({ Code: code }) => code)).toBe(functions.length);
  });

  test('that talks to the table is at most 230 KB', async () => {
    for (const bundle of Object.values(bundles)) {
      const { length } = await readFile(join(bundle, 'index.mjs'));
      expect(length, bundle).toBeLessThanOrEqual(230 * 1024);
    }
  });

  test('keeps its log lines for the time that the setting gives', () => {
    for (const [, { Properties }] of resources('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays).toBe(30);
    synthesise({ logRetention: 90 }).allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
  });
});

describe('the hosts', () => {
  test('serve each route of the API by its function, behind the bearer authorizer', () => {
    for (const [name, { routes }] of Object.entries(api)) {
      for (const { method, path } of routes) {
        const target = new Capture();
        template.hasResourceProperties('AWS::ApiGatewayV2::Route', {
          RouteKey: `${method} ${path}`,
          AuthorizationType: 'CUSTOM',
          AuthorizerId: { Ref: Match.stringLikeRegexp('Bearer') },
          Target: { 'Fn::Join': ['', ['integrations/', { Ref: target }]] },
        });
        const integration = template.findResources('AWS::ApiGatewayV2::Integration')[target.asString()];
        const pascal = name.charAt(0).toUpperCase() + name.slice(1);
        expect(integration?.Properties).toMatchObject({
          IntegrationType: 'AWS_PROXY',
          PayloadFormatVersion: '2.0',
          IntegrationUri: { 'Fn::GetAtt': [expect.stringMatching(`^${pascal}Function`), 'Arn'] },
        });
      }
    }
    const routes = Object.values(api).flatMap((endpoint) => [...endpoint.routes]);
    template.resourceCountIs('AWS::ApiGatewayV2::Route', routes.length);
  });

  test('ask the authorizer by the Authorization header, and remember its answer for a minute', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      AuthorizerType: 'REQUEST',
      AuthorizerPayloadFormatVersion: '2.0',
      EnableSimpleResponses: true,
      IdentitySource: ['$request.header.Authorization'],
      AuthorizerResultTtlInSeconds: 60,
    });
  });

  test('would ask it without identity source or memory for a route whose token is in its path', () => {
    const stack = new Stack(new App());
    const handler = new LambdaFunction(stack, 'F', {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('exports.handler = async () => ({})'),
    });
    const host = new HttpHost(stack, 'Host', {
      description: 'Test',
      domain: undefined,
      throttle: { rateLimit: 1, burstLimit: 1 },
      logRetention: 1,
    });
    host.authorizeWith(handler);
    host.serve({ host: 'bridge', method: 'POST', path: '/hook/{encoded_token}' }, 'path', handler);
    host.serve({ host: 'bridge', method: 'GET', path: '/open' }, 'none', handler);
    const own = Template.fromStack(stack);
    own.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      IdentitySource: [],
      AuthorizerResultTtlInSeconds: 0,
      EnableSimpleResponses: true,
    });
    own.hasResourceProperties('AWS::ApiGatewayV2::Route', { RouteKey: 'GET /open', AuthorizationType: 'NONE' });
  });

  test('throttle, and log each access without path, address or header', () => {
    const formats = resources('AWS::ApiGatewayV2::Stage').map(([, { Properties }]) => {
      expect(Properties).toMatchObject({
        StageName: '$default',
        DefaultRouteSettings: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 },
        AccessLogSettings: { DestinationArn: expect.anything() },
      });
      return Properties.AccessLogSettings.Format as string;
    });
    expect(formats).toHaveLength(2);
    for (const format of formats) {
      expect(JSON.parse(format)).toMatchObject({ request_id: '$context.requestId', route: '$context.routeKey' });
      expect(format).not.toMatch(/path|sourceIp|identity|header/i);
    }
  });

  test('take domains of their own, and then no other address', () => {
    const own = synthesise({
      baseDomain: 'api.example.com',
      baseCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/a',
      bridgeDomain: 'bridge.example.com',
      bridgeCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/b',
    });
    own.hasResourceProperties('AWS::ApiGatewayV2::DomainName', { DomainName: 'api.example.com' });
    own.resourceCountIs('AWS::ApiGatewayV2::ApiMapping', 2);
    own.allResourcesProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: true });
    own.hasOutput('BaseUrl', { Value: 'https://api.example.com' });
    own.hasOutput('BridgeUrl', { Value: 'https://bridge.example.com' });
  });
});

describe('the table', () => {
  test('is on demand, recoverable, protected, expires items, and streams what is new', () => {
    template.hasResource('AWS::DynamoDB::GlobalTable', {
      Properties: {
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
        StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          }),
        ],
        GlobalSecondaryIndexes: ['gsi1', 'gsi2', 'gsi3'].map((IndexName) => ({
          IndexName,
          KeySchema: [
            { AttributeName: `${IndexName}pk`, KeyType: 'HASH' },
            { AttributeName: `${IndexName}sk`, KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: Match.anyValue() },
        })),
      },
      DeletionPolicy: 'Retain',
    });
  });

  test('goes with the stack where the setting says so', () => {
    const own = synthesise({ removalPolicy: 'destroy' });
    own.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Delete',
      Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] },
    });
  });
});

test('sweep runs each minute, and is not repeated when it fails', () => {
  template.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    Targets: [
      Match.objectLike({
        Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^SweepFunction'), 'Arn'] },
        RetryPolicy: { MaximumRetryAttempts: 0 },
      }),
    ],
  });
});

test('the outputs name both hosts and the table', () => {
  expect(Object.keys(template.findOutputs('*')).sort()).toEqual(['BaseUrl', 'BridgeUrl', 'TableName']);
});
