/**
 * The server of the connect wizard on the local page, with the simulated platforms and the served stack.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { addConnectRoutes } from '../../../infra/local/phone/connect/routes.ts';
import type { ConnectionView } from '../../../infra/local/phone/connect/views.ts';
import { Wizard } from '../../../infra/local/phone/connect/wizard.ts';
import { newRoutes } from '../../../infra/local/simulators/server.ts';
import { Simulators } from '../../../infra/local/simulators/simulators.ts';
import { findPlatform, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { issueToken, listTokens } from '../../../infra/operator/queries/tokens-admin.ts';
import { newAccount } from '../support/operator.ts';
import { newPhone } from '../support/world.ts';

const stack = inject('stack');

let simulators: Simulators;

beforeEach(async () => {
  process.env.ALLOW_LOOPBACK = 'true';
  simulators = await Simulators.start({ ports: { phone: 0, rapidpro: 0, turn: 0 }, minute: 60_000 });
  simulators.connect({ bridgeUrl: stack.bridge_url, appToken: 'bapi_app' });
  const routes = newRoutes();
  addConnectRoutes(routes, new Wizard(simulators, stack.bridge_url));
  simulators.app.serve(routes);
});

afterEach(() => simulators.close());

const ask = async (method: string, path: string, body?: object) => {
  const response = await fetch(simulators.app.phoneUrl + path, { method, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};

const begin = async (account: string, platform: string): Promise<ConnectionView> =>
  (await ask('PUT', `/connections/${account}`, { platform })).body;

const checks = async (account: string, settings: object): Promise<ConnectionView> =>
  (await ask('POST', `/connections/${account}/checks`, { settings })).body;

const connected = async (): Promise<string> => {
  const account = await newAccount();
  await updateAccount(account, { bot_number: newPhone() });
  return account;
};

test('the wizard creates an account, and connects it to the simulated RapidPro, which then replies to users', async () => {
  const number = newPhone();
  const name = `Mosaic ${number}`;
  const { status, body: created } = await ask('POST', '/accounts', { name, bot_number: number });
  expect({ status, created }).toEqual({ status: 201, created: { id: `mosaic-${number}` } });
  const { id } = created;
  const view = await begin(id, 'rapidpro');
  expect(view).toMatchObject({
    account: { id, name, bot_number: number },
    title: 'RapidPro',
    simulated: true,
    replaces: null,
    checks: null,
  });
  // A reload goes on with the same token.
  expect((await begin(id, 'rapidpro')).fields).toEqual(view.fields);
  expect((await listTokens(id)).length).toBe(1);

  const { body: settings } = await ask('POST', `/connections/${id}/simulation`);
  expect(settings).toEqual({ url: `${simulators.rapidpro.url}/c/ex/${id}/receive` });
  const mistyped = await checks(id, { url: settings.url.replace('receive', 'recieve') });
  expect(mistyped.checks).toMatchObject([
    { title: 'RapidPro reaches the service', result: 'good', status: 200 },
    { result: 'failed', status: 404, detail: expect.stringContaining('/recieve'), fix: expect.any(String) },
  ]);
  const good = await checks(id, settings);
  expect(good.checks?.map(({ result }) => result)).toEqual(['good', 'good']);
  expect(await findPlatform(id)).toMatchObject({ name: 'rapidpro', settings, hook: { max_length: '4096' } });

  const listed = async () =>
    (await ask('GET', '/view/accounts')).body.find((account: { id: string }) => account.id === id);
  expect(await listed()).toMatchObject({ state: 'connecting', platform: 'rapidpro' });
  expect((await ask('DELETE', `/connections/${id}`)).status).toBe(204);
  expect(await listed()).toEqual({
    id,
    name,
    bot_number: number,
    platform: 'rapidpro',
    state: 'working',
    failing_since: null,
  });
  // The token is not shown again.
  expect((await ask('GET', `/view/connections/${id}`)).status).toBe(404);
});

test("the wizard connects the simulated Turn, and shows none of Turn's secrets", async () => {
  const account = await connected();
  const view = await begin(account, 'turn');
  expect(view.fields.find(({ field }) => field === 'endpoint')).toMatchObject({ secret: true });
  const { body: settings } = await ask('POST', `/connections/${account}/simulation`);
  const good = await checks(account, settings);
  expect(good.checks?.map(({ result }) => result)).toEqual(['good', 'good']);
  expect(JSON.stringify(good)).not.toMatch(new RegExp(`${settings.token}|${settings.hmac_secret}`));
  // Secrets that are stored need not be entered again.
  expect(good.settings.find(({ setting }) => setting === 'token')).toMatchObject({ value: '', known: true });
  expect((await checks(account, { channel: settings.channel, token: '' })).checks).toMatchObject([
    { result: 'good' },
    { result: 'good' },
  ]);
  expect((await checks(account, { token: 'another' })).checks?.at(-1)).toMatchObject({ result: 'failed', status: 401 });
});

test("the wizard shows a webhook's secret after it is created, and has no simulator for it", async () => {
  const account = await connected();
  expect(await begin(account, 'webhook')).toMatchObject({ simulated: false, fields: [] });
  expect((await ask('POST', `/connections/${account}/simulation`)).status).toBe(422);
  const view = await checks(account, { url: `${simulators.rapidpro.url}/nothing` });
  expect(view.fields).toMatchObject([{ field: 'Signing secret', secret: true }]);
  expect(view.checks).toMatchObject([{ result: 'failed', status: 404 }]);
  expect(await listTokens(account)).toEqual([]);
});

test('the wizard says which platform it replaces, and which number is missing or taken', async () => {
  const account = await newAccount();
  const path = `/connections/${account}`;
  expect(await ask('PUT', path, { platform: 'turn' })).toMatchObject({ status: 422 });
  const other = await connected();
  const { bot_number: taken } = (await ask('GET', '/view/accounts')).body.find(
    ({ id }: { id: string }) => id === other,
  );
  expect(await ask('PUT', path, { platform: 'turn', bot_number: taken })).toEqual({
    status: 422,
    body: { message: expect.stringContaining('belongs to the bot of the account') },
  });
  expect((await ask('PUT', path, { platform: 'turn', bot_number: newPhone() })).status).toBe(200);
  await updateAccount(account, { platform: { name: 'webhook', settings: {} } });
  expect((await begin(account, 'turn')).replaces).toBe('the webhook');
});

test.each([
  ['GET', '/view/connections/nobody', undefined, 404],
  ['PUT', '/connections/nobody', { platform: 'turn' }, 404],
  ['PUT', '/connections/nobody', { platform: 'whatsapp' }, 422],
  ['POST', '/connections/nobody/simulation', undefined, 404],
  ['POST', '/connections/nobody/checks', { settings: {} }, 404],
  ['POST', '/connections/nobody/checks', { settings: { url: 1 } }, 422],
  ['POST', '/accounts', { name: '', bot_number: '27820000001' }, 422],
  ['POST', '/accounts', { name: 'Acme', bot_number: '1' }, 422],
])('%s %s with %j is rejected with %i', async (method, path, body, status) => {
  const answer = await ask(method, path, body);
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body: { message: expect.any(String) } });
});

test('an invalid setting is rejected in the words of the wizard, and nothing is stored', async () => {
  const account = await connected();
  await begin(account, 'rapidpro');
  const answer = await ask('POST', `/connections/${account}/checks`, { settings: { url: 'no url' } });
  expect(answer).toMatchObject({ status: 422, body: { message: expect.stringMatching(/^Receive URL must be/) } });
  expect(await ask('POST', `/connections/${account}/checks`, { settings: {} })).toMatchObject({
    status: 422,
    body: { message: 'RapidPro needs Receive URL.' },
  });
  expect(await findPlatform(account)).toBeUndefined();
});

test("the app network's account is not listed", async () => {
  await issueToken('app-network', { label: '', permissions: ['app'] });
  const { body } = await ask('GET', '/view/accounts');
  expect(body.map(({ id }: { id: string }) => id)).not.toContain('app-network');
});
