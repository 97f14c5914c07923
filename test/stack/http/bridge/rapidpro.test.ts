/** The bridge to RapidPro: messages of flows to users, and calls to a channel. */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { setFaultRules } from '../../../support/fault-rules.ts';
import { applied, removed, updated } from '../../support/app-events.ts';
import { asProblem, call, sendRaw } from '../../support/client.ts';
import { type Call, DestinationServer } from '../../support/destination-server.ts';
import { report, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';
import { hoursCase, platformCases, shownOn, statesOf } from './platform-cases.ts';

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

const shown = (body: string, ...quick_replies: string[]) => ({
  type: 'text',
  text: { body },
  ...(quick_replies.length > 0 && { quick_replies }),
});

const untilStates = (caller: Caller, contact: string, ...states: string[]): Promise<void> =>
  expect.poll(() => statesOf(caller, contact)).toEqual(states);

describe('a message of a flow', () => {
  const flow = (): Promise<Caller> => newCaller('bridge', 'stats');

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

  test('that is sent ten times at the same time, in two forms, has one id, and is shown once', {
    tags: 'long',
  }, async () => {
    const caller = await flow();
    const to = newPhone();
    const forms = [`id=21&text=Hi&to=${to}`, `text=%48i&to_no_plus=%2B${to}&id=21&channel=x`];
    const responses = await Promise.all(Array.from({ length: 10 }, (_, index) => post(caller, forms[index % 2] ?? '')));
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 200 });
    await flowSends(caller, to, 'after');
    expect(await shownOn(to, 2)).toEqual([shown('Hi'), shown('after')]);
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
    const acceptAgain = await setFaultRules(phone_url, to, { status: 503 });
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
});

test('a blank part returns 200, and nothing is sent', async () => {
  const caller = await newCaller('bridge', 'stats');
  const { token } = caller;
  const received = await post(caller, 'id=1&to=27820000001&text=+%0A%C2%A0');
  expect(received).toMatchObject({ status: 200, body: { message: 'success' } });
  expect(received.body).not.toHaveProperty('id');
  expect((await call('listLogs', { token })).status).toBe(204);
});

describe('an invalid request of RapidPro', () => {
  const NUMBER = expect.stringContaining(
    '#/to_no_plus must be a phone number in international format, here or in the field to: 7 to 15 digits',
  );

  test.each<[string, string, ...string[]]>([
    [
      'a body of nearly a megabyte',
      `id=1&to=27820000001&text=${'x'.repeat(999_000)}`,
      '#/text must have at most 4096 characters',
    ],
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

  test.each<[string, Body, Record<string, string>, number, string]>([
    ['a broken percent-encoding', `${good}+100%`, {}, 400, 'malformed_body'],
    [
      'JSON',
      JSON.stringify({ id: '1', to: '27820000001', text: 'Hi' }),
      { 'content-type': 'application/json' },
      415,
      'unsupported_media_type',
    ],
  ])('that cannot be parsed returns 400 or 415, and nothing is sent: %s', async (_, body, headers, status, code) => {
    const caller = await newCaller('bridge', 'stats');
    const received = asProblem(await post(caller, body, headers));
    expect(received.body).toMatchObject({ status, code });
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });
});

/** An error as courier returns it. */
const courierError = (error: string): string => JSON.stringify({ message: 'Error', data: [{ type: 'error', error }] });

/** The last segment of a URL. */
const segmentOf = (path: string): string => path.replace(/.*\//, '');

const fieldsIn = (form: string): Record<string, string> => Object.fromEntries(new URLSearchParams(form));

/** A call in full: its path, content type and fields. */
const inFull = ({ path, headers, body }: Call) => [path, headers['content-type'], fieldsIn(body)];

/** Starts a channel of RapidPro that records its calls and returns the responses that the test sets. */
const openChannel = async () => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  const { calls } = destination;
  /** Statuses and bodies of the next responses, by the last segment of the URL. Default: 200. */
  const answers: Record<string, [status: number, body: string][]> = {};
  destination.answers = [
    (response) => {
      const [status, body] = answers[segmentOf(response.req.url ?? '')]?.shift() ?? [200, ''];
      response.writeHead(status).end(body);
    },
  ];
  return {
    calls,
    answers,
    url: new URL('c/ex/7cf9ca51/receive', destination.url).href,
    /** All calls, in short: `receive Hello`, `sent 21`. */
    summary: () => calls.map(({ path, body }) => `${segmentOf(path)} ${fieldsIn(body).id ?? fieldsIn(body).text}`),
  };
};

/** A new account with a bot, and a channel of RapidPro as its platform. */
const withChannel = async () => {
  const channel = await openChannel();
  const caller = await newCaller('bridge', 'messages', 'stats');
  const bot = newPhone();
  const platform = { name: 'rapidpro' as const, settings: { url: channel.url } };
  await updateAccount(caller.account, { bot_number: bot, platform });
  return { channel, caller, bot, phone: newPhone() };
};

type Channel = Awaited<ReturnType<typeof openChannel>>;

const untilCalled = ({ summary }: Channel, ...all: string[]): Promise<void> => expect.poll(summary).toEqual(all);

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
      identities: () => channel.calls.map(({ body }) => fieldsIn(body).date),
    };
  },
  rejection: { status: 400, body: courierError('not a possible number') },
});

describe("a channel is notified of a user's message", () => {
  test('by a form to its receive URL, and the message is logged', async () => {
    const { channel, caller, bot, phone } = await withChannel();
    const text = 'Zoë & co: 100% ☺\n+27 = "?"';
    await write(phone, bot, text);
    await untilCalled(channel, `receive ${text}`);
    const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
    expect(channel.calls.map(inFull)).toEqual([
      ['/c/ex/7cf9ca51/receive', expect.stringContaining(FORM), { from: `+${phone}`, text, date }],
    ]);
    const age = Date.now() - Date.parse(fieldsIn(channel.calls[0]?.body ?? '').date ?? '');
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60_000);
    expect(await statesOf(caller, phone)).toEqual(['received']);
  });

  test('again after a 400 that does not name the message', async () => {
    const { channel, caller, bot, phone } = await withChannel();
    channel.answers.receive = [[400, courierError('channel not found')]];
    await write(phone, bot, 'one');
    await untilCalled(channel, 'receive one', 'receive one');
    expect(await statesOf(caller, phone)).toEqual(['received']);
  });
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
    expect(channel.calls.slice(0, 2).map(inFull)).toEqual(
      ['sent', 'delivered'].map((status) => [`/c/ex/7cf9ca51/${status}`, expect.stringContaining(FORM), { id: known }]),
    );
  });

  test('once per status, although parts share the id and the app network reports twice', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { caller, phone } = world;
    // A status that is older than a part is reported again for that part.
    const acceptAgain = await setFaultRules(phone_url, phone, { status: 503 });
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

  test('once, even if it returns 404, and then of the next status', { tags: 'long' }, async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    channel.answers.sent = [[404, '']];
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
    const acceptAgain = await setFaultRules(phone_url, phone, { status: 400 });
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
  const [, stopped] = channel.calls.map(inFull);
  expect(stopped).toEqual(['/c/ex/7cf9ca51/stopped', expect.stringContaining(FORM), { from: `+${phone}` }]);
  // The erasure runs again two minutes later, and then deletes its item.
  await expect.poll(() => getConsistent(erasureKey(phone))).toBeUndefined();
  expect(channel.calls).toHaveLength(2);
});

hoursCase(flowSends);
