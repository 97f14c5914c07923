/** Parses the committed API description into operations, and finds the operation of a request. */
import { readFileSync } from 'node:fs';

type Type = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null';

/** The part of JSON Schema that the description uses. */
export interface Schema {
  type?: Type | Type[];
  const?: string;
  enum?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema;
  propertyNames?: Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

interface Content {
  schema: Schema;
  examples?: Record<string, unknown>;
}

interface Described {
  operationId: string;
  description: string;
  security: unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { content?: Record<string, Content> }>;
}

interface Document {
  servers: { url: string }[];
  paths: Record<string, { servers?: { url: string }[] } & Record<string, Described>>;
  components: { responses: Record<string, Described['responses'][string]>; schemas: { Problem: object } };
}

export type Host = 'base' | 'bridge';

export interface Operation {
  id: string;
  method: string;
  path: string;
  hosts: Host[];
  /** The part of a request that contains the token. */
  token: 'header' | 'path' | 'none';
  /** The required permission, from the operation's text. */
  permission: string | undefined;
  parameters: Parameter[];
  body: { type: string; schema: Schema } | undefined;
  responses: Described['responses'];
}

/** The parameter of a path that is a token. */
const TOKEN = 'encoded_token';

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Replaces references by the objects that they point to. All references to a schema share one object. */
const resolve = (root: unknown, part: unknown): void => {
  if (!isObject(part)) return;
  for (const [name, child] of Object.entries(part)) {
    if (isObject(child) && typeof child.$ref === 'string') part[name] = at(root, child.$ref.split('/').slice(1));
    else resolve(root, child);
  }
};

const at = (root: unknown, place: string[]): unknown =>
  place.reduce<unknown>((within, name) => (isObject(within) ? within[name] : undefined), root);

const readDocument = (): Document => {
  const document = JSON.parse(
    readFileSync(new URL('../../../../shared/api/openapi/openapi.json', import.meta.url), 'utf8'),
  );
  resolve(document, document);
  return document;
};

const document = readDocument();

const [apiHost] = document.servers;

/** The schema of a problem document, complete. An error with a status that API Gateway returns too has a wider one. */
export const problemSchema = document.components.schemas.Problem;

const operationOf = (path: string, method: string, hosts: Host[], described: Described): Operation => {
  const { operationId: id, description, security, parameters = [], requestBody, responses } = described;
  const inPath = parameters.some(({ name }) => name === TOKEN);
  const [body] = Object.entries(requestBody?.content ?? {});
  return {
    id,
    method: method.toUpperCase(),
    path,
    hosts,
    token: security.length > 0 ? 'header' : inPath ? 'path' : 'none',
    permission: /Permission: `(\w+)`/.exec(description)?.[1],
    parameters: parameters.filter(({ name }) => name !== TOKEN),
    body: body && { type: body[0], schema: body[1].schema },
    responses,
  };
};

/** The URL of RapidPro's channels, which the description names without the slash at its end. */
const WITH_SLASH = '/v1/webhook/rapidpro/';

/** The paths of the API. */
const paths = Object.entries(document.paths).flatMap(([path, item]) =>
  `${path}/` === WITH_SLASH ? [[path, item] as const, [WITH_SLASH, item] as const] : [[path, item] as const],
);

/** Every operation of the description. */
export const operations: Operation[] = paths.flatMap(([path, item]) => {
  const hosts = (item.servers ?? document.servers).map(({ url }): Host => (url === apiHost?.url ? 'base' : 'bridge'));
  return METHODS.flatMap((method) => {
    const described = item[method];
    return described === undefined ? [] : [operationOf(path, method, hosts, described)];
  });
});

/**
 * The responses to requests without an operation, beside those of API Gateway: of the bridge host, and below the portal and
 * the documentation, whose files the description leaves out.
 */
export const elsewhere: Described['responses'] = { 404: document.components.responses.address_not_found ?? {} };

/** The operation of a request, by host, method and raw path; undefined if the API has no such operation. */
export const operationAt = (host: Host, method: string, path: string): Operation | undefined =>
  operations
    .filter((operation) => operation.hosts.includes(host) && operation.method === method)
    .filter((operation) => isAt(operation.path, path))
    .sort((a, b) => parametersIn(a.path) - parametersIn(b.path))
    .at(0);

const parametersIn = (path: string): number => path.split('{').length;

/** A template that ends with a slash matches all paths below it. Its operation returns 404 for them. */
const isAt = (template: string, path: string): boolean => {
  const [parts, given] = [template.split('/'), path.split('/')];
  const [below, whole] = [template.endsWith('/'), parts.slice(0, template.endsWith('/') ? -1 : undefined)];
  return (
    (below ? given.length >= parts.length : given.length === parts.length) &&
    whole.every((part, at) => (part.startsWith('{') ? given[at] !== '' : part === given[at]))
  );
};
