/** The local stack with a small template of the test: functions as source, and their resources. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalStack, type LocalStackOptions } from '../../../infra/local/local-stack.ts';

export interface SmallFunction {
  /** The source of its module, which exports `handler`. */
  source: string;
  /** Timeout in seconds. */
  timeout?: number;
  /** Memory in megabytes. */
  memory?: number;
  environment?: Record<string, unknown>;
  /** The statements of its role. */
  statements?: object[];
}

/** The template of a test. */
export interface SmallTemplate {
  functions: Record<string, SmallFunction>;
  /** Other resources by logical id. A table and two hosts are always included. */
  resources: Record<string, object>;
}

/** The template with other functions and resources, by their logical ids. */
export const withChanges = (template: SmallTemplate, changed: Partial<SmallTemplate>): SmallTemplate => ({
  functions: { ...template.functions, ...changed.functions },
  resources: { ...template.resources, ...changed.resources },
});

export const attribute = (id: string, name: string) => ({ 'Fn::GetAtt': [id, name] });

export const arn = (id: string) => attribute(id, 'Arn');

/** A statement that allows actions without a condition. */
export const allow = (actions: string | string[], resource: unknown) => ({
  Effect: 'Allow',
  Action: actions,
  Resource: resource,
});

/** A statement that allows actions on some partitions of the table. */
export const allowOnTable = (actions: string | string[], partitions: string) => ({
  ...allow(actions, arn('Table')),
  Condition: {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [partitions] },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  },
});

const tableResource = {
  Type: 'AWS::DynamoDB::GlobalTable',
  Properties: {
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    BillingMode: 'PAY_PER_REQUEST',
    StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
    TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
  },
};

const api = { Type: 'AWS::ApiGatewayV2::Api', Properties: {} };

const stage = (id: string) => ({
  Type: 'AWS::ApiGatewayV2::Stage',
  Properties: {
    ApiId: { Ref: id },
    AccessLogSettings: { Format: '{"status":"$context.status","other":"$context.nothing"}' },
  },
});

const caller = {
  Type: 'AWS::IAM::Role',
  Properties: { Policies: [{ PolicyDocument: { Statement: [allow('lambda:InvokeFunction', '*')] } }] },
};

const lambda = ([id, { timeout = 5, memory = 256, environment = {} }]: [string, SmallFunction]) => [
  id,
  {
    Type: 'AWS::Lambda::Function',
    Properties: {
      FunctionName: id,
      Code: { S3Key: `${id}.zip` },
      Handler: 'index.handler',
      Timeout: timeout,
      MemorySize: memory,
      Environment: { Variables: environment },
      Role: arn(`${id}Role`),
    },
  },
];

const role = ([id, { statements = [] }]: [string, SmallFunction]) => [
  `${id}Role`,
  { Type: 'AWS::IAM::Role', Properties: { Policies: [{ PolicyDocument: { Statement: statements } }] } },
];

/** Writes an assembly into a folder, like `cdk synth`. */
const writeAssembly = async (folder: string, { functions, resources }: SmallTemplate): Promise<void> => {
  for (const [id, { source }] of Object.entries(functions)) {
    await mkdir(join(folder, id), { recursive: true });
    await writeFile(join(folder, id, 'index.mjs'), source);
  }
  const files = Object.fromEntries(Object.keys(functions).map((id) => [id, { source: { path: id } }]));
  await writeFile(join(folder, 'BusinessApi.assets.json'), JSON.stringify({ files }));
  const template = {
    Resources: {
      Table: tableResource,
      Base: api,
      Bridge: api,
      BaseStage: stage('Base'),
      BridgeStage: stage('Bridge'),
      Caller: caller,
      ...Object.fromEntries(Object.entries(functions).map(lambda)),
      ...Object.fromEntries(Object.entries(functions).map(role)),
      ...resources,
    },
    Outputs: {
      BaseUrl: { Value: attribute('Base', 'ApiEndpoint') },
      BridgeUrl: { Value: attribute('Bridge', 'ApiEndpoint') },
    },
  };
  await writeFile(join(folder, 'BusinessApi.template.json'), JSON.stringify(template));
};

/** A stack that serves a small template. */
export interface SmallStack {
  stack: LocalStack;
  /** Its log lines: source and line. */
  lines: string[];
  /** The name of its table. */
  table: string;
  /** Replaces the template. */
  load(template: SmallTemplate): Promise<void>;
  close(): Promise<void>;
}

export const serve = async (
  template: SmallTemplate,
  options: Pick<
    LocalStackOptions,
    'minute' | 'secret' | 'faultInjection' | 'staleReads' | 'transactionsHeldFor' | 'emptyRest' | 'onCall'
  >,
): Promise<SmallStack> => {
  const folder = await mkdtemp(join(tmpdir(), 'local-stack-'));
  const lines: string[] = [];
  const table = `small-${process.pid}-${Date.now()}`;
  await writeAssembly(folder, template);
  const stack = await LocalStack.start({
    assembly: Promise.resolve(folder),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: table,
    onLine: (source, line) => void lines.push(`${source} ${line}`),
    ...options,
  });
  return {
    stack,
    lines,
    table,
    load: async (changed) => {
      await writeAssembly(folder, changed);
      await stack.load(folder);
    },
    close: async () => {
      await stack.close();
      await rm(folder, { recursive: true });
    },
  };
};
