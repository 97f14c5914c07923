/** Test messages: an account writes to its own bot, with the same effect as a user's message. */
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { type AccountPlatform, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { asProblem, call, sendRaw, urlOf } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { shownOn, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

type Bot = Caller & { bot: string };

/** A new account with a bot. Its platform is optional. */
const withBot = async (platform?: AccountPlatform): Promise<Bot> => {
  const caller = await newCaller('bridge', 'stats');
  const bot = newPhone();
  await updateAccount(caller.account, { bot_number: bot, ...(platform && { platform }) });
  return { ...caller, bot };
};

const message = (from: string, body: string) => ({ message: { type: 'text' as const, from, text: { body } } });

/** Sends a test message in the name of a user. */
const writeAs = async ({ token, bot }: Bot, from: string, body: string): Promise<void> => {
  const received = await call('receiveTestMessage', {
    token,
    path: { bot_phone_number: bot },
    body: message(from, body),
  });
  expect(received).toMatchObject({ status: 200, body: { message: 'success' } });
};

/** Posts a body without changes. */
const post = ({ token, bot }: Bot, body: string, headers: Record<string, string> = JSON_TYPE) =>
  sendRaw('receiveTestMessage', { token, path: { bot_phone_number: bot }, headers, body });

/** The delivery log of an account, oldest first. */
const logsOf = async ({ token }: Caller) => ((await call('listLogs', { token })).body ?? []).reverse();

/** Starts a platform that accepts every call. */
const openPlatform = async (): Promise<DestinationServer> => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  return destination;
};

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

describe('a test message', () => {
  test("reaches the account's webhook and log exactly as a message from the app does", { tags: 'long' }, async () => {
    const { url, calls } = await openPlatform();
    const bot = await withBot({ name: 'webhook', settings: { url, secret: SECRET } });
    const [user, phone] = [newPhone(), newPhone()];
    await writeAs(bot, user, 'Hi & bye ☺');
    await expect.poll(() => calls.length).toBe(1);
    await write(phone, bot.bot, 'Hi & bye ☺');
    await expect.poll(() => calls.length).toBe(2);
    expect(calls.map(({ json }) => json)).toEqual([message(user, 'Hi & bye ☺'), message(phone, 'Hi & bye ☺')]);
    const [tested, written] = calls.map(({ path, headers }) => [path, Object.keys(headers).sort()]);
    expect(tested).toEqual(written);

    const [first, second] = await logsOf(bot);
    expect(first).toMatchObject({ state: 'received', contact: `${user}@users.example.com` });
    expect(second).toEqual({
      ...first,
      id: second?.id,
      contact: `${phone}@users.example.com`,
      created: second?.created,
    });
  });

  test('of an account without a platform is logged and counted, and reaches no phone', async () => {
    const bot = await withBot();
    const user = newPhone();
    await writeAs(bot, user, 'Hi');
    const logs = await logsOf(bot);
    expect(logs).toMatchObject([{ state: 'received', contact: `${user}@users.example.com` }]);
    const today = new Date().toISOString().slice(0, 10);
    const query = { start_date: today, end_date: today };
    await expect
      .poll(async () => (await call('listJobs', { token: bot.token, query })).body)
      .toEqual([{ job_id: logs[0]?.job_id, state: 'received', payload_type: 'text', count: 1 }]);
    expect(await shownOn(user)).toEqual([]);
  });

  test('may come from a number with a leading +, which is removed', async () => {
    const bot = await withBot();
    const user = newPhone();
    await writeAs(bot, `+${user}`, 'Hi');
    expect(await logsOf(bot)).toMatchObject([{ contact: `${user}@users.example.com` }]);
  });

  test('is accepted below /v1, too', async () => {
    const bot = await withBot();
    const user = newPhone();
    const response = await fetch(`${inject('stack').bridge_url}/v1/webhook/${bot.bot}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${bot.token}` },
      body: JSON.stringify(message(user, 'Hi')),
    });
    expect([response.status, await response.json()]).toEqual([200, { message: 'success' }]);
    expect(await logsOf(bot)).toMatchObject([{ contact: `${user}@users.example.com` }]);
  });

  test('that is sent twice is two messages, and order is kept', async () => {
    const { url, calls } = await openPlatform();
    const bot = await withBot({ name: 'webhook', settings: { url, secret: SECRET } });
    const user = newPhone();
    for (const text of ['wake', 'up', 'wake']) await writeAs(bot, user, text);
    await expect.poll(() => calls.map(({ json }) => json.message.text.body)).toEqual(['wake', 'up', 'wake']);
    expect((await logsOf(bot)).map(({ state }) => state)).toEqual(['received', 'received', 'received']);
  });

  test('with 65,536 characters and an unknown field returns 200', async () => {
    const bot = await withBot();
    const long = message(newPhone(), '☺'.repeat(65_536));
    expect((await post(bot, JSON.stringify({ ...long, contact: null }))).status).toBe(200);
    expect(await logsOf(bot)).toHaveLength(1);
  });

  test("receives the platform's reply like a user's message: the sender's phone shows the reply", async () => {
    const { url, calls } = await openPlatform();
    const bot = await withBot({ name: 'rapidpro', settings: { url } });
    const user = newPhone();
    await writeAs(bot, user, 'wake up');
    await expect.poll(() => calls.length).toBeGreaterThan(0);
    const to = new URLSearchParams(calls[0]?.body).get('from') ?? '';
    await call('receiveRapidproMessage', { token: bot.token, body: { id: '1', text: 'I am awake', to } });
    expect(await untilShown(user, 1)).toMatchObject([
      { data: { from: bot.bot, to: user, text: { body: 'I am awake' } } },
    ]);
  });
});

describe('the bot of a test message', () => {
  const body = JSON.stringify(message('27820000001', 'Hi'));

  /** The response to a test message, with the given bot number in the path and without the trace id. */
  const responseFor = async ({ token }: Caller, number: string) => {
    const response = await fetch(urlOf('receiveTestMessage', { bot_phone_number: 'BOT' }).replace('BOT', number), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...JSON_TYPE },
      body,
    });
    const text = await response.text();
    const { trace_id } = JSON.parse(text);
    return { status: response.status, type: response.headers.get('content-type'), text: text.replace(trace_id, '') };
  };

  test('returns the same 404 if it belongs to another account, to no account, or is malformed or long', async () => {
    const [caller, other] = [await withBot(), await withBot()];
    const none = await responseFor(caller, newPhone());
    expect(none).toMatchObject({ status: 404, type: 'application/problem+json' });
    expect(JSON.parse(none.text)).toMatchObject({
      status: 404,
      code: 'bot_not_found',
      detail: 'Your account has no bot with this number. The operator issues them.',
    });
    const { bot } = caller;
    const malformed = [
      '1',
      'nobody',
      `+${bot}`,
      `${bot}0`,
      bot.slice(1),
      `${bot}%20`,
      `${bot}%2F`,
      '%00',
      '%F0%9F%98%80',
      // Longer than a key of the table may be.
      '9'.repeat(3_000),
    ];
    for (const number of [other.bot, ...malformed]) {
      expect(await responseFor(caller, number), number).toEqual(none);
    }
    for (const one of [caller, other]) expect(await logsOf(one)).toEqual([]);
  });

  test('returns 404 after its number was removed, also if another account has the number', async () => {
    const [before, after] = [await withBot(), await withBot()];
    await updateAccount(before.account, { bot_number: null });
    const none = await responseFor(before, before.bot);
    await updateAccount(after.account, { bot_number: before.bot });
    expect(await responseFor(before, before.bot)).toEqual(none);
    expect(none.status).toBe(404);
    await writeAs({ ...after, bot: before.bot }, newPhone(), 'Hi');
    expect(await logsOf(before)).toEqual([]);
    expect(await logsOf(after)).toHaveLength(1);
  });
});

describe('an invalid test message', () => {
  const from = '27820000001';
  const text = { body: 'Hi' };
  const NUMBER = expect.stringContaining(
    '#/message/from must be a phone number in international format: 7 to 15 digits',
  );

  test.each<[string, unknown, ...string[]]>([
    ['an empty object', {}, '#/message is required'],
    ['an array', [message(from, 'Hi')], '#/message is required'],
    ['a string as the message', { message: 'Hi' }, '#/message must be an object, not a string'],
    ['another type', { message: { type: 'image', from, text } }, '#/message/type must be "text"'],
    ['no sender', { message: { type: 'text', text } }, '#/message/from is required'],
    ['a number with letters', message('2782000000x', 'Hi'), NUMBER],
    ['no text', { message: { type: 'text', from } }, '#/message/text is required'],
    ['a blank text', message(from, ' \n'), '#/message/text/body must not be empty or white space only'],
    ['too long a text', message(from, 'x'.repeat(65_537)), '#/message/text/body must have at most 65536 characters'],
    [
      'half a character',
      message(from, '\ud800'),
      '#/message/text/body must be valid Unicode: it holds half of a surrogate pair',
    ],
    [
      'two errors',
      { message: { type: 'text', from: '', text: { body: 1 } } },
      NUMBER,
      '#/message/text/body must be a string, not a number',
    ],
  ])(
    'returns 422 with every validation error, and nothing is logged: %s',
    { tags: 'long' },
    async (_, body, ...errors) => {
      const bot = await withBot();
      const received = asProblem(await post(bot, JSON.stringify(body)));
      expect(received.body).toMatchObject({ status: 422, code: 'invalid_request' });
      expect(received.body.errors?.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(errors);
      expect(await logsOf(bot)).toEqual([]);
    },
  );
});
