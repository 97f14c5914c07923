/**
 * `operator listen` over the served stack: events reach a program of this machine as they would reach a webhook.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../infra/local/aws/loopback.ts';
import { forward } from '../../../../infra/operator/listen/forward.ts';
import { listen } from '../../../../infra/operator/listen/listener.ts';
import { beginListening } from '../../../../infra/operator/listen/mode.ts';
import { Session } from '../../../../infra/operator/listen/session.ts';
import { findPlatform, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { listTokens } from '../../../../infra/operator/queries/tokens-admin.ts';
import { accountTokenKey, waitsKey } from '../../../../shared/accounts/entities.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { getConsistent, update } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { applied } from '../../support/app-events.ts';
import { type Answer, DestinationServer, hang } from '../../support/destination-server.ts';
import { type Environment, machine, operatorIn, refusal } from '../../support/operator.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const { base_url } = inject('stack');

/** The environment of a developer's machine, on which the stack runs. */
const here = (): Promise<Environment> => machine({ pid: process.pid });

/** A program of this machine. */
const newProgram = async (answers: Answer[] = [200]): Promise<DestinationServer> => {
  const program = await DestinationServer.start();
  program.answers = answers;
  onTestFinished(() => program.close());
  return program;
};

/** A new account with a bot and without a platform. */
const newBusiness = async () => {
  const { account } = await newCaller('bridge');
  const bot = newPhone();
  await updateAccount(account, { bot_number: bot });
  return { account, bot };
};

const write = (from: string, to: string, body: string) =>
  applied({ id: randomUUID(), type: 'message.received', data: { from, to, type: 'text', text: { body } } });

const isOffered = (account: string, phone: string): Promise<void> =>
  expect.poll(async () => (await readHead({ direction: 'platform', account, phone }))?.offeredFrom).toBeDefined();

const isEmpty = (account: string, phone: string): Promise<void> =>
  expect.poll(() => readHead({ direction: 'platform', account, phone })).toBeUndefined();

const textsOf = (program: DestinationServer): string[] =>
  program.calls.map(({ body }) => JSON.parse(body).message.text.body);

const idsOf = (program: DestinationServer): string[] =>
  program.calls.map(({ headers }) => String(headers['webhook-id']));

/** Number of calls that wait for events of an account: each holds a slot until its end. */
const waitsOf = async (account: string): Promise<number> =>
  Object.entries((await getConsistent<Key>(waitsKey(account))) ?? {}).filter(
    ([name, end]) => name.startsWith('slot') && Number(end) > Date.now(),
  ).length;

/** A listener in this process, until the test ends or it is stopped. */
const startListener = (account: string, to: string) => {
  const stop = new AbortController();
  const session = new Session({ base: base_url, account, stop: stop.signal, note: () => undefined });
  const handled: string[] = [];
  const running = listen({
    session,
    to: new URL(to),
    follow: true,
    stop: stop.signal,
    onHandled: ({ event, settlement }) => void handled.push(`${event.event_id} ${settlement.status}`),
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    await session.close();
  };
  onTestFinished(end);
  return { handled, end };
};

describe('the command', () => {
  test('forwards what is due, signed with the secret that it shows once, and leaves no valid token', async () => {
    const { account, bot } = await newBusiness();
    const program = await newProgram();
    const env = await here();
    const args = ['listen', account, '--to', program.url, '--no-follow'];
    const first = await operatorIn(env, ...args);
    expect(first).toMatchObject({ code: 0, stdout: '' });
    const [secret = ''] = /whsec_\S+/.exec(first.stderr) ?? [];
    const phone = newPhone();
    await write(phone, bot, 'Hi');
    await isOffered(account, phone);
    const { code, stdout, stderr } = await operatorIn(env, ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('whsec_') });
    const [call] = program.calls;
    const id = String(call?.headers['webhook-id']);
    expect(stdout).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  message    ${id}  200  \\d+ ms\n$`));
    expect(() =>
      new Webhook(secret).verify(call?.body ?? '', { ...call?.headers } as Record<string, string>),
    ).not.toThrow();
    const tokens = await listTokens(account);
    const mine = tokens.filter(({ label }) => label === 'operator listen');
    expect(mine).toHaveLength(2);
    expect(mine.every(({ revoked, permissions }) => revoked !== undefined && permissions.join() === 'listen')).toBe(
      true,
    );
    for (const { id: token, expires } of mine) {
      const record = await getConsistent<{ expires_at?: number }>(accountTokenKey(account, token));
      const end = Math.floor(Date.parse(String(expires)) / 1_000);
      expect(record?.expires_at, 'the end of the record, a week later').toBeCloseTo(end + 7 * 86_400, -1);
    }
    expect(first.stderr + stdout + stderr).not.toMatch(/bapi_|Bearer/);
  });

  test('with --json prints one object for each request', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const program = await newProgram([400]);
    const phone = newPhone();
    await write(phone, bot, 'Hi');
    await isOffered(account, phone);
    const { stdout } = await operatorIn(await here(), 'listen', account, '--to', program.url, '--no-follow', '--json');
    // The shortened minutes of the stack may bring the next attempt before the command ends.
    const printed = stdout.trim().split('\n');
    expect(printed.map((line) => JSON.parse(line))).toEqual(
      program.calls.map((_, index) =>
        expect.objectContaining({
          type: 'message',
          contact: expect.stringContaining(phone),
          attempt: index + 1,
          status_code: 400,
          result: { status: 'pending', next_attempt: expect.any(String) },
        }),
      ),
    );
  });

  test('explains once that no program runs, and the events stay pending', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const phones = [newPhone(), newPhone(), newPhone()];
    for (const phone of phones) await write(phone, bot, 'Hi');
    for (const phone of phones) await isOffered(account, phone);
    const to = `http://127.0.0.1:${await freePort()}/hook`;
    const { stdout, stderr } = await operatorIn(await here(), 'listen', account, '--to', to, '--no-follow');
    expect(stdout).toContain('no_connection');
    expect(stderr.match(/refuses the connection/g)).toHaveLength(1);
    const heads = await Promise.all(phones.map((phone) => readHead({ direction: 'platform', account, phone })));
    expect(heads.every((head) => head !== undefined)).toBe(true);
  });

  test('ends a request after 10 s if the program does not respond, explains it, and sends the event again first', {
    timeout: 90_000,
  }, async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const phone = newPhone();
    for (const body of ['one', 'two']) await write(phone, bot, body);
    await isOffered(account, phone);
    const program = await newProgram([hang, 200]);
    const { code, stdout, stderr } = await operatorIn(
      await here(),
      ...['listen', account, '--to', program.url, '--no-follow', '--json'],
    );
    const printed = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(printed.map(({ status_code, error }) => status_code ?? error)).toEqual(['timeout', 200, 200]);
    expect(printed.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
    expect(printed[0]?.duration_ms).toBeGreaterThanOrEqual(10_000);
    expect([code, textsOf(program)]).toEqual([0, ['one', 'one', 'two']]);
    const [first, again] = idsOf(program);
    expect(again).toBe(first);
    expect(stderr).toContain('did not respond within 10 seconds');
    await isEmpty(account, phone);
  });

  test('replaces the URL of a webhook only after a confirmation, and --end sends the events there again', async () => {
    const { account, bot } = await newBusiness();
    const [webhook, program] = [await newProgram(), await newProgram()];
    const settings = { url: webhook.url, secret: `whsec_${'A'.repeat(32)}` };
    await updateAccount(account, { platform: { name: 'webhook', settings } });
    const env = await here();
    const args = ['listen', account, '--to', program.url, '--no-follow'];
    const asked = await operatorIn(env, ...args);
    expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining(webhook.url) });
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings });

    expect(await operatorIn(env, ...args, '--yes')).toMatchObject({ code: 0 });
    const phone = newPhone();
    await write(phone, bot, 'one');
    await isOffered(account, phone);
    expect((await operatorIn(env, 'account', 'show', account)).stdout).toContain('operator listen');
    expect((await operatorIn(env, 'outbox', 'list', '--account', account)).stdout).toContain('listening');
    const ended = await operatorIn(env, 'listen', account, '--end');
    expect(ended.stdout).toContain(`go to ${webhook.url} again. Sent within a minute: 1 pending event.`);
    await isEmpty(account, phone);
    expect([textsOf(webhook), textsOf(program)]).toEqual([['one'], []]);
    expect(await findPlatform(account)).toEqual({ name: 'webhook', settings });
  });

  test('with --end removes a webhook without a URL only after a confirmation; its pending events wait for another one', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const phone = newPhone();
    await write(phone, bot, 'Hi');
    await isOffered(account, phone);
    const env = await here();
    expect(await operatorIn(env, 'listen', account, '--end')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Waiting three days for another one: 1 pending event.'),
    });
    expect(await findPlatform(account)).toBeDefined();
    expect(await operatorIn(env, 'listen', account, '--end', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Waiting three days for another one: 1 pending event.'),
    });
    expect(await findPlatform(account)).toBeUndefined();
    await expect
      .poll(() => readHead({ direction: 'platform', account, phone }))
      .toMatchObject({ state: 'waiting', cause: 'no_platform' });
    const webhook = await newProgram();
    const settings = { url: webhook.url, secret: `whsec_${'A'.repeat(32)}` };
    await updateAccount(account, { platform: { name: 'webhook', settings } });
    await isEmpty(account, phone);
    expect(textsOf(webhook)).toEqual(['Hi']);
  });

  test.each([
    ['without --to', [], 2, 'either --to or --end'],
    ['with a URL of another protocol', ['--to', 'ftp://127.0.0.1/'], 2, 'http: or https:'],
    ['with --to and --end', ['--to', 'http://127.0.0.1', '--end'], 2, 'either --to or --end'],
    ['with --end, for an account that does not listen', ['--end'], 1, 'nothing to end'],
  ])('fails %s', async (_case, args, code, words) => {
    const { account } = await newBusiness();
    expect(await operatorIn(await here(), 'listen', account, ...args)).toMatchObject({
      code,
      stderr: expect.stringContaining(words),
    });
  });

  test('refuses accounts on RapidPro, and tables without an API', async () => {
    const { account } = await newBusiness();
    await updateAccount(account, {
      platform: { name: 'rapidpro', settings: { url: 'https://rapidpro.example.com/c/ex/1/receive' } },
    });
    const { code, stderr } = await operatorIn(await here(), 'listen', account, '--to', 'http://127.0.0.1:1');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('only events of a webhook') });
    expect(await refusal('listen', account, '--to', 'http://127.0.0.1:1')).toContain('--stack instead of --table');
  });
});

describe('a listener', () => {
  test('keeps the order of a user, retries after 5xx, and other users are not delayed', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const [phone, other] = [newPhone(), newPhone()];
    const program = await newProgram([500, 200]);
    for (const body of ['one', 'two', 'three']) await write(phone, bot, body);
    await isOffered(account, phone);
    startListener(account, program.url);
    await isEmpty(account, phone);
    expect(textsOf(program)).toEqual(['one', 'one', 'two', 'three']);
    const [first, second] = idsOf(program);
    expect(second).toBe(first);
    await write(other, bot, 'Hello');
    await isEmpty(account, other);
    expect(textsOf(program).at(-1)).toBe('Hello');
  });

  test('with another one beside it delivers each event once', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const program = await newProgram();
    const listeners = [startListener(account, program.url), startListener(account, program.url)];
    const phones = Array.from({ length: 4 }, newPhone);
    for (const body of ['1', '2', '3']) {
      for (const phone of phones) await write(phone, bot, body);
    }
    for (const phone of phones) await isEmpty(account, phone);
    const ids = idsOf(program);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
    for (const phone of phones) {
      const own = program.calls.map(({ body }) => JSON.parse(body).message).filter(({ from }) => from === phone);
      expect(own.map(({ text }) => text.body)).toEqual(['1', '2', '3']);
    }
    await expect.poll(() => listeners.flatMap(({ handled }) => handled).length).toBe(12);
  });

  test('that is killed between the request and its settlement leads to a repeat with the same id, and nothing is lost', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const phone = newPhone();
    for (const body of ['one', 'two']) await write(phone, bot, body);
    await isOffered(account, phone);
    const program = await newProgram();
    // It claims and posts, and never settles.
    const killed = new Session({ base: base_url, account, stop: new AbortController().signal, note: () => undefined });
    onTestFinished(() => killed.close());
    const [event] = await killed.claim(10, 25);
    if (event === undefined) throw new Error('There is no event.');
    await forward(new URL(program.url), event);
    const listener = startListener(account, program.url);
    await update({
      Key: headKey(conversationName({ direction: 'platform', account, phone })),
      UpdateExpression: 'SET claimed_until = :past, gsi3sk = :past',
      ExpressionAttributeValues: { ':past': '2020-01-01T00:00:00.000Z' },
    });
    await isEmpty(account, phone);
    expect(textsOf(program)).toEqual(['one', 'one', 'two']);
    const [first, second] = idsOf(program);
    expect(second).toBe(first);
    // The killed one comes back: its claim changes nothing.
    expect(await killed.settle(event.claim, { status_code: 500 })).toEqual({ status: 'lost' });
    expect(listener.handled).toHaveLength(2);
  });

  test('that is stopped settles what it has sent', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const phone = newPhone();
    await write(phone, bot, 'Hi');
    await isOffered(account, phone);
    let respond = () => {};
    const answer = (response: ServerResponse) => {
      respond = () => void response.writeHead(200).end();
    };
    const program = await newProgram([answer]);
    const listener = startListener(account, program.url);
    await expect.poll(() => program.calls.length).toBe(1);
    const ended = listener.end();
    respond();
    await ended;
    expect(listener.handled).toEqual([expect.stringMatching(/ delivered$/)]);
    await isEmpty(account, phone);
  });

  test('that is stopped while it waits for events forwards the one that its last call claims', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const program = await newProgram();
    const listener = startListener(account, program.url);
    await expect.poll(() => waitsOf(account)).toBe(1);
    const ended = listener.end();
    const phone = newPhone();
    await write(phone, bot, 'Hi');
    await ended;
    await expect.poll(() => waitsOf(account)).toBe(0);
    // On a slow machine, the call ends before the event is offered. Then nobody has claimed it, and it need not wait.
    startListener(account, program.url);
    await isEmpty(account, phone);
    expect(textsOf(program)).toEqual(['Hi']);
  });

  test('continues with another token after its own was revoked', async () => {
    const { account, bot } = await newBusiness();
    await beginListening(account);
    const program = await newProgram();
    const notes: string[] = [];
    let isFirst = true;
    const real = globalThis.fetch;
    // The authorizer may know a revoked token for a minute.
    globalThis.fetch = async (...args) => {
      if (!isFirst || !String(args[0]).includes('/claim')) return real(...args);
      isFirst = false;
      return new Response('{"message":"Forbidden"}', { status: 403 });
    };
    onTestFinished(() => {
      globalThis.fetch = real;
    });
    const stop = new AbortController();
    const session = new Session({
      base: base_url,
      account,
      stop: stop.signal,
      note: (words) => void notes.push(words),
    });
    const phone = newPhone();
    await write(phone, bot, 'Hi');
    await isOffered(account, phone);
    await listen({ session, to: new URL(program.url), follow: false, stop: stop.signal, onHandled: () => undefined });
    await session.close();
    expect(textsOf(program)).toEqual(['Hi']);
    expect(notes).toEqual([expect.stringContaining('403'), 'The API works again.']);
    const tokens = (await listTokens(account)).filter(({ label }) => label === 'operator listen');
    expect(tokens.map(({ revoked }) => revoked !== undefined)).toEqual([true, true]);
  });
});
