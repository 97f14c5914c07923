/** The values for the other side: they fit the routes and the bodies that the service accepts. */

import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type ConnectValues, connectGuides, encodeToken } from '../../../infra/operator/connect/fields.ts';
import { mintToken } from '../../../shared/accounts/tokens.ts';
import { api } from '../../../shared/api/index.ts';
import { rapidproMessage } from '../../../shared/destinations/rapidpro.ts';
import { platforms } from '../../../shared/destinations/registry.ts';

const token = mintToken();

const values: ConnectValues = {
  bridgeUrl: 'https://bridge.example.com',
  token,
  encodedToken: encodeToken(token),
  botNumber: '27820000001',
  name: 'Acme Research',
};

const shownIn = (platform: 'rapidpro' | 'turn', field: string): string =>
  connectGuides[platform].fields(values).find((one) => one.field === field)?.value ?? 'no such field';

/** Whether a route of an endpoint serves a URL of the bridge host. */
const isServed = (routes: readonly { host: string; method: string; path: string }[], url: string): boolean =>
  routes.some(({ host, method, path }) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return host === 'bridge' && method === 'POST' && pattern.test(url.slice(values.bridgeUrl.length));
  });

test('the send URL for RapidPro is a route of the service', () => {
  expect(isServed(api.receiveRapidproMessage.routes, shownIn('rapidpro', 'Send URL'))).toBe(true);
});

test('the endpoint for Turn is a route of the service, and contains the token as the authorizer decodes it', () => {
  const endpoint = shownIn('turn', 'endpoint');
  expect(isServed(api.receiveTurnMessage.routes, endpoint)).toBe(true);
  const encoded = endpoint.slice(endpoint.lastIndexOf('/') + 1);
  expect(encoded).toMatch(/^[\w-]+$/);
  expect(Buffer.from(encoded, 'base64url').toString()).toBe(token);
});

test("RapidPro's request body, filled in, is a message that the service accepts", () => {
  const filled = shownIn('rapidpro', 'Request body')
    .replace('{{id}}', '21')
    .replace('{{text}}', 'Hello')
    .replace('{{to_no_plus}}', '27821234567')
    .replace('{{quick_replies}}', '&quick_reply=Yes');
  const form = Object.fromEntries(new URLSearchParams(filled));
  expect(v.parse(rapidproMessage, form)).toMatchObject({ id: '21', text: 'Hello', quick_reply: ['Yes'] });
});

test('only fields with the token are marked as secret', () => {
  for (const platform of ['rapidpro', 'turn'] as const) {
    for (const { field, value, secret } of connectGuides[platform].fields(values)) {
      const contains = value.includes(token) || value.includes(values.encodedToken);
      expect({ field, secret: secret ?? false }).toEqual({ field, secret: contains });
    }
  }
});

test.each(['rapidpro', 'turn', 'webhook'] as const)('what %s shows are settings of the platform', (name) => {
  const { answers } = connectGuides[name];
  expect(Object.keys(platforms[name].options)).toEqual(expect.arrayContaining(answers.map(({ setting }) => setting)));
  const examples = Object.fromEntries(answers.map(({ setting, example }) => [setting, example || 'secret']));
  expect(() => platforms[name].check({ secret: `whsec_${'A'.repeat(43)}=`, ...examples })).not.toThrow();
});

test('a webhook shows its secret only if it was created now', () => {
  expect(connectGuides.webhook.fields(values)).toEqual([]);
  expect(connectGuides.webhook.fields({ ...values, secret: 'whsec_1' })).toMatchObject([
    { value: 'whsec_1', secret: true },
  ]);
});
