/**
 * The operator's commands for accounts' chat platforms, and the retry of their pending messages.
 *
 * @module-tag long
 */
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPlatform, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId as newUuid } from '../../../../shared/core/ids.ts';
import { recordFailure } from '../../../../shared/delivery/circuit-breaker.ts';
import { findHook } from '../../../../shared/destinations/inbound-secret.ts';
import { platformOf, setups } from '../../../../shared/destinations/registry.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import {
  addPendingEntries,
  inJson,
  machine,
  newAccount,
  newId,
  operator,
  operatorIn,
  refusal,
  remote,
  run,
  time,
  withoutTable,
} from '../../support/operator.ts';
import { newPhone } from '../../support/world.ts';

const URL = 'https://destination.example.com/messages';
const SECRET = `whsec_${'A'.repeat(43)}=`;

/** The command that changes an account without a question. */
const update = (account: string): string[] => ['account', 'update', '--yes', account];

/** A new account with a webhook. */
const newWebhook = async () => {
  const account = await newAccount();
  const { platform_secret } = await inJson(...update(account), '--platform=webhook', `--platform-url=${URL}`);
  return { account, secret: String(platform_secret) };
};

describe("an account's webhook", () => {
  test('a new webhook gets a secret, which the command prints once', async () => {
    const account = await newAccount();
    const set = await operator(...update(account), '--platform', 'webhook', '--platform-url', URL);
    expect(set).toMatchObject({ code: 0, stderr: 'Copy the secret now: it will not be shown again.\n' });
    const [, secret = ''] = /^Platform secret {2}(whsec_\S{44})$/m.exec(set.stdout) ?? [];
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: URL, secret } });
  });

  test('setting the webhook again keeps its secret, and the command reports this', async () => {
    const { account, secret } = await newWebhook();
    const { code, stdout, stderr } = await operator(...update(account), '--platform', 'webhook', '--json');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'The secret is unchanged, and is not shown. If it is lost, set another one: --platform-secret.\n',
    });
    expect(stdout).not.toMatch(/whsec_|secret/);
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: URL, secret } });
  });

  test('account show prints the type and URL of the webhook', async () => {
    const { account } = await newWebhook();
    const { stdout } = await operator('account', 'show', account);
    expect(stdout).toMatch(new RegExp(`^Platform {6}webhook\nPlatform URL {2}${URL}$`, 'm'));
    expect(await inJson('account', 'show', account)).toEqual({
      id: account,
      name: 'Of the operator',
      platform: 'webhook',
      platform_url: URL,
      created: time,
      tokens: [],
    });
  });

  test('a new URL keeps the secret of the webhook', async () => {
    const { account, secret } = await newWebhook();
    const other = 'https://other.example.com/';
    const moved = await inJson(...update(account), '--platform-url', other);
    expect(moved).toMatchObject({ platform: 'webhook', platform_url: other });
    expect(moved).not.toHaveProperty('platform_secret');
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: other, secret } });
  });

  test('keeps secrets that it replaced for 24 hours, the last three of them, and shows how long; never a secret', async () => {
    const { account, secret } = await newWebhook();
    const day = 86_400_000;
    const secrets = [...'BCDE'].map((letter) => `whsec_${letter.repeat(43)}=`);
    const start = Date.now();
    const replace = async (next: string) => {
      await operator(...update(account), '--platform-secret', next);
      return ((await findPlatform(account))?.previous_secrets ?? []).map((previous) => previous.secret);
    };
    const [b = '', c = '', d = '', e = ''] = secrets;
    expect(await replace(b)).toEqual([secret]);
    expect(await replace(b)).toEqual([secret]);
    expect(await replace(c)).toEqual([b, secret]);
    expect(await replace(secret)).toEqual([c, b]);
    expect(await replace(d)).toEqual([secret, c, b]);
    expect(await replace(e)).toEqual([d, secret, c]);

    // A change of anything else keeps them.
    await operator(...update(account), '--platform-url', 'https://other.example.com/');
    const { previous_secrets = [] } = (await findPlatform(account)) ?? {};
    expect(previous_secrets.map((previous) => previous.secret)).toEqual([d, secret, c]);
    for (const { until } of previous_secrets) {
      expect(until).toBeGreaterThanOrEqual(start + day);
      expect(until).toBeLessThanOrEqual(Date.now() + day);
    }
    const end = new Date(previous_secrets[0]?.until ?? 0).toISOString();
    const words = await operator('account', 'show', account);
    expect(words.stdout).toContain(`also signs until ${end.slice(0, 16).replace('T', ' ')} UTC`);
    const shown = await inJson('account', 'show', account);
    expect(shown).toMatchObject({ platform_previous_secret_until: end.replace('Z', '000') });
    expect(words.stdout + JSON.stringify(shown)).not.toContain('whsec_');

    // The next change forgets those whose time is over.
    const past = previous_secrets.map((previous) => ({ ...previous, until: Date.now() - 1 }));
    const settings = { url: URL, secret: e };
    await updateAccount(account, { platform: { name: 'webhook', settings, previous_secrets: past } });
    expect(await inJson('account', 'show', account)).not.toHaveProperty('platform_previous_secret_until');
    expect(await replace(b)).toEqual([e]);
  });

  test('a rejected number leaves the platform and the name of the same command unchanged', async () => {
    const [account, other, number] = [await newAccount(), newId(), newPhone()];
    await inJson('account', 'create', 'Other', '--id', other, '--bot-number', number);
    const change = [...update(account), '--platform=webhook', `--platform-url=${URL}`, '--name=New'];
    await refusal(...change, '--bot-number', number);
    expect(await findPlatform(account)).toBeUndefined();
    expect(await inJson('account', 'show', account)).toMatchObject({ name: 'Of the operator' });
    expect(await inJson(...change)).toMatchObject({ name: 'New', platform: 'webhook', platform_url: URL });
  });

  test('--no-platform removes the webhook with its settings', async () => {
    const { account } = await newWebhook();
    const { platform, platform_url, ...rest } = await inJson('account', 'show', account);
    expect({ platform, platform_url }).toEqual({ platform: 'webhook', platform_url: URL });
    expect({ ...(await inJson(...update(account), '--no-platform')), tokens: [] }).toEqual(rest);
    expect(await findPlatform(account)).toBeUndefined();
    // A repeat changes nothing.
    expect({ ...(await inJson(...update(account), '--no-platform')), tokens: [] }).toEqual(rest);
  });

  test('--platform-secret with an empty value creates a new secret', async () => {
    const { account, secret } = await newWebhook();
    const { platform_secret: other } = await inJson(...update(account), '--platform-secret=');
    expect(other).toMatch(/^whsec_\S{44}$/);
    expect(other).not.toBe(secret);
    expect(await findPlatform(account)).toEqual({
      name: 'webhook',
      settings: { url: URL, secret: other },
      previous_secrets: [{ secret, until: expect.any(Number) }],
    });
  });

  test('platform options for an unknown account are rejected', async () => {
    const nobody = newId();
    const there = `There is no account "${nobody}"`;
    const options = ['--platform=webhook', `--platform-url=${URL}`];
    expect(await refusal(...update(nobody), ...options)).toContain(there);
    expect(await refusal(...update(nobody), '--platform-url', URL)).toContain(there);
    expect(await refusal(...update(nobody), '--no-platform')).toContain(there);
    expect(await findPlatform(nobody)).toBeUndefined();
  });
});

const RECEIVE = 'https://rapidpro.example.com/c/ex/1d3f/receive';

/** A new account with a RapidPro channel. */
const newRapidpro = async (...options: string[]) => {
  const account = await newAccount();
  await inJson(...update(account), '--platform=rapidpro', `--platform-url=${RECEIVE}`, ...options);
  return account;
};

describe("an account's RapidPro", () => {
  test('requires only its URL; status URLs can be set and removed', async () => {
    expect(await findPlatform(await newRapidpro())).toEqual({ name: 'rapidpro', settings: { url: RECEIVE } });
    const [sent, failed] = ['https://rapidpro.example.com/sent', 'https://other.example.com/failed'];
    const account = await newRapidpro(`--platform-sent-url=${sent}`, `--platform-failed-url=${failed}`);
    const settings = { url: RECEIVE, sent_url: sent, failed_url: failed };
    expect(await findPlatform(account)).toEqual({ name: 'rapidpro', settings });
    expect(await inJson('account', 'show', account)).toMatchObject({
      platform: 'rapidpro',
      platform_url: RECEIVE,
      platform_sent_url: sent,
      platform_failed_url: failed,
    });
    const { stdout } = await operator('account', 'show', account);
    expect(stdout).toMatch(
      new RegExp(`^Platform URL +${RECEIVE}\nURL of "sent" +${sent}\nURL of "failed" +${failed}$`, 'm'),
    );

    const { sent_url: _, ...without } = settings;
    expect(await inJson(...update(account), '--platform-sent-url', '')).not.toHaveProperty('platform_sent_url');
    expect(await findPlatform(account)).toEqual({ name: 'rapidpro', settings: without });
    // A repeat changes nothing.
    await inJson(...update(account), '--platform-sent-url', '');
    expect(await findPlatform(account)).toEqual({ name: 'rapidpro', settings: without });
  });
});

const [CHANNEL, TOKEN, HMAC] = [
  '8c1a9f0e-4e0b-4c43-9c3f-1f1f0d6f3f5e',
  'turn-token-0123456789',
  'hmac-secret-0123456789',
];
const TURN = 'https://whatsapp.turn.io';

/** A new account with a channel at Turn. */
const newTurn = async (...options: string[]) => {
  const account = await newAccount();
  const needed = ['--platform=turn', `--platform-channel=${CHANNEL}`, `--platform-token=${TOKEN}`];
  await inJson(...update(account), ...needed, ...options);
  return account;
};

describe("an account's Turn", () => {
  test("the default URL of Turn is Turn's own, and an account can set another", async () => {
    const account = await newTurn();
    const settings = { url: TURN, channel: CHANNEL, token: TOKEN };
    expect(await findPlatform(account)).toEqual({ name: 'turn', settings });
    expect(await inJson('account', 'show', account)).toEqual({
      id: account,
      name: 'Of the operator',
      platform: 'turn',
      platform_url: TURN,
      platform_channel: CHANNEL,
      created: time,
      tokens: [],
    });
    expect((await operator('account', 'show', account)).stdout).toMatch(new RegExp(`^Channel +${CHANNEL}$`, 'm'));

    const own = 'https://turn.example.com/base/';
    expect(await inJson(...update(account), '--platform-url', own)).toMatchObject({
      platform_url: own,
    });
    expect(await findPlatform(account)).toEqual({ name: 'turn', settings: { ...settings, url: own } });
    expect(await inJson(...update(account), '--platform-url=')).toMatchObject({
      platform_url: TURN,
    });
    expect(await findPlatform(account)).toEqual({ name: 'turn', settings });
  });

  test('the inbound secret of Turn is saved in a separate row, and an empty value removes it', async () => {
    const account = await newTurn(`--platform-hmac-secret=${HMAC}`);
    const settings = { url: TURN, channel: CHANNEL, token: TOKEN };
    expect(await findPlatform(account)).toEqual({ name: 'turn', settings, hook: { hmac_secret: HMAC } });
    expect(await findHook(account)).toEqual({ hmac_secret: HMAC });

    await inJson(...update(account), '--platform-hmac-secret', '');
    expect(await findHook(account)).toBeUndefined();
    expect(await findPlatform(account)).toEqual({ name: 'turn', settings });
  });

  test.each([
    ['removed', ['--no-platform']],
    ['replaced', ['--platform=rapidpro', `--platform-url=${RECEIVE}`]],
  ])('the inbound secret is deleted when Turn is %s', async (_, options) => {
    const account = await newTurn(`--platform-hmac-secret=${HMAC}`);
    await inJson(...update(account), ...options);
    expect(await findHook(account)).toBeUndefined();
  });
});

describe("an account's platform", () => {
  test('a change of the platform keeps the settings that are not given', async () => {
    const [sent, other] = ['https://rapidpro.example.com/sent', 'https://other.example.com/c/ex/2/receive'];
    const rapidpro = await newRapidpro(`--platform-sent-url=${sent}`);
    // The platform's name can be given again.
    await inJson(...update(rapidpro), '--platform=rapidpro', `--platform-url=${other}`);
    expect(await findPlatform(rapidpro)).toEqual({ name: 'rapidpro', settings: { url: other, sent_url: sent } });

    const turn = await newTurn(`--platform-hmac-secret=${HMAC}`, '--platform-url=https://turn.example.com');
    await inJson(...update(turn), '--platform-token=another');
    expect(await findPlatform(turn)).toEqual({
      name: 'turn',
      settings: { url: 'https://turn.example.com', channel: CHANNEL, token: 'another' },
      hook: { hmac_secret: HMAC },
    });
    await inJson(...update(turn), '--platform-hmac-secret=renewed');
    expect(await findPlatform(turn)).toMatchObject({
      settings: { token: 'another' },
      hook: { hmac_secret: 'renewed' },
    });
    await inJson(...update(turn), '--name=Renamed');
    expect(await findPlatform(turn)).toMatchObject({
      settings: { token: 'another' },
      hook: { hmac_secret: 'renewed' },
    });
  });

  test('a new platform has no settings of the previous platform', async () => {
    const account = await newRapidpro('--platform-sent-url=https://rapidpro.example.com/sent');
    const change = (...options: string[]) => inJson(...update(account), ...options);

    const turn = ['--platform=turn', `--platform-channel=${CHANNEL}`, `--platform-token=${TOKEN}`];
    expect(await change(...turn)).not.toHaveProperty('platform_sent_url');
    expect(await findPlatform(account)).toEqual({
      name: 'turn',
      settings: { url: TURN, channel: CHANNEL, token: TOKEN },
    });

    const { platform_secret: secret } = await change('--platform=webhook', `--platform-url=${URL}`);
    await change('--platform=rapidpro', `--platform-url=${RECEIVE}`);
    const { platform_secret: again } = await change('--platform=webhook', `--platform-url=${URL}`);
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: URL, secret: again } });
    expect(again).not.toBe(secret);

    // The URL of the previous platform is not reused.
    expect(await refusal(...update(account), '--platform=rapidpro')).toContain('needs --platform-url.');
    expect(await findPlatform(account)).toMatchObject({ name: 'webhook' });
  });

  test('no command prints a secret of a platform', async () => {
    const [webhook, turn] = [await newAccount(), await newTurn(`--platform-hmac-secret=${HMAC}`)];
    const secrets = new RegExp(`${TOKEN}|${HMAC}|whsec_|secret`);
    const set = [...update(webhook), '--platform=webhook', `--platform-url=${URL}`];
    const commands = [
      [...set, `--platform-secret=${SECRET}`],
      [...update(turn), `--platform-token=${TOKEN}`, `--platform-hmac-secret=${HMAC}`],
      [...update(webhook), '--name=Renamed'],
      [...update(turn), '--name=Renamed'],
      [...update(turn), '--platform=rapidpro', `--platform-url=${RECEIVE}`, '--bot-number', newPhone()],
      [...update(turn), '--platform=turn', `--platform-channel=${CHANNEL}`, `--platform-token=${TOKEN}`],
      ['account', 'show', webhook],
      ['account', 'show', turn],
      ['account', 'list'],
    ];
    for (const command of commands) {
      for (const json of [[], ['--json']]) {
        const { code, stdout, stderr } = await operator(...command, ...json);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(stdout).not.toMatch(secrets);
      }
    }
    // The errors for rejected values do not contain them either.
    const refused = [...update(turn), `--platform-token=${TOKEN}`, '--platform-url=http://a.example'];
    expect(await refusal(...refused)).not.toContain(TOKEN);
    expect(await refusal(...update(webhook), '--platform-secret=whsec_short')).not.toContain('short');
  });

  test('white space around values is removed', async () => {
    const account = await newTurn(`--platform-url= ${TURN} `, `--platform-token=${TOKEN}\r\n`);
    const settings = { url: TURN, channel: CHANNEL, token: TOKEN };
    expect(await findPlatform(account)).toEqual({ name: 'turn', settings });
  });

  const rapidpro = ['--platform=rapidpro', `--platform-url=${RECEIVE}`];
  const turn = ['--platform=turn', `--platform-channel=${CHANNEL}`, `--platform-token=${TOKEN}`];

  const invalid: [options: string[], line: RegExp][] = [
    [[`--platform-url=${URL}`], / has no platform yet. Choose one with --platform \w+(\|\w+)+\.$/],
    [[`--platform-secret=${SECRET}`], /has no platform yet/],

    [['--platform=webhook'], /^error: The platform "webhook" needs --platform-url\.$/],
    [['--platform=rapidpro'], /^error: The platform "rapidpro" needs --platform-url\.$/],
    [['--platform=rapidpro', '--platform-url='], /The platform "rapidpro" needs --platform-url\.$/],
    [['--platform=turn', '--platform-channel=1'], /^error: The platform "turn" needs --platform-token\.$/],
    [[...turn, '--platform-token='], /^error: The platform "turn" needs --platform-token\.$/],

    [[...turn, '--platform-sent-url='], /^error: The platform "turn" has no --platform-sent-url\.$/],
    [[...rapidpro, '--platform-token=1'], /^error: The platform "rapidpro" has no --platform-token\.$/],
    [
      ['--platform=webhook', `--platform-url=${URL}`, '--platform-hmac-secret=1'],
      /The platform "webhook" has no --platform-hmac-secret\.$/,
    ],

    [['--platform=webhook', '--platform-url=/messages'], /--platform-url must be an https address/],
    [
      ['--platform=webhook', '--platform-url=http://destination.example.com/'],
      /--platform-url must be an https address/,
    ],
    [[...rapidpro, '--platform-failed-url=http://a.example/'], /--platform-failed-url must be an https address/],
    [[...turn, '--platform-url=http://turn.example.com'], /--platform-url must be an https address/],
    [['--platform=webhook', '--platform-url=https://me:you@a.example/'], /without user name or password\.$/],
    [[...rapidpro, '--platform-sent-url=https://me@a.example/'], /-sent-url must be .+, without user name or password/],
    [
      [...turn, '--platform-channel= '],
      /--platform-channel must be 1 to 255 letters, digits, hyphens or underscores\.$/,
    ],
    [[...turn, '--platform-hmac-secret= '], /--platform-hmac-secret must not be empty or white space only\.$/],

    [
      ['--platform=webhook', '--platform-secret=secret'],
      /needs --platform-url\. --platform-secret must be whsec_ and 24 to 64 bytes in base64\.$/,
    ],
    [['--platform=turn'], /needs --platform-channel\. The platform "turn" needs --platform-token\.$/],
    [
      ['--platform=rapidpro', '--platform-token=1', '--platform-channel=2', '--platform-sent-url=https://10.0.0.1/'],
      /^(?=.+ no --platform-channel\.)(?=.+ no --platform-token\.).+ needs --platform-url\. --platform-sent-url must be a public URL/,
    ],
  ];

  test.concurrent.each(invalid)('account update rejects %j', async (options, line) => {
    const account = await newAccount();
    expect((await refusal(...update(account), ...options)).trimEnd()).toMatch(line);
    expect(await findPlatform(account)).toBeUndefined();
  });

  const addresses = [
    // All private addresses: test/unit/destinations/http-client.test.ts.
    ['--platform-url', 'https://192.168.1.1:8443/receive'] as const,
    ['--platform-url', 'https://[::ffff:10.0.0.1]/receive'] as const,
    ['--platform-delivered-url', 'https://10.0.0.1/delivered'] as const,
  ];

  test.concurrent.each(addresses)('account update rejects the URL of a private network: %s %s', async (option, url) => {
    const account = await newAccount();
    const line = await refusal(...update(account), ...rapidpro, `${option}=${url}`);
    expect(line).toBe(`error: ${option} must be a public URL: the service calls no others.\n`);
    expect(await findPlatform(account)).toBeUndefined();
  });

  test('a rejected change leaves the platform and the account unchanged', async () => {
    const account = await newTurn(`--platform-hmac-secret=${HMAC}`);
    const before = await findPlatform(account);
    const option = '--platform-url=https://127.0.0.1/';
    await refusal(...update(account), '--name=New', '--platform-token=other', '--platform-hmac-secret=', option);
    await refusal(...update(account), '--platform=webhook', option);
    expect(await findPlatform(account)).toEqual(before);
    expect(await inJson('account', 'show', account)).toMatchObject({ name: 'Of the operator' });
  });
});

test('the help lists each platform setting with its platforms and its meaning', async () => {
  const { stdout } = await withoutTable('account', 'update', '--help');
  const [, settings = ''] = /^Settings of the chat platform:\n([\s\S]+?)\n\n/m.exec(stdout) ?? [];
  const texts = settings.split(/^ {2}(?=--)/m).slice(1);
  const listed = texts.map((text) => {
    const [, option = '', what = ''] = /^(\S+) <value> +([\s\S]+)$/.exec(text) ?? [];
    return [
      option,
      what
        .trim()
        .split(/\n +(?=\w+: )/)
        .map((line) => line.replaceAll(/\s+/g, ' ')),
    ];
  });
  const all = Object.entries(setups).flatMap(([name, { options }]) =>
    Object.entries(options).map(([setting, { description }]) => ({ setting, text: `${name}: ${description}` })),
  );
  const expected = [...Map.groupBy(all, ({ setting }) => setting)].map(([setting, texts]) => [
    `--platform-${setting.replaceAll('_', '-')}`,
    texts.map(({ text }) => text),
  ]);
  expect(listed).toEqual(expected);
});

describe('on the local stack', () => {
  let destination: DestinationServer;
  beforeAll(async () => {
    destination = await DestinationServer.start();
  });
  afterAll(() => destination.close());

  test('a webhook can be on this machine, and receives pending messages after "outbox retry"', async () => {
    const local = await machine({ pid: process.pid });
    const account = await newAccount();
    const change = [...update(account), '--platform=webhook', `--platform-url=${destination.url}`, '--json'];
    // A table that is given by name may belong to a real stack, so ALLOW_LOOPBACK has no effect.
    const { code, stderr } = await run(change, { ...remote, ALLOW_LOOPBACK: 'true' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('must be an https address') });
    const { stdout } = await operatorIn(local, ...change);
    const { platform_secret, platform_url } = JSON.parse(stdout);
    expect(platform_url).toBe(destination.url);

    const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
    const message = {
      id: newUuid(),
      account,
      phone: conversation.phone,
      job_id: newUuid(),
      payload_type: 'text',
      ...lifetime,
    };
    const content = { type: 'text' as const, text: { body: 'Hello' } };
    await addPendingEntries(conversation, [{ type: 'message.received', message, to: newPhone(), content }]);
    // An open circuit would schedule another retry.
    const { name } = await platformOf(account);
    for (let failure = 0; failure < 3; failure += 1) await recordFailure(name, 'closed');
    expect(destination.calls).toEqual([]);

    const retry = () => operatorIn(local, 'outbox', 'retry', '--account', account);
    expect(await retry()).toEqual({ code: 0, stdout: '1 conversation is retried within a minute.\n', stderr: '' });
    // At least once: an attempt that this process answers too late, because it is busy, is repeated with the same id. A worker
    // that read the circuit a moment before the command schedules a retry after it: then it is given again.
    const received = async () => {
      if (destination.calls.length === 0) await retry();
      return destination.calls.length;
    };
    await expect.poll(received, { interval: 5_000, timeout: 60_000 }).toBeGreaterThan(0);
    expect(new Set(destination.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const [{ headers, body } = { headers: {}, body: '' }] = destination.calls;
    expect(new Webhook(platform_secret).verify(body, headers as Record<string, string>)).toEqual({
      message: { from: conversation.phone, ...content },
    });
  });

  test('a platform can be on this machine, but not on another machine of a private network', async () => {
    const local = await machine({ pid: process.pid });
    const account = await newAccount();
    const change = [...update(account), '--platform=rapidpro', `--platform-url=${destination.url}`];
    const { code, stderr } = await operatorIn(local, ...change, '--platform-sent-url=http://10.0.0.1/');
    const line = 'error: --platform-sent-url must be a public URL: the service calls no others.\n';
    expect({ code, stderr }).toEqual({ code: 1, stderr: line });
    const allowed = await operatorIn(local, ...change, '--platform-sent-url=http://[::1]:1/');
    expect(allowed).toMatchObject({ code: 0, stderr: '' });
    expect(await findPlatform(account)).toMatchObject({
      settings: { url: destination.url, sent_url: 'http://[::1]:1/' },
    });
  });
});
