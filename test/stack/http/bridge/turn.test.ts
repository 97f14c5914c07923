/** The bridge to Turn: messages to users, and calls to a number at Turn. */

import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { pendingConversations } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { asProblem, call, sendRaw, urlOf } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { report, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newMedia, newPhone } from '../../support/world.ts';
import { hoursCase, platformCases } from './platform-cases.ts';

const { bridge_url, log } = inject('stack');

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const JSON_TYPE = { 'content-type': 'application/json' };

/** A token as the path contains it. */
const inPath = (token: string): string => Buffer.from(token).toString('base64url');

/** Posts a body without changes. */
const post = ({ token }: Caller, body: string, headers: Record<string, string> = {}) =>
  sendRaw('receiveTurnMessage', {
    path: { encoded_token: inPath(token) },
    headers: { ...JSON_TYPE, ...headers },
    body,
  });

/** Turn sends a message. Returns the id in the response. */
const turnSends = async (caller: Caller, to: string, text: string): Promise<string> => {
  const { body } = await post(caller, JSON.stringify(whatsapp(to, { type: 'text', text: { body: text } })));
  expect(body).toEqual({ messages: [{ id: expect.stringMatching(UUID) }] });
  return (body as { messages: [{ id: string }] }).messages[0].id;
};

/** A message in the format of the Channel API. */
const channel = (to: string, turn: object) => ({
  block: null,
  resources: null,
  content: 'foo',
  to: `+${to}`,
  context: null,
  turn,
  waiting_for_user_input: false,
});

/** A message in WhatsApp's format. */
const whatsapp = (to: string, content: object) => ({
  preview_url: false,
  recipient_type: 'individual',
  to,
  ...content,
});

/** Waits until a phone shows so many messages. Returns their contents, without ids and numbers. */
const shownOn = async (phone: string, count: number) =>
  (await untilShown(phone, count)).map(({ data: { id: _id, from: _from, to: _to, ...content } }) => content);

const shown = (body: string) => ({ type: 'text', text: { body } });

/** The states in a contact's delivery log, oldest first. */
const statesOf = async ({ token }: Caller, contact: string): Promise<string[]> =>
  ((await call('listLogs', { token, query: { contact } })).body ?? []).map(({ state }) => state).reverse();

const business = (): Promise<Caller> => newCaller('bridge', 'stats');

describe('a message of Turn', () => {
  /** Bodies from Turn's documentation, except for the phone number. */
  test.each([
    [
      'the Channel API',
      '{"block":null,"resources":null,"content":"foo","to":"+27821234567","context":null,"turn":{"type":"text","text":{"body":"foo"}},"waiting_for_user_input":false}',
    ],
    [
      'the older fallback channel',
      '{"preview_url":false,"recipient_type":"individual","to":"27821234567","type":"text","text":{"body":"foo"}}',
    ],
    ['the Channel API with content only', '{"content":"foo","to":"+27821234567","turn":null,"type":null}'],
  ])('is accepted in the format of %s, and shown on the phone', async (_, body) => {
    const to = newPhone();
    const received = await post(await business(), body.replace('27821234567', to));
    expect(received).toMatchObject({ status: 200, body: { messages: [{ id: expect.stringMatching(UUID) }] } });
    const [message] = await untilShown(to, 1);
    expect({ messages: [{ id: message?.data.id }] }).toEqual(received.body);
    expect(message?.data).toMatchObject({ to, ...shown('foo') });
  });

  const link = 'https://foo.bar/a.pdf';
  /** A placeholder for the datafree URL of one of the account's images. */
  const ours = `${bridge_url}/media/OURS`;

  const withMedia: [string, object, object][] = [
    ['an image as its caption and URL', { image: { link, caption: 'Look: ☺' } }, shown(`Look: ☺\n${link}`)],
    ['an image without a caption as its URL', { image: { link } }, shown(link)],
    ['an image whose caption is null as its URL', { image: { link, caption: null } }, shown(link)],
    [
      'a datafree image with a caption as an image with it',
      { image: { link: ours, caption: 'Look' } },
      { type: 'image', image: { url: ours, caption: 'Look' } },
    ],
    ['a datafree image as an image', { image: { link: ours } }, { type: 'image', image: { url: ours } }],
    [
      'a document as its caption and URL',
      { document: { link, caption: 'Read', filename: 'a.pdf' } },
      shown(`Read\n${link}`),
    ],
    ['a document whose caption is empty as its URL', { document: { link, caption: '' } }, shown(link)],
    ['a datafree document as a file', { document: { link: ours } }, { type: 'file', file: { url: ours } }],
  ];

  const showsBoth = async (_: string, media: object, expected: object) => {
    const caller = await business();
    const to = newPhone();
    const id = await newMedia(caller.account);
    const withId = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value).replaceAll('OURS', id));
    const content = { type: Object.keys(media)[0], ...withId(media) };
    for (const body of [whatsapp(to, content), channel(to, content)]) {
      expect((await post(caller, JSON.stringify(body))).status).toBe(200);
    }
    expect(await shownOn(to, 2)).toEqual(withId([expected, expected]));
  };

  const isShown = 'shows %s, in both formats';
  test.each(withMedia.slice(0, 1))(isShown, showsBoth);
  test.each(withMedia.slice(1))(isShown, { tags: 'long' }, showsBoth);

  test('with unknown fields, and null as a value, returns 200', async () => {
    const to = newPhone();
    const body = {
      ...channel(to, { type: 'text', text: { body: 'foo', preview_url: null }, recipient_type: null, image: null }),
      ...{ type: null, from: null, messages: null, statuses: null, contact: {}, __typename: 'Message' },
    };
    expect((await post(await business(), JSON.stringify(body))).status).toBe(200);
    expect(await shownOn(to, 1)).toEqual([shown('foo')]);
  });

  test('that is repeated is a new message each time', async () => {
    const caller = await business();
    const to = newPhone();
    expect(await turnSends(caller, to, 'Hi')).not.toBe(await turnSends(caller, to, 'Hi'));
    expect(await shownOn(to, 2)).toEqual([shown('Hi'), shown('Hi')]);
  });

  test("is in its account's logs: a day's messages are one job", async () => {
    const caller = await business();
    for (const to of [newPhone(), newPhone()]) await turnSends(caller, to, 'Hi');
    const { body } = await call('listLogs', { token: caller.token, query: { state: 'sent' } });
    expect(body).toHaveLength(2);
    expect(new Set(body?.map(({ job_id }) => job_id)).size).toBe(1);
  });
});

describe('the token in the path', () => {
  const url = (encoded: string): string =>
    urlOf('receiveTurnMessage', { encoded_token: 'TOKEN' }).replace('TOKEN', encoded);

  const postTo = async (encoded: string, to = '27820000001') => {
    const response = await fetch(url(encoded), {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(whatsapp(to, shown('Hi'))),
    });
    return { status: response.status, body: await response.json() };
  };

  test('is accepted with padding, encoded padding and no padding', async () => {
    const { token } = await business();
    const to = newPhone();
    const padded = Buffer.from(token).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
    expect(padded).toMatch(/=$/);
    for (const encoded of [padded, encodeURIComponent(padded), padded.replaceAll('=', '')]) {
      expect(await postTo(encoded, to)).toMatchObject({ status: 200 });
    }
    await untilShown(to, 3);
  });

  test.each([
    ['unknown', (token: string) => inPath(`${token.slice(0, -1)}x`)],
    ['not encoded', (token: string) => token],
    ['truncated', (token: string) => inPath(token).slice(0, -2)],
  ])('returns 403 from the gateway if it is %s', async (_, encoded) => {
    const { token } = await business();
    expect(await postTo(encoded(token))).toEqual({ status: 403, body: { message: 'Forbidden' } });
  });

  test('returns 403 if it lacks the permission bridge, or is in the Authorization header', async () => {
    const caller = await newCaller('messages', 'stats');
    expect(await postTo(inPath(caller.token))).toMatchObject({ status: 403, body: { code: 'permission_required' } });
    const { token } = await business();
    const inHeader = await sendRaw('receiveTurnMessage', { token, path: { encoded_token: 'x' }, headers: JSON_TYPE });
    expect(inHeader).toMatchObject({ status: 403, body: { message: 'Forbidden' } });
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });
});

describe("Turn's signature", () => {
  const SECRET = 'the hmac_secret of a channel';
  const settings = { url: 'http://127.0.0.1:1', channel: 'c', token: 't' };
  const sign = (body: string, secret = SECRET) => createHmac('sha256', secret).update(body).digest('base64');

  /** An account whose requests Turn signs. */
  const signing = async (): Promise<Caller> => {
    const caller = await business();
    await updateAccount(caller.account, { platform: { name: 'turn', settings, hook: { hmac_secret: SECRET } } });
    return caller;
  };

  test('is required if the account has hmac_secret, and a valid one is accepted', async () => {
    const caller = await signing();
    const to = newPhone();
    // The signature covers the raw bytes, in every JSON formatting.
    for (const body of [
      JSON.stringify(whatsapp(to, shown('☺'))),
      JSON.stringify(channel(to, shown('☺')), null, '\t'),
    ]) {
      expect(await post(caller, body, { 'x-turn-hook-signature': sign(body) })).toMatchObject({ status: 200 });
    }
    await untilShown(to, 2);
  });

  const body = JSON.stringify(whatsapp('27820000001', shown('Hi')));

  test.each<[string, Record<string, string>]>([
    ['is missing', {}],
    ['is empty', { 'x-turn-hook-signature': '' }],
    ['is arbitrary text', { 'x-turn-hook-signature': 'x'.repeat(44) }],
    ['is that of another body', { 'x-turn-hook-signature': sign(`${body} `) }],
    ['is made with another secret', { 'x-turn-hook-signature': sign(body, `${SECRET}.`) }],
    ['is truncated', { 'x-turn-hook-signature': sign(body).slice(0, 20) }],
    ['has extra bytes', { 'x-turn-hook-signature': Buffer.alloc(64, sign(body), 'base64').toString('base64') }],
    ['is in hex', { 'x-turn-hook-signature': Buffer.from(sign(body), 'base64').toString('hex') }],
    ['is in another header', { 'x-hub-signature': sign(body) }],
  ])('returns 403 signature_invalid, and nothing is sent, if it %s', async (_, headers) => {
    const caller = await signing();
    const { body: problem } = asProblem(await post(caller, body, headers));
    expect(problem).toMatchObject({ status: 403, code: 'signature_invalid' });
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });

  test('is checked before the message is validated', async () => {
    const { body: problem } = asProblem(await post(await signing(), '{}'));
    expect(problem.code).toBe('signature_invalid');
  });

  test('is required as soon as hmac_secret is set, and not after its removal', async () => {
    const caller = await business();
    const send = async () => (await post(caller, body.replace('27820000001', newPhone()))).status;
    expect(await send()).toBe(200);
    await updateAccount(caller.account, { platform: { name: 'turn', settings, hook: { hmac_secret: SECRET } } });
    expect(await send()).toBe(403);
    await updateAccount(caller.account, { platform: { name: 'turn', settings } });
    expect(await send()).toBe(200);
  });

  test('is ignored if the account has no hmac_secret', async () => {
    const to = newPhone();
    const received = await post(await business(), body.replace('27820000001', to), { 'x-turn-hook-signature': 'x' });
    expect(received.status).toBe(200);
    await untilShown(to, 1);
  });
});

describe("Turn's ordinary webhook event", () => {
  const message = { from: '27820000001', id: 'ABG', timestamp: '1628345678', type: 'text', text: { body: 'Hi' } };

  test.each<[string, object, Record<string, string>]>([
    ['the subscription whatsapp', whatsapp('27820000001', shown('Hi')), { 'x-turn-hook-subscription': 'whatsapp' }],
    ['the subscription turn, and an empty body', {}, { 'x-turn-hook-subscription': 'turn' }],
    ['statuses', { statuses: [{ id: 'ABG', status: 'read', recipient_id: '27820000001' }] }, {}],
    ['messages', { contacts: [{ wa_id: '27820000001' }], messages: [message] }, {}],
    ['an empty list of messages', { messages: [], to: '27820000001', type: 'text', text: { body: 'Hi' } }, {}],
  ])('returns 200 and has no effect, with and without hmac_secret: an event with %s', async (_, body, headers) => {
    const caller = await business();
    const platform = { name: 'turn' as const, settings: { url: 'http://127.0.0.1:1', channel: 'c', token: 't' } };
    for (const hook of [undefined, { hmac_secret: 'x' }]) {
      await updateAccount(caller.account, { platform: { ...platform, ...(hook && { hook }) } });
      const received = await post(caller, JSON.stringify(body), headers);
      expect(received).toMatchObject({ status: 200, body: { messages: [] } });
    }
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });
});

describe('an invalid message of Turn', () => {
  const to = '27820000001';
  const TYPE = expect.stringContaining('type must be "text", "image", "document", "audio"');
  const NUMBER = expect.stringContaining('#/to must be a phone number in international format: 7 to 15 digits');
  const long = 'x'.repeat(4_097);

  test.each<[string, unknown, ...string[]]>([
    ...['contacts', 'template', 'reaction'].map((type): [string, unknown, string] => [
      `the type ${type}`,
      whatsapp(to, { type, [type]: {} }),
      TYPE,
    ]),
    ['a video without its link', whatsapp(to, { type: 'video', video: {} }), '#/video/link is required'],
    [
      'interactive parts without choices',
      whatsapp(to, { type: 'interactive', interactive: { body: { text: 'Hi' }, action: { name: 'cta_url' } } }),
      '#/interactive/action must have buttons or sections',
    ],
    [
      'a type that the app cannot show, without content',
      { ...channel(to, { type: 'template', template: {} }), content: null },
      TYPE,
    ],
    ['an empty object', {}, '#/to is required', '#/content is required'],
    ['an array', [whatsapp(to, shown('Hi'))], '#/to is required', '#/content is required'],
    ['null', null, '# must be an object, not null'],
    ['a number with letters', whatsapp('2782000000x', shown('Hi')), NUMBER],
    ['a JSON number', { ...whatsapp(to, shown('Hi')), to: 27820000001 }, '#/to must be a string, not a number'],
    ['no number', { type: 'text', text: { body: 'Hi' } }, '#/to is required'],
    ['no text', whatsapp(to, { type: 'text' }), '#/text is required'],
    ['an empty text', whatsapp(to, shown('')), '#/text/body must not be empty or white space only'],
    [
      'a blank text of the Channel API',
      channel(to, shown(' \n')),
      '#/turn/text/body must not be empty or white space only',
    ],
    ['too long a text', whatsapp(to, shown(long)), '#/text/body must have at most 4096 characters'],
    [
      'a body of a megabyte',
      whatsapp(to, shown('x'.repeat(1024 * 1024))),
      '#/text/body must have at most 4096 characters',
    ],
    ['an image without its link', whatsapp(to, { type: 'image', image: { id: '1' } }), '#/image/link is required'],
    [
      'too long a caption',
      whatsapp(to, { type: 'image', image: { link: 'https://foo.bar/', caption: long } }),
      '#/image/caption must have at most 2000 characters',
    ],
    [
      'two errors',
      whatsapp('', { type: 'document', document: { link: '' } }),
      NUMBER,
      '#/document/link must not be empty or white space only',
    ],
  ])(
    'returns 422 with every validation error, and nothing is sent: %s',
    { tags: 'long' },
    async (_, body, ...errors) => {
      const caller = await business();
      const received = asProblem(await post(caller, JSON.stringify(body)));
      expect(received.body).toMatchObject({ status: 422, code: 'invalid_request' });
      expect(received.body.errors?.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(errors);
      expect((await call('listLogs', { token: caller.token })).status).toBe(204);
    },
  );

  const good = JSON.stringify(whatsapp(to, shown('Hi')));

  test.each<[string, string, Record<string, string>, number, string]>([
    ['incomplete JSON', good.slice(0, -1), JSON_TYPE, 400, 'malformed_body'],
    ['no body', '', JSON_TYPE, 400, 'malformed_body'],
    [
      'a form',
      `to=${to}&text=Hi`,
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    ['the content type text/plain', good, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
  ])('that cannot be parsed returns 400 or 415, and nothing is sent: %s', async (_, body, headers, status, code) => {
    const caller = await business();
    expect(asProblem(await post(caller, body, headers)).body).toMatchObject({ status, code });
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });
});

/** A call that a number at Turn received. */
interface NumberCall {
  address: string;
  /** Milliseconds since 1970. */
  time: number;
}

type Status = number | { status: number; headers: Record<string, string> };

/** Starts a number at Turn that records its calls and returns the responses that the test sets. */
const openNumber = async () => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  const arrivals: NumberCall[] = [];
  const responses: Status[] = [];
  destination.answers = [
    (response) => {
      arrivals.push({ address: response.req.url ?? '', time: Date.now() });
      const next = responses.shift() ?? 200;
      const { status, headers } = typeof next === 'number' ? { status: next, headers: {} } : next;
      response.writeHead(status, headers).end();
    },
  ];
  return {
    url: destination.url,
    calls: destination.calls,
    /** The path and time of each call. */
    arrivals,
    /** The responses to the next calls. Default: 200. */
    answers: responses,
    /** All calls, in short: the text of a message, or a status and its message id. */
    inShort: () =>
      destination.calls.map(({ json: { message, status } }) => message?.text.body ?? `${status.status} ${status.id}`),
  };
};

const CHANNEL = randomUUID();
const TOKEN = 'token-of-the-customer-at-Turn';

/** A new account with a bot, and a number at Turn as its platform. */
const withNumber = async () => {
  const number = await openNumber();
  const caller = await newCaller('bridge', 'messages', 'stats');
  const bot = newPhone();
  const settings = { url: `${number.url}/`, channel: CHANNEL, token: TOKEN };
  await updateAccount(caller.account, { bot_number: bot, platform: { name: 'turn', settings } });
  return { number, caller, bot, phone: newPhone() };
};

const untilCalled = ({ inShort }: Awaited<ReturnType<typeof openNumber>>, ...all: string[]): Promise<void> =>
  expect.poll(inShort).toEqual(all);

/** The current time in Turn's format. */
const seconds = (): number => Math.floor(Date.now() / 1000);

platformCases({
  open: async () => {
    const { number, ...world } = await withNumber();
    return {
      ...world,
      respond: (...responses) => {
        number.answers.push(...responses.map((one) => (typeof one === 'number' ? one : { ...one, headers: {} })));
      },
      received: number.inShort,
      identities: () => number.calls.map(({ json: { message } }) => message?.id),
    };
  },
  rejection: 400,
});

describe("a number is notified of a user's message", () => {
  test("in the format of Turn's documentation, with its token, and the message is logged", async () => {
    const { number, caller, bot, phone } = await withNumber();
    const before = seconds();
    await write(phone, bot, 'Zoë & co: ☺\n"?"');
    await untilCalled(number, 'Zoë & co: ☺\n"?"');
    const [first] = number.calls;
    expect(first?.json).toEqual({
      contact: { id: `+${phone}`, profile: { name: expect.any(String) } },
      message: {
        type: 'text',
        text: { body: 'Zoë & co: ☺\n"?"' },
        from: `+${phone}`,
        id: expect.stringMatching(UUID),
        timestamp: expect.stringMatching(/^\d{10}$/),
      },
    });
    expect(first?.json.contact.profile.name).not.toBe('');
    expect(Number(first?.json.message.timestamp)).toBeGreaterThanOrEqual(before);
    expect(Number(first?.json.message.timestamp)).toBeLessThanOrEqual(seconds());
    expect(first?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, ...JSON_TYPE });
    expect(number.arrivals.map(({ address }) => address)).toEqual([`/hook/v1/numbers/${CHANNEL}/messages`]);
    expect(await statesOf(caller, phone)).toEqual(['received']);
  });

  test("only after the time of its 429 response, also for the account's other users", { tags: 'long' }, async () => {
    const { number, caller, bot, phone } = await withNumber();
    const other = newPhone();
    const reset = seconds() + 8;
    number.answers.push({ status: 429, headers: { 'x-ratelimit-reset': String(reset) } });
    for (const text of ['one', 'two']) await write(phone, bot, text);
    const waiting = async () => (await pendingConversations({ account: caller.account })).map(({ cause }) => cause);
    await expect.poll(waiting).toEqual(['status_429']);
    // An eventually consistent read may miss the pause for half a second.
    await setTimeout(600);
    await write(other, bot, 'of another');
    await expect.poll(async () => [...(await waiting())].sort()).toEqual(['rate_limited', 'status_429']);

    await expect.poll(() => number.calls.length).toBe(4);
    const of = (user: string) =>
      number.calls.flatMap(({ json: { message } }) => (message.from === `+${user}` ? [message.text.body] : []));
    expect(of(phone)).toEqual(['one', 'one', 'two']);
    expect(of(other)).toEqual(['of another']);
    for (const { time } of number.arrivals.slice(1)) expect(time).toBeGreaterThanOrEqual(reset * 1000);
    expect(await statesOf(caller, phone)).toEqual(['received', 'received']);
  });
});

describe('a number is notified of the status of its own message', () => {
  /** Waits for these calls and no others: delivery is in order, so the last message arrives after every status. */
  const untilCalledInAll = async ({ number, bot, phone }: Awaited<ReturnType<typeof withNumber>>, ...all: string[]) => {
    await write(phone, bot, 'end');
    await untilCalled(number, ...all, 'end');
  };

  test('by the id of the response: sent, delivered and read, once each', async () => {
    const world = await withNumber();
    const { number, caller, phone } = world;
    const before = seconds();
    const id = await turnSends(caller, phone, 'Hi');
    await untilCalled(number, `sent ${id}`);
    for (const state of ['delivered_to_user', 'delivered_to_user', 'read', 'read']) await report(id, state);
    await untilCalledInAll(world, `sent ${id}`, `delivered ${id}`, `read ${id}`);
    for (const [index, status] of ['sent', 'delivered', 'read'].entries()) {
      const { json, headers } = number.calls[index] ?? {};
      const timestamp = expect.stringMatching(/^\d{10}$/);
      expect(json).toEqual({ status: { id, timestamp, status, recipient_id: `+${phone}` } });
      expect(Number(json.status.timestamp)).toBeGreaterThanOrEqual(before);
      expect(Number(json.status.timestamp)).toBeLessThanOrEqual(seconds());
      expect(headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, ...JSON_TYPE });
    }
    expect(number.arrivals.map(({ address }) => address)).toEqual(
      ['statuses', 'statuses', 'statuses', 'messages'].map((end) => `/hook/v1/numbers/${CHANNEL}/${end}`),
    );
  });

  test.each([200, 400])(
    'failed, once, and it may return %i: nothing is logged as permanently failed',
    { tags: 'long' },
    async (status) => {
      const world = await withNumber();
      const { number, caller, phone } = world;
      const id = await turnSends(caller, phone, 'Hi');
      await untilCalled(number, `sent ${id}`);
      number.answers.push(status);
      await report(id, 'delivery_failed');
      await untilCalled(number, `sent ${id}`, `failed ${id}`);
      const next = await turnSends(caller, phone, 'Hi again');
      await expect.poll(number.inShort).toContain(`sent ${next}`);
      await untilCalledInAll(world, `sent ${id}`, `failed ${id}`, `sent ${next}`);
      const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes(caller.account));
      expect(lines.filter((line) => line.includes('permanently failed'))).toEqual([]);
    },
  );

  test('once, even if it returns 404, and then of the next status', { tags: 'long' }, async () => {
    const world = await withNumber();
    const { number, caller, phone } = world;
    number.answers.push(404);
    const id = await turnSends(caller, phone, 'Hi');
    await untilCalled(number, `sent ${id}`);
    await report(id, 'read');
    await untilCalledInAll(world, `sent ${id}`, `read ${id}`);
  });

  test('in order, if it returned 401 twice, or a 429 with a time', { tags: 'long' }, async () => {
    const check = async (...answers: Status[]) => {
      const world = await withNumber();
      const { number, caller, phone } = world;
      number.answers.push(...answers);
      const id = await turnSends(caller, phone, 'Hi');
      await untilCalled(number, ...answers.map(() => `sent ${id}`));
      await report(id, 'delivered_to_user');
      await untilCalledInAll(world, ...answers.map(() => `sent ${id}`), `sent ${id}`, `delivered ${id}`);
    };
    const headers = { 'x-ratelimit-reset': String(seconds() + 2) };
    await Promise.all([check(401, 401), check({ status: 429, headers })]);
  });
});

hoursCase(turnSends);
