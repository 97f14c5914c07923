/**
 * Reads the output of `cdk synth`: table, functions, hosts with their routes and authorizers, schedules, queues, event
 * source mappings, secrets, buckets. Unknown content of these resources is rejected, so that nothing is silently
 * left out.
 */
import { readFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { rightsFor, type Statement } from '../iam/policies.ts';
import type {
  FunctionDefinition,
  HostDefinition,
  ScheduleTarget,
  TableDefinition,
  Template,
  ThrottleDefinition,
} from './definitions.ts';
import { readMapping, readQueues } from './events.ts';
import { readInvokeConfigs } from './invoke-config.ts';
import { field, found, type Json, list, number, only, record, strings, text, unknown } from './json.ts';
import { ACCOUNT, arnOf, resolver } from './references.ts';
import { mayInvoke, readStatement } from './statements.ts';

/** The names and URLs on this machine that references resolve to. */
export interface TemplateContext {
  stackName: string;
  tableName: string;
  /** The properties of the table with that name, if it exists: a template may name it instead of defining it. */
  existingTable?: Record<string, Json> | undefined;
  /** The HTTP APIs, by names that the caller chooses: the output that contains the API's URL, and the URL here. */
  hosts: Record<string, { output: string; url: string }>;
  /** The endpoint of queues and secrets. */
  awsUrl: string;
}

type Resource = { Type: string; Properties?: { [key: string]: Json } };

/**
 * Reads the synthesised stack in `folder`.
 *
 * @throws Error — the template contains something that the emulator does not support
 */
export const readTemplate = async (folder: string, context: TemplateContext): Promise<Template> => {
  const template = await readJson(join(folder, `${context.stackName}.template.json`));
  const assets = await readJson(join(folder, `${context.stackName}.assets.json`));
  const resources = Object.entries(template.Resources as Record<string, Resource>);
  const of = (type: string) => resources.filter(([, resource]) => resource.Type === type);

  const outputs = template.Outputs as Record<string, { Value: Json }>;
  const apis = Object.entries(context.hosts).map(([name, { output, url }]) => ({
    name,
    url,
    id: apiOf(outputs[output]?.Value),
  }));
  const tables = of('AWS::DynamoDB::GlobalTable');
  const { tableName, existingTable } = context;
  const isExisting = tables.length === 0 && existingTable !== undefined;
  const [tableId, table]: [string, Pick<Resource, 'Properties'>] = isExisting
    ? ['ExistingTable', { Properties: existingTable }]
    : only(tables, 'table');
  const queueNames = of('AWS::SQS::Queue').map(([id, { Properties }]): [string, string] => [
    id,
    field(Properties, 'FifoQueue') === true ? `${id}.fifo` : id,
  ]);
  const secrets = of('AWS::SecretsManager::Secret').map(([id]) => ({
    id,
    arn: arnOf('secretsmanager', `secret:${id}`),
  }));
  const buckets = of('AWS::S3::Bucket').map(([id]) => {
    const name = id.toLowerCase();
    return { id, name, arn: `arn:aws:s3:::${name}` };
  });

  const resolve = resolver(
    new Map([
      [tableId, tableName],
      ...apis.map(({ id, url }): [string, string] => [`${id}.ApiEndpoint`, url]),
      ...queueNames.flatMap(([id, name]): [string, string][] => [
        [id, `${context.awsUrl}/${ACCOUNT}/${name}`],
        [`${id}.Arn`, arnOf('sqs', name)],
      ]),
      ...secrets.map(({ id, arn }): [string, string] => [id, arn]),
      ...buckets.flatMap(({ id, name, arn }): [string, string][] => [
        [id, name],
        [`${id}.Arn`, arn],
      ]),
    ]),
  );
  const queues = readQueues(
    of('AWS::SQS::Queue').map(([id, { Properties }]) => ({
      id,
      url: text(resolve({ Ref: id })),
      arn: text(resolve(attribute(id, 'Arn'))),
      properties: resolve(Properties),
    })),
  );
  const tableArn = isExisting ? arnOf('dynamodb', `table/${tableName}`) : undefined;
  const stream =
    tableArn === undefined
      ? text(resolve(attribute(tableId, 'StreamArn')))
      : streamOfExisting(
          tableArn,
          of('AWS::Lambda::EventSourceMapping').map(([, { Properties }]) =>
            resolve(field(Properties, 'EventSourceArn')),
          ),
        );

  const statementsOf = (role: Json | undefined): Json[] =>
    of('AWS::IAM::Role')
      .filter(([id]) => `${id}.Arn` === resolve(role))
      .flatMap(([, { Properties = {} }]) => list(resolve(Properties.Policies)))
      .flatMap((policy) => list(field(field(policy, 'PolicyDocument'), 'Statement')));
  const policyOf = (role: Json | undefined): Statement[] =>
    statementsOf(role).flatMap((statement) => readStatement(statement, { queues, stream, secrets, buckets }));

  const limitsOf = readInvokeConfigs(
    of('AWS::Lambda::EventInvokeConfig').map(([, { Properties }]) => resolve(Properties)),
  );
  const functions = of('AWS::Lambda::Function').map(([id, { Properties = {} }]) => ({
    id,
    folder: join(folder, assetPath(assets, Properties.Code)),
    handler: text(Properties.Handler),
    timeout: number(Properties.Timeout) * 1000,
    memory: number(Properties.MemorySize),
    environment: strings(resolve(field(Properties.Environment, 'Variables'))),
    policy: policyOf(Properties.Role),
    asynchronous: limitsOf(id),
  }));
  const functionIn = (value: Json | undefined): FunctionDefinition => {
    const found = functions.find(({ id }) => new RegExp(`(^|[:/])${id}([.]Arn|$)`).test(text(resolve(value))));
    if (found === undefined) throw unknown('function', value);
    return found;
  };

  /** The function that API Gateway calls with a role. */
  const calledIn = (uri: Json | undefined, role: Json | undefined): string => {
    const { id } = functionIn(uri);
    const [, { Properties } = {}] = of('AWS::Lambda::Function').find(([one]) => one === id) ?? [];
    const arn = arnOf('lambda', `function:${text(field(Properties, 'FunctionName'))}`);
    if (!statementsOf(role).some((statement) => mayInvoke(statement, arn))) {
      throw new Error(`API Gateway's role may not call ${id}.`);
    }
    return id;
  };

  const authorizers = new Map(
    of('AWS::ApiGatewayV2::Authorizer').map(([id, { Properties = {} }]) => [
      id,
      {
        id,
        function: calledIn(Properties.AuthorizerUri, Properties.AuthorizerCredentialsArn),
        identitySources: list(Properties.IdentitySource).map(text),
        cached: number(Properties.AuthorizerResultTtlInSeconds) * 1000,
      },
    ]),
  );
  const integrations = new Map(
    of('AWS::ApiGatewayV2::Integration').map(([id, { Properties = {} }]) => [
      `integrations/${id}`,
      calledIn(Properties.IntegrationUri, Properties.CredentialsArn),
    ]),
  );

  const stageOf = (id: string) =>
    of('AWS::ApiGatewayV2::Stage').find(([, { Properties = {} }]) => resolve(Properties.ApiId) === id)?.[1].Properties;

  const host = (id: string): HostDefinition => ({
    id,
    routes: of('AWS::ApiGatewayV2::Route')
      .filter(([, { Properties = {} }]) => resolve(Properties.ApiId) === id)
      .map(([, { Properties = {} }]) => ({
        key: text(Properties.RouteKey),
        function: found(integrations, text(resolve(Properties.Target))),
        authorizer:
          Properties.AuthorizerId === undefined
            ? undefined
            : found(authorizers, text(resolve(Properties.AuthorizerId))),
        throttle: throttleOf(field(stageOf(id)?.RouteSettings, text(Properties.RouteKey))),
      })),
    format: text(field(stageOf(id)?.AccessLogSettings, 'Format')),
  });

  const mappings = of('AWS::Lambda::EventSourceMapping').map(([id, { Properties = {} }]) => {
    const target = functionIn(Properties.FunctionName);
    const mapping = readMapping(id, target, resolve(Properties), { queues, stream });
    const lacking = mapping.needs.find((touch) => rightsFor(target.policy, touch).length === 0);
    if (lacking === undefined) return mapping;
    throw new Error(`The role of ${target.id} lacks ${lacking.action} on ${lacking.resource}, which ${id} needs.`);
  });

  return {
    table: { ...readTable(tableId, table.Properties ?? {}), ...(tableArn !== undefined && { arn: tableArn }) },
    functions,
    hosts: Object.fromEntries(apis.map(({ name, id }) => [name, host(id)])),
    schedules: of('AWS::Events::Rule').map(([id, { Properties = {} }]) => ({
      id,
      minutes: minutesOf(text(Properties.ScheduleExpression)),
      targets: list(Properties.Targets).map((target): ScheduleTarget => {
        const { Arn, Id: _id, RetryPolicy: _retries, Input, ...others } = record(target);
        if (Object.keys(others).length > 0) throw unknown('target of a rule', others);
        return { ...functionIn(Arn), ...(Input !== undefined && { input: JSON.parse(text(Input)) as Json }) };
      }),
    })),
    queues,
    mappings,
    secrets,
    buckets,
  };
};

const readTable = (id: string, properties: Record<string, Json>): TableDefinition => {
  const keysOf = (schema: Json | undefined) =>
    list(schema).map((key) => ({ name: text(field(key, 'AttributeName')), kind: text(field(key, 'KeyType')) }));
  const partitionOf = (schema: Json | undefined): string =>
    only(
      keysOf(schema).filter(({ kind }) => kind === 'HASH'),
      'partition key',
    ).name;
  const { KeySchema, GlobalSecondaryIndexes } = properties;
  return {
    id,
    properties,
    keys: {
      attributes: keysOf(KeySchema).map(({ name }) => name),
      partition: partitionOf(KeySchema),
      indexes: Object.fromEntries(
        list(GlobalSecondaryIndexes).map((index) => [
          text(field(index, 'IndexName')),
          partitionOf(field(index, 'KeySchema')),
        ]),
      ),
    },
  };
};

/** The stream of a table that the template names: its ARN begins with that of the table. */
const streamOfExisting = (tableArn: string, sources: (Json | undefined)[]): string => {
  const streams = new Set(sources.map(text).filter((arn) => arn.startsWith(`${tableArn}/stream/`)));
  return only([...streams], 'stream of the existing table');
};

/** The throttle in the settings of a route, which replace those of its stage as a whole. */
const throttleOf = (settings: Json | undefined): ThrottleDefinition | undefined => {
  if (settings === undefined) return undefined;
  const { ThrottlingRateLimit, ThrottlingBurstLimit, ...others } = record(settings);
  if (Object.keys(others).length > 0) throw unknown('setting of a route', others);
  return { rate: number(ThrottlingRateLimit), burst: number(ThrottlingBurstLimit) };
};

const attribute = (id: string, name: string): Json => ({ 'Fn::GetAtt': [id, name] });

const readJson = async (path: string): Promise<Record<string, unknown>> => JSON.parse(await readFile(path, 'utf8'));

/** The folder of a function's code, in that of the assembly. The asset's S3 key is its hash and `.zip`. */
const assetPath = (assets: Record<string, unknown>, code: Json | undefined): string => {
  const hash = text(field(code, 'S3Key')).replace(/\.zip$/, '');
  const files = assets.files as Record<string, { source: { path: string } }>;
  const path = files[hash]?.source.path;
  if (path === undefined) throw unknown('asset', hash);
  // The path of a bundle that was not copied names the folder where the assembly was made, which may have moved.
  return isAbsolute(path) ? basename(path) : path;
};

const apiOf = (output: Json | undefined): string => {
  const [api, attribute] = list(field(output, 'Fn::GetAtt')).map(text);
  if (api === undefined || attribute !== 'ApiEndpoint') throw unknown('output of a host', output);
  return api;
};

const minutesOf = (expression: string): number => {
  const [, amount] = /^rate\((\d+) minutes?\)$/.exec(expression) ?? [];
  if (amount === undefined) throw unknown('schedule', expression);
  return Number(amount);
};
