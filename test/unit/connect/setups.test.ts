/** How each chat platform is connected: its texts and values fit its settings, and the routes of the service. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { platformName } from '../../../infra/portal/words/causes.ts';
import { mintToken } from '../../../shared/accounts/tokens.ts';
import type { Endpoint } from '../../../shared/api/endpoint.ts';
import { api } from '../../../shared/api/index.ts';
import { setups } from '../../../shared/destinations/registry.ts';
import { answersOf, checkSettings, encodeToken } from '../../../shared/destinations/setup.ts';

const token = mintToken();
const bridgeUrl = 'https://bridge.example.com';
const values = { bridgeUrl, token, encodedToken: encodeToken(token), botNumber: '27820000001', name: 'Acme Research' };

test('a token in a path is encoded as the authorizer decodes it', () => {
  expect(encodeToken(token)).toMatch(/^[\w-]+$/);
  expect(Buffer.from(encodeToken(token), 'base64url').toString()).toBe(token);
});

const routes = Object.values<Endpoint>(api).flatMap((endpoint) => endpoint.routes);

/** Whether a route serves a URL of the bridge host. */
const isServed = (url: string): boolean =>
  routes.some(({ host, method, path }) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return host === 'bridge' && method === 'POST' && pattern.test(url.slice(bridgeUrl.length));
  });

test.each(Object.keys(setups))(
  '%s has tests of its requests, and a row of settings in the guide for operators',
  async (name) => {
    expect(await readFile(`test/unit/destinations/${name}.test.ts`, 'utf8')).toContain('settingsCases(');
    expect(await readFile('infra/docs/operator.md', 'utf8')).toMatch(new RegExp(`^\\| \`${name}\` .*--platform-`, 'm'));
  },
);

test('the portal calls a chat platform as operators do', () => {
  const platforms = Object.entries(setups).filter(([name]) => !name.startsWith('webhook'));
  expect(platforms.map(([name]) => platformName(name))).toEqual(platforms.map(([, { title }]) => title));
});

describe.each(Object.entries(setups))('to connect %s', (_, setup) => {
  const fields = setup.fields(values);
  const addresses = fields.map(({ value }) => value).filter((value) => value.startsWith(bridgeUrl));

  test('the URLs for the platform, and that of the check, are routes of the service', () => {
    const checked = setup.inbound === undefined ? [] : [setup.inbound.request(values).url];
    expect([...addresses, ...checked].filter((url) => !isServed(url))).toEqual([]);
    expect(addresses.length).toBe(checked.length);
  });

  test('exactly the fields with the token are marked as secret', () => {
    const isSecret = (value: string) => value.includes(token) || value.includes(values.encodedToken);
    expect(fields.map(({ field, secret = false }) => ({ field, secret }))).toEqual(
      fields.map(({ field, value }) => ({ field, secret: isSecret(value) })),
    );
  });

  test('the answers that the command asks for are enough, and their examples are valid', () => {
    const made = Object.entries(setup.options).flatMap(([name, { make, preset }]) => {
      const value = make?.() ?? preset;
      return value === undefined ? [] : [[name, value]];
    });
    const examples = answersOf(setup).map(({ setting, example }) => [setting, example || 'secret']);
    expect(() => checkSettings(setup, Object.fromEntries([...made, ...examples]))).not.toThrow();
  });

  test('each setting has a description, and a label of its own if it is shown', () => {
    const options = Object.values(setup.options);
    for (const { description } of options) expect(description).toMatch(/\w/);
    const labels = options.flatMap(({ label }) => label ?? []);
    expect(new Set(labels).size).toBe(labels.length);
  });
});
