/**
 * Reads what `cdk synth` wrote, as far as this machine can serve it: table, functions, hosts with their routes and
 * authorizers, schedules. What it does not know it refuses, so that nothing is silently left out.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Statement } from './policies.ts';

/** A function, by its logical id: the name that its credentials and its log lines carry here. */
export interface FunctionDefinition {
  id: string;
  /** Folder of its asset. */
  folder: string;
  /** `file.export`, as Lambda writes it. */
  handler: string;
  /** Milliseconds. */
  timeout: number;
  /** Megabytes. */
  memory: number;
  environment: Record<string, string>;
  /** What its role allows it to do with the table. */
  policy: Statement[];
}

export interface AuthorizerDefinition {
  id: string;
  function: string;
  /** `$request.header.Name` and the like; all must be there. */
  identitySources: string[];
  /** Milliseconds that an answer holds for the same identity; 0 for none. */
  cached: number;
}

export interface RouteDefinition {
  /** `POST /v1/things/{id}` */
  key: string;
  function: string;
  authorizer: AuthorizerDefinition | undefined;
}

export interface HostDefinition {
  id: string;
  routes: RouteDefinition[];
  /** Of the access log. */
  format: string;
}

export interface ScheduleDefinition {
  id: string;
  /** Minutes from one run to the next. */
  minutes: number;
  functions: string[];
}

/** The table's properties, as the template has them. */
export interface TableDefinition {
  id: string;
  properties: Record<string, unknown>;
}

export interface Template {
  table: TableDefinition;
  functions: FunctionDefinition[];
  hosts: Record<'base' | 'bridge', HostDefinition>;
  schedules: ScheduleDefinition[];
}

/** What the template's references stand for on this machine. */
export interface Surroundings {
  tableName: string;
  baseUrl: string;
  bridgeUrl: string;
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Resource = { Type: string; Properties?: { [key: string]: Json } };
type Resolve = (value: Json | undefined) => Json | undefined;

/**
 * Reads the synthesised stack in `folder`.
 *
 * @throws Error — the template holds something that the local stack does not know
 */
export const readTemplate = async (folder: string, surroundings: Surroundings): Promise<Template> => {
  const template = await readJson(join(folder, 'BusinessApi.template.json'));
  const assets = await readJson(join(folder, 'BusinessApi.assets.json'));
  const resources = Object.entries(template.Resources as Record<string, Resource>);
  const of = (type: string) => resources.filter(([, resource]) => resource.Type === type);

  const outputs = template.Outputs as Record<string, { Value: Json }>;
  const apis = { base: apiOf(outputs.BaseUrl?.Value), bridge: apiOf(outputs.BridgeUrl?.Value) };
  const [tableId, table] = only(of('AWS::DynamoDB::GlobalTable'), 'table');

  const resolve = resolver((name, attribute) => {
    if (name === tableId && attribute === undefined) return surroundings.tableName;
    if (attribute === 'ApiEndpoint' && name === apis.base) return surroundings.baseUrl;
    if (attribute === 'ApiEndpoint' && name === apis.bridge) return surroundings.bridgeUrl;
    const pseudo = PSEUDO_PARAMETERS[name];
    if (pseudo !== undefined) return pseudo;
    return attribute === undefined ? name : `${name}.${attribute}`;
  });

  const policyOf = (role: Json | undefined): Statement[] =>
    of('AWS::IAM::Policy')
      .filter(([, { Properties = {} }]) =>
        list(Properties.Roles).some((name) => `${resolve(name)}.Arn` === resolve(role)),
      )
      .flatMap(([, { Properties = {} }]) => list(field(resolve(Properties.PolicyDocument), 'Statement')))
      .flatMap(toStatement);

  const functions = of('AWS::Lambda::Function').map(([id, { Properties = {} }]) => ({
    id,
    folder: join(folder, assetPath(assets, Properties.Code)),
    handler: text(Properties.Handler),
    timeout: number(Properties.Timeout) * 1000,
    memory: number(Properties.MemorySize),
    environment: strings(resolve(field(Properties.Environment, 'Variables'))),
    policy: policyOf(Properties.Role),
  }));
  const functionIn = (value: Json | undefined): string => {
    const found = functions.find(({ id }) => new RegExp(`(^|[:/])${id}[.]Arn`).test(text(resolve(value))));
    if (found === undefined) throw unknown('function', value);
    return found.id;
  };

  const authorizers = new Map(
    of('AWS::ApiGatewayV2::Authorizer').map(([id, { Properties = {} }]) => [
      id,
      {
        id,
        function: functionIn(Properties.AuthorizerUri),
        identitySources: list(Properties.IdentitySource).map(text),
        cached: number(Properties.AuthorizerResultTtlInSeconds) * 1000,
      },
    ]),
  );
  const integrations = new Map(
    of('AWS::ApiGatewayV2::Integration').map(([id, { Properties = {} }]) => [
      `integrations/${id}`,
      functionIn(Properties.IntegrationUri),
    ]),
  );

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
      })),
    format: text(
      field(
        of('AWS::ApiGatewayV2::Stage').find(([, { Properties = {} }]) => resolve(Properties.ApiId) === id)?.[1]
          .Properties?.AccessLogSettings,
        'Format',
      ),
    ),
  });

  return {
    table: { id: tableId, properties: table.Properties ?? {} },
    functions,
    hosts: { base: host(apis.base), bridge: host(apis.bridge) },
    schedules: of('AWS::Events::Rule').map(([id, { Properties = {} }]) => ({
      id,
      minutes: minutesOf(text(Properties.ScheduleExpression)),
      functions: list(Properties.Targets).map((target) => functionIn(field(target, 'Arn'))),
    })),
  };
};

const PSEUDO_PARAMETERS: Record<string, string> = {
  'AWS::AccountId': '000000000000',
  'AWS::Partition': 'aws',
  'AWS::Region': 'us-east-1',
  'AWS::URLSuffix': 'localhost',
};

/** Resolves the intrinsic functions that our templates use. */
const resolver = (lookUp: (name: string, attribute?: string) => string): Resolve => {
  const resolve: Resolve = (value) => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((element) => resolve(element) ?? null);
    const [[name, argument] = [], ...more] = Object.entries(value);
    if (name === 'Ref') return lookUp(text(argument));
    if (name === 'Fn::GetAtt') {
      const [resource, attribute] = list(argument).map(text);
      return lookUp(resource ?? '', attribute);
    }
    if (name === 'Fn::Join') {
      const [separator, parts] = list(argument);
      return list(resolve(parts)).map(text).join(text(separator));
    }
    if (name === 'Fn::Sub') return text(argument).replaceAll(/\$\{([^}]+)\}/g, (_, inner: string) => lookUp(inner));
    if (name?.startsWith('Fn::') && more.length === 0) throw unknown('intrinsic function', name);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner) ?? null]));
  };
  return resolve;
};

const readJson = async (path: string): Promise<Record<string, unknown>> => JSON.parse(await readFile(path, 'utf8'));

/** Folder of a function's code: the last part of the asset's S3 key is the asset's hash and `.zip`. */
const assetPath = (assets: Record<string, unknown>, code: Json | undefined): string => {
  const hash = text(field(code, 'S3Key')).replace(/\.zip$/, '');
  const files = assets.files as Record<string, { source: { path: string } }>;
  const path = files[hash]?.source.path;
  if (path === undefined) throw unknown('asset', hash);
  return path;
};

const apiOf = (output: Json | undefined): string => {
  const [api, attribute] = list(field(output, 'Fn::GetAtt')).map(text);
  if (api === undefined || attribute !== 'ApiEndpoint') throw unknown('output of a host', output);
  return api;
};

/** A statement about the table; those about logs have no counterpart here. */
const toStatement = (statement: Json): Statement[] => {
  const actions = oneOrMore(field(statement, 'Action'));
  if (actions.every((action) => action.startsWith('logs:'))) return [];
  const { 'ForAllValues:StringLike': like, Null: absent, ...others } = record(field(statement, 'Condition'));
  const fenced = field(absent, 'dynamodb:LeadingKeys') === 'false' && Object.keys(others).length === 0;
  if (field(statement, 'Effect') !== 'Allow' || !fenced) throw unknown('statement of a policy', statement);
  return [
    {
      actions,
      resources: oneOrMore(field(statement, 'Resource')),
      leadingKeys: oneOrMore(field(like, 'dynamodb:LeadingKeys')),
    },
  ];
};

const minutesOf = (expression: string): number => {
  const [, amount] = /^rate\((\d+) minutes?\)$/.exec(expression) ?? [];
  if (amount === undefined) throw unknown('schedule', expression);
  return Number(amount);
};

const only = <Element>(elements: Element[], what: string): Element => {
  const [first, ...more] = elements;
  if (first === undefined || more.length > 0) throw unknown(`${what}: not exactly one`, elements.length);
  return first;
};

const found = <Value>(map: Map<string, Value>, key: string): Value => {
  const value = map.get(key);
  if (value === undefined) throw unknown('reference', key);
  return value;
};

const field = (value: Json | undefined, name: string): Json | undefined => record(value)[name];

const record = (value: Json | undefined): { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

const oneOrMore = (value: Json | undefined): string[] => (Array.isArray(value) ? value : [value]).map(text);

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

const text = (value: Json | undefined): string => {
  if (typeof value !== 'string') throw unknown('text', value);
  return value;
};

const number = (value: Json | undefined): number => {
  if (typeof value !== 'number') throw unknown('number', value);
  return value;
};

const strings = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(value ?? {}).map(([key, inner]) => [key, text(inner)]));

const unknown = (what: string, value: unknown): Error =>
  new Error(`The local stack does not know this ${what} of the template: ${JSON.stringify(value)}`);
