/** The bridge to Turn: messages to users, and calls to a number at Turn. */

import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { asProblem, call, sendRaw, urlOf } from '../../support/client.ts';
import { type Answer, DestinationServer } from '../../support/destination-server.ts';
import { report, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newMedia, newPhone } from '../../support/world.ts';
import { hoursCase, platformCases, shownOn, statesOf } from './platform-cases.ts';

const { bridge_url } = inject('stack');

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

const shown = (body: string) => ({ type: 'text', text: { body } });

const business = (): Promise<Caller> => newCaller('bridge', 'stats');

describe('a message of Turn', () => {
  /** The body is from Turn's documentation, except for the phone number. */
  test('is accepted in the format of the Channel API, and shown on the phone', async () => {
    const to = newPhone();
    const received = await post(await business(), JSON.stringify(channel(to, shown('foo'))));
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
    [
      'a datafree image with a caption as an image with it',
      { image: { link: ours, caption: 'Look' } },
      { type: 'image', image: { url: ours, caption: 'Look' } },
    ],
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

  test('that is repeated is a new message each time', async () => {
    const caller = await business();
    const to = newPhone();
    expect(await turnSends(caller, to, 'Hi')).not.toBe(await turnSends(caller, to, 'Hi'));
    expect(await shownOn(to, 2)).toEqual([shown('Hi'), shown('Hi')]);
  });

  test("is in its account's logs: a day's messages are one job, without messages of the API", async () => {
    const caller = await newCaller('bridge', 'messages', 'stats');
    const { token } = caller;
    for (const to of [newPhone(), newPhone()]) await turnSends(caller, to, 'Hi');
    await call('sendMessage', { token, body: { to: newPhone(), type: 'text', text: { body: 'Hi' } } });
    const { body } = await call('listLogs', { token, query: { state: 'sent' } });
    const [ofApi, second, first] = (body ?? []).map(({ job_id }) => job_id);
    expect(second).toBe(first);
    expect(ofApi).not.toBe(first);
    const day = new Date().toISOString().slice(0, 10);
    const jobs = async () => (await call('listJobs', { token, query: { start_date: day, end_date: day } })).body;
    await expect.poll(jobs).toContainEqual({ job_id: first, state: 'sent', payload_type: 'text', count: 2 });
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
  const sign = (body: string) => createHmac('sha256', SECRET).update(body).digest('base64');

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
    ['is that of another body', { 'x-turn-hook-signature': sign(`${body} `) }],
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
});

describe("Turn's ordinary webhook event", () => {
  test.each<[string, object, Record<string, string>]>([
    ['the subscription turn, and an empty body', {}, { 'x-turn-hook-subscription': 'turn' }],
    ['statuses', { statuses: [{ id: 'ABG', status: 'read', recipient_id: '27820000001' }] }, {}],
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
  const NUMBER = expect.stringContaining('#/to must be a phone number in international format: 7 to 15 digits');

  test.each<[string, unknown, ...string[]]>([
    ['an array', [whatsapp(to, shown('Hi'))], '#/to is required', '#/content is required'],
    ['null', null, '# must be an object, not null'],
    [
      'a body of a megabyte',
      whatsapp(to, shown('x'.repeat(1024 * 1024))),
      '#/text/body must have at most 4096 characters',
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
});

/** Starts a number at Turn that records its calls and returns the responses that the test sets. */
const openNumber = async () => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  destination.answers = [200];
  return {
    url: destination.url,
    calls: destination.calls,
    /** Sets the responses to the next calls. Default: 200. */
    respond: (...statuses: Answer[]) => {
      destination.answers = [...statuses, 200];
    },
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
      respond: number.respond,
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
    expect(number.calls.map(({ path }) => path)).toEqual([`/hook/v1/numbers/${CHANNEL}/messages`]);
    expect(await statesOf(caller, phone)).toEqual(['received']);
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
    expect(number.calls.map(({ path }) => path)).toEqual(
      ['statuses', 'statuses', 'statuses', 'messages'].map((end) => `/hook/v1/numbers/${CHANNEL}/${end}`),
    );
  });
});

hoursCase(turnSends);
