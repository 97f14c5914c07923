/** The API description: up to date, valid and complete. */
import { readFile } from 'node:fs/promises';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { webhooks } from '../../infra/openapi/webhooks.ts';
import { remedies } from '../../infra/openapi/words.ts';
import { DESCRIPTION_FILE, descriptionText } from '../../infra/openapi/write.ts';
import { type Endpoint, problemsOf } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { problemCatalogue } from '../../shared/core/problems.ts';
import { propertyNames } from '../../shared/users/profile-properties.ts';

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
  requestBody?: { content: Record<string, { examples?: Record<string, unknown> }> };
}

const written = await readFile(DESCRIPTION_FILE, 'utf8');
const description = JSON.parse(written);

/** The errors that the validator finds in a description. */
const faultsIn = async (source: string): Promise<string[]> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The service fills in the hosts when it returns the description.
      'no-server-example.com': 'off',
      // The URLs of RapidPro's channels end with a slash.
      'no-path-trailing-slash': 'off',
      // The type of a problem refers to its explanation by URL.
      'no-unused-components': 'off',
    },
  });
  const problems = await lintFromString({ source, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
};

test('the committed description matches the sources (to fix: npm run openapi)', () => {
  expect(written).toBe(descriptionText());
});

test('a general validator finds no error in the API description', async () => {
  expect(await faultsIn(written)).toEqual([]);
});

test.each<[string, (broken: typeof description) => void, string]>([
  ['a description without a title', ({ info }) => delete info.title, 'struct'],
  [
    'an example that is invalid by its schema',
    ({ paths }) => {
      paths['/v1/profiler_answer'].post.requestBody.content['application/json'].examples[
        'a-panelist-s-answer'
      ].value.phone_number = '+27';
    },
    'no-invalid-media-type-examples',
  ],
  ['a broken reference', ({ components }) => delete components.schemas.Option, 'no-unresolved-refs'],
])('the validator finds %s', async (_, breakIt, rule) => {
  const broken = JSON.parse(written);
  breakIt(broken);
  expect((await faultsIn(JSON.stringify(broken))).filter((fault) => fault.startsWith(`${rule}:`))).not.toEqual([]);
});

const endpoints = Object.entries<Endpoint>(api);

const routes = endpoints.flatMap(([name, endpoint]) =>
  endpoint.routes.map((route): [string, Endpoint, Endpoint['routes'][number]] => [name, endpoint, route]),
);

test.each(routes)(
  'the description of %s contains every status that the endpoint returns',
  (name, endpoint, { method, path, host }) => {
    const item = description.paths[path];
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
