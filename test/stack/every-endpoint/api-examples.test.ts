/** The examples of the API description build on each other. The test sends them in order and checks the responses. */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { expect, inject, test } from 'vitest';
import { type Example, examples, placeholders } from '../../../infra/openapi/examples.ts';
import { webhooks } from '../../../infra/openapi/webhooks.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import type { Endpoint } from '../../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../../shared/api/index.ts';
import { type Received, sendRaw } from '../support/client.ts';
import { png } from '../support/files.ts';
import { shownOn } from '../support/phones.ts';
import { newCaller, newPhone } from '../support/world.ts';

const { app_token, bridge_url } = inject('stack');

/** Placeholders and ids of the examples, with their values in this run. */
const actual = new Map<string, string>();

/** A part of an example, with the values of this run. */
const substituted = <Value>(value: Value): Value =>
  JSON.parse([...actual].reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(value)));

/** Ids, times and datafree URLs, which differ in each run. */
const OWN = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^\d{4}-\d\d-\d\dT[\d:.]+$|\/media\/[0-9a-f]{32}$/;

type Found = [example: string, answer: string][];

/**
 * The response's ids, times and URLs for those of an example; undefined if the response differs in anything else. A list
 * may have more elements than in the example.
 */
const match = (example: unknown, answer: unknown): Found | undefined => {
  if (Array.isArray(example)) {
    if (!Array.isArray(answer)) return undefined;
    return all(example.map((one) => answer.map((other) => match(one, other)).find((found) => found !== undefined)));
  }
  if (isRecord(example)) {
    if (!isRecord(answer) || Object.keys(example).sort().join() !== Object.keys(answer).sort().join()) return undefined;
    return all(Object.entries(example).map(([key, one]) => match(one, answer[key])));
  }
  if (typeof example === 'string' && OWN.test(example)) {
    return typeof answer === 'string' && OWN.test(answer) ? [[example, answer]] : undefined;
  }
  return answer === example ? [] : undefined;
};

const all = (found: (Found | undefined)[]): Found | undefined =>
  found.every((one) => one !== undefined) ? found.flat() : undefined;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const formOf = (body: object): string =>
  new URLSearchParams(
    Object.entries(body).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
  ).toString();

const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

type Texts = Record<string, string>;

/** The parts of a request. */
interface Parts {
  path?: Texts;
  query?: Texts;
  headers?: Texts;
  body?: object;
}

const bodyOf = (endpoint: Endpoint, body: object = {}): { headers?: Texts; body?: string | FormData } => {
  if (!endpoint.body) return {};
  const { type } = endpoint.body;
  if (type === 'multipart') {
    const form = new FormData();
    form.append('file', new File([png], 'picture.png'));
    return { body: form };
  }
  const headers = { 'content-type': TYPES[type] };
  return { headers, body: type === 'json' ? JSON.stringify(body) : formOf(body) };
};

const sendRequest = async (token: string, { endpoint: name, ...example }: Example): Promise<Received<unknown>> => {
  const endpoint: Endpoint = api[name];
  const { path, query, headers, body } = substituted(example) as Parts;
  const init = bodyOf(endpoint, body);
  return await sendRaw(name, {
    ...init,
    headers: { ...headers, ...init.headers },
    ...(path && { path }),
    query: new URLSearchParams(query).toString(),
    ...(endpoint.token === 'header' && { token: name === 'receiveAppEvents' ? app_token : token }),
  });
};

test('the examples of the API description work in order, and return the described responses', async () => {
  const { account, token } = await newCaller('profilers', 'stats', 'user_data', 'messages', 'bridge');
  const user = newPhone();
  actual.set(placeholders.user, user);
  actual.set(placeholders.bot, (await findAccount(account))?.bot_number ?? '');
  actual.set(placeholders.job, randomUUID());
  actual.set(placeholders.encodedToken, Buffer.from(token).toString('base64url'));
  actual.set(placeholders.day, new Date().toISOString().slice(0, 10));
  for (const place of [1, 2, 3, 4, 5]) actual.set(`event-${place}`, randomUUID());

  const sendExample = async (example: Example): Promise<void> => {
    // Counters are updated asynchronously.
    await expect
      .poll(async () => {
        const { status, body } = await sendRequest(token, example);
        expect(status, `${example.endpoint}, ${example.shows}: ${JSON.stringify(body)}`).toBeLessThan(300);
        const found = example.answer === undefined ? [] : match(substituted(example.answer), body);
        for (const [ofExample, ofAnswer] of found ?? []) actual.set(ofExample, ofAnswer);
        return found === undefined ? { expected: substituted(example.answer), received: body } : 'as described';
      })
      .toBe('as described');
    if (example.endpoint !== 'uploadImage') return;
    const address = substituted(placeholders.media);
    expect(address.startsWith(bridge_url)).toBe(true);
    actual.set(lastSegment(placeholders.media), lastSegment(address));
  };

  for (const example of examples.slice(0, -1)) await sendExample(example);

  const posts = new Set(['message.send', 'user_data.request'] as const);
  await expect.poll(async () => new Set((await shownOn(user)).map(({ type }) => type))).toEqual(posts);
  for (const { type, data, received } of await shownOn(user)) {
    expect(v.is(webhooks[type].schema, { type, timestamp: received, data }), JSON.stringify(data)).toBe(true);
  }

  for (const last of examples.slice(-1)) await sendExample(last);
});

const lastSegment = (address: string): string => address.replace(/.*\//, '');

test('every endpoint except GET /v1/openapi.json has an example', () => {
  const named = new Set(examples.map(({ endpoint }) => endpoint));
  const missing = (Object.keys(api) as EndpointName[]).filter((name) => !named.has(name));
  expect(missing).toEqual(['readApiDescription']);
});
