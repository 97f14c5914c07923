/**
 * Generates the API description (OpenAPI 3.1) from `shared/api/`, its schemas, and this folder's texts and examples.
 */
import type { JsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { type Endpoint, type Host, problemsOf } from '../../shared/api/endpoint.ts';
import { api, documents, type EndpointName } from '../../shared/api/index.ts';
import { exampleHosts } from '../../shared/api/openapi/example-hosts.ts';
import { appEvent } from '../../shared/app-network/events.ts';
import { type ProblemCode, problemCatalogue } from '../../shared/core/problems.ts';
import { turnMessages } from '../../shared/platforms/turn.ts';
import { catalogue } from '../../shared/users/profile-properties.ts';
import { listOf } from '../../shared/validation/bounded.ts';
import { type Example, examples } from './examples.ts';
import { toSchema, toSchemas } from './schemas.ts';
import { webhooks } from './webhooks.ts';
import { areas, explanations, glossary, overview, remedies } from './words.ts';

/** A part of the document; a validator of OpenAPI checks the whole document against the standard. */
type Part = Record<string, unknown>;

const gatewayMessage = v.object({ message: v.string() });

const fault = v.object({
  pointer: v.optional(v.string()),
  parameter: v.optional(v.string()),
  detail: v.string(),
});

const problem = v.object({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.metadata({ type: 'integer' })),
  code: v.pipe(v.string(), v.metadata({ enum: Object.keys(problemCatalogue) })),
  detail: v.string(),
  errors: v.optional(v.array(fault)),
  trace_id: v.string(),
});

const definitions = {
  ...documents,
  AppEvent: appEvent,
  Problem: problem,
  Fault: fault,
  GatewayMessage: gatewayMessage,
};

/** Descriptions of fields by name. A description for the endpoint takes precedence. */
const explain =
  (endpoint?: EndpointName) =>
  (name: string): string | undefined =>
    glossary[`${endpoint}.${name}`] ?? glossary[name];

const schemaOf = (schema: v.GenericSchema, endpoint?: EndpointName) => toSchema(schema, definitions, explain(endpoint));

const refTo = (kind: string, name: string): Part => ({ $ref: `#/components/${kind}/${name}` });

/** Schemas of bodies that have further checks than the endpoint's own schema. */
const bodies: Partial<Record<EndpointName, v.GenericSchema>> = {
  receiveAppEvents: v.union([appEvent, listOf(appEvent, { max: 100, of: 'events' })]),
  receiveTurnMessage: v.union(turnMessages),
};

/** The API description, with the hosts `exampleHosts`. */
export const describeApi = (): Part => ({
  openapi: '3.1.0',
  info: {
    title: 'Business API',
    version: '1',
    summary: 'Research profilers, usage statistics, user data requests and messaging bridge.',
    description: `${overview}\n\n${propertiesInWords()}`,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: exampleHosts.base, description: 'The API host' }],
  tags: Object.values(areas).map(({ name, says }) => ({ name, description: says })),
  paths: paths(),
  webhooks: Object.fromEntries(Object.keys(webhooks).map((name) => [name, describeWebhook(name as WebhookName)])),
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer', description: 'The token that the operator issued.' },
    },
    schemas: toSchemas(definitions, explain()),
    headers: { Link: LINK },
    examples: byCode((code) => ({ summary: problemCatalogue[code].title, value: problemExample(code) })),
    responses: { ...byCode(describeProblem), ...describeGatewayErrors() },
  },
});

const endpoints = Object.entries(api) as [EndpointName, Endpoint][];

const paths = (): Record<string, Part> => {
  const items: Record<string, Part> = {};
  const hosts: Record<string, Set<Host>> = {};
  for (const [name, endpoint] of endpoints) {
    for (const { host, method, path } of endpoint.routes) {
      items[path] ??= {};
      items[path][method.toLowerCase()] ??= describeOperation(name, endpoint, { method, path });
      hosts[path] = (hosts[path] ?? new Set()).add(host);
    }
  }
  for (const [path, item] of Object.entries(items)) {
    const served = [...(hosts[path] ?? [])];
    // The default is the API host.
    if (served.includes('bridge')) item.servers = served.map((host) => ({ url: exampleHosts[host] }));
  }
  return items;
};

const describeOperation = (name: EndpointName, endpoint: Endpoint, route: { method: string; path: string }): Part => {
  const { area, summary, permission, token } = endpoint;
  const [first] = endpoint.routes;
  const permissionInWords = permission === 'none' ? '' : `\n\nPermission: \`${permission}\`.`;
  return {
    operationId: name + (route.path === first.path ? '' : 'WithSlash') + (route.method === first.method ? '' : 'Head'),
    tags: [areas[area].name],
    summary,
    description: `${explanations[name].replaceAll(/(?<!\n)\n(?!\n)/g, ' ')}${permissionInWords}`,
    security: token === 'header' ? [{ token: [] }] : [],
    ...withParameters(name, endpoint),
    ...(endpoint.body && { requestBody: describeBody(name, endpoint.body) }),
    responses: { ...successes(name, endpoint, route.method), ...failures(endpoint) },
  };
};

const withParameters = (name: EndpointName, { path, query, headers }: Endpoint): Part => {
  const parameters = [
    ...describeParameters(name, 'path', path),
    ...describeParameters(name, 'query', query),
    ...describeParameters(name, 'headers', headers),
  ];
  return parameters.length > 0 ? { parameters } : {};
};

const describeParameters = (
  name: EndpointName,
  place: 'path' | 'query' | 'headers',
  schema: v.GenericSchema | undefined,
): Part[] => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, name);
  return Object.entries(properties).map(([parameter, described]) => {
    const shownName = place === 'headers' ? capitalised(parameter) : parameter;
    const { description = explain(name)(shownName), ...rest } = typeof described === 'object' ? described : {};
    const shown = examples
      .filter(({ endpoint }) => endpoint === name)
      .map((one) => (one[place] as Record<string, string> | undefined)?.[parameter])
      .find((value) => value !== undefined);
    return {
      name: shownName,
      in: place === 'headers' ? 'header' : place,
      required: required.includes(parameter),
      ...(description !== undefined && { description }),
      schema: rest,
      ...(shown !== undefined && { example: rest.type === 'integer' ? Number(shown) : shown }),
    };
  });
};

const capitalised = (header: string): string => header.replaceAll(/(^|-)([a-z])/g, (part) => part.toUpperCase());

const MEDIA_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
};

const describeBody = (name: EndpointName, { type, schema }: NonNullable<Endpoint['body']>): Part => {
  const described = schemaOf(bodies[name] ?? schema, name);
  const isForm = type === 'form';
  return {
    required: true,
    content: {
      [MEDIA_TYPES[type]]: {
        schema: isForm ? withExamples(name, described) : described,
        ...(isForm && { encoding: encodingOf(described) }),
        ...shownIn(name, ({ body }) => body),
      },
    },
  };
};

/** In forms, a list is a repeated field. */
const encodingOf = ({ properties = {} }: JsonSchema): Part =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, field]) => typeof field === 'object' && field.type === 'array')
      .map(([field]) => [field, { style: 'form', explode: true }]),
  );

/** Adds an example to each field of a form, because the reference shows forms field by field. */
const withExamples = (name: EndpointName, { properties = {}, ...form }: JsonSchema): JsonSchema => {
  const [shown] = examples.filter(({ endpoint }) => endpoint === name);
  const filled = Object.entries(properties).map(([field, described]) => {
    const value = (shown?.body as Record<string, unknown> | undefined)?.[field];
    return [
      field,
      typeof described === 'object' && value !== undefined ? { ...described, examples: [value] } : described,
    ];
  });
  return { ...form, properties: Object.fromEntries(filled) };
};

/** The endpoint's examples that have this part. */
const shownIn = (name: EndpointName, partOf: (example: Example) => unknown): Part => {
  const shown = examples
    .filter((example) => example.endpoint === name && partOf(example) !== undefined)
    .map((example) => [idOf(example.shows), { summary: example.shows, value: partOf(example) }]);
  return shown.length > 0 ? { examples: Object.fromEntries(shown) } : {};
};

const idOf = (words: string): string => words.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const SUCCESS = { 200: 'Done.', 204: 'Done. The response has no body.', 304: 'Your copy is current.' };

const LINK = {
  description: 'The next page, as `<URL>; rel="next"`. The last page has none.',
  schema: { type: 'string' },
};

const successes = (name: EndpointName, { responses, query }: Endpoint, method: string): Part => {
  const described = Object.entries(responses).map(([status, schema]): [string, Part] => {
    const description = SUCCESS[Number(status) as keyof typeof SUCCESS];
    if (schema === null || method === 'HEAD') return [status, { description }];
    const isBytes = schemaOf(schema).format === 'binary';
    return [
      status,
      {
        description,
        ...(isPaged(query) && { headers: { Link: refTo('headers', 'Link') } }),
        content: {
          [isBytes ? '*/*' : 'application/json']: {
            schema: schemaOf(schema, name),
            ...shownIn(name, ({ answer }) => answer),
          },
        },
      },
    ];
  });
  return Object.fromEntries(described);
};

const isPaged = (query: v.GenericSchema | undefined): boolean =>
  query !== undefined && 'cursor' in (schemaOf(query).properties ?? {});

/** API Gateway's own error responses, by status. */
const gatewayErrors: Record<number, string> = {
  401: 'The `Authorization` header is missing.',
  403: 'The token is not valid.',
  413: 'The request exceeds the limits of API Gateway.',
  429: 'Too many requests.',
  431: 'The headers are too long.',
  500: 'A function failed before it could return a problem.',
  503: 'The function took too long.',
};

/** The statuses of API Gateway's own error responses for an endpoint. */
const gatewayStatuses = ({ token, body }: Endpoint): number[] => [
  ...(token === 'header' ? [401] : []),
  ...(token === 'none' ? [] : [403]),
  ...(body ? [413] : []),
  ...[429, 431, 500, 503],
];

/** Error responses by status: problems, and API Gateway's own. */
const failures = (endpoint: Endpoint): Part => {
  const codes = Map.groupBy(problemsOf(endpoint), (code): number => problemCatalogue[code].status);
  const byGateway = gatewayStatuses(endpoint);
  const statuses = [...new Set([...codes.keys(), ...byGateway])].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [status, describeFailure(status, codes.get(status) ?? [], byGateway.includes(status))]),
  );
};

const describeFailure = (status: number, codes: ProblemCode[], isByGateway: boolean): Part => {
  const [only] = codes;
  if (only === undefined) return refTo('responses', gatewayName(status));
  if (codes.length === 1 && !isByGateway) return refTo('responses', only);
  const gateway = isByGateway ? [gatewayErrors[status]] : [];
  return {
    description: [...codes.map((code) => `\`${code}\`: ${remedies[code]}.`), ...gateway].join(' '),
    content: {
      'application/problem+json': {
        schema: refTo('schemas', 'Problem'),
        examples: Object.fromEntries(codes.map((code) => [code, refTo('examples', code)])),
      },
      ...(isByGateway && { 'application/json': { schema: refTo('schemas', 'GatewayMessage') } }),
    },
  };
};

const gatewayName = (status: string | number): string => `gateway_${status}`;

const describeGatewayErrors = (): Record<string, Part> =>
  Object.fromEntries(
    Object.entries(gatewayErrors).map(([status, description]) => [
      gatewayName(status),
      { description, content: { 'application/json': { schema: refTo('schemas', 'GatewayMessage') } } },
    ]),
  );

const byCode = (describe: (code: ProblemCode) => Part): Record<string, Part> =>
  Object.fromEntries((Object.keys(problemCatalogue) as ProblemCode[]).map((code) => [code, describe(code)]));

const describeProblem = (code: ProblemCode): Part => ({
  description: `${problemCatalogue[code].title}. What to do: ${remedies[code]}.`,
  ...(code === 'unavailable' && {
    headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
  }),
  ...(code === 'unsupported_media_type' && {
    headers: {
      'Accept-Encoding': { description: '`identity`, if the body was compressed.', schema: { type: 'string' } },
    },
  }),
  content: {
    'application/problem+json': {
      schema: refTo('schemas', 'Problem'),
      examples: { [code]: refTo('examples', code) },
    },
  },
});

const FAULTS: Partial<Record<ProblemCode, Part[]>> = {
  invalid_request: [{ pointer: '#/options/1', detail: 'must be a string, not a number' }],
  events_refused: [{ pointer: '#/1/data/id', detail: 'is the id of no message that was sent to a user' }],
};

const problemExample = (code: ProblemCode): Part => ({
  type: `${exampleHosts.base}/v1/openapi.json#/components/responses/${code}`,
  ...problemCatalogue[code],
  code,
  detail: `What to do: ${remedies[code]}.`,
  ...(FAULTS[code] && { errors: FAULTS[code] }),
  trace_id: '01d2a7c4-5b1f-4d0c-9c35-2f8e6b7a9d10',
});

type WebhookName = keyof typeof webhooks;

/** The description of signatures and responses (protocols, "Standard Webhooks"). */
const SIGNED = `Signed by [Standard Webhooks](https://www.standardwebhooks.com). A 2xx accepts it. After
408, 425, 429, 5xx or no response, it is retried in order, with growing pauses, for three days. Other statuses are not
retried. Use \`webhook-id\` to recognise a repeat.`.replaceAll('\n', ' ');

const SIGNATURE_HEADERS = [
  ['webhook-id', 'The same for each attempt.'],
  [
    'webhook-timestamp',
    'Unix seconds of this attempt. Reject a request if it differs from your clock by more than five minutes.',
  ],
  [
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. After a change of the secret there are several, separated by spaces: accept the request if one is valid.',
  ],
];

const describeWebhook = (name: WebhookName): Part => {
  const { to, summary, schema, example } = webhooks[name];
  return {
    post: {
      operationId: `receive${name.replaceAll(/(^|[._])([a-z])/g, (_, _mark, letter) => letter.toUpperCase())}`,
      tags: [areas[to === 'app' ? 'app' : 'messages'].name],
      summary,
      description: `${to === 'app' ? 'To the app network.' : 'To the webhook of an account. The operator sets its URL.'} ${SIGNED}`,
      security: [],
      parameters: SIGNATURE_HEADERS.map(([header, description]) => ({
        name: header,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(schema), example } },
      },
      responses: { '2XX': { description: 'Accepted.' }, '4XX': { description: 'Rejected. Not retried.' } },
    },
  };
};

/** The catalogue of properties, as a table in Markdown. */
const propertiesInWords = (): string =>
  [
    '**Properties of users:**',
    '',
    '| property | what it is | granted |',
    '| --- | --- | --- |',
    ...Object.entries(catalogue).map(
      ([name, { says, automatic }]) => `| \`${name}\` | ${says} | ${automatic ? 'at once' : 'by the user'} |`,
    ),
  ].join('\n');
