/**
 * The simulator of RapidPro: its API for the service, for tests and for people.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RapidPro } from '../../infra/local/simulators/rapidpro/rapidpro.ts';
import { askAt, aTime, aUuid, type Bridge, drop, hold, openBridge, tryHelp } from './support/simulator.ts';

const USER = '27821234567';
const CHANNEL = '8eb23e93-5ecb-45ba-b726-3b064e0c56ab';
const MINUTE = 20;

let rapidpro: RapidPro;
let bridge: Bridge;

beforeEach(async () => {
  bridge = await openBridge();
  rapidpro = await RapidPro.start({ port: 0, minute: MINUTE, timeoutMs: 10_000, random: () => 0.5 });
  rapidpro.connect({ bridgeUrl: bridge.url });
  rapidpro.addChannel(CHANNEL, { token: 'bapi_token', guard_ms: 4_000 });
});

afterEach(async () => {
  vi.useRealTimers();
  await rapidpro.close();
  await bridge.close();
});

const ask = (method: string, path: string, body?: unknown) => askAt(rapidpro.url, method, path, body);
const list = async (what: string, channel = CHANNEL) => (await ask('GET', `/channels/${channel}/${what}`)).body;
const setRules = (...rules: object[]) => ask('PUT', `/channels/${CHANNEL}/behaviour`, rules);
const send = (message: object, channel = CHANNEL) => ask('POST', `/channels/${channel}/send`, { to: USER, ...message });

/** Sends a request like the service. */
const call = async (
  address: string,
  fields: Record<string, string>,
  { channel = CHANNEL, signal }: CallOptions = {},
) => {
  const answer = await fetch(`${rapidpro.url}/c/ex/${channel}/${address}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    signal: signal ?? null,
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
};

type Settings = Omit<Parameters<RapidPro['addChannel']>[1], 'token'>;

interface CallOptions {
  channel?: string;
  signal?: AbortSignal;
}

const receive = (text: string, from = USER) => call('receive', { from, text, date: '2026-01-02T03:04:05.678Z' });

const error = (message: string) => ({
  status: 400,
  body: { message: 'Error', data: [{ type: 'error', error: message }] },
});

const textsSent = () => bridge.calls.map(({ body }) => new URLSearchParams(body).get('text'));

describe("a user's message", () => {
  test('is accepted, with the response of RapidPro', async () => {
    expect(await receive('Hi & bye ☺')).toEqual({
      status: 200,
      body: {
        message: 'Message Accepted',
        data: [
          {
            type: 'msg',
            channel_uuid: CHANNEL,
            msg_uuid: aUuid,
            text: 'Hi & bye ☺',
            urn: `tel:+${USER}`,
            received_on: '2026-01-02T03:04:05.678Z',
          },
        ],
      },
    });
    expect(await list('received')).toEqual([{ from: USER, text: 'Hi & bye ☺', date: '2026-01-02T03:04:05.678Z' }]);
    expect(await list('calls')).toEqual([
      {
        address: 'receive',
        body: `from=${USER}&text=Hi+%26+bye+%E2%98%BA&date=2026-01-02T03%3A04%3A05.678Z`,
        status: 200,
        duplicate: false,
        time: aTime,
      },
    ]);
  });

  test.each<[string, Record<string, string>]>([
    ['a number with +', { from: `+${USER}`, text: 'Hi' }],
    ['the field sender', { sender: USER, text: 'Hi' }],
    ['the field time', { from: USER, text: 'Hi', time: '2026-01-02T03:04:05+02:00' }],
  ])('is accepted with %s', async (_, fields) => {
    expect(await call('receive', fields)).toMatchObject({ status: 200, body: { data: [{ urn: `tel:+${USER}` }] } });
    expect(await list('received')).toEqual([{ from: USER, text: 'Hi', date: fields.time ?? aTime }]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['no number', { text: 'Hi' }, "must have one of 'sender' or 'from' set"],
    ['a name', { from: 'MTN', text: 'Hi' }, 'not a possible number'],
    ['a date without a time', { from: USER, date: '2026-01-02' }, 'invalid date format, must be RFC 3339'],
    ['a time without zone', { from: USER, date: '2026-01-02T03:04:05' }, 'invalid date format, must be RFC 3339'],
    [
      'a time that does not exist',
      { from: USER, time: '2026-01-02T25:04:05Z' },
      'invalid date format, must be RFC 3339',
    ],
  ])('with %s returns 400', async (_, fields, message) => {
    await setRules({ status: 503, times: 1 });
    expect(await call('receive', fields)).toEqual(error(message));
    expect(await list('received')).toEqual([]);
    expect(await list('calls')).toMatchObject([{ address: 'receive', status: 400 }]);
    expect(await list('behaviour')).toEqual([{ status: 503, times: 1 }]);
  });

  test('for an unknown channel returns 400', async () => {
    for (const address of ['receive', 'sent', 'delivered', 'failed'])
      expect(await call(address, { from: USER, id: '1' }, { channel: 'other' })).toEqual(error('channel not found'));
  });
});

describe('the duplicate check', () => {
  /** The check keeps messages of the current interval of 2 s and of the one before. */
  const INTERVAL_START = Date.UTC(2030, 0, 1);

  test('returns the same response to the same text of the same user for up to 4 s, and accepts it once', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: INTERVAL_START });
    const first = await receive('Hi');
    vi.setSystemTime(Date.now() + 3_999);
    expect(await receive('Hi')).toEqual(first);
    expect(await list('received')).toHaveLength(1);
    expect((await list('calls')).map(({ duplicate }: { duplicate: boolean }) => duplicate)).toEqual([false, true]);
  });

  test.each([
    ['4 s', INTERVAL_START, 4_000],
    ['2 s, if it arrived at the end of an interval', INTERVAL_START - 1, 2_001],
  ])('accepts the same text again after %s', async (_, came, later) => {
    vi.useFakeTimers({ toFake: ['Date'], now: came });
    const first = await receive('Hi');
    vi.setSystemTime(Date.now() + later);
    expect((await receive('Hi')).body.data[0].msg_uuid).not.toBe(first.body.data[0].msg_uuid);
    expect(await list('received')).toHaveLength(2);
  });

  test('distinguishes users and texts', async () => {
    await receive('Hi');
    await receive('Ho');
    await receive('Hi', '27827654321');
    expect(await list('received')).toHaveLength(3);
  });

  test('distinguishes channels', async () => {
    rapidpro.addChannel('other', { token: 't' });
    await receive('Hi');
    await call('receive', { from: USER, text: 'Hi' }, { channel: 'other' });
    expect([(await list('received')).length, (await list('received', 'other')).length]).toEqual([1, 1]);
  });

  test('lasts for guard_ms of the channel', async () => {
    rapidpro.addChannel(CHANNEL, { token: 't', guard_ms: 0 });
    await receive('Hi');
    await receive('Hi');
    expect(await list('received')).toHaveLength(2);
  });

  test('ignores messages that were not accepted', async () => {
    await setRules({ status: 503, times: 1 });
    expect((await receive('Hi')).status).toBe(503);
    await receive('Hi');
    expect((await list('calls')).map(({ duplicate }: { duplicate: boolean }) => duplicate)).toEqual([false, false]);
  });
});

describe('a status report', () => {
  test.each([
    ['sent', 'S'],
    ['delivered', 'D'],
    ['failed', 'F'],
  ])('"%s" is accepted and shown at the message', async (address, letter) => {
    const { body: message } = await send({ text: 'Hello' });
    expect(await call(address, { id: message.id })).toEqual({
      status: 200,
      body: {
        message: 'Status Update Accepted',
        data: [{ type: 'status', channel_uuid: CHANNEL, status: letter, msg_id: Number(message.id) }],
      },
    });
    await expect.poll(() => list('sent')).toMatchObject([{ id: message.id, status: address }]);
    expect(await list('statuses')).toEqual([{ id: message.id, status: address }]);
  });

  test('about an unknown message is accepted, and reports are listed in order', async () => {
    await call('delivered', { id: '12' });
    await call('sent', { id: '11' });
    expect(await list('statuses')).toEqual([
      { id: '12', status: 'delivered' },
      { id: '11', status: 'sent' },
    ]);
  });

  test.each([
    ['no id', {}, "field 'id' required"],
    ['an id that is not a number', { id: 'abc' }, 'schema: error converting value for "id"'],
  ])('with %s returns 400', async (_, fields, message) => {
    for (const address of ['sent', 'delivered', 'failed'])
      expect(await call(address, fields as Record<string, string>)).toEqual(error(message));
    expect(await list('statuses')).toEqual([]);
  });

  test('accepts any id if the channel uses UUIDs', async () => {
    rapidpro.addChannel(CHANNEL, { token: 't', ids: 'uuid' });
    const { body: message } = await send({ text: 'Hello' });
    expect(message.id).toEqual(aUuid);
    expect((await call('sent', { id: message.id })).body.data[0].msg_id).toBe(message.id);
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'sent' }]);
  });
});

describe('statuses are written in batches of half a second', () => {
  const SLOW_MINUTE = 12_000;
  let slow: RapidPro;

  beforeEach(async () => {
    slow = await RapidPro.start({ port: 0, minute: SLOW_MINUTE });
    slow.connect({ bridgeUrl: bridge.url });
    slow.addChannel(CHANNEL, { token: 't' });
  });

  afterEach(() => slow.close());

  const report = (status: string, id: string) =>
    fetch(`${slow.url}/c/ex/${CHANNEL}/${status}`, { method: 'POST', body: new URLSearchParams({ id }) });
  const sent = async () => (await askAt(slow.url, 'GET', `/channels/${CHANNEL}/sent`)).body;

  test('of two statuses in one batch, one is lost, and both return 200', async () => {
    const { body: message } = await askAt(slow.url, 'POST', `/channels/${CHANNEL}/send`, { to: USER, text: 'Hi' });
    for (const status of ['sent', 'failed']) expect((await report(status, message.id)).status).toBe(200);
    await expect.poll(sent).toMatchObject([{ status: 'sent' }]);
    await report('delivered', message.id);
    await expect.poll(sent).toMatchObject([{ status: 'delivered' }]);
  });

  test('a status before the response to the message is overwritten by "wired"', async () => {
    const { answer, called } = hold();
    bridge.answerWith((response) => answer(response));
    const sending = askAt(slow.url, 'POST', `/channels/${CHANNEL}/send`, { to: USER, text: 'Hi' });
    const release = await called;
    const [{ id }] = await sent();
    await report('failed', id);
    await expect.poll(sent).toMatchObject([{ status: 'failed' }]);
    release();
    expect((await sending).body.status).toBe('wired');
  });

  test('a later status overwrites an earlier one, even "delivered" after "failed"', async () => {
    const { body: message } = await askAt(slow.url, 'POST', `/channels/${CHANNEL}/send`, { to: USER, text: 'Hi' });
    for (const status of ['failed', 'delivered']) {
      await report(status, message.id);
      await expect.poll(sent).toMatchObject([{ status }]);
    }
  });
});

describe('a channel that cannot be found returns an error', () => {
  test.each<[string, Settings, number, string]>([
    ['8.2.1, inactive', { courier: '8.2.1', state: 'inactive' }, 400, 'channel not found'],
    ['26.3.38, inactive', { courier: '26.3.38', state: 'inactive' }, 400, 'unable to find channel with uuid: '],
    ['8.2.1, without its database', { courier: '8.2.1', state: 'database_down' }, 400, 'connection refused'],
    ['26.3.38, without its database', { courier: '26.3.38', state: 'database_down' }, 503, 'The database is down.'],
  ])('%s', async (_, settings, status, message) => {
    rapidpro.addChannel(CHANNEL, { token: 't', ...settings });
    for (const address of ['receive', 'sent', 'delivered', 'failed', 'stopped']) {
      const answer = await call(address, { from: USER, text: 'Hi', id: '1' });
      expect(answer.status).toBe(status);
      expect(JSON.stringify(answer.body)).toContain(message);
    }
    expect(await list('received')).toEqual([]);
  });
});

describe('a contact', () => {
  test('is stopped', async () => {
    expect(await call('stopped', { from: `+${USER}` })).toMatchObject({
      status: 200,
      body: { message: 'Event Accepted', data: [{ event_type: 'stop_contact', urn: `tel:+${USER}` }] },
    });
    expect(await list('stopped')).toEqual([USER]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['no number', {}, "field 'from' required"],
    ['a name', { from: 'MTN' }, 'not a possible number'],
  ])('is not stopped with %s', async (_, fields, message) => {
    expect(await call('stopped', fields)).toEqual(error(message));
    expect(await list('stopped')).toEqual([]);
  });
});

describe('a message from RapidPro', () => {
  test('is a form, and the Authorization header is the token alone', async () => {
    bridge.answerWith({ status: 200, body: '{"requestId":"1"}' });
    const { status, body: message } = await send({
      text: 'Hello & welcome ☺ 100%',
      quick_replies: ['Yes', 'No & maybe'],
    });
    expect(bridge.calls).toMatchObject([
      {
        url: '/v1/webhook/rapidpro/',
        headers: { authorization: 'bapi_token', 'content-type': 'application/x-www-form-urlencoded' },
        body: `id=${message.id}&text=Hello+%26+welcome+%E2%98%BA+100%25&to_no_plus=${USER}&quick_reply=Yes&quick_reply=No+%26+maybe`,
      },
    ]);
    expect(status).toBe(200);
    expect(message).toEqual({
      id: expect.stringMatching(/^\d+$/),
      to: USER,
      text: 'Hello & welcome ☺ 100%',
      quick_replies: ['Yes', 'No & maybe'],
      attachments: [],
      status: 'wired',
      requests: [{ text: 'Hello & welcome ☺ 100%', status: 200, body: '{"requestId":"1"}' }],
    });
    expect(await list('sent')).toEqual([message]);
  });

  test('has consecutive ids', async () => {
    const ids = [];
    for (const text of 'ab') ids.push(Number((await send({ text })).body.id));
    expect(ids[1]).toBe((ids[0] ?? 0) + 1);
  });

  test("has the number in the field of the channel's to_field", async () => {
    rapidpro.addChannel(CHANNEL, { token: 'other', to_field: 'to' });
    const { body: message } = await send({ text: 'Hello' });
    expect(bridge.calls).toMatchObject([
      { headers: { authorization: 'other' }, body: `id=${message.id}&text=Hello&to=${USER}` },
    ]);
  });

  test('has each attachment on its own line', async () => {
    await send({ text: 'pic', attachments: ['https://foo.bar/a.jpg', 'https://foo.bar/b.jpg'] });
    expect(textsSent()).toEqual(['pic\nhttps://foo.bar/a.jpg\nhttps://foo.bar/b.jpg']);
  });

  test.each<[string, number, string, string[]]>([
    ['of the maximum length is one part', 10, 'aaaaabbbbb', ['aaaaabbbbb']],
    ['one byte longer is two parts', 10, 'aaaaabbbbbc', ['aaaaabbbbb', 'c']],
    ['is measured in bytes', 10, 'ééééééé', ['ééééé', 'éé']],
    ['keeps a two-byte character at the cut in one part', 10, 'aéééééé', ['aééééé', 'é']],
    ['keeps a four-byte character at the cut in one part', 5, 'aaaa😀b', ['aaaa😀', 'b']],
    ['is cut at a nearby space, which is dropped', 10, 'aaaaa bbbbbb', ['aaaaa', 'bbbbbb']],
    ['is not cut at a distant space', 10, 'aaa bbbbbbb', ['aaa bbbbbb', 'b']],
    ['can have many parts', 3, 'abcdefgh', ['abc', 'def', 'gh']],
    ['has no empty last part', 3, 'abcdef', ['abc', 'def']],
  ])('a text %s', async (_, max_length, text, parts) => {
    rapidpro.addChannel(CHANNEL, { token: 't', max_length });
    const { body: message } = await send({ text, quick_replies: ['One'] });
    expect(textsSent()).toEqual(parts);
    expect(message.requests).toMatchObject(parts.map((part) => ({ text: part, status: 200 })));
    const forms = bridge.calls.map(({ body }) => new URLSearchParams(body));
    expect(new Set(forms.map((form) => form.get('id')))).toEqual(new Set([message.id]));
    expect(forms.flatMap((form, index) => (form.has('quick_reply') ? [index] : []))).toEqual([parts.length - 1]);
  });

  test('sends the next part after the previous part is accepted', async () => {
    rapidpro.addChannel(CHANNEL, { token: 't', max_length: 3 });
    const { answer, called } = hold();
    bridge.answerWith(answer, { status: 200 });
    const sending = send({ text: 'abcdef' });
    const release = await called;
    expect(await list('sent')).toMatchObject([{ status: 'queued', requests: [{ text: 'abc', status: null }] }]);
    expect(textsSent()).toEqual(['abc']);
    release();
    expect((await sending).body).toMatchObject({ status: 'wired', requests: [{ status: 200 }, { status: 200 }] });
  });

  test.each([302, 400, 429])('fails permanently after the response %i', async (status) => {
    rapidpro.addChannel(CHANNEL, { token: 't', max_length: 3 });
    bridge.answerWith({ status: 200 }, { status, body: 'why' }, { status: 200 });
    expect((await send({ text: 'abcdefghi' })).body).toMatchObject({
      status: 'failed',
      requests: [
        { text: 'abc', status: 200 },
        { text: 'def', status, body: 'why' },
      ],
    });
    expect(textsSent()).toEqual(['abc', 'def']);
  });

  test('is sent again with all parts and the same id on Resend', async () => {
    rapidpro.addChannel(CHANNEL, { token: 't', max_length: 3 });
    const { body: message } = await send({ text: 'abcdef', quick_replies: ['One'] });
    await call('delivered', { id: message.id });
    const { status, body } = await ask('POST', `/channels/${CHANNEL}/messages/${message.id}/resend`);
    expect([status, body.status, body.requests.length]).toEqual([200, 'wired', 4]);
    const bodies = bridge.calls.map(({ body }) => body);
    expect(bodies.slice(2)).toEqual(bodies.slice(0, 2));
  });

  test('cannot be resent if it was never sent', async () => {
    expect(await ask('POST', `/channels/${CHANNEL}/messages/7/resend`)).toEqual({
      status: 404,
      body: { message: 'The channel has no message 7.' },
    });
  });
});

describe('retries of a message:', { tags: 'long' }, () => {
  test('all parts are repeated with the same id, after 5 and 10 minutes', async () => {
    rapidpro.addChannel(CHANNEL, { token: 't', max_length: 3 });
    const times: number[] = [];
    const timed = (status: number) => (response: { writeHead(status: number): { end(): void } }) => {
      times.push(performance.now());
      response.writeHead(status).end();
    };
    bridge.answerWith(timed(200), timed(503), timed(500), timed(200), timed(200));
    expect((await send({ text: 'abcdef' })).body).toMatchObject({
      status: 'errored',
      requests: [
        { text: 'abc', status: 200 },
        { text: 'def', status: 503 },
      ],
    });
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'wired' }]);
    expect(textsSent()).toEqual(['abc', 'def', 'abc', 'abc', 'def']);
    expect(new Set(bridge.calls.map(({ body }) => new URLSearchParams(body).get('id'))).size).toBe(1);
    const [, failed = 0, again = 0, lastly = 0] = times;
    // Timers can be one millisecond early.
    expect(again - failed).toBeGreaterThan(5 * MINUTE - 2);
    expect(lastly - again).toBeGreaterThan(10 * MINUTE - 2);
  });

  test.each<[Required<Settings>['courier'], number]>([
    ['8.2.1', 3],
    ['26.3.38', 4],
  ])('courier %s fails the message after %i attempts', async (courier, attempts) => {
    rapidpro.addChannel(CHANNEL, { token: 't', courier });
    bridge.answerWith({ status: 500 });
    await send({ text: 'Hello' });
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'failed' }]);
    expect(bridge.calls).toHaveLength(attempts);
    expect(new Set(bridge.calls.map(({ body }) => body)).size).toBe(1);
  });

  test('courier 8.2.1 repeats from the failed part on, also after a 4xx', async () => {
    rapidpro.addChannel(CHANNEL, { token: 't', max_length: 3, courier: '8.2.1' });
    bridge.answerWith({ status: 200 }, { status: 403 }, { status: 500 }, { status: 200 });
    await send({ text: 'abcdefghi' });
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'wired' }]);
    expect(textsSent()).toEqual(['abc', 'def', 'def', 'def', 'ghi']);
  });

  test('no retry follows a 422', async () => {
    bridge.answerWith({ status: 500 }, { status: 422 });
    await send({ text: 'Hello' });
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'failed' }]);
    expect(bridge.calls).toHaveLength(2);
  });

  test('a message whose connection is closed is errored, and is retried', async () => {
    bridge.answerWith(drop, { status: 200 });
    expect((await send({ text: 'Hello' })).body).toMatchObject({ status: 'errored', requests: [{ status: null }] });
    await expect.poll(() => list('sent')).toMatchObject([{ requests: [{ status: null }, { status: 200 }] }]);
  });

  test('a message without a response for half a minute is errored', async () => {
    const hasty = await RapidPro.start({ port: 0, minute: 100 });
    hasty.connect({ bridgeUrl: bridge.url });
    hasty.addChannel(CHANNEL, { token: 't' });
    bridge.answerWith(() => undefined, { status: 200 });
    const started = performance.now();
    const { body } = await askAt(hasty.url, 'POST', `/channels/${CHANNEL}/send`, { to: USER, text: 'Hi' });
    expect(body).toMatchObject({ status: 'errored', requests: [{ status: null }] });
    expect(performance.now() - started).toBeGreaterThan(48);
    await hasty.close();
  });

  test('a message reported as sent is still retried, so the service must detect repeats', async () => {
    const { answer, called } = hold();
    bridge.answerWith((response) => answer(response), { status: 200 });
    const sending = send({ text: 'Hello' });
    await called;
    const [{ id }] = await list('sent');
    await call('sent', { id });
    // Without this wait, both statuses could be in one batch, which loses one.
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'sent' }]);
    await bridge.close();
    expect((await sending).body.status).toBe('errored');
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'failed', requests: { length: 4 } }]);
  });
});

describe('the echo bot', () => {
  const conversation = () =>
    bridge.calls.map(({ body }) => {
      const form = new URLSearchParams(body);
      return [form.get('to_no_plus'), form.get('text'), ...form.getAll('quick_reply')];
    });

  beforeEach(() => rapidpro.addChannel(CHANNEL, { token: 't', bot: 'echo', guard_ms: 4_000 }));

  test('echoes each text, and ends the conversation on "stop"', async () => {
    await receive('Hi');
    await receive('sTOP');
    await expect.poll(conversation).toEqual([
      [USER, 'You wrote: Hi', 'Again', 'Stop'],
      [USER, 'Bye.'],
    ]);
    await expect.poll(() => list('sent')).toMatchObject([{ status: 'wired' }, { status: 'wired' }]);
  });

  test('answers a user in order, and does not delay other users', async () => {
    const { answer, called } = hold();
    bridge.answerWith(answer, { status: 200 });
    await receive('1');
    const release = await called;
    await receive('2');
    await receive('3');
    await receive('1', '27827654321');
    await expect.poll(conversation).toHaveLength(2);
    release();
    await expect.poll(conversation).toHaveLength(4);
    expect(conversation().map(([, text]) => text)).toEqual([1, 1, 2, 3].map((said) => `You wrote: ${said}`));
  });

  test('answers after the request has ended', async () => {
    await setRules({ hang: true, after: true });
    const giveUp = new AbortController();
    const hanging = call('receive', { from: USER, text: 'Hi' }, { signal: giveUp.signal });
    await expect.poll(() => list('received')).toHaveLength(1);
    expect(conversation()).toEqual([]);
    giveUp.abort();
    await expect(hanging).rejects.toThrow('aborted');
    await expect.poll(conversation).toHaveLength(1);
  });

  test('does not answer a repeat', async () => {
    await receive('Hi');
    await receive('Hi');
    await receive('Ho');
    await expect.poll(() => conversation().map(([, text]) => text)).toEqual(['You wrote: Hi', 'You wrote: Ho']);
  });

  test('sends nothing before the service has started', async () => {
    const early = await RapidPro.start({ port: 0, minute: MINUTE });
    early.addChannel(CHANNEL, { token: 't', bot: 'echo' });
    const body = new URLSearchParams({ from: USER, text: 'Hi' });
    expect((await fetch(`${early.url}/c/ex/${CHANNEL}/receive`, { method: 'POST', body })).status).toBe(200);
    expect((await askAt(early.url, 'GET', `/channels/${CHANNEL}/sent`)).body).toEqual([]);
    await early.close();
  });
});

describe('responses by rule:', () => {
  test('a rule for one phone does not apply to other phones or to status reports', async () => {
    await setRules({ status: 503, phone: USER });
    expect((await receive('Hi', `+${USER}`)).status).toBe(503);
    expect((await receive('Hi', '27827654321')).status).toBe(200);
    expect((await call('sent', { id: '1' })).status).toBe(200);
  });

  test('a rule applies to one channel only', async () => {
    rapidpro.addChannel('other', { token: 't' });
    await setRules({ status: 503 });
    expect((await call('receive', { from: USER, text: 'Hi' }, { channel: 'other' })).status).toBe(200);
  });

  test('a dropped status report is not accepted', async () => {
    await setRules({ drop: true });
    const { body: message } = await send({ text: 'Hello' });
    await expect(call('sent', { id: message.id })).rejects.toThrow('fetch failed');
    expect(await list('statuses')).toEqual([]);
    expect(await list('sent')).toMatchObject([{ status: 'wired' }]);
  });
});

describe('the API for people', () => {
  test('creates, changes and lists channels, without tokens', async () => {
    const set = { token: 'secret', bot: 'echo', ids: 'uuid', max_length: 640, to_field: 'to', guard_ms: 0 };
    expect((await ask('PUT', '/channels/other', set)).status).toBe(200);
    expect((await ask('PUT', '/channels/other', { ...set, bot: 'none' })).status).toBe(200);
    const { token: _, ...shown } = set;
    const versions = { courier: '26.3.38', state: 'active' };
    const defaults = { bot: 'none', ids: 'integer', max_length: 2048, to_field: 'to_no_plus', ...versions };
    expect(await ask('GET', '/channels')).toEqual({
      status: 200,
      body: [
        { channel: CHANNEL, ...defaults, guard_ms: 4_000 },
        { channel: 'other', ...defaults, ...shown, bot: 'none' },
      ],
    });
  });

  test('keeps received messages when a channel changes', async () => {
    await receive('Hi');
    await ask('PUT', `/channels/${CHANNEL}`, { token: 'new' });
    expect(await list('received')).toHaveLength(1);
  });

  test('deletes the records, and later status reports still find their message', async () => {
    const { body: message } = await send({ text: 'Hello' });
    await receive('Hi');
    expect((await ask('DELETE', `/channels/${CHANNEL}/calls`)).status).toBe(204);
    for (const what of ['received', 'statuses', 'sent', 'calls']) expect(await list(what)).toEqual([]);
    await call('sent', { id: message.id });
    expect(await list('statuses')).toEqual([{ id: message.id, status: 'sent' }]);
  });

  test.each<[string, string, unknown, string]>([
    ['PUT', '/channels/x', {}, '"token" is required.'],
    ['PUT', '/channels/x', { token: 't', ids: 7 }, '"ids" must be integer or uuid.'],
    [
      'PUT',
      '/channels/x',
      { token: 't', url: 'x' },
      '"url" is unknown: the fields are token, bot, ids, max_length, to_field, guard_ms, courier, state.',
    ],
    ['POST', `/channels/${CHANNEL}/send`, {}, '"to" is required. "text" is required.'],
    [
      'POST',
      `/channels/${CHANNEL}/send`,
      { to: `+${USER}`, text: 'Hi' },
      '"to" must be a phone number in international format without +: 7 to 15 digits; it contains +.',
    ],
    [
      'POST',
      `/channels/${CHANNEL}/send`,
      { to: USER, text: 'Hi', attachments: [1] },
      'Entry 1 of "attachments" must be a string.',
    ],
    ['PUT', `/channels/${CHANNEL}/behaviour`, { times: 0 }, '"times" must be a whole number from 1.'],
  ])('%s %s with %j returns 422 and changes nothing', async (method, path, body, message) => {
    expect(await ask(method, path, body)).toEqual({ status: 422, body: { message } });
    expect([(await ask('GET', '/channels')).body.length, bridge.calls]).toEqual([1, []]);
  });

  test.each([
    ['POST', 'send'],
    ['PUT', 'behaviour'],
  ])('%s %s of an unknown channel returns 404', async (method, what) => {
    expect(await ask(method, `/channels/other/${what}`, method === 'GET' ? undefined : '{}')).toEqual({
      status: 404,
      body: { message: 'There is no channel other.' },
    });
  });

  test('every request in the help text works', async () => {
    await tryHelp(rapidpro.url, async (example) => {
      if (!example.includes('MESSAGE-ID')) return example;
      const sent = await list('sent', 'CHANNEL');
      return example.replace('MESSAGE-ID', sent.at(-1).id);
    });
  });
});

describe('the simulator of RapidPro', () => {
  test('closes at once: it ends pending calls and makes no retry', async () => {
    await setRules({ hang: true, times: 1 }, { delay_ms: 600_000 });
    const lost = ['1', '2'].map((text) => expect(receive(text)).rejects.toThrow('fetch failed'));
    await expect.poll(() => list('calls')).toMatchObject([{ status: 'timeout' }, { status: null }]);
    bridge.answerWith({ status: 500 }, () => undefined);
    expect((await send({ text: 'tried again' })).body.status).toBe('errored');
    const unanswered = expect(send({ text: 'not answered' })).rejects.toThrow('fetch failed');
    await expect.poll(() => bridge.calls.length).toBeGreaterThan(1);
    await rapidpro.close();
    await Promise.all([...lost, unanswered]);
    // Not before: on a busy machine, a retry may have been on its way.
    const before = bridge.calls.length;
    // Longer than the time until the next retry.
    await new Promise((resolve) => setTimeout(resolve, 6 * MINUTE));
    expect(bridge.calls.length).toBe(before);
    await rapidpro.close();
  });
});
