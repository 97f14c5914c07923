/** The operator's command on accounts' chat platforms, and what waits for them until it is told to go out. */
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platformFrom } from '../../infra/operator/platform.ts';
import { findPlatform } from '../../shared/accounts.ts';
import { noteFailure } from '../../shared/circuit.ts';
import { newId as newUuid } from '../../shared/clock.ts';
import type { Conversation } from '../../shared/outbox.ts';
import { platformOf } from '../../shared/platforms/platforms.ts';
import {
  holdBack,
  inJson,
  machine,
  newAccount,
  newId,
  operator,
  refusal,
  remote,
  run,
  time,
} from './support/operator.ts';
import { Receiver } from './support/receiver.ts';
import { newPhone } from './support/world.ts';

const URL = 'https://receiver.example.com/messages';
const SECRET = `whsec_${'A'.repeat(43)}=`;

/** A new account with a webhook. */
const newWebhook = async () => {
  const account = await newAccount();
  const { platform_secret } = await inJson('account', 'update', account, '--platform=webhook', `--platform-url=${URL}`);
  return { account, secret: String(platform_secret) };
};

describe("an account's webhook", () => {
  test('gets a secret of its own, which is shown once', async () => {
    const account = await newAccount();
    const set = await operator('account', 'update', account, '--platform', 'webhook', '--platform-url', URL);
    expect(set).toMatchObject({ code: 0, stderr: 'Copy the secret now: it will not be shown again.\n' });
    const [, secret = ''] = /^Platform secret {2}(whsec_\S{44})$/m.exec(set.stdout) ?? [];
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: URL, secret } });

    const shown = await Promise.all([
      operator('account', 'show', account),
      operator('account', 'show', account, '--json'),
      operator('account', 'update', account, '--name', 'Other', '--json'),
      operator('account', 'update', account, '--platform', 'webhook', '--json'),
      operator('account', 'list', '--json'),
    ]);
    for (const { code, stdout, stderr } of shown) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).not.toMatch(/whsec_|secret/);
    }
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: URL, secret } });
  });

  test('is shown by its kind and address', async () => {
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

  test('moves to another address, keeping its secret', async () => {
    const { account, secret } = await newWebhook();
    const other = 'https://other.example.com/';
    const moved = await inJson('account', 'update', account, '--platform-url', other);
    expect(moved).toMatchObject({ platform: 'webhook', platform_url: other });
    expect(moved).not.toHaveProperty('platform_secret');
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: other, secret } });
  });

  test('takes a secret that is given, and does not repeat it', async () => {
    const { account } = await newWebhook();
    const { code, stdout, stderr } = await operator('account', 'update', account, '--platform-secret', SECRET);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain(SECRET);
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings: { url: URL, secret: SECRET } });
  });

  test('is set together with all else, or not at all', async () => {
    const [account, other, number] = [await newAccount(), newId(), newPhone()];
    await inJson('account', 'create', 'Other', '--id', other, '--bot-number', number);
    const update = ['account', 'update', account, '--platform=webhook', `--platform-url=${URL}`, '--name=New'];
    await refusal(...update, '--bot-number', number);
    expect(await findPlatform(account)).toBeUndefined();
    expect(await inJson('account', 'show', account)).toMatchObject({ name: 'Of the operator' });
    expect(await inJson(...update)).toMatchObject({ name: 'New', platform: 'webhook', platform_url: URL });
  });

  test('is taken away, settings and all', async () => {
    const { account } = await newWebhook();
    const { platform, platform_url, ...rest } = await inJson('account', 'show', account);
    expect({ platform, platform_url }).toEqual({ platform: 'webhook', platform_url: URL });
    expect({ ...(await inJson('account', 'update', account, '--no-platform')), tokens: [] }).toEqual(rest);
    expect(await findPlatform(account)).toBeUndefined();
    // Repeating it changes nothing.
    expect({ ...(await inJson('account', 'update', account, '--no-platform')), tokens: [] }).toEqual(rest);
  });

  const faults: [options: string[], line: RegExp][] = [
    [['--platform=webhook'], /The platform "webhook" needs --platform-url\.$/],
    [[`--platform-url=${URL}`], /has no platform yet. Say which one it has with --platform webhook\.$/],
    [[`--platform-secret=${SECRET}`], /has no platform yet/],
    [['--platform=webhook', '--platform-url=/messages'], /--platform-url must be an https address/],
    [['--platform=webhook', '--platform-url=http://receiver.example.com/'], /--platform-url must be an https address/],
    [['--platform=webhook', '--platform-url=http://127.0.0.1/'], /--platform-url must be an https address/],
    [['--platform=webhook', '--platform-url=https://me:you@a.example/'], /without user name or password/],
    [
      ['--platform=webhook', '--platform-secret=secret'],
      /needs --platform-url\. --platform-secret must be whsec_ and 24 to 64 bytes in base64\.$/,
    ],
  ];

  test.concurrent.each(faults)('is not set by %j', async (options, line) => {
    const account = await newAccount();
    expect((await refusal('account', 'update', account, ...options)).trimEnd()).toMatch(line);
    expect(await findPlatform(account)).toBeUndefined();
  });

  test('has no settings of other platforms', async () => {
    const settings = { url: URL, flow: '1' };
    const change = platformFrom(await newAccount(), { name: 'webhook', settings });
    await expect(change).rejects.toThrow('The platform "webhook" has no flow.');
  });

  test('is set for an account that is there only', async () => {
    const nobody = newId();
    const there = `There is no account "${nobody}"`;
    const options = ['--platform=webhook', `--platform-url=${URL}`];
    expect(await refusal('account', 'update', nobody, ...options)).toContain(there);
    expect(await refusal('account', 'update', nobody, '--platform-url', URL)).toContain(there);
    expect(await refusal('account', 'update', nobody, '--no-platform')).toContain(there);
    expect(await findPlatform(nobody)).toBeUndefined();
  });
});

describe('on the local stack', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => receiver.close());

  test('a webhook may be on this machine, and gets what waits for it once that is to be tried again', async () => {
    const local = await machine({ pid: process.pid });
    const account = await newAccount();
    const update = ['account', 'update', account, '--platform=webhook', `--platform-url=${receiver.url}`, '--json'];
    // A table that is named may be that of a real stack, whatever the operator's own environment says.
    const { code, stderr } = await run(update, { ...remote, ALLOW_LOOPBACK: 'true' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('must be an https address') });
    const { stdout } = await run(update, local);
    const { platform_secret, platform_url } = JSON.parse(stdout);
    expect(platform_url).toBe(receiver.url);

    const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
    const message = { id: newUuid(), account, phone: conversation.phone, job_id: newUuid(), payload_type: 'text' };
    const content = { type: 'text' as const, text: { body: 'Hello' } };
    await holdBack(conversation, [{ type: 'message.received', message, to: newPhone(), content }]);
    // Left alone, it would put off again whatever is tried.
    const { name } = await platformOf(account);
    for (let failure = 0; failure < 3; failure += 1) await noteFailure(name, 'working');
    expect(receiver.calls).toEqual([]);

    const retried = await run(['outbox', 'retry', '--account', account], local);
    expect(retried).toEqual({ code: 0, stdout: '1 conversation is tried again within a minute.\n', stderr: '' });
    await expect.poll(() => receiver.calls.length).toBe(1);
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.calls;
    expect(new Webhook(platform_secret).verify(body, headers as Record<string, string>)).toEqual({
      message: { from: conversation.phone, ...content },
    });
  });
});
