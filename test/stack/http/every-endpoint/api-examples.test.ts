/** The examples of the API description build on each other. The test sends them in order and checks the responses. */
import * as v from 'valibot';
import { expect, inject, test } from 'vitest';
import { type Example, examples } from '../../../../infra/openapi/docs.ts';
import { webhooks } from '../../../../infra/openapi/webhooks.ts';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import type { Endpoint } from '../../../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../../../shared/api/index.ts';
import { placeholders } from '../../../../shared/api/placeholders.ts';
import { permissions } from '../../../../shared/core/permissions.ts';
import { type ExampleCustomer, exampleCustomer } from '../../../support/example-customer.ts';
import { ExampleValues } from '../../../support/example-values.ts';
import { type Received, sendRaw } from '../../support/client.ts';
import { png } from '../../support/files.ts';
import { shownOn } from '../../support/phones.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const { app_token, bridge_url } = inject('stack');

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

const sendRequest = async ({ values, tokenOf }: ExampleCustomer, example: Example): Promise<Received<unknown>> => {
  const { endpoint: name, ...given } = example;
  const endpoint: Endpoint = api[name];
  const { path, query, headers, body } = values.substituted(given) as Parts;
  const init = bodyOf(endpoint, body);
  return await sendRaw(name, {
    ...init,
    headers: { ...headers, ...init.headers },
    ...(path && { path }),
    query: new URLSearchParams(query).toString(),
    ...(endpoint.token === 'header' && { token: tokenOf(example) }),
  });
};

/** A response of this stack, which needs no approval of names. */
const withoutApproval = (answer: unknown): unknown => {
  const text = JSON.stringify(answer);
  return text && JSON.parse(text.replace(/"name":"[^"]+","pending_name"/, '"name"'));
};

test('the examples of the API description work in order, and return the described responses', async () => {
  const { account, token } = await newCaller(...permissions.filter((permission) => permission !== 'app'));
  await updateAccount(account, { rate: 100, burst: 200 });
  const user = newPhone();
  const bot = (await findAccount(account))?.bot_number;
  const customer = await exampleCustomer({ account, bot, user, token, appToken: app_token });
  const { values } = customer;

  const sendExample = async (example: Example): Promise<void> => {
    await customer.prepare(example);
    // Counters are updated asynchronously.
    await expect
      .poll(async () => {
        const { status, body } = await sendRequest(customer, example);
        expect(status, `${example.endpoint}, ${example.shows}: ${JSON.stringify(body)}`).toBeLessThan(300);
        const answer = withoutApproval(example.answer);
        if (answer === undefined || values.learn(answer, body)) return 'as described';
        return { expected: values.substituted(answer), received: body };
      })
      .toBe('as described');
    if (example.endpoint !== 'uploadImage') return;
    expect(values.substituted(placeholders.media).startsWith(bridge_url)).toBe(true);
  };

  for (const example of examples.slice(0, -1)) await sendExample(example);

  const posts = new Set(['message.send', 'user_data.request'] as const);
  await expect.poll(async () => new Set((await shownOn(user)).map(({ type }) => type))).toEqual(posts);
  for (const { type, data, received } of await shownOn(user)) {
    expect(v.is(webhooks[type].schema, { type, timestamp: received, data }), JSON.stringify(data)).toBe(true);
  }

  for (const last of examples.slice(-1)) await sendExample(last);
});

test('the examples of every area are sent, except the portal, MCP and GET /v1/openapi.json', () => {
  const named = new Set(examples.map(({ endpoint }) => endpoint));
  const missing = (Object.keys(api) as EndpointName[]).filter((name) => !named.has(name));
  expect(missing).toEqual(['readApiDescription', 'readDocumentation', 'readPortal', 'handleMcpMessage']);
});

test('a value of this run stays as it is, although it contains a placeholder, until another one replaces it', () => {
  const values = new ExampleValues();
  values.set('media-id', 'aa1f0cbb');
  values.set('1f0c', '9999');
  expect(values.substituted(['/media/media-id', '1f0c'])).toEqual(['/media/aa1f0cbb', '9999']);
  values.set('aa1f0cbb', 'cc');
  expect(values.substituted('media-id')).toBe('cc');
});
