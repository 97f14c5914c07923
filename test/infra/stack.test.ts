import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Capture, Match, Template } from 'aws-cdk-lib/assertions';
import { App, Stack } from 'aws-cdk-lib/core';
import { transform } from 'esbuild';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { BusinessTable } from '../../infra/constructs/business-table.ts';
import { featureFlags } from '../../infra/feature-flags.ts';
import { DESCRIPTION_FILE, TOOLS_FILE } from '../../infra/openapi/write.ts';
import { BOOTSTRAP } from '../../infra/operator/health/aws-checks.ts';
import { batchesOfShard, executionsOf, expandWorkers, readSettings } from '../../infra/settings.ts';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { eraseSteps, sweepSteps } from '../../shared/api/workers.ts';
import { indexes } from '../../shared/table/indexes.ts';
import { parallelOf } from '../bench/growth/deployment.ts';
import { present } from '../bench/growth/design.ts';
import { functionAccess, patternsNamed } from '../support/table-access.ts';
import { useStack } from './support/synthesised.ts';
import { widened } from './support/widened.ts';

const run = promisify(execFile);
const { bundles, build, synthesise } = await useStack('minified');
const template = synthesise();
const CUSTOM = {
  stage: 'test',
  tags: { 'cost-center': '42' },
  moreProperties: { loyalty_tier: 'automatic' },
  fetchConcurrency: 200,
  deliverConcurrency: 50,
  logRetention: 90,
  logSampling: 10,
  systemLogLevel: 'INFO',
  removalPolicy: 'destroy',
  baseDomain: 'api.example.com',
  baseCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/a',
  bridgeDomain: 'bridge.example.com',
  bridgeCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/b',
};
/** The stack with other settings. */
const custom = synthesise(CUSTOM);

const resources = (type: string) => Object.entries(template.findResources(type));

/** The length of a JSON file in a bundle. */
const minifiedLength = async (file: URL): Promise<number> =>
  (await transform(await readFile(file, 'utf8'), { loader: 'json', minify: true })).code.length;

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The logical id in a reference to a resource, without its hash. */
const named = (resource: unknown): string =>
  (JSON.stringify(resource).match(/"(?:Ref|Fn::GetAtt)":\[?"(\w+?)[0-9A-F]{8}"/)?.[1] ?? '') +
  (JSON.stringify(resource).includes('StreamArn') ? ' stream' : '') +
  (JSON.stringify(resource).endsWith('"/*"]]}') ? '/*' : '');

interface Policy {
  PolicyDocument: { Statement: Record<string, unknown>[] };
}

/**
 * The rights of a function's role, in the form of the access patterns. For the table: `action partitions` or `action
 * partitions index`. Otherwise: `service:action resource`.
 */
const allowedTo = (functionId: string): string[] => {
  const policies = resources('AWS::IAM::Role').flatMap(([id, { Properties }]) =>
    id.startsWith(`${functionId}Role`) ? (Properties.Policies as Policy[]) : [],
  );
  expect(policies).toHaveLength(1);
  return policies.flatMap(({ PolicyDocument }) =>
    PolicyDocument.Statement.flatMap((statement) => {
      const actions = [statement.Action].flat() as string[];
      if (actions.every((action) => action.startsWith('logs:'))) {
        expect(actions).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
        expect(statement.Resource).toEqual({
          'Fn::GetAtt': [expect.stringMatching(/^FunctionsLogs[0-9A-F]{8}$/), 'Arn'],
        });
        return [];
      }
      if (statement.Condition === undefined) {
        return actions.map((action) => `${action} ${named(statement.Resource)}`);
      }
      const condition = statement.Condition as Record<string, Record<string, unknown>>;
      expect(condition.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
      const partitions = condition['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] as string | string[];
      const index = JSON.stringify(statement.Resource).match(/\/index\/(\w+)"/)?.[1];
      if (index === undefined)
        expect(statement.Resource).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^Table/), 'Arn'] });
      const words = (action: string, keys: string) => [action.replace('dynamodb:', ''), keys, index].filter(Boolean);
      return actions.flatMap((action) => [partitions].flat().map((keys) => words(action, keys).join(' ')));
    }),
  );
};

const STREAM = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
  (action) => `dynamodb:${action} Table stream`,
);

/** The number of functions that are not endpoints: the authorizer and the workers. */
const NON_ENDPOINTS = 7;

const WAKE_UPS = 'sqs:SendMessage WakeUps';

/** What a worker needs of the queue whose messages it handles. */
const consume = (queue: string): string[] =>
  ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'ChangeMessageVisibility', 'SendMessage'].map(
    (action) => `sqs:${action} ${queue}`,
  );

/** Rights on other resources than the table, without that of hashes. */
const OTHER_RIGHTS: Record<string, string[]> = {
  UploadImage: ['s3:PutObject Media/*'],
  UploadFile: ['s3:PutObject Media/*'],
  ReadMedia: ['s3:GetObject Media/*'],
  SetAvatar: ['s3:PutObject Media/*', 's3:DeleteObject Media/*'],
  ReadAvatar: ['s3:GetObject Media/*'],
  Relay: [...STREAM, 'sqs:SendMessage FailedBatches', WAKE_UPS, 'sqs:SendMessage Expansions'],
  Expand: [...consume('Expansions'), 'sqs:GetQueueAttributes WakeUps', WAKE_UPS],
  Count: [...STREAM, 'sqs:SendMessage FailedBatches'],
  Deliver: ['secretsmanager:GetSecretValue AppNetwork', ...consume('WakeUps')],
  Sweep: [WAKE_UPS, 'sqs:GetQueueAttributes WakeUps', 'sqs:SendMessage Expansions'],
};

describe('each role has exactly the rights of its function', () => {
  // Of the rights that an endpoint or worker declares, `test/fences` reports those that it does not use.
  test.each(functionAccess)('$id', ({ id, access, hashes, wakes }) => {
    const declared = patternsNamed(access).map(({ action, partitions, index }) =>
      [action, partitions, index].filter(Boolean).join(' '),
    );
    const hashing = hashes ? ['secretsmanager:GetSecretValue HashSecret'] : [];
    const waking = wakes ? [WAKE_UPS] : [];
    const expected = [...declared, ...hashing, ...waking, ...(OTHER_RIGHTS[id] ?? []), ...(widened[id] ?? [])];
    expect(allowedTo(id).sort()).toEqual([...new Set(expected)].sort());
  });

  test('the function of the MCP server has no right but that to write log lines: it calls the API with the token of its client', () => {
    expect(allowedTo('HandleMcpMessage')).toEqual([]);
  });

  test('each action on the table is in one statement with all its keys, because IAM checks a batch against one statement', () => {
    for (const [id, { Properties }] of resources('AWS::IAM::Role')) {
      const places = (Properties.Policies as Policy[])
        .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
        .filter(({ Condition }) => Condition !== undefined)
        .flatMap(({ Action, Resource }) => [Action].flat().map((action) => `${action} ${JSON.stringify(Resource)}`));
      expect(places, id).toEqual([...new Set(places)]);
    }
  });

  test('each role has one policy of its own, and no other', () => {
    template.resourceCountIs('AWS::IAM::Policy', 0);
    template.resourceCountIs('AWS::IAM::ManagedPolicy', 0);
    for (const [, { Properties }] of resources('AWS::IAM::Role')) {
      expect(Object.keys(Properties)).toEqual(['AssumeRolePolicyDocument', 'Policies']);
      expect(Properties.Policies).toHaveLength(1);
    }
  });

  test('API Gateway may call the functions of this stack, and nothing else', () => {
    const [[, { Properties }] = ['', { Properties: {} }], ...others] = resources('AWS::IAM::Role').filter(([id]) =>
      id.startsWith('Caller'),
    );
    expect(others).toEqual([]);
    expect(Properties.AssumeRolePolicyDocument.Statement).toMatchObject([
      { Principal: { Service: 'apigateway.amazonaws.com' } },
    ]);
    const [{ PolicyDocument }] = Properties.Policies;
    expect(PolicyDocument.Statement).toMatchObject([{ Action: 'lambda:InvokeFunction', Effect: 'Allow' }]);
    expect(JSON.stringify(PolicyDocument.Statement[0].Resource)).toMatch(/":function:BusinessApi-\*"\]\]\}$/);
    for (const type of ['Integration', 'Authorizer']) {
      for (const [id, { Properties: own }] of resources(`AWS::ApiGatewayV2::${type}`)) {
        const { CredentialsArn, AuthorizerCredentialsArn = CredentialsArn } = own;
        expect(AuthorizerCredentialsArn, id).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^Caller/), 'Arn'] });
      }
    }
    // Only EventBridge has permissions in the policies of functions.
    for (const [, { Properties: own }] of resources('AWS::Lambda::Permission')) {
      expect(own.Principal).toBe('events.amazonaws.com');
    }
  });
});

describe('each function', () => {
  test('runs its own bundle on Node.js 24 and arm64, with its own role and a name that logs contain', () => {
    const functions = resources('AWS::Lambda::Function');
    expect(functions).toHaveLength(Object.keys(api).length + NON_ENDPOINTS);
    for (const [, { Properties }] of functions) {
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
    }
    const own = (pick: (properties: Record<string, never>) => unknown) =>
      new Set(functions.map(([, { Properties }]) => JSON.stringify(pick(Properties)))).size;
    expect(own(({ Role }) => Role)).toBe(functions.length);
    expect(own(({ LoggingConfig }) => LoggingConfig)).toBe(1);
    for (const [id, { Properties }] of functions) {
      expect(id).toMatch(new RegExp(`^${Properties.FunctionName.replace('BusinessApi-', '')}Function`));
    }
    expect(own(({ Code: code }) => code)).toBe(functions.length);
  });

  test('logs as JSON, and Lambda logs only failed calls, or all of them if the setting says so', () => {
    const levels = (of: Template) =>
      new Set(
        Object.values(of.findResources('AWS::Lambda::Function')).flatMap(
          ({ Properties: { Handler, LoggingConfig } }) =>
            Handler === 'index.handler' && LoggingConfig
              ? [[LoggingConfig.LogFormat, LoggingConfig.SystemLogLevel].join(' ')]
              : [],
        ),
      );
    expect(levels(template)).toEqual(new Set(['JSON WARN']));
    expect(levels(custom)).toEqual(new Set(['JSON INFO']));
  });

  test('has a bundle of at most 133 KB, or of its own limit for some functions', async () => {
    const limits: Record<string, number> = {
      authorizer: 76,
      relay: 80,
      count: 88,
      sweep: 106,
      receiveAppEvents: 155,
      receiveTestMessage: 136,
      startUserDataRequest: 134,
      receiveRapidproMessage: 140,
      receiveTurnMessage: 147,
      // They know the time zones of all countries.
      expand: 118,
      sendMessage: 161,
      sendMessages: 157,
      // They send requests to customers, and sign them.
      deliver: 188,
      claimDeliveries: 158,
      settleDelivery: 188,
      // They change webhooks, and make events due.
      createWebhook: 139,
      updateWebhook: 138,
      rotateWebhookSecret: 137,
      testWebhook: 136,
      deleteWebhook: 137,
      // They find out the type of a file.
      uploadImage: 188,
      uploadFile: 188,
      // It also deletes objects, and notifies the app network.
      setAvatar: 198,
      // Half of it is the schemas of the MCP SDK.
      handleMcpMessage: 185,
    };
    // Without the data that they contain: it grows with each endpoint.
    const data: Record<string, number> = {
      readApiDescription: await minifiedLength(DESCRIPTION_FILE),
      handleMcpMessage: await minifiedLength(TOOLS_FILE),
    };
    const tooLarge: Record<string, number> = {};
    for (const [name, bundle] of Object.entries(bundles)) {
      const { length } = await readFile(join(bundle, 'index.mjs'));
      const size = Math.ceil((length - (data[name] ?? 0)) / 1024);
      if (size > (limits[name] ?? 133)) tooLarge[name] = size;
    }
    expect(tooLarge).toEqual({});
  });

  test('warms the client of the table up while it is initialized, if it uses the table', async () => {
    const without: string[] = [];
    for (const [name, bundle] of Object.entries(bundles)) {
      if (!(await readFile(join(bundle, 'index.mjs'), 'utf8')).includes('warm-up')) without.push(name);
    }
    expect(without.toSorted()).toEqual([
      'handleMcpMessage',
      'readApiDescription',
      'readDocumentation',
      'readPortal',
      'relay',
    ]);
  });

  test.each([
    ['createProfiler', /new [\w$]+\(\{TableName:"warm-up",Item:/],
    ['listProfilers', /new [\w$]+\(\{TableName:"warm-up",KeyConditionExpression:/],
    ['readProfiler', /new [\w$]+\(\{TableName:"warm-up",Key:/],
    ['deleteProfiler', /new [\w$]+\(\{TableName:"warm-up",Key:/],
  ] as const)('warms %s up with the command that it is likely to send first', async (name, warmUp) => {
    expect(await readFile(join(bundles[name], 'index.mjs'), 'utf8')).toMatch(warmUp);
  });

  test('warms the chain of its handler up, if it serves an endpoint with a permission', async () => {
    const without: string[] = [];
    for (const [name, { permission }] of Object.entries<Endpoint>(api)) {
      const bundle = await readFile(join(bundles[name as keyof typeof api], 'index.mjs'), 'utf8');
      const isWarmed = bundle.includes('process.stdout.write=()=>!0');
      if (isWarmed !== (permission !== 'none')) without.push(name);
    }
    expect(without).toEqual([]);
  });

  test('writes nothing to the log while it is initialized', { tags: 'long' }, async () => {
    const url = pathToFileURL(join(bundles.createProfiler, 'index.mjs'));
    const env = {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      BASE_URL: 'https://api.example.com',
    };
    const load = `console.log(typeof (await import('${url}')).handler)`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', load], { env });
    expect({ stdout, stderr }).toEqual({ stdout: 'function\n', stderr: '' });
  });

  test.each(['authorizer', 'createProfiler', 'deliver'] as const)(
    'named %s loads neither zlib, nor fs/promises, nor web streams while it is initialized',
    { tags: 'long' },
    async (name) => {
      const url = pathToFileURL(join(bundles[name], 'index.mjs'));
      const slow = ['zlib', 'fs/promises', 'internal/webstreams/readablestream'];
      const load = `const before = new Set(process.moduleLoadList);
await import('${url}');
const loaded = process.moduleLoadList.filter((one) => !before.has(one)).map((one) => one.replace('NativeModule ', ''));
console.log(loaded.includes('https'), ${JSON.stringify(slow)}.filter((one) => loaded.includes(one)).join());`;
      const env = {
        AWS_REGION: 'eu-west-1',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
        BASE_URL: 'https://api.example.com',
      };
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', load], { env });
      expect(stdout).toBe('true \n');
    },
  );

  test.each(['MINUTE', 'ALLOW_LOOPBACK', 'TABLE_TIMEOUT_MS'])(
    "does not depend on the local stack's variable %s",
    async (variable) => {
      expect(JSON.stringify(template.toJSON())).not.toMatch(new RegExp(`\\b${variable}\\b`));
      for (const [name, bundle] of Object.entries(bundles)) {
        expect(await readFile(join(bundle, 'index.mjs'), 'utf8'), name).not.toMatch(new RegExp(`\\b${variable}\\b`));
      }
    },
  );

  test('requires no module outside of its bundle, because an ES module on Lambda has no require', async () => {
    for (const [name, bundle] of Object.entries(bundles)) {
      expect(await readFile(join(bundle, 'index.mjs'), 'utf8'), name).not.toContain('Dynamic require of');
    }
  });

  test('has 512 MB, and the one that erases a whole processor', () => {
    const memories = resources('AWS::Lambda::Function').map(([id, { Properties }]) => [id, Properties.MemorySize]);
    const others = memories.filter(([, memory]) => memory !== 512);
    expect(others).toEqual([[expect.stringMatching(/^EraseFunction/), 1_769]]);
  });

  test('has the properties of the deployment, if it has any of its own', () => {
    expect(JSON.stringify(template.toJSON())).not.toContain('MORE_PROPERTIES');
    const functions = Object.values(custom.findResources('AWS::Lambda::Function'));
    expect(functions).toHaveLength(Object.keys(api).length + NON_ENDPOINTS);
    for (const { Properties } of functions) {
      expect(Properties.Environment.Variables.MORE_PROPERTIES).toBe('{"loyalty_tier":"automatic"}');
    }
  });

  test('has the name of the bucket only if it uses the bucket', () => {
    const users = resources('AWS::Lambda::Function').filter(
      ([, { Properties }]) => Properties.Environment.Variables.MEDIA_BUCKET !== undefined,
    );
    expect(users.map(([id]) => id.replace(/Function.*/, ''))).toEqual([
      'UploadImage',
      'UploadFile',
      'ReadMedia',
      'SetAvatar',
      'ReadAvatar',
    ]);
    for (const [, { Properties }] of users) {
      expect(Properties.Environment.Variables.URL_SUFFIX).toEqual({ Ref: 'AWS::URLSuffix' });
    }
  });

  test('fetchUserData has a timeout of 29 s, and the reserved concurrency of the setting', () => {
    const Description = Match.stringLikeRegexp('Fetch what a user granted');
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description,
      Timeout: 29,
      ReservedConcurrentExecutions: Match.absent(),
    });
    custom.hasResourceProperties('AWS::Lambda::Function', {
      Description,
      ReservedConcurrentExecutions: 200,
    });
  });

  test('that wakes itself is not stopped by Lambda: deliver and expand, and no other', () => {
    const allowed = resources('AWS::Lambda::Function').filter(
      ([, { Properties }]) => Properties.RecursiveLoop === 'Allow',
    );
    expect(allowed.map(([id]) => id.replace(/Function.*/, ''))).toEqual(['Deliver', 'Expand']);
  });

  test('keeps its log lines for the time of the setting', () => {
    const groups = resources('AWS::Logs::LogGroup').map(([, { Properties }]) => Properties);
    expect(groups).toEqual([
      { LogGroupName: '/business-api/production/access', RetentionInDays: 30 },
      { LogGroupName: '/business-api/production/functions', RetentionInDays: 30 },
    ]);
    custom.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
  });
});

describe('the hosts', () => {
  /** The only route of a host with this key, and its integration. */
  const deployed = (host: Endpoint['routes'][number]['host'], key: string) => {
    const [found, ...more] = resources('AWS::ApiGatewayV2::Route').filter(
      ([, { Properties }]) => Properties.RouteKey === key && Properties.ApiId.Ref.startsWith(pascal(host)),
    );
    expect(more, key).toEqual([]);
    const route = found?.[1].Properties;
    const [, { Ref: id }] = route.Target['Fn::Join'][1];
    return { route, integration: template.findResources('AWS::ApiGatewayV2::Integration')[id]?.Properties };
  };

  test('serve each API route by its function, behind the authorizer for its type of token', () => {
    let served = 0;
    for (const [name, endpoint] of Object.entries<Endpoint>(api)) {
      for (const { host, method, path } of [...endpoint.routes, ...(endpoint.catchAll ?? [])]) {
        if (path.endsWith('/')) continue;
        served += 1;
        const { route, integration } = deployed(host, path === '$default' ? path : `${method} ${path}`);
        if (endpoint.token === 'none') {
          expect(route).toMatchObject({ AuthorizationType: 'NONE' });
          expect(route).not.toHaveProperty('AuthorizerId');
        } else {
          const authorizer = endpoint.token === 'path' ? 'Path' : 'Bearer';
          expect(route).toMatchObject({
            AuthorizationType: 'CUSTOM',
            AuthorizerId: { Ref: expect.stringContaining(authorizer) },
          });
        }
        expect(integration).toMatchObject({
          IntegrationType: 'AWS_PROXY',
          PayloadFormatVersion: '2.0',
          IntegrationUri: { 'Fn::GetAtt': [expect.stringMatching(`^${pascal(name)}Function`), 'Arn'] },
        });
      }
    }
    template.resourceCountIs('AWS::ApiGatewayV2::Route', served);
  });

  test('serve a path that ends with a slash by three routes, because AWS does not document which one takes it', () => {
    const keys = ['POST /v1/webhook/rapidpro', 'POST /v1/webhook/rapidpro/{proxy+}', '$default'];
    const [first, ...others] = keys.map((key) => deployed('bridge', key));
    for (const { route, integration } of others) {
      expect(route.AuthorizerId).toEqual(first?.route.AuthorizerId);
      expect(integration?.IntegrationUri).toEqual(first?.integration?.IntegrationUri);
    }
    for (const [, { Properties }] of resources('AWS::ApiGatewayV2::Route')) {
      expect(Properties.RouteKey).not.toMatch(/\/$/);
    }
  });

  test('have a catch-all route for each path that ends with a slash', () => {
    for (const { routes, catchAll = [] } of Object.values<Endpoint>(api)) {
      for (const { host, method, path } of routes.filter((route) => route.path.endsWith('/'))) {
        expect(catchAll).toContainEqual({ host, method, path: `${path}{proxy+}` });
        expect(catchAll).toContainEqual({ host, method: 'ANY', path: '$default' });
      }
    }
  });

  test('have names of their own, with the stage', () => {
    const names = (stack: Template) =>
      Object.values(stack.findResources('AWS::ApiGatewayV2::Api')).map(({ Properties }) => Properties.Name);
    expect(names(template)).toEqual(['business-api-production', 'business-api-production-bridge']);
    expect(names(custom)).toEqual(['business-api-test', 'business-api-test-bridge']);
  });

  test('call the authorizer with the Authorization header, and cache its result for a minute', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      AuthorizerType: 'REQUEST',
      AuthorizerPayloadFormatVersion: '2.0',
      EnableSimpleResponses: true,
      IdentitySource: ['$request.header.Authorization'],
      AuthorizerResultTtlInSeconds: 60,
    });
  });

  test('call the authorizer without an identity source or a cache for routes with the token in the path', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      AuthorizerType: 'REQUEST',
      AuthorizerPayloadFormatVersion: '2.0',
      IdentitySource: [],
      AuthorizerResultTtlInSeconds: 0,
      EnableSimpleResponses: true,
    });
  });

  test('throttle the routes with limits of their own after these routes exist', () => {
    const own = Object.values<Endpoint>(api).flatMap(({ routes, throttle }) =>
      throttle ? routes.map(({ host, method, path }) => ({ host, key: `${method} ${path}`, throttle })) : [],
    );
    expect(own).toEqual([{ host: 'base', key: 'POST /v1/sessions', throttle: { rate: 10, burst: 20 } }]);
    const stages = resources('AWS::ApiGatewayV2::Stage').map(([, stage]) => stage);
    const settings = { 'POST /v1/sessions': { ThrottlingRateLimit: 10, ThrottlingBurstLimit: 20 } };
    expect(stages.map(({ Properties }) => Properties.RouteSettings)).toEqual([settings, undefined]);
    const [route] = resources('AWS::ApiGatewayV2::Route').filter(
      ([, { Properties }]) => Properties.RouteKey === 'POST /v1/sessions',
    );
    expect(stages[0]?.DependsOn).toContain(route?.[0]);
  });

  test('throttle requests, and log each access without path, IP address or header', () => {
    const formats = resources('AWS::ApiGatewayV2::Stage').map(([, { Properties }]) => {
      expect(Properties).toMatchObject({
        StageName: '$default',
        DefaultRouteSettings: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 },
        AccessLogSettings: { DestinationArn: expect.anything() },
      });
      return Properties.AccessLogSettings.Format as string;
    });
    expect(formats).toHaveLength(2);
    expect(formats.map((format) => JSON.parse(format).host)).toEqual(['base', 'bridge']);
    for (const format of formats) {
      expect(JSON.parse(format)).toMatchObject({ trace_id: '$context.requestId', route: '$context.routeKey' });
      expect(format).not.toMatch(/path|sourceIp|identity|header/i);
    }
  });

  test('can have custom domains, and then have no default URL', () => {
    custom.hasResourceProperties('AWS::ApiGatewayV2::DomainName', { DomainName: 'api.example.com' });
    custom.resourceCountIs('AWS::ApiGatewayV2::ApiMapping', 2);
    custom.allResourcesProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: true });
    custom.hasOutput('BaseUrl', { Value: 'https://api.example.com' });
    custom.hasOutput('BridgeUrl', { Value: 'https://bridge.example.com' });
  });
});

describe('the table', () => {
  // Its keys and indexes: test/infra/pinned.test.ts.
  test('is on demand, recoverable and protected, expires items, and streams new images', () => {
    template.hasResource('AWS::DynamoDB::GlobalTable', {
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
        StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          }),
        ],
      },
      DeletionPolicy: 'Retain',
    });
  });

  test.each<[number | undefined, number | undefined, number | undefined]>([
    [undefined, undefined, undefined],
    [4_000, undefined, undefined],
    // An index handles 4,000 without a setting, too.
    [10_000, 10_000, undefined],
    [20_000, 20_000, 8_000],
  ])('is warm for %s writes a second, and indexes for two fifths', (warmWriteUnits, ofTable, ofIndex) => {
    const stack = new Stack(new App({ context: featureFlags }));
    new BusinessTable(stack, 'Table', { retain: true, tags: {}, warmWriteUnits, warmReadUnits: undefined });
    const [table] = Object.values(Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable'));
    const warm = (units: number | undefined) => units && { WriteUnitsPerSecond: units };
    expect(table?.Properties.WarmThroughput).toEqual(warm(ofTable));
    const ofIndexes = table?.Properties.GlobalSecondaryIndexes.map(
      (index: Record<string, unknown>) => index.WarmThroughput,
    );
    expect(ofIndexes).toEqual(Object.keys(indexes).map(() => warm(ofIndex)));
  });

  test('is warm for reads beyond those of a new table, and its indexes are not', { tags: 'long' }, () => {
    const warmOf = (settings: Record<string, unknown>) => {
      const [table] = Object.values(synthesise(settings).findResources('AWS::DynamoDB::GlobalTable'));
      const { WarmThroughput, GlobalSecondaryIndexes } = table?.Properties ?? {};
      return [WarmThroughput, ...GlobalSecondaryIndexes.map((index: Record<string, unknown>) => index.WarmThroughput)];
    };
    const ofIndexes = Object.keys(indexes).map(() => undefined);
    expect(warmOf({ warmReadUnits: 12_000 })).toEqual([undefined, ...ofIndexes]);
    expect(warmOf({ warmReadUnits: 45_000 })).toEqual([{ ReadUnitsPerSecond: 45_000 }, ...ofIndexes]);
    expect(warmOf({ warmWriteUnits: 12_000, warmReadUnits: 45_000 })[0]).toEqual({
      ReadUnitsPerSecond: 45_000,
      WriteUnitsPerSecond: 12_000,
    });
  });

  test('is deleted with the stack if the setting allows it', () => {
    custom.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Delete',
      Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] },
    });
  });
});

describe('the bucket of media', () => {
  test('is private and encrypted, and deletes the objects of media after 31 days, but no avatars', () => {
    template.hasResource('AWS::S3::Bucket', {
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        LifecycleConfiguration: {
          Rules: [...'0123456789abcdef'].map((Prefix) => ({ Prefix, ExpirationInDays: 31, Status: 'Enabled' })),
        },
      },
      DeletionPolicy: 'Retain',
    });
    custom.hasResource('AWS::S3::Bucket', { DeletionPolicy: 'Delete' });
  });

  test('denies requests without TLS 1.2, and its policy allows nothing', () => {
    const [[, policy] = []] = resources('AWS::S3::BucketPolicy');
    const statements = policy?.Properties.PolicyDocument.Statement as { Effect: string; Condition: object }[];
    expect(statements.map(({ Effect }) => Effect)).toEqual(['Deny', 'Deny']);
    expect(statements.map(({ Condition }) => Condition)).toEqual([
      { Bool: { 'aws:SecureTransport': 'false' } },
      { NumericLessThan: { 's3:TlsVersion': 1.2 } },
    ]);
  });
});

describe('the queues', () => {
  test('deny requests without TLS', () => {
    const [[, policy] = []] = resources('AWS::SQS::QueuePolicy');
    expect(policy?.Properties.PolicyDocument.Statement).toEqual([
      {
        Action: 'sqs:*',
        Effect: 'Deny',
        Principal: '*',
        Resource: '*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
    ]);
    const queues = resources('AWS::SQS::Queue').map(([Ref]) => ({ Ref }));
    expect(policy?.Properties.Queues).toHaveLength(queues.length);
    expect(policy?.Properties.Queues).toEqual(expect.arrayContaining(queues));
  });
});

describe('the room for more endpoints', () => {
  /** CloudFormation allows 500 resources in a stack; the CDK warns from 400 on. */
  const ROOM = 480;
  const count = (own: Template): number => Object.keys(own.toJSON().Resources).length;

  test('is enough for a hundred: four resources each, one for each further route, and sixty for the rest', () => {
    const all = count(template);
    const endpoints = Object.keys(api).length;
    const further = resources('AWS::ApiGatewayV2::Route').length - endpoints;
    // A function that serves both hosts has an integration with each.
    const onBoth = resources('AWS::ApiGatewayV2::Integration').length - endpoints;
    const rest = all - 4 * endpoints - further - onBoth;
    expect(rest).toBeLessThanOrEqual(60);
    const settings = {
      ...CUSTOM,
      alarmEmail: 'operators@example.com',
      alarmTopic: 'arn:aws:sns:eu-west-1:111122223333:operators',
      monthlyBudget: 250,
    };
    const optional = count(synthesise(settings)) - all;
    // Further routes are paths that chat platforms and avatars need, and the description on both hosts.
    const hundred = 4 * 100 + further + onBoth + rest;
    expect(hundred).toBeLessThan(ROOM);
    // With all that settings add, the limit of CloudFormation itself holds.
    expect(hundred + optional).toBeLessThan(500);
  });
});

describe('the queue of wake-ups', () => {
  const queue = () => {
    const [found] = resources('AWS::SQS::Queue').filter(([, { Properties }]) => Properties.RedrivePolicy);
    return found?.[1].Properties ?? {};
  };

  test('is FIFO with throughput per message group, and has a FIFO queue for its dead letters', () => {
    expect(queue()).toMatchObject({
      FifoQueue: true,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      RedrivePolicy: { maxReceiveCount: 5 },
    });
    const deadLetters = queue().RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'][0];
    expect(template.findResources('AWS::SQS::Queue')[deadLetters]?.Properties).toMatchObject({ FifoQueue: true });
  });

  test('hides a wake-up for six times the timeout of its worker', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: Match.stringLikeRegexp('Delivers'),
      Timeout: queue().VisibilityTimeout / 6,
    });
  });

  test('gives each deliver call at most ten wake-ups, with the maximum concurrency of the setting', () => {
    const mapping = {
      BatchSize: 10,
      // Deliver leaves a wake-up on the queue during a pause of its destination.
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      FunctionName: { Ref: Match.stringLikeRegexp('^DeliverFunction') },
    };
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      ...mapping,
      ScalingConfig: { MaximumConcurrency: 100 },
    });
    custom.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      ...mapping,
      ScalingConfig: { MaximumConcurrency: 50 },
    });
  });
});

describe("the table's stream", () => {
  test.each([
    [
      'Relay',
      [
        {
          eventName: ['INSERT'],
          dynamodb: { Keys: { pk: { S: [{ prefix: 'OUTBOX#' }] }, sk: { S: [{ prefix: 'ENTRY#' }] } } },
        },
        {
          eventName: ['INSERT'],
          dynamodb: { Keys: { pk: { S: [{ prefix: 'BATCH#' }] }, sk: { S: [{ prefix: 'BATCH' }] } } },
        },
      ],
    ],
    [
      'Count',
      [
        { dynamodb: { Keys: { pk: { S: [{ prefix: 'MESSAGE#' }] } }, NewImage: { counted: { BOOL: [false] } } } },
        { dynamodb: { Keys: { pk: { S: [{ prefix: 'ANSWERS#' }] } }, NewImage: { counted: { BOOL: [false] } } } },
      ],
    ],
  ])('feeds %s with the records of its filter, from the oldest on, and keeps failed batches', (name, patterns) => {
    const filters = new Capture();
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FunctionName: { Ref: Match.stringLikeRegexp(`^${name}Function`) },
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 10,
      MaximumRecordAgeInSeconds: 86_400,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('^FailedBatches'), 'Arn'] } },
      },
      FilterCriteria: { Filters: filters },
    });
    expect(patternsIn(filters.asArray())).toEqual(patterns);
  });

  test('is read by several workers of each kind, but by one in an AWS account with few executions', () => {
    for (const [own, factor] of [
      [template, 4],
      [synthesise({ accountConcurrency: 10 }), 1],
    ] as const) {
      for (const [name, batches] of [
        ['Relay', { BatchSize: 100 }],
        // Ninety entries and their counters are one transaction.
        ['Count', { BatchSize: 90, MaximumBatchingWindowInSeconds: 1 }],
      ] as const) {
        own.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
          FunctionName: { Ref: Match.stringLikeRegexp(`^${name}Function`) },
          ParallelizationFactor: factor,
          ...batches,
        });
      }
    }
  });

  test('has the workers that the guide for operators and `operator doctor` count', { tags: 'long' }, () => {
    for (const accountConcurrency of [10, 50, 100, 500, 1_000]) {
      const settings = readSettings({ accountConcurrency });
      const own = synthesise({ accountConcurrency });
      for (const [name, workers] of [
        ['Relay', { ParallelizationFactor: batchesOfShard(accountConcurrency) }],
        ['Count', { ParallelizationFactor: batchesOfShard(accountConcurrency) }],
        ['Deliver', { ScalingConfig: { MaximumConcurrency: executionsOf(settings).deliver } }],
        ['Expand', { ScalingConfig: { MaximumConcurrency: expandWorkers(accountConcurrency) } }],
      ] as const) {
        own.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
          FunctionName: { Ref: Match.stringLikeRegexp(`^${name}Function`) },
          ...workers,
        });
      }
    }
  });

  test('has the batches and workers that the simulation of growth assumes', () => {
    for (const concurrency of [10, 300, 1_000]) expect(parallelOf(concurrency)).toBe(batchesOfShard(concurrency));
    for (const [name, batches] of [
      ['Relay', { BatchSize: present.batches.relay }],
      ['Count', { BatchSize: present.batches.count, MaximumBatchingWindowInSeconds: present.countWindow }],
    ] as const) {
      template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        FunctionName: { Ref: Match.stringLikeRegexp(`^${name}Function`) },
        ...batches,
      });
    }
  });

  test('is filtered without `exists`, which engines interpret differently below a missing attribute', () => {
    const filtered = resources('AWS::Lambda::EventSourceMapping').filter(
      ([, { Properties }]) => Properties.FilterCriteria !== undefined,
    );
    expect(filtered).toHaveLength(2);
    for (const [id, { Properties }] of filtered) {
      const patterns = patternsIn(Properties.FilterCriteria.Filters);
      expect(patterns.length, id).toBeGreaterThan(0);
      expect(JSON.stringify(patterns), id).not.toContain('"exists"');
    }
  });

  const patternsIn = (filters: { Pattern: string }[]): unknown[] => filters.map(({ Pattern }) => JSON.parse(Pattern));
});

test('the template requires the version of the bootstrap stack that `operator doctor` checks', () => {
  const { CheckBootstrapVersion: rule } = template.toJSON().Rules;
  const [{ Assert }] = rule.Assertions;
  const [
    {
      'Fn::Contains': [rejected],
    },
  ] = Assert['Fn::Not'];
  expect(rejected).toEqual(Array.from({ length: BOOTSTRAP.version - 1 }, (_, index) => `${index + 1}`));
  template.hasParameter('BootstrapVersion', { Default: BOOTSTRAP.parameter });
});

test('outputs name the targets of own domains as `operator doctor` expects', () => {
  for (const host of ['Base', 'Bridge']) {
    const outputs = Object.keys(custom.findOutputs('*')).filter((name) => name.startsWith(`${host}DomainTarget`));
    expect(outputs).toEqual([expect.stringMatching(/^[A-Z][A-Za-z]+[0-9A-F]{8}$/)]);
    expect(Object.keys(template.findOutputs('*')).filter((name) => name.includes('DomainTarget'))).toEqual([]);
  }
});

test('the template contains no secret: AWS makes the one of hashes, which outlives the stack, as the table does', () => {
  template.hasResourceProperties('AWS::SecretsManager::Secret', { GenerateSecretString: {} });
  template.hasResourceProperties('AWS::SecretsManager::Secret', {
    GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
  });
  template.allResources('AWS::SecretsManager::Secret', { DeletionPolicy: 'Retain' });
  expect(JSON.stringify(template.toJSON())).not.toMatch(/whsec_[A-Za-z0-9+/]/);
});

test('each step of sweep and erase runs each minute, and neither EventBridge nor Lambda repeats a failed run', () => {
  const targetOf = (name: string) => ({
    Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp(`^${name}Function`), 'Arn'] },
    RetryPolicy: { MaximumRetryAttempts: 0 },
  });
  for (const [name, steps] of [['Sweep', sweepSteps] as const, ['Erase', eraseSteps] as const]) {
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: steps.map((step) => Match.objectLike({ ...targetOf(name), Input: JSON.stringify({ step }) })),
    });
  }
  for (const name of ['Sweep', 'Erase']) {
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: Match.stringLikeRegexp(`^${name}Function`) },
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
  }
});

test('every function that a rule calls has limits of its own for events that fail', () => {
  const limited = resources('AWS::Lambda::EventInvokeConfig').map(([, { Properties }]) => Properties.FunctionName.Ref);
  const called = resources('AWS::Events::Rule').flatMap(([, { Properties }]) =>
    Properties.Targets.map(({ Arn }: { Arn: Record<string, string[]> }) => Arn['Fn::GetAtt']?.[0]),
  );
  expect(limited.toSorted()).toEqual([...new Set(called)].toSorted());
});

test('no rule has more than the five targets that EventBridge allows', () => {
  for (const [, { Properties }] of resources('AWS::Events::Rule')) expect(Properties.Targets.length).toBeLessThan(6);
});

describe('the stack', () => {
  test('is protected from deletion like its table, unless the setting removes the table with it', () => {
    expect(build().terminationProtection).toBe(true);
    expect(build(CUSTOM).terminationProtection).toBe(false);
  });

  test('has tags with service and stage and those of the setting, and so has the replica of the table', () => {
    const tags = { service: 'business-api', stage: 'test', 'cost-center': '42' };
    expect(build(CUSTOM).tags.tagValues()).toEqual(tags);
    custom.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) })],
    });
  });
});

test('the outputs are both hosts, the table, the bucket, both secrets and the retention of counters', () => {
  expect(Object.keys(template.findOutputs('*')).sort()).toEqual([
    'AppNetworkSecret',
    'BaseUrl',
    'BridgeUrl',
    'CounterRetention',
    'HashSecretName',
    'MediaBucketName',
    'TableName',
  ]);
});

test('the setting logSampling reaches every function', () => {
  expect(JSON.stringify(template.toJSON())).not.toContain('LOG_SAMPLING');
  custom.allResourcesProperties('AWS::Lambda::Function', { Environment: { Variables: { LOG_SAMPLING: '10' } } });
});

test('the setting fips reaches every function, or the deployment fails in a region without such hosts', () => {
  expect(JSON.stringify(template.toJSON())).not.toContain('FIPS');
  const own = synthesise({ fips: true });
  own.allResourcesProperties('AWS::Lambda::Function', {
    Environment: { Variables: { AWS_USE_FIPS_ENDPOINT: 'true' } },
  });
  const [assertion] = own.toJSON().Rules.FipsRegion.Assertions;
  expect(assertion.Assert).toEqual({
    'Fn::Contains': [expect.arrayContaining(['us-east-1', 'us-gov-west-1']), { Ref: 'AWS::Region' }],
  });
  expect(assertion.AssertDescription).toContain('The setting fips requires one of the regions us-east-1,');
});

describe('the policies of a role', () => {
  /** Characters of all inline policies of a role, without white space: "IAM and AWS STS quotas". */
  const LIMIT = 10_240;
  /** More than an ARN of the stack has: the name of a log group has up to 512 characters, that of a table 255. */
  const longestArn = (reference: object): string => 'x'.repeat(JSON.stringify(reference).includes('Logs') ? 600 : 360);

  /** A value of the template with the longest text in the place of each reference. */
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== 'object' || value === null) return value;
    if ('Ref' in value || 'Fn::GetAtt' in value) return longestArn(value);
    if ('Fn::Join' in value) {
      const [separator, parts] = v.parse(v.tuple([v.string(), v.array(v.unknown())]), value['Fn::Join']);
      return parts.map(resolved).join(separator);
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolved(inner)]));
  };

  test('are well within the limit of IAM, however long the names of resources are', () => {
    const sizes = resources('AWS::IAM::Role').map(
      ([, { Properties }]) => JSON.stringify(resolved(Properties.Policies)).replaceAll(/\s/g, '').length,
    );
    expect(sizes).toHaveLength(functionAccess.length + 1);
    expect(Math.max(...sizes)).toBeLessThan(LIMIT * 0.9);
  });
});
