/** The bridge to RapidPro: messages of flows to users, and calls to a channel. */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import type { Permission } from '../../../../shared/core/permissions.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { applied, removed, updated } from '../../support/app-events.ts';
import { asProblem, call, fail, sendRaw, urlOf } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { report, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';
import { hoursCase, platformCases } from './platform-cases.ts';

const { phone_url } = inject('stack');

const FORM = 'application/x-www-form-urlencoded';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Body = NonNullable<RequestInit['body']>;

/** Posts a body as RapidPro does: the header contains the token without a scheme. */
const post = ({ token }: Caller, body: Body, headers: Record<string, string> = {}) =>
  sendRaw('receiveRapidproMessage', { headers: { authorization: token, 'content-type': FORM, ...headers }, body });

/** A flow sends a message, or a part of one. Returns the service's message id. */
const flowSends = async ({ token }: Caller, to: string, text: string, id = '21'): Promise<string> => {
  const { body } = await call('receiveRapidproMessage', { token, body: { id, text, to } });
  if (body.id === undefined) throw new Error('The response has no id.');
  return body.id;
};

/** Waits until a phone shows so many messages. Returns their contents, without ids and numbers. */
const shownOn = async (phone: string, count: number) =>
  (await untilShown(phone, count)).map(({ data: { id: _id, from: _from, to: _to, ...content } }) => content);

const shown = (body: string, ...quick_replies: string[]) => ({
  type: 'text',
  text: { body },
  ...(quick_replies.length > 0 && { quick_replies }),
});

/** The states in a contact's delivery log, oldest first. */
const statesOf = async ({ token }: Caller, contact: string): Promise<string[]> =>
  ((await call('listLogs', { token, query: { contact } })).body ?? []).map(({ state }) => state).reverse();

const untilStates = (caller: Caller, contact: string, ...states: string[]): Promise<void> =>
  expect.poll(() => statesOf(caller, contact)).toEqual(states);

describe('a message of a flow', () => {
  const flow = (...more: Permission[]): Promise<Caller> => newCaller('bridge', 'stats', ...more);

  /** Bodies as RapidPro sends them, except for the phone number. */
  const bodies: [string, string, ReturnType<typeof shown>][] = [
    [
      'with quick replies, and characters that forms encode',
      'id=21&text=Hello+%26+welcome+%E2%98%BA+100%25&to=27821234567&quick_reply=Yes&quick_reply=No+%26+maybe',
      shown('Hello & welcome ☺ 100%', 'Yes', 'No & maybe'),
    ],
    [
      'with an attachment',
      'id=22&text=pic%0Ahttps%3A%2F%2Ffoo.bar%2Fimage.jpg&to=27821234567',
      shown('pic\nhttps://foo.bar/image.jpg'),
    ],
    [
      'that is only an attachment',
      'id=22&text=%0Ahttps%3A%2F%2Ffoo.bar%2Fimage.jpg&to=27821234567',
      shown('https://foo.bar/image.jpg'),
    ],
    ['by a template with the number in to_no_plus', 'id=21&text=Hi&to_no_plus=27821234567', shown('Hi')],
    [
      'by a template with a number in to and in to_no_plus, which takes precedence',
      'id=21&text=Hi&to=27829999999&to_no_plus=27821234567&quick_reply=One',
      shown('Hi', 'One'),
    ],
    ['to a number with +', 'id=21&text=Hi&to=%2B27821234567', shown('Hi')],
    ['whose id is a UUID', `id=${randomUUID()}&text=Hi&to=27821234567`, shown('Hi')],
    ['with an empty quick_reply, which is no quick reply', 'id=21&text=Hi&to=27821234567&quick_reply=', shown('Hi')],
    [
      'with unknown fields',
      'id=21&text=Hi&to=27821234567&from=2020&channel=e4bb1578&session_status=W&__proto__=x&quick_replies=',
      shown('Hi'),
    ],
  ];

  const isShownAs = async (_: string, body: string, expected: ReturnType<typeof shown>) => {
    const to = newPhone();
    const received = await post(await flow(), body.replaceAll('27821234567', to));
    expect(received).toMatchObject({ status: 200, body: { message: 'success', id: expect.stringMatching(UUID) } });
    expect(await shownOn(to, 1)).toEqual([expected]);
  };

  const isAccepted = 'is accepted and shown on the phone: a message %s';
  test.each(bodies.slice(0, 2))(isAccepted, isShownAs);
  test.each(bodies.slice(2))(isAccepted, { tags: 'long' }, isShownAs);

  test.each([
    ['without a scheme', ''],
    ['with the scheme Bearer', 'Bearer '],
    ['with the scheme Token', 'Token '],
  ])('is accepted with and without a trailing slash, and a token %s', async (_, scheme) => {
    const { token } = await flow();
    const to = newPhone();
    for (const [index, slash] of ['', '/'].entries()) {
      const response = await fetch(`${urlOf('receiveRapidproMessage')}${slash}`, {
        method: 'POST',
        headers: { authorization: `${scheme}${token}`, 'content-type': `${FORM}; charset=UTF-8` },
        body: `id=${index}&text=Hi&to=${to}`,
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ message: 'success', id: expect.stringMatching(UUID) });
    }
    await untilShown(to, 2);
  });

  test('in three parts with one id is delivered as three messages, in order', async () => {
    const caller = await flow();
    const to = newPhone();
    const first = `${'A'.repeat(2_043)} BBBBB`;
    for (const part of [`text=${first.replaceAll(' ', '+')}`, 'text=CCCC+DDDD&quick_reply=One', 'text=E']) {
      expect((await post(caller, `id=23&to=${to}&${part}`)).status).toBe(200);
    }
    expect(await shownOn(to, 3)).toEqual([shown(first), shown('CCCC DDDD', 'One'), shown('E')]);
  });

  test('that is repeated returns the first id, and is shown once', async () => {
    const caller = await flow();
    const to = newPhone();
    const send = () => post(caller, `id=21&text=Hi&to=${to}&quick_reply=Yes&quick_reply=No`);
    const { body } = await send();
    await untilShown(to, 1);
    expect((await send()).body).toEqual(body);
    await flowSends(caller, to, 'after');
    expect(await shownOn(to, 2)).toEqual([shown('Hi', 'Yes', 'No'), shown('after')]);
    expect(await statesOf(caller, to)).toHaveLength(4);
  });

  test('that is sent ten times at the same time has one id, and is shown once', { tags: 'long' }, async () => {
    const caller = await flow();
    const to = newPhone();
    const ids = await Promise.all(Array.from({ length: 10 }, () => flowSends(caller, to, 'Hi')));
    expect(new Set(ids).size).toBe(1);
    await flowSends(caller, to, 'after');
    expect(await shownOn(to, 2)).toEqual([shown('Hi'), shown('after')]);
  });

  test('that is repeated by another template is a repeat, too', { tags: 'long' }, async () => {
    const caller = await flow();
    const to = newPhone();
    const [one, two] = [`id=21&text=Hi&to=${to}`, `text=Hi&to_no_plus=%2B${to}&id=21&channel=x`];
    expect((await post(caller, two)).body).toEqual((await post(caller, one)).body);
  });

  test('is a new message if its text, quick replies, number or id differ', { tags: 'long' }, async () => {
    const caller = await flow();
    const [to, other] = [newPhone(), newPhone()];
    const fields = { id: '21', text: 'Hi', to, quick_reply: ['Yes', 'No'] };
    const ids = new Set<string | undefined>();
    for (const body of [
      fields,
      { ...fields, text: 'Hi ' },
      { ...fields, quick_reply: ['No', 'Yes'] },
      { ...fields, quick_reply: [] },
      { ...fields, to: other },
      { ...fields, id: '22' },
    ]) {
      ids.add((await call('receiveRapidproMessage', { token: caller.token, body })).body.id);
    }
    expect(ids.size).toBe(6);
    expect(await shownOn(to, 5)).toEqual([
      shown('Hi', 'Yes', 'No'),
      shown('Hi ', 'Yes', 'No'),
      shown('Hi', 'No', 'Yes'),
      shown('Hi'),
      shown('Hi', 'Yes', 'No'),
    ]);
    await untilShown(other, 1);
  });

  test('is a new message if it is an equal part of a long text, sent after the response to the first', async () => {
    const caller = await flow();
    const to = newPhone();
    const part = 'x'.repeat(2_048);
    const first = await flowSends(caller, to, part);
    const second = await flowSends(caller, to, part);
    expect(second).not.toBe(first);
    await flowSends(caller, to, 'after');
    expect(await shownOn(to, 3)).toEqual([shown(part), shown(part), shown('after')]);
  });

  test("is a repeat if its text is shorter than any part of the channel's Max length", async () => {
    const caller = await flow();
    await updateAccount(caller.account, {
      platform: { name: 'rapidpro', settings: { url: 'https://flows.example.com/' }, hook: { max_length: '4096' } },
    });
    const part = 'x'.repeat(2_048);
    const to = newPhone();
    const acceptAgain = await setAppResponse(to, { status: 503 });
    expect(await flowSends(caller, to, part)).toBe(await flowSends(caller, to, part));
    await acceptAgain();
    expect(await flowSends(caller, to, part)).toBe(await flowSends(caller, to, part));
    await untilShown(to, 1);
  });

  test("is independent of another account's message with the same id and text", async () => {
    const [one, two] = [await flow(), await flow()];
    const to = newPhone();
    expect(await flowSends(one, to, 'Hi')).not.toBe(await flowSends(two, to, 'Hi'));
    await untilShown(to, 2);
  });

  test("is in its account's logs and jobs: a day's messages are one job, without messages of the API", {
    tags: 'long',
  }, async () => {
    const caller = await flow('messages');
    const { token } = caller;
    const to = newPhone();
    const id = await flowSends(caller, to, 'one');
    await untilStates(caller, to, 'sent', 'delivered_to_server');
    await report(id, 'delivered_to_user');
    await report(id, 'read');
    await untilStates(caller, to, 'sent', 'delivered_to_server', 'delivered_to_user', 'read');

    await flowSends(caller, newPhone(), 'two');
    await call('sendMessage', { token, body: { to: newPhone(), type: 'text', text: { body: 'three' } } });
    const logs = (await call('listLogs', { token, query: { state: 'sent' } })).body ?? [];
    const [ofApi, second, first] = logs.map(({ job_id }) => job_id);
    expect(second).toBe(first);
    expect(ofApi).not.toBe(first);

    const today = new Date().toISOString().slice(0, 10);
    const jobs = async () =>
      (await call('listJobs', { token, query: { start_date: today, end_date: today } })).body?.filter(
        ({ job_id }) => job_id === first,
      );
    const counted = (state: string, count: number) => ({ job_id: first, state, payload_type: 'text', count });
    await expect
      .poll(jobs)
      .toEqual([
        counted('sent', 2),
        counted('delivered_to_server', 2),
        counted('delivered_to_user', 1),
        counted('read', 1),
      ]);
  });
});

describe('a blank part', () => {
  test.each(['', '+%0A%C2%A0', '+&quick_reply=Yes'])('returns 200, and nothing is sent: %j', async (text) => {
    const caller = await newCaller('bridge', 'stats');
    const { token } = caller;
    const received = await post(caller, `id=1&to=27820000001&text=${text}`);
    expect(received).toMatchObject({ status: 200, body: { message: 'success' } });
    expect(received.body).not.toHaveProperty('id');
    expect((await call('listLogs', { token })).status).toBe(204);
  });
});

describe('an invalid request of RapidPro', () => {
  const NUMBER = expect.stringContaining(
    '#/to_no_plus must be a phone number in international format, here or in the field to: 7 to 15 digits',
  );
  const long = 'x'.repeat(4_097);

  test.each<[string, string, ...string[]]>([
    ['no text', 'id=1&to=27820000001', '#/text is required'],
    ['too long a text', `id=1&to=27820000001&text=${long}`, '#/text must have at most 4096 characters'],
    [
      'a body of nearly a megabyte',
      `id=1&to=27820000001&text=${'x'.repeat(999_000)}`,
      '#/text must have at most 4096 characters',
    ],
    ['two texts', 'id=1&to=27820000001&text=a&text=b', '#/text must be a string, not an array'],
    ['a number with letters', 'id=1&to=2782000000x&text=Hi', NUMBER],
    ['a number after a space', 'id=1&to=++27820000001&text=Hi', NUMBER],
    ['no number', 'id=1&text=Hi', NUMBER],
    ['an invalid to_no_plus beside a valid to', 'id=1&text=Hi&to=27820000001&to_no_plus=nobody', NUMBER],
    ['no id', 'to=27820000001&text=Hi', '#/id is required'],
    ['a blank id', 'id=+&to=27820000001&text=Hi', '#/id must not be empty or white space only'],
    ['too long an id', `id=${long}&to=27820000001&text=Hi`, '#/id must have at most 255 characters'],
    [
      'too many quick replies',
      `id=1&to=27820000001&text=Hi${'&quick_reply=x'.repeat(11)}`,
      '#/quick_reply must hold at most 10 quick replies',
    ],
    [
      'too long a quick reply',
      `id=1&to=27820000001&text=Hi&quick_reply=Yes&quick_reply=${long}`,
      '#/quick_reply/1 must have at most 4096 characters',
    ],
    ['an empty body', '', '#/id is required', '#/text is required', NUMBER],
    ['JSON in a form', '{"id":1}', '#/id is required', '#/text is required', NUMBER],
  ])(
    'returns 422 with every validation error, and nothing is sent: %s',
    { tags: 'long' },
    async (_, body, ...errors) => {
      const caller = await newCaller('bridge', 'stats');
      const received = asProblem(await post(caller, body));
      expect(received.body).toMatchObject({ status: 422, code: 'invalid_request' });
      expect(received.body.errors?.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(errors);
      expect((await call('listLogs', { token: caller.token })).status).toBe(204);
    },
  );

  const good = 'id=1&to=27820000001&text=Hi';
  const bytes = (...after: number[]) => Buffer.concat([Buffer.from(good), Buffer.from(after)]);

  test.each<[string, Body, Record<string, string>, number, string]>([
    ['a broken percent-encoding', `${good}+100%`, {}, 400, 'malformed_body'],
    ['bytes that are not UTF-8', bytes(0xff), {}, 400, 'malformed_body'],
    ['half a character', bytes(0xe2, 0x98), {}, 400, 'malformed_body'],
    ['encoded bytes that are not UTF-8', `${good}%FF`, {}, 400, 'malformed_body'],
    ['an encoded half of a surrogate pair', `${good}%ED%A0%80`, {}, 400, 'malformed_body'],
    [
      'JSON',
      JSON.stringify({ id: '1', to: '27820000001', text: 'Hi' }),
      { 'content-type': 'application/json' },
      415,
      'unsupported_media_type',
    ],
    ['text', good, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
  ])('that cannot be parsed returns 400 or 415, and nothing is sent: %s', async (_, body, headers, status, code) => {
    const caller = await newCaller('bridge', 'stats');
    const received = asProblem(await post(caller, body, headers));
    expect(received.body).toMatchObject({ status, code });
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });

  test('without a token returns 401, with an unknown token 403, without the permission bridge 403', async () => {
    const headers = { 'content-type': FORM };
    expect(await sendRaw('receiveRapidproMessage', { headers, body: good })).toMatchObject({
      status: 401,
      body: { message: 'Unauthorized' },
    });
    const caller = await newCaller('messages', 'stats', 'profilers', 'user_data');
    const wrong = await post({ ...caller, token: `${caller.token}0` }, good);
    expect(wrong).toMatchObject({ status: 403, body: { message: 'Forbidden' } });
    const { body } = await fail('receiveRapidproMessage', {
      ...caller,
      body: { id: '1', to: '27820000001', text: 'Hi' },
    });
    expect(body).toMatchObject({ status: 403, code: 'permission_required' });
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });

  test.each(['x', '/', 'x/y', '%2F'])('to a path with more than a trailing slash returns 404: %s', async (rest) => {
    const { token } = await newCaller('bridge', 'stats');
    const response = await fetch(`${urlOf('receiveRapidproMessage')}/${rest}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': FORM },
      body: good,
    });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ status: 404, code: 'address_not_found' });
    expect((await call('listLogs', { token })).status).toBe(204);
  });
});

/** A call that a channel received. */
interface ChannelCall {
  address: string;
  type: string | undefined;
  fields: Record<string, string>;
}

/** An error as courier returns it. */
const courierError = (error: string): string => JSON.stringify({ message: 'Error', data: [{ type: 'error', error }] });

/** The last segment of a URL. */
const segmentOf = (address: string): string => address.replace(/.*\//, '');

/** Starts a channel of RapidPro that records its calls and returns the responses that the test sets. */
const openChannel = async () => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  const calls: ChannelCall[] = [];
  /** Statuses and bodies of the next responses, by the last segment of the URL. Default: 200. */
  const answers: Record<string, [status: number, body: string][]> = {};
  destination.answers = [
    (response) => {
      const { url: address = '', headers } = response.req;
      const fields = Object.fromEntries(new URLSearchParams(destination.calls.at(-1)?.body));
      calls.push({ address, type: headers['content-type'], fields });
      const [status, body] = answers[segmentOf(address)]?.shift() ?? [200, ''];
      response.writeHead(status).end(body);
    },
  ];
  return {
    calls,
    answers,
    url: new URL('c/ex/7cf9ca51/receive', destination.url).href,
    /** All calls, in short: `receive Hello`, `sent 21`. */
    summary: () => calls.map(({ address, fields: { id, text } }) => `${segmentOf(address)} ${id ?? text}`),
  };
};

/** A new account with a bot, and a channel of RapidPro as its platform. */
const withChannel = async (addresses: Record<string, string> = {}) => {
  const channel = await openChannel();
  const caller = await newCaller('bridge', 'messages', 'stats');
  const bot = newPhone();
  const settings = { url: channel.url, ...addresses };
  await updateAccount(caller.account, { bot_number: bot, platform: { name: 'rapidpro', settings } });
  return { channel, caller, bot, phone: newPhone() };
};

type Channel = Awaited<ReturnType<typeof openChannel>>;

const untilCalled = ({ summary }: Channel, ...all: string[]): Promise<void> => expect.poll(summary).toEqual(all);

/**
 * Sets the app network's response to calls about one phone, until the test ends or the returned function is called.
 * Rules of other phones stay.
 */
const setAppResponse = async (phone: string, answer: object): Promise<() => Promise<void>> => {
  const others = async (): Promise<{ phone?: string }[]> => {
    const rules = (await (await fetch(`${phone_url}/behaviour`)).json()) as { phone?: string }[];
    return rules.filter((rule) => rule.phone !== phone);
  };
  const follow = (rules: object[]) => fetch(`${phone_url}/behaviour`, { method: 'PUT', body: JSON.stringify(rules) });
  await follow([{ phone, ...answer }, ...(await others())]);
  const end = async () => void (await follow(await others()));
  onTestFinished(end);
  return end;
};

platformCases({
  open: async () => {
    const { channel, ...world } = await withChannel();
    return {
      ...world,
      respond: (...responses) => {
        channel.answers.receive = responses.map((one) =>
          typeof one === 'number' ? [one, ''] : [one.status, one.body],
        );
      },
      received: () => channel.summary().map((one) => one.replace(/^receive /, '')),
      identities: () => channel.calls.map(({ fields: { date } }) => date),
    };
  },
  rejection: { status: 400, body: courierError('not a possible number') },
});

describe("a channel is notified of a user's message", () => {
  test.each(['Hi', 'Zoë & co: 100% ☺\n+27 = "?"', '  '.padEnd(3_000, 'long ')])(
    'by a form to its receive URL, and the message is logged: %.20s',
    async (text) => {
      const { channel, caller, bot, phone } = await withChannel();
      await write(phone, bot, text);
      await untilCalled(channel, `receive ${text}`);
      const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
      expect(channel.calls).toEqual([
        {
          address: '/c/ex/7cf9ca51/receive',
          type: expect.stringContaining(FORM),
          fields: { from: `+${phone}`, text, date },
        },
      ]);
      const age = Date.now() - Date.parse(channel.calls[0]?.fields.date ?? '');
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThan(60_000);
      expect(await statesOf(caller, phone)).toEqual(['received']);
    },
  );

  test.each(['channel not found', 'dial tcp 127.0.0.1:5432: connect: connection refused'])(
    'again after a 400 that does not name the message: %s',
    async (error) => {
      const { channel, caller, bot, phone } = await withChannel();
      channel.answers.receive = [[400, courierError(error)]];
      await write(phone, bot, 'one');
      await untilCalled(channel, 'receive one', 'receive one');
      expect(await statesOf(caller, phone)).toEqual(['received']);
    },
  );
});

describe('a channel is notified of the status of its own message', () => {
  /** Waits for these calls and no others: statuses are in order, so that of another message arrives after all. */
  const untilCalledInAll = async (
    { channel, caller, phone }: Awaited<ReturnType<typeof withChannel>>,
    ...all: string[]
  ) => {
    await flowSends(caller, phone, 'end', '99');
    const isEnd = (one: string): boolean => /^(sent|failed) 99$/.test(one);
    await expect.poll(() => channel.summary().some(isEnd)).toBe(true);
    expect(channel.summary().filter((one) => !isEnd(one))).toEqual(all);
  };

  test("at the sibling URLs of its receive URL, by RapidPro's id: sent, then delivered", async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const known = randomUUID();
    const id = await flowSends(caller, phone, 'Hi', known);
    await untilCalled(channel, `sent ${known}`);
    await report(id, 'delivered_to_user');
    await untilCalledInAll(world, `sent ${known}`, `delivered ${known}`);
    expect(channel.calls.slice(0, 2)).toEqual(
      ['sent', 'delivered'].map((status) => ({
        address: `/c/ex/7cf9ca51/${status}`,
        type: expect.stringContaining(FORM),
        fields: { id: known },
      })),
    );
  });

  test('once per status, although parts share the id and the app network reports twice', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { caller, phone } = world;
    // A status that is older than a part is reported again for that part.
    const acceptAgain = await setAppResponse(phone, { status: 503 });
    const parts = [await flowSends(caller, phone, 'one'), await flowSends(caller, phone, 'two')];
    await acceptAgain();
    await untilStates(caller, phone, 'sent', 'sent', 'delivered_to_server', 'delivered_to_server');
    // A later status replaces one that was not sent yet.
    await untilCalled(world.channel, 'sent 21');
    for (const part of [...parts, ...parts]) await report(part, 'delivered_to_user');
    await flowSends(caller, phone, 'other', '22');
    await expect.poll(() => world.channel.summary()).toContain('sent 22');
    await untilCalledInAll(world, 'sent 21', 'delivered 21', 'sent 22');
  });

  test('delivered only, if the app reports the delivery before the app network responds', {
    tags: 'long',
  }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const restoreResponse = await setAppResponse(phone, { hang: true, after: true });
    const id = await flowSends(caller, phone, 'Hi');
    await untilShown(phone, 1);
    await report(id, 'delivered_to_user');
    await restoreResponse();
    await untilCalled(channel, 'delivered 21');
    await untilStates(caller, phone, 'sent', 'delivered_to_user', 'delivered_to_server');
    await untilCalledInAll(world, 'delivered 21');
  });

  test('failed, once, if the app network rejects two of its three parts', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    await flowSends(caller, phone, 'one');
    await untilCalled(channel, 'sent 21');
    await setAppResponse(phone, { status: 400 });
    for (const part of ['two', 'three']) await flowSends(caller, phone, part);
    await expect
      .poll(async () => (await statesOf(caller, phone)).filter((state) => state === 'sending_failed').length)
      .toBe(2);
    await untilCalledInAll(world, 'sent 21', 'failed 21');
  });

  test('failed, if the app reports delivery_failed', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const id = await flowSends(caller, phone, 'Hi');
    await untilCalled(channel, 'sent 21');
    await report(id, 'delivery_failed');
    await untilCalledInAll(world, 'sent 21', 'failed 21');
  });

  test('delivered, once, if the app reports read, and then that it was delivered', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const id = await flowSends(caller, phone, 'Hi');
    await untilCalled(channel, 'sent 21');
    await report(id, 'read');
    await untilCalled(channel, 'sent 21', 'delivered 21');
    await report(id, 'delivered_to_user');
    const all = ['sent', 'delivered_to_server', 'read', 'delivered_to_user'];
    expect((await statesOf(caller, phone)).sort()).toEqual(all.sort());
    await untilCalledInAll(world, 'sent 21', 'delivered 21');
  });

  test('at the URLs of sent_url and failed_url, if the account has these settings', { tags: 'long' }, async () => {
    const other = await openChannel();
    const own = (status: string) => other.url.replace('/c/ex/7cf9ca51/receive', `/of/${status}/?key=1`);
    const world = await withChannel({ sent_url: own('sent'), failed_url: own('failed') });
    const { channel, caller, phone } = world;
    const id = await flowSends(caller, phone, 'Hi');
    await expect.poll(() => other.calls.length).toBe(1);
    await report(id, 'delivered_to_user');
    await untilCalled(channel, 'delivered 21');
    await report(id, 'delivery_failed');
    await expect.poll(() => other.calls.length).toBe(2);
    expect(channel.summary()).toEqual(['delivered 21']);
    expect(other.calls.map(({ address, fields }) => [address, fields])).toEqual([
      ['/of/sent/?key=1', { id: '21' }],
      ['/of/failed/?key=1', { id: '21' }],
    ]);
  });

  test('delivered only, if sent is pending because the channel returned 500 and 503', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    channel.answers.sent = [
      [500, ''],
      [503, ''],
    ];
    const id = await flowSends(caller, phone, 'Hi');
    await untilCalled(channel, 'sent 21', 'sent 21');
    await report(id, 'delivered_to_user');
    await untilCalledInAll(world, 'sent 21', 'sent 21', 'delivered 21');
  });

  test.each([
    [400, courierError('schema: error converting value for "id"')],
    [404, ''],
    [410, ''],
  ])('once, even if it returns %i, and then of the next status', { tags: 'long' }, async (status, body) => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    channel.answers.sent = [[status, body]];
    const id = await flowSends(caller, phone, 'Hi');
    await untilCalled(channel, 'sent 21');
    await report(id, 'delivered_to_user');
    await untilCalledInAll(world, 'sent 21', 'delivered 21');
  });

  test('again for a Resend of a failed message, which is a new message with its own statuses', {
    tags: 'long',
  }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const acceptAgain = await setAppResponse(phone, { status: 400 });
    const first = await flowSends(caller, phone, 'Hi');
    await untilCalled(channel, 'failed 21');
    await acceptAgain();
    // The failure may not be visible yet: repeat until the request is a Resend. A further repeat would report its state again.
    let second = first;
    const resend = async () => {
      second = await flowSends(caller, phone, 'Hi');
      return second;
    };
    await expect.poll(resend).not.toBe(first);
    await untilCalled(channel, 'failed 21', 'sent 21');
    expect(await shownOn(phone, 1)).toEqual([shown('Hi')]);
    await report(second, 'delivered_to_user');
    await untilCalledInAll(world, 'failed 21', 'sent 21', 'delivered 21');
  });

  test('not after the account has changed to another platform', { tags: 'long' }, async () => {
    const { channel, caller, bot, phone } = await withChannel();
    const id = await flowSends(caller, phone, 'Hi');
    await untilCalled(channel, 'sent 21');
    const turn = await DestinationServer.start();
    onTestFinished(() => turn.close());
    const settings = { url: turn.url, channel: 'c', token: 't' };
    await updateAccount(caller.account, { platform: { name: 'turn', settings } });
    await report(id, 'delivered_to_user');
    await write(phone, bot, 'end');
    await expect.poll(() => turn.calls.map(({ json }) => json.message?.text.body)).toEqual(['end']);
    expect(channel.summary()).toEqual(['sent 21']);
  });

  test('not if the account had no platform when the message was accepted', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    await updateAccount(caller.account, { platform: null });
    const id = await flowSends(caller, phone, 'Hi');
    await untilStates(caller, phone, 'sent', 'delivered_to_server');
    await updateAccount(caller.account, { platform: { name: 'rapidpro', settings: { url: channel.url } } });
    await report(id, 'delivered_to_user');
    await untilCalledInAll(world);
  });
});

test('a removed user is stopped in RapidPro once, after their messages', { tags: 'long' }, async () => {
  const { channel, bot, phone } = await withChannel();
  await applied(updated(phone, {}));
  await write(phone, bot, 'Hi');
  await untilCalled(channel, 'receive Hi');
  await applied(removed(phone));
  await expect.poll(() => channel.calls.length).toBe(2);
  expect(channel.calls[1]).toMatchObject({ address: '/c/ex/7cf9ca51/stopped', fields: { from: `+${phone}` } });
  // The erasure runs again two minutes later, and then deletes its item.
  await expect.poll(() => getConsistent(erasureKey(phone))).toBeUndefined();
  expect(channel.calls).toHaveLength(2);
});

hoursCase(flowSends);
