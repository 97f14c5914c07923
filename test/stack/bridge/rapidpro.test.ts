/** The bridge to RapidPro (spec §4.11): what its flows send to users, and what its channel is told. */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import type { Permission } from '../../../shared/core/permissions.ts';
import { getConsistent } from '../../../shared/table/client.ts';
import { erasureKey } from '../../../shared/table/keys.ts';
import { applied, removed, updated } from '../support/app-events.ts';
import { asProblem, call, fail, sendRaw, urlOf } from '../support/client.ts';
import { report, untilShown, write } from '../support/phones.ts';
import { Receiver } from '../support/receiver.ts';
import { type Caller, newCaller, newPhone } from '../support/world.ts';
import { platformCases } from './platform-cases.ts';

const { phone_url } = inject('stack');

const FORM = 'application/x-www-form-urlencoded';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Body = NonNullable<RequestInit['body']>;

/** Posts as RapidPro does: the token stands bare in its header. */
const post = ({ token }: Caller, body: Body, headers: Record<string, string> = {}) =>
  sendRaw('receiveRapidproMessage', { headers: { authorization: token, 'content-type': FORM, ...headers }, body });

/** Has a flow send a message, or a part of one. Answers our id of it. */
const flowSends = async ({ token }: Caller, to: string, text: string, id = '21'): Promise<string> => {
  const { body } = await call('receiveRapidproMessage', { token, body: { id, text, to } });
  if (body.id === undefined) throw new Error('Nothing is sent.');
  return body.id;
};

/** What a phone shows once it shows so much, each without what every message has. */
const shownOn = async (phone: string, count: number) =>
  (await untilShown(phone, count)).map(({ data: { id: _id, from: _from, to: _to, ...content } }) => content);

const shown = (body: string, ...quick_replies: string[]) => ({
  type: 'text',
  text: { body },
  ...(quick_replies.length > 0 && { quick_replies }),
});

/** States in the logs of one contact, oldest first. */
const statesOf = async ({ token }: Caller, contact: string): Promise<string[]> =>
  ((await call('listLogs', { token, query: { contact } })).body ?? []).map(({ state }) => state).reverse();

const untilStates = (caller: Caller, contact: string, ...states: string[]): Promise<void> =>
  expect.poll(() => statesOf(caller, contact)).toEqual(states);

describe('a message of a flow', () => {
  const flow = (...more: Permission[]): Promise<Caller> => newCaller('bridge', 'stats', ...more);

  /** Bodies as they were seen to come, but for the number. */
  test.each([
    [
      'with quick replies, and signs that forms write in another way',
      'id=21&text=Hello+%26+welcome+%E2%98%BA+100%25&to=27821234567&quick_reply=Yes&quick_reply=No+%26+maybe',
      shown('Hello & welcome ☺ 100%', 'Yes', 'No & maybe'),
    ],
    [
      'with an attachment',
      'id=22&text=pic%0Ahttps%3A%2F%2Ffoo.bar%2Fimage.jpg&to=27821234567',
      shown('pic\nhttps://foo.bar/image.jpg'),
    ],
    [
      'that is an attachment alone',
      'id=22&text=%0Ahttps%3A%2F%2Ffoo.bar%2Fimage.jpg&to=27821234567',
      shown('https://foo.bar/image.jpg'),
    ],
    ['by a template that names the number to_no_plus', 'id=21&text=Hi&to_no_plus=27821234567', shown('Hi')],
    [
      'by a template that names it both ways',
      'id=21&text=Hi&to=27829999999&to_no_plus=27821234567&quick_reply=One',
      shown('Hi', 'One'),
    ],
    ['to a number with +', 'id=21&text=Hi&to=%2B27821234567', shown('Hi')],
    ['whose id is a UUID', `id=${randomUUID()}&text=Hi&to=27821234567`, shown('Hi')],
    ['without quick replies, whose field is empty', 'id=21&text=Hi&to=27821234567&quick_reply=', shown('Hi')],
    [
      'with fields that mean nothing to us',
      'id=21&text=Hi&to=27821234567&from=2020&channel=e4bb1578&session_status=W&__proto__=x&quick_replies=',
      shown('Hi'),
    ],
  ])('is taken and shows on the phone: one %s', async (_, body, expected) => {
    const to = newPhone();
    const received = await post(await flow(), body.replaceAll('27821234567', to));
    expect(received).toMatchObject({ status: 200, body: { message: 'success', id: expect.stringMatching(UUID) } });
    expect(await shownOn(to, 1)).toEqual([expected]);
  });

  test.each([
    ['bare', ''],
    ['as bearer', 'Bearer '],
    ['as RapidPro writes its own', 'Token '],
  ])('is taken with and without the last slash, the token %s', async (_, scheme) => {
    const { token } = await flow();
    const to = newPhone();
    for (const [place, slash] of ['', '/'].entries()) {
      const response = await fetch(`${urlOf('receiveRapidproMessage')}${slash}`, {
        method: 'POST',
        headers: { authorization: `${scheme}${token}`, 'content-type': `${FORM}; charset=UTF-8` },
        body: `id=${place}&text=Hi&to=${to}`,
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ message: 'success', id: expect.stringMatching(UUID) });
    }
    await untilShown(to, 2);
  });

  test('may come in parts of one id: all are delivered, in order', async () => {
    const caller = await flow();
    const to = newPhone();
    const first = `${'A'.repeat(2_043)} BBBBB`;
    for (const part of [`text=${first.replaceAll(' ', '+')}`, 'text=CCCC+DDDD&quick_reply=One', 'text=E']) {
      expect((await post(caller, `id=23&to=${to}&${part}`)).status).toBe(200);
    }
    expect(await shownOn(to, 3)).toEqual([shown(first), shown('CCCC DDDD', 'One'), shown('E')]);
  });

  test('that comes again has the first id, and is shown once', async () => {
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

  test('that comes ten times at once has one id, and is shown once', async () => {
    const caller = await flow();
    const to = newPhone();
    const ids = await Promise.all(Array.from({ length: 10 }, () => flowSends(caller, to, 'Hi')));
    expect(new Set(ids).size).toBe(1);
    await flowSends(caller, to, 'after');
    expect(await shownOn(to, 2)).toEqual([shown('Hi'), shown('after')]);
  });

  test('that comes again by another template is a repeat as well', async () => {
    const caller = await flow();
    const to = newPhone();
    const [one, two] = [`id=21&text=Hi&to=${to}`, `text=Hi&to_no_plus=%2B${to}&id=21&channel=x`];
    expect((await post(caller, two)).body).toEqual((await post(caller, one)).body);
  });

  test('is another one where its text, its quick replies, its number or its id are others', async () => {
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

  test('is another one where it is an equal part of a long text, and comes after the response to the first', async () => {
    const caller = await flow();
    const to = newPhone();
    const part = 'x'.repeat(2_048);
    const first = await flowSends(caller, to, part);
    const second = await flowSends(caller, to, part);
    expect(second).not.toBe(first);
    await flowSends(caller, to, 'after');
    expect(await shownOn(to, 3)).toEqual([shown(part), shown(part), shown('after')]);
  });

  test("is a repeat where its text is shorter than any part of the channel's Max length", async () => {
    const caller = await flow();
    await updateAccount(caller.account, {
      platform: { name: 'rapidpro', settings: { url: 'https://flows.example.com/' }, hook: { max_length: '4096' } },
    });
    const part = 'x'.repeat(2_048);
    const to = newPhone();
    expect(await flowSends(caller, to, part)).toBe(await flowSends(caller, to, part));
  });

  test("does not meet another account's of the same id and text", async () => {
    const [one, two] = [await flow(), await flow()];
    const to = newPhone();
    expect(await flowSends(one, to, 'Hi')).not.toBe(await flowSends(two, to, 'Hi'));
    await untilShown(to, 2);
  });

  test('is in the logs and jobs of its account: those of a day are one job, and not that of the API', async () => {
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
  test.each(['', '+%0A%C2%A0', '+&quick_reply=Yes'])('is accepted, and nothing is sent: %j', async (text) => {
    const caller = await newCaller('bridge', 'stats');
    const { token } = caller;
    const received = await post(caller, `id=1&to=27820000001&text=${text}`);
    expect(received).toMatchObject({ status: 200, body: { message: 'success' } });
    expect(received.body).not.toHaveProperty('id');
    expect((await call('listLogs', { token })).status).toBe(204);
  });
});

describe('what cannot be sent', () => {
  const NUMBER = '#/to_no_plus must be a phone number in international format, here or in the field to: 7 to 15 digits';
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
    ['a number after a blank', 'id=1&to=++27820000001&text=Hi', NUMBER],
    ['no number', 'id=1&text=Hi', NUMBER],
    ['a wrong number beside a right one', 'id=1&text=Hi&to=27820000001&to_no_plus=nobody', NUMBER],
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
    ['nothing', '', '#/id is required', '#/text is required', NUMBER],
    ['JSON in a form', '{"id":1}', '#/id is required', '#/text is required', NUMBER],
  ])('is refused with all of its faults, and nothing is sent: %s', async (_, body, ...faults) => {
    const caller = await newCaller('bridge', 'stats');
    const received = asProblem(await post(caller, body));
    expect(received.body).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(received.body.errors?.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(faults);
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });

  const good = 'id=1&to=27820000001&text=Hi';
  const bytes = (...after: number[]) => Buffer.concat([Buffer.from(good), Buffer.from(after)]);

  test.each<[string, Body, Record<string, string>, number, string]>([
    ['a broken percent-encoding', `${good}+100%`, {}, 400, 'malformed_body'],
    ['bytes that are no UTF-8', bytes(0xff), {}, 400, 'malformed_body'],
    ['half a character', bytes(0xe2, 0x98), {}, 400, 'malformed_body'],
    ['encoded bytes that are no UTF-8', `${good}%FF`, {}, 400, 'malformed_body'],
    ['an encoded half of a surrogate pair', `${good}%ED%A0%80`, {}, 400, 'malformed_body'],
    [
      'JSON',
      JSON.stringify({ id: '1', to: '27820000001', text: 'Hi' }),
      { 'content-type': 'application/json' },
      415,
      'unsupported_media_type',
    ],
    ['text', good, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
  ])('is refused where it cannot be read, and nothing is sent: %s', async (_, body, headers, status, code) => {
    const caller = await newCaller('bridge', 'stats');
    const received = asProblem(await post(caller, body, headers));
    expect(received.body).toMatchObject({ status, code });
    expect((await call('listLogs', { token: caller.token })).status).toBe(204);
  });

  test('is rejected without a token, with a wrong one, and with one that is not for the bridge', async () => {
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

  test.each(['x', '/', 'x/y', '%2F'])(
    'is refused at an address that goes on behind the last slash: %s',
    async (rest) => {
      const { token } = await newCaller('bridge', 'stats');
      const response = await fetch(`${urlOf('receiveRapidproMessage')}/${rest}`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': FORM },
        body: good,
      });
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({ status: 404, code: 'address_not_found' });
      expect((await call('listLogs', { token })).status).toBe(204);
    },
  );
});

/** What a channel was told by one call. */
interface Told {
  address: string;
  type: string | undefined;
  fields: Record<string, string>;
}

/** An error as courier returns it. */
const courierError = (error: string): string => JSON.stringify({ message: 'Error', data: [{ type: 'error', error }] });

/** The last segment of an address. */
const segmentOf = (address: string): string => address.replace(/.*\//, '');

/** A channel of RapidPro's: keeps what it is told, and answers as the test says. */
const openChannel = async () => {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  const calls: Told[] = [];
  /** Statuses and bodies of the next responses, by the last segment of their address; 200 where nothing is left. */
  const answers: Record<string, [status: number, body: string][]> = {};
  receiver.answers = [
    (response) => {
      const { url: address = '', headers } = response.req;
      const fields = Object.fromEntries(new URLSearchParams(receiver.calls.at(-1)?.body));
      calls.push({ address, type: headers['content-type'], fields });
      const [status, body] = answers[segmentOf(address)]?.shift() ?? [200, ''];
      response.writeHead(status).end(body);
    },
  ];
  return {
    calls,
    answers,
    url: new URL('/c/ex/7cf9ca51/receive', receiver.url).href,
    /** All that it was told, in short: `receive Hello`, `sent 21`. */
    told: () => calls.map(({ address, fields: { id, text } }) => `${segmentOf(address)} ${id ?? text}`),
  };
};

/** An account with a bot whose platform is a channel of RapidPro's. */
const withChannel = async (addresses: Record<string, string> = {}) => {
  const channel = await openChannel();
  const caller = await newCaller('bridge', 'messages', 'stats');
  const bot = newPhone();
  const settings = { url: channel.url, ...addresses };
  await updateAccount(caller.account, { bot_number: bot, platform: { name: 'rapidpro', settings } });
  return { channel, caller, bot, phone: newPhone() };
};

type Channel = Awaited<ReturnType<typeof openChannel>>;

const untilTold = ({ told }: Channel, ...all: string[]): Promise<void> => expect.poll(told).toEqual(all);

/**
 * Has the app network answer calls about one phone in this way, as long as the test lasts, or until what it returns is
 * called; other rules stay.
 */
const haveAppAnswer = async (phone: string, answer: object): Promise<() => Promise<void>> => {
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
      received: () => channel.told().map((one) => one.replace(/^receive /, '')),
      identities: () => channel.calls.map(({ fields: { date } }) => date),
    };
  },
  rejection: { status: 400, body: courierError('not a possible number') },
});

describe("a channel is notified of a user's message", () => {
  test.each(['Hi', 'Zoë & co: 100% ☺\n+27 = "?"', '  '.padEnd(3_000, 'long ')])(
    'by a form at its receive URL, and it is logged: %.20s',
    async (text) => {
      const { channel, caller, bot, phone } = await withChannel();
      await write(phone, bot, text);
      await untilTold(channel, `receive ${text}`);
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
      await untilTold(channel, 'receive one', 'receive one');
      expect(await statesOf(caller, phone)).toEqual(['received']);
    },
  );
});

describe('a channel is told what became of a message of its own', () => {
  /** What is told of a message comes before what is told later: then nothing of it is missing, nor on its way. */
  const untilToldInAll = async ({ channel, bot, phone }: Awaited<ReturnType<typeof withChannel>>, ...all: string[]) => {
    await write(phone, bot, 'end');
    await untilTold(channel, ...all, 'receive end');
  };

  test('beside its receive URL, by the id that it knows: sent, then delivered', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const known = randomUUID();
    const id = await flowSends(caller, phone, 'Hi', known);
    await untilTold(channel, `sent ${known}`);
    await report(id, 'delivered_to_user');
    await untilToldInAll(world, `sent ${known}`, `delivered ${known}`);
    expect(channel.calls.slice(0, 2)).toEqual(
      ['sent', 'delivered'].map((status) => ({
        address: `/c/ex/7cf9ca51/${status}`,
        type: expect.stringContaining(FORM),
        fields: { id: known },
      })),
    );
  });

  test('once each, though parts share the id and the app network reports twice', async () => {
    const world = await withChannel();
    const { caller, phone } = world;
    const parts = [await flowSends(caller, phone, 'one'), await flowSends(caller, phone, 'two')];
    await untilStates(caller, phone, 'sent', 'sent', 'delivered_to_server', 'delivered_to_server');
    for (const part of [...parts, ...parts]) await report(part, 'delivered_to_user');
    await flowSends(caller, phone, 'other', '22');
    await expect.poll(() => world.channel.told()).toContain('sent 22');
    await untilToldInAll(world, 'sent 21', 'delivered 21', 'sent 22');
  });

  test('delivered alone, where the app reports before its network has answered', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const answerAgain = await haveAppAnswer(phone, { hang: true, after: true });
    const id = await flowSends(caller, phone, 'Hi');
    await untilShown(phone, 1);
    await report(id, 'delivered_to_user');
    await answerAgain();
    await untilTold(channel, 'delivered 21');
    await untilStates(caller, phone, 'sent', 'delivered_to_user', 'delivered_to_server');
    await untilToldInAll(world, 'delivered 21');
  });

  test('failed, once, where the app network refuses a part of it', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    await flowSends(caller, phone, 'one');
    await untilTold(channel, 'sent 21');
    await haveAppAnswer(phone, { status: 400 });
    for (const part of ['two', 'three']) await flowSends(caller, phone, part);
    await expect
      .poll(async () => (await statesOf(caller, phone)).filter((state) => state === 'sending_failed').length)
      .toBe(2);
    await untilToldInAll(world, 'sent 21', 'failed 21');
  });

  test('failed, where the app reports that it could not be delivered', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const id = await flowSends(caller, phone, 'Hi');
    await untilTold(channel, 'sent 21');
    await report(id, 'delivery_failed');
    await untilToldInAll(world, 'sent 21', 'failed 21');
  });

  test('but not that it was read', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const id = await flowSends(caller, phone, 'Hi');
    await untilTold(channel, 'sent 21');
    await report(id, 'read');
    await untilToldInAll(world, 'sent 21');
    expect(await statesOf(caller, phone)).toEqual(['sent', 'delivered_to_server', 'read', 'received']);
  });

  test('at addresses of their own, where the operator has set them apart', async () => {
    const other = await openChannel();
    const own = (status: string) => other.url.replace('/c/ex/7cf9ca51/receive', `/of/${status}/?key=1`);
    const world = await withChannel({ sent_url: own('sent'), failed_url: own('failed') });
    const { channel, caller, phone } = world;
    const id = await flowSends(caller, phone, 'Hi');
    await expect.poll(() => other.calls.length).toBe(1);
    await report(id, 'delivered_to_user');
    await untilTold(channel, 'delivered 21');
    await report(id, 'delivery_failed');
    await untilToldInAll(world, 'delivered 21');
    expect(other.calls.map(({ address, fields }) => [address, fields])).toEqual([
      ['/of/sent/?key=1', { id: '21' }],
      ['/of/failed/?key=1', { id: '21' }],
    ]);
    expect(channel.calls).toHaveLength(2);
  });

  test('of the latest status alone, where it could not be told at once', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    channel.answers.sent = [
      [500, ''],
      [503, ''],
    ];
    const id = await flowSends(caller, phone, 'Hi');
    await untilTold(channel, 'sent 21', 'sent 21');
    await report(id, 'delivered_to_user');
    await untilToldInAll(world, 'sent 21', 'sent 21', 'delivered 21');
  });

  test.each([
    [400, courierError('schema: error converting value for "id"')],
    [404, ''],
    [410, ''],
  ])('once where it answers %i: all that follows is told', async (status, body) => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    channel.answers.sent = [[status, body]];
    const id = await flowSends(caller, phone, 'Hi');
    await untilTold(channel, 'sent 21');
    await report(id, 'delivered_to_user');
    await untilToldInAll(world, 'sent 21', 'delivered 21');
  });

  test('anew where a failed message is resent: it is another message, with statuses of its own', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    const takeAgain = await haveAppAnswer(phone, { status: 400 });
    const first = await flowSends(caller, phone, 'Hi');
    await untilTold(channel, 'failed 21');
    await takeAgain();
    // Nobody can know of the failure so soon.
    await expect.poll(() => flowSends(caller, phone, 'Hi')).not.toBe(first);
    const second = await flowSends(caller, phone, 'Hi');
    await untilTold(channel, 'failed 21', 'sent 21');
    await report(second, 'delivered_to_user');
    await untilToldInAll(world, 'failed 21', 'sent 21', 'delivered 21');
    expect(await shownOn(phone, 1)).toEqual([shown('Hi')]);
  });

  test('and nobody is, where another platform has taken its place by then', async () => {
    const { channel, caller, bot, phone } = await withChannel();
    const id = await flowSends(caller, phone, 'Hi');
    await untilTold(channel, 'sent 21');
    const turn = await Receiver.start();
    onTestFinished(() => turn.close());
    const settings = { url: turn.url, channel: 'c', token: 't' };
    await updateAccount(caller.account, { platform: { name: 'turn', settings } });
    await report(id, 'delivered_to_user');
    await write(phone, bot, 'end');
    await expect.poll(() => turn.calls.map(({ json }) => json.message?.text.body)).toEqual(['end']);
    expect(channel.told()).toEqual(['sent 21']);
  });

  test('and not where it was not yet its platform when it sent', async () => {
    const world = await withChannel();
    const { channel, caller, phone } = world;
    await updateAccount(caller.account, { platform: null });
    const id = await flowSends(caller, phone, 'Hi');
    await untilStates(caller, phone, 'sent', 'delivered_to_server');
    await updateAccount(caller.account, { platform: { name: 'rapidpro', settings: { url: channel.url } } });
    await report(id, 'delivered_to_user');
    await untilToldInAll(world);
  });
});

test('a user who is removed is stopped in RapidPro, once, after what they wrote', async () => {
  const { channel, bot, phone } = await withChannel();
  await applied(updated(phone, {}));
  await write(phone, bot, 'Hi');
  await untilTold(channel, 'receive Hi');
  await applied(removed(phone));
  await expect.poll(() => channel.calls.length).toBe(2);
  expect(channel.calls[1]).toMatchObject({ address: '/c/ex/7cf9ca51/stopped', fields: { from: `+${phone}` } });
  // The erasure looks once more, two minutes later.
  await expect.poll(() => getConsistent(erasureKey(phone))).toBeUndefined();
  expect(channel.calls).toHaveLength(2);
});
