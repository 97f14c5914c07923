import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Capture, Match, Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { HttpHost } from '../../infra/constructs/http-host.ts';
import { api } from '../../shared/api/index.ts';
import { useStack } from './support/synthesised.ts';

const { bundles, synthesise } = await useStack('minified');
const template = synthesise();

const resources = (type: string) => Object.entries(template.findResources(type));

/** The logical id that a resource's ARN is made of, without its hash. */
const named = (resource: unknown): string =>
  (JSON.stringify(resource).match(/"(?:Ref|Fn::GetAtt)":\[?"(\w+?)[0-9A-F]{8}"/)?.[1] ?? '') +
  (JSON.stringify(resource).includes('StreamArn') ? ' stream' : '') +
  (JSON.stringify(resource).endsWith('"/*"]]}') ? '/*' : '');

/**
 * What a role allows, in the words of the access patterns: on the table `action partitions` or `action partitions index`;
 * elsewhere `service:action resource`.
 */
const allowedTo = (functionId: string): string[] => {
  const policies = resources('AWS::IAM::Policy').filter(([id]) => id.startsWith(`${functionId}Role`));
  expect(policies).toHaveLength(1);
  return policies.flatMap(([, { Properties }]) =>
    Properties.PolicyDocument.Statement.flatMap((statement: Record<string, unknown>) => {
      const actions = [statement.Action].flat() as string[];
      if (actions.every((action) => action.startsWith('logs:'))) {
        expect(actions).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
        expect(statement.Resource).toEqual({
          'Fn::GetAtt': [expect.stringMatching(`^${functionId}(Logs)?[0-9A-F]{8}$`), 'Arn'],
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

/** Functions that are no endpoints: the authorizer and the workers. */
const OTHERS = 6;

describe('each role allows what its function does, and nothing else', () => {
  test.each([
    ['Authorizer', ['GetItem TOKEN#*']],
    ['CreateProfiler', ['PutItem PROFILERS#*']],
    ['ListProfilers', ['Query PROFILERS#*']],
    ['ReadProfiler', ['GetItem PROFILERS#*']],
    ['DeleteProfiler', ['UpdateItem PROFILERS#*']],
    ['AnswerProfiler', ['GetItem PROFILERS#*', 'GetItem USER#*', 'PutItem ANSWERS#*']],
    [
      'SendMessage',
      [
        'GetItem MEDIA#*',
        'GetItem ACCOUNT#*',
        'GetItem MESSAGE#*',
        'PutItem MESSAGE#*',
        'PutItem OUTBOX#*',
        'UpdateItem OUTBOX#*',
      ],
    ],
    ['UploadImage', ['PutItem MEDIA#*', 's3:PutObject Media/*']],
    ['UploadFile', ['PutItem MEDIA#*', 's3:PutObject Media/*']],
    ['ReadMedia', ['GetItem MEDIA#*', 's3:GetObject Media/*']],
    [
      'ReceiveRapidproMessage',
      [
        'GetItem ACCOUNT#*',
        'PutItem MESSAGE#*',
        'PutItem OUTBOX#*',
        'UpdateItem OUTBOX#*',
        'GetItem REPEATS#*',
        'UpdateItem REPEATS#*',
        'Query MESSAGE#*',
        'GetItem HOOK#*',
      ],
    ],
    [
      'ReceiveTurnMessage',
      [
        'GetItem MEDIA#*',
        'GetItem HOOK#*',
        'GetItem ACCOUNT#*',
        'PutItem MESSAGE#*',
        'PutItem OUTBOX#*',
        'UpdateItem OUTBOX#*',
      ],
    ],
    [
      'ReceiveTestMessage',
      ['GetItem NUMBER#*', 'GetItem ACCOUNT#*', 'PutItem MESSAGE#*', 'PutItem OUTBOX#*', 'UpdateItem OUTBOX#*'],
    ],
    [
      'ReceiveAppEvents',
      [
        'GetItem NUMBER#*',
        'GetItem ACCOUNT#*',
        'BatchGetItem MESSAGE#*',
        'PutItem MESSAGE#*',
        'GetItem EVENT#*',
        'PutItem EVENT#*',
        'GetItem REMOVED#*',
        'PutItem REMOVED#*',
        'ConditionCheckItem REMOVED#*',
        'BatchGetItem REQUEST#*',
        'GetItem USER#*',
        'UpdateItem USER#*',
        'DeleteItem USER#*',
        'ConditionCheckItem USER#*',
        'GetItem REQUEST#*',
        'UpdateItem REQUEST#*',
        'PutItem GRANTS#*',
        'UpdateItem ERASURE#*',
        'PutItem OUTBOX#*',
        'UpdateItem OUTBOX#*',
      ],
    ],
    [
      'StartUserDataRequest',
      [
        'GetItem USER#*',
        'ConditionCheckItem USER#*',
        'GetItem ACCOUNT#*',
        'PutItem REQUEST#*',
        'GetItem REQUEST#*',
        'PutItem GRANTS#*',
        'PutItem OUTBOX#*',
        'UpdateItem OUTBOX#*',
      ],
    ],
    ['FetchUserData', ['GetItem REQUEST#*']],
    ['RetrieveUserData', ['GetItem USER#*', 'PutItem GRANTS#*']],
    ['ListLogs', ['Query LOGS#* gsi1', 'Query LOGS#* gsi2', 'Query LOGS#* gsi3']],
    ['ListJobs', ['Query JOBS#*']],
    ['Relay', [...STREAM, 'sqs:SendMessage FailedBatches', 'sqs:SendMessage WakeUpsQueue']],
    ['Count', ['UpdateItem MESSAGE#*', 'UpdateItem JOBS#*', ...STREAM, 'sqs:SendMessage FailedBatches']],
    [
      'Deliver',
      [
        'GetItem OUTBOX#*',
        'BatchGetItem OUTBOX#*',
        'BatchGetItem ERASURE#*',
        'BatchGetItem ACCOUNT#*',
        'GetItem USER#*',
        'Query OUTBOX#*',
        'DeleteItem OUTBOX#*',
        'PutItem OUTBOX#*',
        'UpdateItem OUTBOX#*',
        'GetItem PLATFORM#*',
        'Query TOLD#*',
        'PutItem TOLD#*',
        'GetItem SPACING#*',
        'PutItem SPACING#*',
        'GetItem CIRCUIT#*',
        'UpdateItem CIRCUIT#*',
        'DeleteItem CIRCUIT#*',
        'PutItem MESSAGE#*',
        'secretsmanager:GetSecretValue AppNetwork',
        'sqs:ReceiveMessage WakeUpsQueue',
        'sqs:DeleteMessage WakeUpsQueue',
        'sqs:GetQueueAttributes WakeUpsQueue',
        'sqs:ChangeMessageVisibility WakeUpsQueue',
        'sqs:SendMessage WakeUpsQueue',
      ],
    ],
    [
      'Sweep',
      [
        'Query DUE#* gsi1',
        'Query ANSWERS#*',
        'BatchWriteItem ANSWERS#*',
        'UpdateItem PROFILERS#*',
        'GetItem CIRCUIT#*',
        'sqs:SendMessage WakeUpsQueue',
      ],
    ],
    [
      'Erase',
      [
        'Query ERASURES gsi1',
        'GetItem ERASURE#*',
        'UpdateItem ERASURE#*',
        'DeleteItem ERASURE#*',
        'GetItem USER#*',
        'GetItem REQUEST#*',
        'BatchWriteItem REQUEST#*',
        'GetItem OUTBOX#*',
        'Query OUTBOX#*',
        'DeleteItem OUTBOX#*',
        'PutItem OUTBOX#*',
        'UpdateItem OUTBOX#*',
        'GetItem ACCOUNT#*',
        'PutItem EVENT#*',
        'PutItem MESSAGE#*',
        'UpdateItem MESSAGE#*',
        'Query PERSON#* gsi2',
        'BatchWriteItem ANSWERS#*',
        'Query LOGS#* gsi2',
        'Query GRANTS#*',
        'PutItem GRANTS#*',
        'DeleteItem GRANTS#*',
      ],
    ],
  ])('%s', (functionId, allowed) => {
    expect(allowedTo(functionId).sort()).toEqual(allowed.toSorted());
  });

  test('one statement allows an action on all the keys of the table, as IAM judges a batch', () => {
    for (const [id, { Properties }] of resources('AWS::IAM::Policy')) {
      const places = Properties.PolicyDocument.Statement.filter(
        ({ Condition }: { Condition?: unknown }) => Condition !== undefined,
      ).flatMap(({ Action, Resource }: { Action: string | string[]; Resource: unknown }) =>
        [Action].flat().map((action) => `${action} ${JSON.stringify(Resource)}`),
      );
      expect(places, id).toEqual([...new Set(places)]);
    }
  });

  test('no function is missing from this table, and no role has another policy', () => {
    expect(resources('AWS::IAM::Policy')).toHaveLength(Object.keys(api).length + OTHERS);
    for (const [, { Properties }] of resources('AWS::IAM::Role')) {
      expect(Object.keys(Properties)).toEqual(['AssumeRolePolicyDocument']);
    }
  });
});

describe('each function', () => {
  test('runs its own bundle on Node.js 24 and arm64, with a role and a log group of its own', () => {
    const functions = resources('AWS::Lambda::Function');
    expect(functions).toHaveLength(Object.keys(api).length + OTHERS);
    for (const [, { Properties }] of functions) {
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
    }
    const own = (pick: (properties: Record<string, never>) => unknown) =>
      new Set(functions.map(([, { Properties }]) => JSON.stringify(pick(Properties)))).size;
    expect(own(({ Role }) => Role)).toBe(functions.length);
    expect(own(({ LoggingConfig }) => LoggingConfig)).toBe(functions.length);
    expect(own(({ Code: code }) => code)).toBe(functions.length);
  });

  test('is at most 242 KB; more only where it does more: all events, three services, telling files apart; less without the table', async () => {
    const limits: Record<string, number> = {
      receiveAppEvents: 250,
      deliver: 295,
      uploadImage: 305,
      uploadFile: 305,
      relay: 175,
      // Two thirds of it are the description.
      readApiDescription: 155,
    };
    for (const [name, bundle] of Object.entries(bundles)) {
      const { length } = await readFile(join(bundle, 'index.mjs'));
      expect(length, name).toBeLessThanOrEqual((limits[name] ?? 242) * 1024);
    }
  });

  test.each(['MINUTE', 'ALLOW_LOOPBACK'])("is not changed by the local stack's variable %s", async (variable) => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(new RegExp(`\\b${variable}\\b`));
    for (const [name, bundle] of Object.entries(bundles)) {
      expect(await readFile(join(bundle, 'index.mjs'), 'utf8'), name).not.toMatch(new RegExp(`\\b${variable}\\b`));
    }
  });

  test('requires nothing that is not in it: a module of Lambda has no require', async () => {
    for (const [name, bundle] of Object.entries(bundles)) {
      expect(await readFile(join(bundle, 'index.mjs'), 'utf8'), name).not.toContain('Dynamic require of');
    }
  });

  test('knows the bucket only where it uses it', () => {
    const knowing = resources('AWS::Lambda::Function').filter(
      ([, { Properties }]) => Properties.Environment.Variables.MEDIA_BUCKET !== undefined,
    );
    expect(knowing.map(([id]) => id.replace(/Function.*/, ''))).toEqual(['UploadImage', 'UploadFile', 'ReadMedia']);
  });

  test('that waits for answers may take 29 s, and no more of the account than the setting says', () => {
    const Description = Match.stringLikeRegexp('Fetch what a user granted');
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description,
      Timeout: 29,
      ReservedConcurrentExecutions: Match.absent(),
    });
    synthesise({ fetchConcurrency: 200 }).hasResourceProperties('AWS::Lambda::Function', {
      Description,
      ReservedConcurrentExecutions: 200,
    });
  });

  test('keeps its log lines for the time that the setting gives', () => {
    for (const [, { Properties }] of resources('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays).toBe(30);
    synthesise({ logRetention: 90 }).allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
  });
});

describe('the hosts', () => {
  test('serve each route of the API by its function, behind the authorizer of its tokens', () => {
    for (const [name, { routes, token }] of Object.entries(api)) {
      for (const { method, path } of routes) {
        const target = new Capture();
        template.hasResourceProperties('AWS::ApiGatewayV2::Route', {
          RouteKey: `${method} ${path.endsWith('/') ? `${path}{proxy+}` : path}`,
          ...(token === 'none'
            ? { AuthorizationType: 'NONE', AuthorizerId: Match.absent() }
            : {
                AuthorizationType: 'CUSTOM',
                AuthorizerId: { Ref: Match.stringLikeRegexp(token === 'path' ? 'Path' : 'Bearer') },
              }),
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

  test('ask it without identity source or memory for a route whose token is in its path', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      AuthorizerType: 'REQUEST',
      AuthorizerPayloadFormatVersion: '2.0',
      IdentitySource: [],
      AuthorizerResultTtlInSeconds: 0,
      EnableSimpleResponses: true,
    });
  });

  test('would ask nobody for a route without a token', () => {
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
    host.serve({ host: 'bridge', method: 'GET', path: '/open' }, 'none', handler);
    const own = Template.fromStack(stack);
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
      expect(JSON.parse(format)).toMatchObject({ trace_id: '$context.requestId', route: '$context.routeKey' });
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

describe('the bucket of media', () => {
  test('is private, encrypted, and forgets what nobody can address any more', () => {
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
        LifecycleConfiguration: { Rules: [{ ExpirationInDays: 31, Status: 'Enabled' }] },
      },
      DeletionPolicy: 'Retain',
    });
    synthesise({ removalPolicy: 'destroy' }).hasResource('AWS::S3::Bucket', { DeletionPolicy: 'Delete' });
  });

  test('takes no call without TLS, and lets in nobody by its own policy', () => {
    const [[, policy] = []] = resources('AWS::S3::BucketPolicy');
    const statements = policy?.Properties.PolicyDocument.Statement as { Effect: string; Condition: object }[];
    expect(statements.map(({ Effect }) => Effect)).toEqual(['Deny', 'Deny']);
    expect(statements.map(({ Condition }) => Condition)).toEqual([
      { Bool: { 'aws:SecureTransport': 'false' } },
      { NumericLessThan: { 's3:TlsVersion': 1.2 } },
    ]);
  });
});

describe('the queue of wake-ups', () => {
  const queue = () => {
    const [found] = resources('AWS::SQS::Queue').filter(([, { Properties }]) => Properties.RedrivePolicy);
    return found?.[1].Properties ?? {};
  };

  test('keeps order within groups, has no ceiling of its own, and a FIFO queue for its dead letters', () => {
    expect(queue()).toMatchObject({
      FifoQueue: true,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      RedrivePolicy: { maxReceiveCount: 5 },
    });
    const deadLetters = queue().RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'][0];
    expect(template.findResources('AWS::SQS::Queue')[deadLetters]?.Properties).toMatchObject({ FifoQueue: true });
  });

  test('hides a wake-up six times as long as its worker may take', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: Match.stringLikeRegexp('Delivers'),
      Timeout: queue().VisibilityTimeout / 6,
    });
  });

  test('gives deliver one wake-up at a time, and so many at once as the setting says', () => {
    const mapping = {
      BatchSize: 1,
      // It leaves a wake-up on the queue while its receiver is paused.
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      FunctionName: { Ref: Match.stringLikeRegexp('^DeliverFunction') },
    };
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', { ...mapping, ScalingConfig: Match.absent() });
    synthesise({ deliverConcurrency: 50 }).hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      ...mapping,
      ScalingConfig: { MaximumConcurrency: 50 },
    });
  });
});

describe("the table's stream", () => {
  test.each([
    [
      'Relay',
      {
        eventName: ['INSERT'],
        dynamodb: { Keys: { pk: { S: [{ prefix: 'OUTBOX#' }] }, sk: { S: [{ prefix: 'ENTRY#' }] } } },
      },
    ],
    [
      'Count',
      {
        eventName: ['INSERT', 'MODIFY'],
        dynamodb: {
          Keys: { pk: { S: [{ prefix: 'MESSAGE#' }] } },
          NewImage: { counted: { BOOL: [{ exists: false }] } },
        },
      },
    ],
  ])('feeds %s with what it is for, from the beginning, and what fails for good is kept', (name, pattern) => {
    const filter = new Capture();
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FunctionName: { Ref: Match.stringLikeRegexp(`^${name}Function`) },
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 10,
      MaximumRecordAgeInSeconds: 86_400,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('^FailedBatches'), 'Arn'] } },
      },
      FilterCriteria: { Filters: [{ Pattern: filter }] },
    });
    expect(JSON.parse(filter.asString())).toEqual(pattern);
  });
});

test('the secret of the app network is in no template', () => {
  template.hasResourceProperties('AWS::SecretsManager::Secret', { GenerateSecretString: {} });
  template.hasResource('AWS::SecretsManager::Secret', { DeletionPolicy: 'Retain' });
  expect(JSON.stringify(template.toJSON())).not.toMatch(/whsec_[A-Za-z0-9+/]/);
});

test('sweep and erase run each minute, and are not repeated when they fail', () => {
  template.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    Targets: ['Sweep', 'Erase'].map((name) =>
      Match.objectLike({
        Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp(`^${name}Function`), 'Arn'] },
        RetryPolicy: { MaximumRetryAttempts: 0 },
      }),
    ),
  });
});

test('the outputs name both hosts, the table, the bucket and the secret of the app network', () => {
  expect(Object.keys(template.findOutputs('*')).sort()).toEqual([
    'AppNetworkSecret',
    'BaseUrl',
    'BridgeUrl',
    'MediaBucketName',
    'TableName',
  ]);
});
