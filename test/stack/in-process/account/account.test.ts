/**
 * What customers see and change of their own accounts.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { listAccounts, showAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { rename } from '../../../../shared/accounts/profile.ts';
import { circuitKey } from '../../../../shared/delivery/entities.ts';
import { destinationNameOf } from '../../../../shared/destinations/destination.ts';
import { call, fail } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { fileOf, gif, jpeg, pdf, png, pngOf, webp } from '../../support/files.ts';
import { putAll } from '../../support/many-items.ts';
import { operator } from '../../support/operator.ts';
import { businessOf, write } from '../../support/phones.ts';
import { authorOf, newCaller, newPhone } from '../../support/world.ts';

const { bridge_url } = inject('stack');

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/;

const configurationOf = async (token: string) => (await call('readConfiguration', { token })).body.configuration;

/** TTL has not removed yet what it should have of earlier failures of a destination. */
const EXPIRED_FAILURES = { failures: 2, failing_since: '2020-01-01T00:00:00.000000', expires_at: 1_577_836_800 };

const webhookAt = ({ url }: DestinationServer) => ({
  name: 'webhook' as const,
  settings: { url, secret: `whsec_${randomBytes(32).toString('base64')}` },
});

const botOf = async (account: string): Promise<string> => (await showAccount(account)).bot_number ?? '';

const countAudience = async (token: string): Promise<void> => {
  const { body } = await call('createProfiler', { token, body: { question: 'Tea?', options: ['Yes', 'No'] } });
  const condition = { profiler_id: body.profiler_id, option_ids: Object.values(body.options) };
  await call('countAudience', { token, body: { all: [condition] } });
};

const show = async (token: string) => call('readAvatar', { token });

describe('GET /v1/token/info', () => {
  test('returns what the token of the request may do, for any permission', async () => {
    const { account } = await newCaller('stats');
    const expires = Date.UTC(2030, 0, 1);
    const limited = await issueToken(account, { label: 'Reports', permissions: ['stats'], expires });
    const { body } = await call('readTokenInfo', { token: limited.token });
    expect(body).toEqual({
      label: 'Reports',
      account,
      permissions: ['stats'],
      created: expect.stringMatching(TIME),
      expires: '2030-01-01T00:00:00.000000',
    });
    const { token } = await issueToken(account, { label: '', permissions: ['bridge', 'messages'] });
    expect((await call('readTokenInfo', { token })).body).toMatchObject({
      label: '',
      permissions: ['bridge', 'messages'],
      expires: null,
    });
  });
});

describe('GET /v1/configuration', () => {
  test('returns name, bot, limits and allowances of an account without a platform', async () => {
    const { account, token } = await newCaller('account', 'contacts', 'profilers');
    await call('matchContacts', { token, body: { contacts: [newPhone(), newPhone()] } });
    await countAudience(token);
    const { limits, allowances, ...rest } = await configurationOf(token);
    expect(rest).toEqual({
      name: 'Test account',
      bot_number: await botOf(account),
      avatar: null,
      platform: null,
    });
    expect(limits).toMatchObject({ requests_per_second: expect.any(Number), long_polls: 50 });
    const midnight = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const resets_at = `${midnight}T00:00:00.000000`;
    expect(allowances).toEqual({
      contacts: { limit: 100_000, used: expect.any(Number), resets_at },
      audiences: { limit: 100, used: expect.any(Number), resets_at },
    });
    await expect
      .poll(async () => (await configurationOf(token)).allowances)
      .toMatchObject({ contacts: { used: 2 }, audiences: { used: 1 } });
  });

  test('counts a message as pending while its delivery is retried; expired failures do not count', async () => {
    const { account, token } = await newCaller('account');
    const server = await DestinationServer.start();
    onTestFinished(() => server.close());
    await updateAccount(account, { platform: webhookAt(server) });
    await putAll([{ ...circuitKey(destinationNameOf({ direction: 'platform', account })), ...EXPIRED_FAILURES }]);
    server.answers = [500, 500, 204];
    await write(newPhone(), await botOf(account), 'Hello');
    const health = async () => (await configurationOf(token)).platform;
    await expect.poll(health).toMatchObject({ status: 'working', pending_messages: 1 });
    await expect.poll(health).toMatchObject({ status: 'working', pending_messages: 0 });
    await expect.poll(() => server.calls.length).toBe(3);
  });

  test('shows a webhook that returned 410 as disabled, with its pending messages, until it is set again', async () => {
    const { account, token } = await newCaller('account');
    const server = await DestinationServer.start();
    onTestFinished(() => server.close());
    await updateAccount(account, { platform: webhookAt(server) });
    server.answers = [410];
    const [phone, bot] = [newPhone(), await botOf(account)];
    for (const text of ['one', 'two']) await write(phone, bot, text);
    await expect.poll(() => server.calls.length).toBeGreaterThan(0);
    const health = async () => (await configurationOf(token)).platform;
    await expect.poll(health).toEqual({
      ...{ name: 'webhook', status: 'disabled', cause: 'status_410', pending_messages: 2, more_pending: false },
      failing_since: expect.stringMatching(TIME),
      last_failure: expect.stringMatching(TIME),
      last_event: server.calls[0]?.headers['webhook-id'],
    });
    server.calls.length = 0;
    server.answers = [204];
    await updateAccount(account, { platform: webhookAt(server) });
    await expect.poll(health).toMatchObject({ status: 'working', pending_messages: 0 });
    await expect.poll(() => server.calls.map(({ json }) => json.message.text.body)).toEqual(['one', 'two']);
  });

  test('shows that the platform fails, since when, and how many messages are pending, until it works again', async () => {
    const [{ account, token }, other] = [await newCaller('account'), await newCaller('account')];
    const server = await DestinationServer.start();
    onTestFinished(() => server.close());
    await updateAccount(account, { platform: webhookAt(server) });
    await updateAccount(other.account, { platform: webhookAt(server) });
    const works = { name: 'webhook', status: 'working', pending_messages: 0, more_pending: false };
    expect((await configurationOf(token)).platform).toEqual(works);

    await putAll([{ ...circuitKey(destinationNameOf({ direction: 'platform', account })), ...EXPIRED_FAILURES }]);
    server.answers = [500];
    const started = new Date(Date.now() - 1_000).toISOString();
    const bot = await botOf(account);
    for (const phone of [newPhone(), newPhone(), newPhone(), newPhone()]) await write(phone, bot, 'Hello');
    let found: Awaited<ReturnType<typeof configurationOf>>['platform'] | undefined;
    const health = async () => {
      found = (await configurationOf(token)).platform;
      return found;
    };
    await expect.poll(health).toEqual({
      ...{ ...works, status: 'failing', failing_since: expect.stringMatching(TIME), pending_messages: 4 },
      ...{ last_failure: expect.stringMatching(TIME), cause: 'status_500', last_event: expect.any(String) },
    });
    // As it was found: the next read may be older.
    expect(found?.failing_since).toSatisfy((since: string) => since >= started.replace('Z', ''));
    expect(found?.last_failure).toSatisfy((last: string) => last >= (found?.failing_since ?? ''));
    expect(server.calls.map(({ headers }) => headers['webhook-id'])).toContain(found?.last_event);
    expect((await configurationOf(other.token)).platform).toEqual(works);

    server.answers = [204];
    await expect.poll(health, { timeout: 60_000 }).toEqual(works);
  });
});

describe('PUT /v1/update', () => {
  test('changes the name for users, operators and the app network, and the same name changes nothing', async () => {
    const [{ account, token }, other] = [await newCaller('account'), await newCaller('account')];
    const name = 'Zoë & Co <b>';
    expect((await call('updateAccount', { token, body: { name: `  ${name} ` } })).body).toEqual({ name });
    expect((await configurationOf(token)).name).toBe(name);
    expect(await listAccounts()).toContainEqual({ id: account, name });
    const bot = await botOf(account);
    await expect.poll(() => businessOf(bot)).toEqual({ bot, name, avatar: null });
    expect((await call('updateAccount', { token, body: { name } })).status).toBe(200);
    expect((await configurationOf(other.token)).name).toBe('Test account');
  });

  test.each([[''], ['a'.repeat(101)], [null]])('rejects the name %j with 422', async (name) => {
    const { token } = await newCaller('account');
    const { status, body } = await fail('updateAccount', { token, body: { name: name as string } });
    expect({ status, pointer: body.errors?.[0]?.pointer }).toEqual({ status: 422, pointer: '#/name' });
    expect((await configurationOf(token)).name).toBe('Test account');
  });

  test('sets, replaces and removes the sending hours, and leaves the name as it is', async () => {
    const { account, token } = await newCaller('account');
    const bot = await botOf(account);
    const hours = { between: ['08:00', '20:00'], time_zone: 'Africa/Johannesburg' };
    const set = async (sending_hours: object | null, name?: string) =>
      (await call('updateAccount', { token, body: { sending_hours, ...(name !== undefined && { name }) } as never }))
        .body;
    expect(await set(hours)).toEqual({ name: 'Test account', sending_hours: hours });
    expect(await configurationOf(token)).toMatchObject({ name: 'Test account', sending_hours: hours });
    const night = { between: ['22:00', '06:00'], time_zone: 'recipient' };
    expect(await set(night, 'At night')).toEqual({ name: 'At night', sending_hours: night });
    await expect.poll(() => businessOf(bot)).toMatchObject({ name: 'At night' });
    expect(await showAccount(account)).toMatchObject({ name: 'At night', sending_hours: night });
    expect(await set(null)).toEqual({ name: 'At night' });
    expect(await configurationOf(token)).not.toHaveProperty('sending_hours');
    // Without hours in the request, the response has none.
    expect((await call('updateAccount', { token, body: { name: 'At night' } })).body).toEqual({ name: 'At night' });
  });

  const HOURS = { between: ['08:00', '20:00'], time_zone: 'UTC' };
  test.each<[object, string]>([
    [{}, '#/name'],
    [{ sending_hours: {} }, '#/sending_hours/between'],
    [{ sending_hours: { ...HOURS, between: ['08:00', '08:00'] } }, '#/sending_hours/between'],
    [{ sending_hours: { ...HOURS, between: ['08:00'] } }, '#/sending_hours/between'],
    [{ sending_hours: { ...HOURS, between: ['08:00', '24:00'] } }, '#/sending_hours/between/1'],
    [{ sending_hours: { ...HOURS, time_zone: 'Mars/Olympus' } }, '#/sending_hours/time_zone'],
    [{ sending_hours: { ...HOURS, time_zone: `${'A'.repeat(64)}/B` } }, '#/sending_hours/time_zone'],
  ])('rejects %j with 422', async (body, pointer) => {
    const { token } = await newCaller('account');
    const { status, body: problem } = await fail('updateAccount', { token, body });
    expect({ status, pointer: problem.errors?.[0]?.pointer }).toEqual({ status: 422, pointer });
    expect(await configurationOf(token)).not.toHaveProperty('sending_hours');
  });

  test('an operator who changes the name, or then the number of the bot, notifies the app network, too', async () => {
    const { account } = await newCaller('account');
    const [first, second] = [await botOf(account), newPhone()];
    await updateAccount(account, { name: 'Renamed' });
    await expect.poll(() => businessOf(first)).toEqual({ bot: first, name: 'Renamed', avatar: null });
    await updateAccount(account, { bot_number: second });
    await expect.poll(() => businessOf(second)).toEqual({ bot: second, name: 'Renamed', avatar: null });
  });
});

describe('a name that an operator must approve', () => {
  beforeAll(() => void vi.stubEnv('APPROVE_NAMES', 'true'));
  afterAll(() => void vi.unstubAllEnvs());

  const pendingOf = async (account: string) => (await listAccounts()).find(({ id }) => id === account);

  test('is pending for the business, and users see it only after its approval', async () => {
    const { account, token } = await newCaller('account');
    const bot = await botOf(account);
    await updateAccount(account, { name: 'Acme' });
    await expect.poll(() => businessOf(bot)).toMatchObject({ name: 'Acme' });
    expect(await rename(authorOf(account), 'Acme Bank')).toEqual({ name: 'Acme', pending_name: 'Acme Bank' });
    expect(await configurationOf(token)).toMatchObject({ name: 'Acme', pending_name: 'Acme Bank' });
    expect(await businessOf(bot)).toMatchObject({ name: 'Acme' });
    const { stdout } = await operator('account', 'pending-names');
    expect(stdout).toMatch(new RegExp(`${account} +Acme +Acme Bank`));

    expect((await operator('account', 'approve-name', account, 'Acme Bank')).stdout).toContain('Acme Bank');
    await expect.poll(() => businessOf(bot)).toMatchObject({ name: 'Acme Bank' });
    const configuration = await configurationOf(token);
    expect(configuration.name).toBe('Acme Bank');
    expect(configuration).not.toHaveProperty('pending_name');
    expect(await pendingOf(account)).toEqual({ id: account, name: 'Acme Bank' });
    expect((await showAccount(account)).name_decisions).toMatchObject([{ name: 'Acme Bank', decision: 'approved' }]);
  });

  test('is dropped if it is rejected, or if the business asks for its present name', async () => {
    const { account } = await newCaller('account');
    await rename(authorOf(account), 'Other Bank');
    await operator('account', 'reject-name', account, 'Other Bank');
    expect(await pendingOf(account)).toEqual({ id: account, name: 'Test account' });
    expect((await showAccount(account)).name_decisions).toMatchObject([{ name: 'Other Bank', decision: 'rejected' }]);
    await rename(authorOf(account), 'Another Bank');
    expect(await rename(authorOf(account), 'Test account')).toEqual({ name: 'Test account' });
    expect(await pendingOf(account)).toEqual({ id: account, name: 'Test account' });
  });

  test('is approved only if it is still the one that the operator has seen', async () => {
    const { account } = await newCaller('account');
    await rename(authorOf(account), 'Acme');
    await rename(authorOf(account), 'Other Bank');
    const decided_name = { name: 'Acme', decision: 'approved' } as const;
    await expect(updateAccount(account, { decided_name })).rejects.toThrow('has asked for another name: "Other Bank"');
    expect((await showAccount(account)).name).toBe('Test account');
    const none = await newCaller('account');
    await expect(updateAccount(none.account, { decided_name })).rejects.toThrow('waits for a decision');
  });
});

test('a name that looks like another one is rejected for the business and for operators', async () => {
  const { token } = await newCaller('account');
  const name = 'Acm\u0435';
  const { status, body } = await fail('updateAccount', { token, body: { name } });
  expect({ status, pointer: body.errors?.[0]?.pointer }).toEqual({ status: 422, pointer: '#/name' });
  expect(await operator('account', 'create', name)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must not'),
  });
});

describe('an avatar', () => {
  test('is returned as it was uploaded, and the app network has a URL that works until another one is set', async () => {
    const { account, token } = await newCaller('account');
    const bot = await botOf(account);
    expect((await fail('readAvatar', { token })).body.code).toBe('avatar_not_set');

    await call('setAvatar', { token, body: { file: fileOf(png, 'x.txt', 'text/plain') } });
    const { headers, body } = await show(token);
    expect(headers.get('content-type')).toBe('image/png');
    expect(body).toEqual(new Uint8Array(png));
    const { avatar: first } = await configurationOf(token);
    expect(first).toMatch(new RegExp(`^${bridge_url}/media/[0-9a-f]{32}$`));
    await expect.poll(() => businessOf(bot)).toEqual({ bot, name: 'Test account', avatar: first });
    const media = await fetch(first ?? '');
    expect(await media.bytes()).toEqual(new Uint8Array(png));
    expect(media.headers.get('cache-control')).toBe('public, max-age=2592000, immutable');

    // The same image changes nothing.
    await call('setAvatar', { token, body: { file: fileOf(png) } });
    expect((await configurationOf(token)).avatar).toBe(first);

    await call('setAvatar', { token, body: { file: fileOf(jpeg) } });
    const { avatar: second } = await configurationOf(token);
    await expect.poll(() => businessOf(bot)).toMatchObject({ avatar: second });
    await expect.poll(async () => (await fetch(first ?? '')).status).toBe(404);
    expect((await fetch(second ?? '')).headers.get('content-type')).toBe('image/jpeg');
    expect((await show(token)).headers.get('content-type')).toBe('image/jpeg');
  });

  test('of another account is another one', async () => {
    const [{ token }, other] = [await newCaller('account'), await newCaller('account')];
    await call('setAvatar', { token, body: { file: fileOf(webp) } });
    expect((await fail('readAvatar', { token: other.token })).status).toBe(404);
    expect((await configurationOf(other.token)).avatar).toBeNull();
  });

  test.each([
    ['a GIF', gif, 422, 'file_type_not_supported'],
    ['a PDF', pdf, 422, 'file_type_not_supported'],
    ['1 byte more than 1 MB', pngOf(1_048_577), 413, 'file_too_large'],
  ])('is rejected if it is %s', async (_, content, status, code) => {
    const { token } = await newCaller('account');
    const received = await fail('setAvatar', { token, body: { file: fileOf(content) } });
    expect({ status: received.status, code: received.body.code }).toEqual({ status, code });
    expect((await fail('readAvatar', { token })).status).toBe(404);
  });

  test('may have 1 MB', async () => {
    const { token } = await newCaller('account');
    await call('setAvatar', { token, body: { file: fileOf(pngOf(1_048_576)) } });
    expect((await show(token)).body).toHaveLength(1_048_576);
  });
});
