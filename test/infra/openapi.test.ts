/** The API description: up to date and complete. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { describedPath, glossary, guarantees, schemaNames } from '../../infra/openapi/docs.ts';
import { describeTools } from '../../infra/openapi/mcp-tools.ts';
import { webhooks } from '../../infra/openapi/webhooks.ts';
import { remedies } from '../../infra/openapi/words.ts';
import {
  DESCRIPTION_FILE,
  descriptionText,
  guideFile,
  guides,
  TOOLS_FILE,
  toolsText,
} from '../../infra/openapi/write.ts';
import { type Endpoint, problemsOf } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { problemCatalogue } from '../../shared/core/problems.ts';
import { propertyNames } from '../../shared/users/profile-properties.ts';

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
  requestBody?: { content: Record<string, { examples?: Record<string, unknown> }> };
}

const written = await readFile(DESCRIPTION_FILE, 'utf8');
const description = JSON.parse(written);

const endpoints = Object.entries(api) as [EndpointName, Endpoint][];

test('the committed description matches the sources (to fix: npm run openapi)', () => {
  expect(written).toBe(descriptionText());
});

test('the committed tools of the MCP server match the sources (to fix: npm run openapi)', async () => {
  const tools = await readFile(TOOLS_FILE, 'utf8');
  expect(tools).toBe(toolsText());
  // A client reads the schema of a tool alone.
  expect(tools).not.toContain('$ref');
});

test('each endpoint that reads is a tool of the MCP server, except those that return files and pages', () => {
  const tools = describeTools(description).read.map(({ name }) =>
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );
  const reading = endpoints.filter(([, { routes }]) => routes[0].method === 'GET').map(([name]) => name);
  expect(reading.filter((name) => !tools.includes(name)).sort()).toEqual([
    ...['exportJobLog', 'exportProfiler', 'readApiDescription', 'readAvatar', 'readDocumentation', 'readMedia'],
    'readPortal',
  ]);
});

test.each(Object.entries(guides))(
  'the guide %s has the present table (to fix: npm run openapi)',
  async (name, present) => {
    const guide = await readFile(guideFile(name), 'utf8');
    expect(guide).toBe(present(guide));
  },
);

test('the guide for MCP names each tool that reads', async () => {
  const guide = await readFile(guideFile('tools/mcp.md'), 'utf8');
  for (const { name } of describeTools(description).read) expect(guide).toContain(`\`${name}\``);
});

test('the page on security names the endpoints that accept every token, and no others', async () => {
  const [, named = ''] =
    (await readFile('infra/docs/security.md', 'utf8')).match(/Only ([^:]*)\saccept every token/) ?? [];
  const paths = endpoints
    .filter(([, { permission }]) => permission === 'any')
    .map(([name, { routes }]) => `${routes[0].method} ${describedPath(name, routes[0].path)}`);
  expect([...named.matchAll(/`(.*?)`/g)].map(([, path]) => path).sort()).toEqual(paths.sort());
});

const routes = endpoints.flatMap(([name, endpoint]) =>
  endpoint.routes
    .filter(({ undescribed }) => !undescribed)
    .map((route): [EndpointName, Endpoint, Endpoint['routes'][number]] => [name, endpoint, route]),
);

test.each(routes)(
  'the description of %s contains every status that the endpoint returns',
  (name, endpoint, { method, path, host }) => {
    const item = description.paths[describedPath(name, path)];
    const operation: Operation = item[method.toLowerCase()];
    expect(operation.operationId).toMatch(new RegExp(`^${name}`));
    const statuses = [
      ...Object.keys(endpoint.responses),
      ...problemsOf(endpoint).map((code) => String(problemCatalogue[code].status)),
    ];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(statuses));
    const hosts = item.servers ?? description.servers;
    expect(hosts.map(({ url }: { url: string }) => url)).toContain(
      `https://${host === 'base' ? 'api' : host}.example.com`,
    );
    if (endpoint.body && endpoint.body.type !== 'multipart') {
      const [content] = Object.values(operation.requestBody?.content ?? {});
      expect(Object.keys(content?.examples ?? {})).not.toEqual([]);
    }
  },
);

test('every problem code has an explanation at the URL of its type', () => {
  for (const [code, { title }] of Object.entries(problemCatalogue)) {
    const { description: explanation, content } = description.components.responses[code];
    expect(explanation).toContain(title);
    expect(explanation).toContain(remedies[code as keyof typeof remedies]);
    const example = description.components.examples[code].value;
    expect(content['application/problem+json'].examples).toEqual({ [code]: { $ref: `#/components/examples/${code}` } });
    expect(example.type).toMatch(new RegExp(`/v1/openapi.json#/components/responses/${code}$`));
  }
});

test('the description lists every property that can be requested', () => {
  for (const name of propertyNames) expect(description.info.description).toContain(`| \`${name}\` |`);
});

describe('webhooks', () => {
  test.each(Object.entries(webhooks))('%s has a valid example', (name, { schema, example }) => {
    expect(v.is(schema, example)).toBe(true);
    expect(description.webhooks[name].post.requestBody.content['application/json'].example).toEqual(example);
  });
});

/** The part of a description that the next tests read. */
interface Node {
  [key: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** All objects in a part of the description, with their places. Examples contain data, not schemas. */
const nodesIn = (part: unknown, place: string): [place: string, node: Node][] => {
  if (!isNode(part)) return [];
  const inner = Object.entries(part).filter(([key]) => !['example', 'examples', 'mapping'].includes(key));
  return [[place, part], ...inner.flatMap(([key, value]) => nodesIn(value, `${place}/${key}`))];
};

const nodes = nodesIn(description, '');
const schemas: Record<string, Node & { properties?: Node }> = description.components.schemas;

const operations: [place: string, operation: Node & Operation & { tags: string[]; parameters?: Node[] }][] =
  Object.entries<Node>(description.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'servers')
      .map(([method, operation]): [string, never] => [`${method} ${path}`, operation as never]),
  );

describe('generators of clients', () => {
  test('find a name for each object and for each choice between objects', () => {
    const named = new Set(Object.keys(schemas).map((name) => `/components/schemas/${name}`));
    const unnamed = nodes.filter(([place, { type, properties, oneOf, anyOf }]) => {
      if (named.has(place) || place.endsWith('/properties')) return false;
      const choices = [oneOf, anyOf].flat().filter(isNode);
      const orNull = choices.length === 2 && choices.some((choice) => choice.type === 'null');
      return (type === 'object' && properties !== undefined) || (choices.length > 0 && !orNull);
    });
    expect(unnamed.map(([place]) => place)).toEqual([]);
  });

  test('find names of the field, and none that another generator made', () => {
    for (const name of Object.keys(schemas)) expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
    expect(Object.keys(schemas).filter((name) => /(OneOf|AnyOf|AllOf|Inner|Inline|Item)/.test(name))).toEqual([]);
  });

  test('find the field that tells alternatives apart, and the schema of each of its values', () => {
    const choices = Object.entries(schemas).filter(([, { oneOf }]) => oneOf !== undefined);
    const without = choices.filter(([, { discriminator }]) => discriminator === undefined).map(([name]) => name);
    // Which response comes depends on the request; the last two are alternatives of different types.
    expect(without).toEqual(['AcceptedMessageOrJob', 'AcceptedMessagesOrForecast', 'Recipients', 'SendTime']);
    for (const [name, { oneOf, discriminator }] of choices) {
      if (!isNode(discriminator) || !isNode(discriminator.mapping)) continue;
      const { propertyName, mapping } = discriminator;
      const targets = [oneOf].flat().map((one) => isNode(one) && one.$ref);
      expect(new Set(Object.values(mapping)), name).toEqual(new Set(targets));
      for (const [value, reference] of Object.entries(mapping)) {
        const { properties } = schemas[String(reference).replace(/.*\//, '')] ?? {};
        const { const: only, enum: several } = Object(properties?.[String(propertyName)]);
        expect([only, several].flat(), `${name}: ${value}`).toContain(value);
      }
    }
  });

  test('find a type for each constant, and a list of types for values that may be null', () => {
    const constants = nodes.filter(([, node]) => 'const' in node);
    expect(constants.length).toBeGreaterThan(20);
    for (const [place, { type }] of constants) expect(typeof type, place).toBe('string');
    const nullable = nodes.filter(([, { type }]) => Array.isArray(type) && type.includes('null'));
    expect(nullable.map(([place]) => place)).toContain('/components/schemas/TokenInfo/properties/expires');
    // A reference cannot have a list of types.
    const beside = nodes.filter(([, { oneOf, anyOf }]) =>
      [oneOf, anyOf].flat().some((one) => Object(one).type === 'null'),
    );
    expect(beside.map(([place]) => place)).toEqual([
      '/components/schemas/AccountConfiguration/properties/platform',
      '/components/schemas/AccountName/properties/sending_hours',
      '/components/schemas/AccountName/properties/opt_out_keywords',
      ...['Choice/properties/header', 'Choice/properties/footer'].map((place) => `/components/schemas/Turn${place}`),
      ...['image', 'video', 'document'].map((name) => `/components/schemas/TurnHeader/properties/${name}`),
    ]);
  });

  test('find numbers with fractions that hold microseconds', () => {
    const numbers = nodes.filter(([, { type }]) => type === 'number');
    expect(numbers.length).toBeGreaterThan(2);
    // Go would take a number with 24 bits without it.
    for (const [place, { format }] of numbers) expect(format, place).toBe('double');
  });

  test('find no tag that operations and webhooks share', () => {
    const tagsOf = (items: { tags: string[] }[]) => new Set(items.flatMap(({ tags }) => tags));
    const ofOperations = tagsOf(operations.map(([, operation]) => operation));
    const ofWebhooks = tagsOf(
      Object.values<{ post: { tags: string[] } }>(description.webhooks).map(({ post }) => post),
    );
    expect(ofOperations.intersection(ofWebhooks)).toEqual(new Set());
    const described = new Set(description.tags.map(({ name }: { name: string }) => name));
    expect(described).toEqual(ofOperations.union(ofWebhooks));
  });

  test('find one schema for each error status of an operation', () => {
    for (const [place, { responses }] of operations) {
      for (const [status, given] of Object.entries(responses).filter(([code]) => Number(code) >= 400)) {
        const { $ref, content = description.components.responses[String($ref).replace(/.*\//, '')]?.content } =
          Object(given);
        const used = Object.values<{ schema: object }>(content).map(({ schema }) => JSON.stringify(schema));
        expect(new Set(used).size, `${place}: ${status}`).toBe(1);
      }
    }
  });

  test('find parameters of paths that are named by their content', () => {
    for (const [place, { parameters = [] }] of operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(inPath, place).toEqual([...place.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      expect(inPath, place).not.toContain('id');
      const without = parameters.filter((parameter) => !parameter.description).map(({ name }) => name);
      expect(without, `${place}: describe them in \`fields\` of shared/api/areas/*.docs.ts`).toEqual([]);
    }
  });
});

test('an error that a client should repeat says when, in the header Retry-After', () => {
  for (const [place, { responses }] of operations) {
    for (const status of ['429', '503'].filter((code) => code in responses)) {
      const { $ref, headers = description.components.responses[String($ref).replace(/.*\//, '')]?.headers } = Object(
        responses[status],
      );
      // API Gateway itself sends no such header.
      if (!String($ref).endsWith(`/gateway_${status}`))
        expect(headers, `${place}: ${status}`).toHaveProperty('Retry-After');
    }
  }
});

test('files have the headers ETag and Cache-Control, and lists with pages have Link', () => {
  const { get } = description.paths['/media/{media_id}'];
  expect(Object.keys(get.responses[200].headers)).toEqual(expect.arrayContaining(['ETag', 'Cache-Control']));
  expect(Object.keys(get.responses[304].headers)).toEqual(expect.arrayContaining(['ETag', 'Cache-Control']));
  for (const [place, { parameters = [], responses }] of operations) {
    const isPaged = parameters.some(({ name }) => name === 'cursor');
    expect('Link' in Object(Object(responses[200]).headers), place).toBe(isPaged);
  }
});

const linked = v.object({ operationId: v.string(), parameters: v.record(v.string(), v.string()) });

const success = v.object({
  links: v.optional(v.record(v.string(), linked), {}),
  content: v.optional(v.record(v.string(), v.object({ schema: v.record(v.string(), v.unknown()) })), {}),
});

/** The names of a schema's fields, and of those of its alternatives. */
const fieldsOf = (schema: Node): string[] => {
  const { properties, oneOf } =
    typeof schema.$ref === 'string' ? (schemas[schema.$ref.replace(/.*\//, '')] ?? {}) : schema;
  return [...Object.keys(Object(properties)), ...[oneOf].flat().flatMap((one) => (isNode(one) ? fieldsOf(one) : []))];
};

test('each link leads to the parameter of an operation, from a field of the response', () => {
  const byId = new Map(operations.map(([, operation]) => [operation.operationId, operation]));
  const targets = operations.flatMap(([place, { responses }]) => {
    const { links = {}, content } = v.parse(success, responses[200] ?? {});
    const fields = fieldsOf(content['application/json']?.schema ?? {});
    return Object.entries(links).map(([name, { operationId, parameters }]) => {
      const inPath = (byId.get(operationId)?.parameters ?? []).filter((one) => one.in === 'path');
      expect(Object.keys(parameters), `${place}: ${name}`).toEqual(inPath.map((one) => one.name));
      for (const value of Object.values(parameters)) {
        expect(fields, place).toContain(value.replace('$response.body#/', ''));
      }
      return operationId;
    });
  });
  expect(targets).toEqual(expect.arrayContaining(['readProfiler', 'fetchUserData', 'readMessage', 'readJob']));
});

test('each field and parameter with a time says that it is in UTC', () => {
  const times =
    /^(created|cancelled|completed|ended|expires(_at)?|start(ed)?|end|since|until|send_at|timestamp|resets_at)$|_(until|end|since|attempt|failure)$/;
  const described = [
    ...Object.entries(schemas).flatMap(([schema, { properties = {} }]) =>
      Object.entries(properties).map(([name, field]) => [`${schema}.${name}`, name, Object(field)] as const),
    ),
    ...operations.flatMap(([, { operationId, parameters = [] }]) =>
      parameters.map((field) => [`${operationId}.${field.name}`, field.name, field] as const),
    ),
  ].filter(([, name, { type }]) => times.test(String(name)) && type !== 'boolean' && type !== 'integer');
  expect(described.length).toBeGreaterThan(40);
  expect(
    described.filter(([, , { description = '' }]) => !description.includes('UTC')).map(([place]) => place),
  ).toEqual([]);
});

test('no text, name or guarantee is of a field that does not exist', () => {
  const owned = new Set([
    ...Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.keys(properties).flatMap((field) => [field, `${name}.${field}`]),
    ),
    ...operations.flatMap(([, { operationId, parameters = [] }]) =>
      parameters.flatMap(({ name }) => [name, `${operationId}.${name}`]),
    ),
  ]);
  const keys = [...Object.keys(glossary), ...Object.keys(guarantees)];
  expect(keys.filter((key) => !owned.has(key))).toEqual([]);
  expect([...new Set(Object.values(schemaNames))].filter((name) => !(name in schemas))).toEqual([]);
});
