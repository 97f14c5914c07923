/**
 * Generates the API description (OpenAPI 3.1) from `shared/api/`: schemas, and the docs beside them.
 */
import type { JsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { Endpoint, Host } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { exampleHosts } from '../../shared/api/openapi/example-hosts.ts';
import { propertyRow } from '../../shared/api/openapi/property-row.ts';
import { problemCatalogue } from '../../shared/core/problems.ts';
import { catalogue } from '../../shared/users/profile-properties.ts';
import { describedName, describedPath, docsOf, examples, tagOf, tags } from './docs.ts';
import { explain, guarantee, named, namedSchemas, type Part, schemaOf, shownIn } from './parts/components.ts';
import {
  byCode,
  describeGatewayErrors,
  describeProblem,
  failures,
  HEADERS,
  problemExample,
  severalProblems,
  successes,
} from './parts/responses.ts';
import { describeWebhook, type WebhookName } from './parts/webhook-operations.ts';
import { capitalised } from './samples/sample-request.ts';
import { webhooks } from './webhooks.ts';
import { overview, webhookTags } from './words.ts';

/** The API description, with the hosts `exampleHosts`. */
export const describeApi = (): Part => ({
  openapi: '3.1.0',
  info: {
    title: 'Business API',
    version: '1',
    summary: 'Research profilers, usage statistics, user data requests and messaging bridge.',
    description: `${overview}\n\n${propertiesInWords()}`,
    contact: { name: 'The operator of this deployment' },
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: exampleHosts.base, description: 'The API host' }],
  tags: [...tags, ...Object.values(webhookTags)],
  paths: paths(),
  webhooks: Object.fromEntries(Object.keys(webhooks).map((name) => [name, describeWebhook(name as WebhookName)])),
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer', description: 'The token that the operator issued.' },
    },
    schemas: namedSchemas(),
    headers: HEADERS,
    examples: byCode((code) => ({ summary: problemCatalogue[code].title, value: problemExample(code) })),
    responses: { ...byCode(describeProblem), ...describeGatewayErrors(), ...Object.fromEntries(severalProblems) },
  },
});

const endpoints = Object.entries(api) as [EndpointName, Endpoint][];

const paths = (): Record<string, Part> => {
  const items: Record<string, Part> = {};
  const hosts: Record<string, Set<Host>> = {};
  for (const [name, endpoint] of endpoints) {
    for (const route of endpoint.routes.filter(({ undescribed }) => !undescribed)) {
      const path = describedPath(name, route.path);
      items[path] ??= {};
      items[path][route.method.toLowerCase()] ??= describeOperation(name, endpoint, { ...route, path });
      hosts[path] = (hosts[path] ?? new Set()).add(route.host);
    }
  }
  for (const [path, item] of Object.entries(items)) {
    const served = [...(hosts[path] ?? [])];
    // The default is the API host.
    if (served.includes('bridge')) item.servers = served.map((host) => ({ url: exampleHosts[host] }));
  }
  return items;
};

/** The ending of an operation's id for the second path of an endpoint. */
const pathSuffix = (name: EndpointName, path: string, first: string): string =>
  path === describedPath(name, first) ? '' : 'BelowV1';

const describeOperation = (name: EndpointName, endpoint: Endpoint, route: { method: string; path: string }): Part => {
  const { area, summary, permission, token } = endpoint;
  const [first] = endpoint.routes;
  const permissionInWords =
    permission === 'none' ? '' : permission === 'any' ? '\n\nPermission: any.' : `\n\nPermission: \`${permission}\`.`;
  return {
    operationId: name + pathSuffix(name, route.path, first.path) + (route.method === first.method ? '' : 'Head'),
    tags: [tagOf(area).name],
    summary,
    description: `${docsOf(name).text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')}${permissionInWords}`,
    security: token === 'header' ? [{ token: [] }] : [],
    ...withParameters(name, endpoint, route.path),
    ...(endpoint.body && { requestBody: describeBody(name, endpoint.body) }),
    responses: { ...successes(name, endpoint, route.method), ...failures(endpoint) },
  };
};

const withParameters = (name: EndpointName, { path, query, headers }: Endpoint, route: string): Part => {
  const parameters = [
    ...describeParameters(name, 'path', path, (parameter) => describedName(name, parameter)).filter((parameter) =>
      route.includes(`{${parameter.name}}`),
    ),
    ...describeParameters(name, 'query', query, (parameter) => parameter),
    ...describeParameters(name, 'headers', headers, capitalised),
  ];
  return parameters.length > 0 ? { parameters } : {};
};

const describeParameters = (
  name: EndpointName,
  place: 'path' | 'query' | 'headers',
  schema: v.GenericSchema | undefined,
  nameOf: (parameter: string) => string,
): Part[] => {
  if (schema === undefined) return [];
  // OpenAPI describes `Accept` by the types of the responses.
  const { properties: { accept: _accept, ...properties } = {}, required = [] } = schemaOf(schema);
  return Object.entries(properties).map(([parameter, described]) => {
    const shownName = nameOf(parameter);
    const given = typeof described === 'object' ? described : {};
    const description = explain(name, shownName);
    const rest = { ...named.at(`${name}.${place}.${parameter}`, given), ...guarantee(name, shownName) };
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
      ...(shown !== undefined && { example: given.type === 'integer' ? Number(shown) : shown }),
    };
  });
};

const MEDIA_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
};

const describeBody = (name: EndpointName, { type, schema }: NonNullable<Endpoint['body']>): Part => {
  const described = schemaOf(docsOf(name).body ?? schema);
  const isForm = type === 'form';
  return {
    required: true,
    content: {
      [MEDIA_TYPES[type]]: {
        schema: named.at(`${name}.request`, isForm ? withExamples(name, described) : described),
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

/** The catalogue of properties, as a table in Markdown. */
const propertiesInWords = (): string =>
  [
    '**Properties of users:**',
    '',
    '| property | what it is | granted |',
    '| --- | --- | --- |',
    ...Object.entries(catalogue).flatMap(([name, described]) => propertyRow(name, described)),
  ].join('\n');
