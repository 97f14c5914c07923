/**
 * The simulator of Turn: its API for the service, for tests and for people.
 *
 * @module-tag long
 */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../infra/local/aws/loopback.ts';
import { Turn } from '../../infra/local/simulators/turn/turn.ts';
import { askAt, aTime, type Bridge, drop, hold, openBridge, tryHelp } from './support/simulator.ts';

const USER = '27821234567';
const NUMBER = 'f1b8c1d2-0000-4000-8000-000000000001';
/** Its base64url differs from its base64: it contains - and _, and has no padding. */
const BRIDGE_TOKEN = 'bapi_~~~???>';

let turn: Turn;
let bridge: Bridge;

beforeEach(async () => {
  bridge = await openBridge();
  bridge.answerWith({ status: 200, body: '{"messages":[{"id":"m1"}]}' });
  turn = await Turn.start({ port: 0, minute: 60_000, random: () => 0.5 });
  turn.connect({ bridgeUrl: bridge.url });
  turn.addNumber(NUMBER, { token: 'turn-token', bridge_token: BRIDGE_TOKEN });
});

afterEach(async () => {
  vi.useRealTimers();
  await turn.close();
  await bridge.close();
});

const setUp = (settings: object) =>
  ask('PUT', `/numbers/${NUMBER}`, { token: 'turn-token', bridge_token: BRIDGE_TOKEN, ...settings });
const ask = (method: string, path: string, body?: unknown) => askAt(turn.url, method, path, body);
const list = async (what: string) => (await ask('GET', `/numbers/${NUMBER}/${what}`)).body;
const setRules = (...rules: object[]) => ask('PUT', `/numbers/${NUMBER}/behaviour`, rules);
const sendMessage = (content: object) => ask('POST', `/numbers/${NUMBER}/send`, { to: USER, ...content });

interface CallOptions {
  number?: string;
  authorization?: string;
  signal?: AbortSignal;
}

/** Sends a request like the service. */
const call = async (
  address: string,
  body: unknown,
  { number = NUMBER, authorization = 'Bearer turn-token', signal }: CallOptions = {},
) => {
  const answer = await fetch(`${turn.url}/v1/numbers/${number}/${address}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: signal ?? null,
  });
  return { status: answer.status, body: JSON.parse(await answer.text()), headers: answer.headers };
};

const message = (id: string, body: string, from = USER) => ({
  contact: { id: `+${from}`, profile: { name: 'Thandi' } },
  message: { type: 'text', text: { body }, from: `+${from}`, id, timestamp: '1628345678' },
});

const status = (id: string, status: string) => ({
  status: { id, timestamp: '1628345678', status, recipient_id: `+${USER}` },
});

const receive = (id: string, body: string, from?: string) => call('messages', message(id, body, from));
const report = (id: string, state: string) => call('statuses', status(id, state));

const error = (status: number, title: string) => ({ status, body: { errors: [{ title }] } });

const posted = () => bridge.calls.map(({ body }) => JSON.parse(body));

describe("a user's message", () => {
  test('is accepted, and its id is returned', async () => {
    expect(await receive('u1', 'Hi')).toMatchObject({ status: 200, body: { messages: [{ id: 'u1' }] } });
    expect(await list('received')).toEqual([
      { id: 'u1', from: USER, name: 'Thandi', text: 'Hi', timestamp: '1628345678' },
    ]);
    expect(await list('calls')).toEqual([
      {
        address: 'messages',
        body: JSON.stringify(message('u1', 'Hi')),
        status: 200,
        duplicate: false,
        time: aTime,
      },
    ]);
  });

  test('that is repeated returns the same response, and is accepted once', async () => {
    const first = await receive('u1', 'Hi');
    const again = message('u1', 'Hi');
    again.message.timestamp = '1628345679';
    expect(await call('messages', again)).toMatchObject({ status: 200, body: first.body });
    expect(await list('received')).toHaveLength(1);
    expect(await list('calls')).toMatchObject([{ duplicate: false }, { duplicate: true }]);
  });

  test.each([
    ['text', message('u1', 'Ho')],
    ['user', message('u1', 'Hi', '27827654321')],
  ])('with the id of a message of another %s returns 400', async (_, other) => {
    await receive('u1', 'Hi');
    expect(await call('messages', other)).toMatchObject(error(400, 'The id u1 belongs to another message.'));
    expect(await list('received')).toHaveLength(1);
    expect(await list('calls')).toMatchObject([{ status: 200 }, { status: 400, duplicate: false }]);
  });

  const { contact, message: content } = message('u1', 'Hi');

  test.each<[string, unknown, string]>([
    ['no JSON', '{', 'The body must be JSON.'],
    ['nothing', {}, '"contact" is required. "message" is required.'],
    ['no contact', { message: content }, '"contact" is required.'],
    [
      'a contact without number',
      { contact: { profile: contact.profile }, message: content },
      '"id" of "contact" is required.',
    ],
    [
      'a number without +',
      { contact, message: { ...content, from: USER } },
      '"from" of "message" must be a phone number with +.',
    ],
    ['an empty text', message('u1', ''), '"body" of "text" of "message" must not be empty.'],
    ['a text of white space', message('u1', ' \n'), '"body" of "text" of "message" must not be empty.'],
    ['another type', { contact, message: { ...content, type: 'image' } }, '"type" of "message" must be text.'],
    ['no id', { contact, message: { ...content, id: undefined } }, '"id" of "message" is required.'],
    [
      'a time that is not in seconds',
      { contact, message: { ...content, timestamp: '2026-01-02T03:04:05Z' } },
      '"timestamp" of "message" must be seconds since 1970, as text.',
    ],
  ])('with %s returns 400', async (_, body, title) => {
    await setRules({ status: 503, times: 1 });
    expect(await call('messages', body)).toMatchObject(error(400, title));
    expect(await list('received')).toEqual([]);
    expect(await list('calls')).toMatchObject([{ address: 'messages', status: 400 }]);
    expect(await list('behaviour')).toEqual([{ status: 503, times: 1 }]);
  });
});

describe('a status report', () => {
  test.each(['sent', 'delivered', 'read'])('"%s" is accepted and shown at the message', async (state) => {
    await sendMessage({ text: 'Hello' });
    expect(await report('m1', state)).toMatchObject({ status: 200, body: {} });
    expect(await list('statuses')).toEqual([{ id: 'm1', status: state }]);
    expect(await list('sent')).toMatchObject([{ id: 'm1', status: state }]);
  });

  test('"failed" returns 400, unless the number accepts it', async () => {
    await sendMessage({ text: 'Hello' });
    expect(await report('m1', 'failed')).toMatchObject(error(400, 'The status failed is not supported.'));
    expect(await list('sent')).toMatchObject([{ status: 'wired' }]);
    await setUp({ refuses_failed: false });
    expect((await report('m1', 'failed')).status).toBe(200);
    expect(await list('sent')).toMatchObject([{ status: 'failed' }]);
  });

  test('about an id that the service never returned is rejected with 400', async () => {
    await sendMessage({ text: 'Hello' });
    expect(await report('m2', 'sent')).toMatchObject(error(400, 'There is no message m2.'));
    expect(await list('statuses')).toEqual([]);
    expect(await list('calls')).toMatchObject([{ address: 'statuses', status: 400 }]);
  });

  test('before the response with the id is accepted after that response', async () => {
    const { answer, called } = hold('{"messages":[{"id":"m1"}]}');
    bridge.answerWith(answer);
    const sending = sendMessage({ text: 'Hello' });
    const release = await called;
    const reporting = report('m1', 'sent');
    await expect.poll(() => list('calls')).toMatchObject([{ address: 'statuses', status: null }]);
    release();
    expect((await reporting).status).toBe(200);
    await sending;
    expect(await list('sent')).toMatchObject([{ id: 'm1', status: 'sent' }]);
  });

  test.each<[string, unknown, string]>([
    ['no JSON', '', 'The body must be JSON.'],
    ['nothing', {}, '"status" is required.'],
    ['another status', status('m1', 'wired'), '"status" of "status" must be sent, delivered, read or failed.'],
  ])('with %s returns 400', async (_, body, title) => {
    expect(await call('statuses', body)).toMatchObject(error(400, title));
  });
});

describe('a call', () => {
  test.each(['', 'Bearer other'])('with the authorization "%s" returns 401', async (authorization) => {
    for (const address of ['messages', 'statuses']) {
      const answer = await call(address, message('u1', 'Hi'), { authorization });
      expect(answer).toMatchObject(error(401, 'Unauthorized'));
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('60');
    }
    expect(await list('received')).toEqual([]);
    expect(await list('calls')).toMatchObject([{ status: 401 }, { status: 401 }]);
  });

  test('for an unknown number returns 404', async () => {
    for (const address of ['messages', 'statuses'])
      expect(await call(address, message('u1', 'Hi'), { number: 'other' })).toMatchObject(error(404, 'Not Found'));
  });
});

describe('the rate limit', () => {
  const limits = ({ headers }: { headers: Headers }) =>
    ['bucket', 'limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_001 });
    await setUp({ limit: 2 });
  });

  const RESET = '1700000061';

  test("applies to messages and status reports together, is in each response's headers, and causes 429 if exceeded", async () => {
    expect(limits(await receive('u1', 'Hi'))).toEqual(['general', '2', '1', RESET]);
    expect(limits(await report('m1', 'sent'))).toEqual(['general', '2', '0', RESET]);
    for (let time = 0; time < 2; time += 1) {
      const refused = await receive('u2', 'Ho');
      expect(refused).toMatchObject(error(429, 'Rate limit exceeded'));
      expect(limits(refused)).toEqual(['general', '2', '0', RESET]);
    }
    expect(await list('received')).toHaveLength(1);
    expect(await list('calls')).toMatchObject([{ status: 200 }, { status: 400 }, { status: 429 }, { status: 429 }]);
  });

  test('starts again after a minute', async () => {
    await receive('u1', 'Hi');
    vi.setSystemTime(Date.now() + 59_999);
    await receive('u2', 'Hi');
    expect((await receive('u3', 'Hi')).status).toBe(429);
    vi.setSystemTime(Date.now() + 1);
    const answer = await receive('u3', 'Hi');
    expect([answer.status, ...limits(answer)]).toEqual([200, 'general', '2', '1', '1700000121']);
  });

  test('is in the headers of responses by rule too', async () => {
    await setRules({ status: 429, retry_after: 1 });
    const answer = await receive('u1', 'Hi');
    expect([answer.status, answer.headers.get('retry-after'), ...limits(answer)]).toEqual([
      429,
      '1',
      'general',
      '2',
      '1',
      RESET,
    ]);
  });

  test('is separate for each number', async () => {
    turn.addNumber('other', { token: 'turn-token', bridge_token: 't' });
    await receive('u1', 'Hi');
    const answer = await call('messages', message('u1', 'Hi'), { number: 'other' });
    expect(limits(answer)).toEqual(['general', '60', '59', RESET]);
  });
});

describe('a message from Turn', () => {
  test("is posted to the URL with the token, in the channel's format", async () => {
    const { status, body: sent } = await sendMessage({ text: 'foo' });
    const body = {
      block: null,
      resources: null,
      content: 'foo',
      to: `+${USER}`,
      context: null,
      turn: { type: 'text', text: { body: 'foo' } },
      waiting_for_user_input: false,
    };
    expect(bridge.calls).toMatchObject([
      { method: 'POST', url: '/v1/webhook/turn/YmFwaV9-fn4_Pz8-', headers: { 'content-type': 'application/json' } },
    ]);
    expect(posted()).toEqual([body]);
    expect(bridge.calls[0]?.headers).not.toHaveProperty('x-turn-hook-signature');
    expect(status).toBe(200);
    expect(sent).toEqual({
      id: 'm1',
      to: USER,
      body,
      status: 'wired',
      answer: { status: 200, body: '{"messages":[{"id":"m1"}]}' },
    });
    expect(await list('sent')).toEqual([sent]);
  });

  test.each([
    ['image', { image: { link: 'https://foo.bar/a.jpg', caption: 'Look' } }, 'Look'],
    ['document', { document: { link: 'https://foo.bar/a.pdf', caption: 'Read', filename: 'a.pdf' } }, 'Read'],
  ])('can be an %s: %j', async (type, content, caption) => {
    await sendMessage(content);
    expect(posted()).toMatchObject([{ content: caption, to: `+${USER}`, turn: { type, ...content } }]);
    await setUp({ shape: 'fallback' });
    await sendMessage(content);
    expect(posted()[1]).toEqual({ recipient_type: 'individual', to: USER, type, ...content });
  });

  test("can be in WhatsApp's format", async () => {
    await setUp({ shape: 'fallback' });
    await sendMessage({ text: 'foo' });
    expect(posted()).toEqual([
      { preview_url: false, recipient_type: 'individual', to: USER, type: 'text', text: { body: 'foo' } },
    ]);
  });

  test.each([{ statuses: [{ id: '1' }] }, null])('can be any JSON: %j', async (raw) => {
    expect((await sendMessage({ raw })).body.body).toEqual(raw);
    expect(posted()).toEqual([raw]);
  });

  test('is signed if a secret is set', async () => {
    await setUp({ hmac_secret: 'secret' });
    await sendMessage({ text: 'Ünïcode ☺' });
    const [request] = bridge.calls;
    const signature = createHmac('sha256', 'secret')
      .update(request?.body ?? '')
      .digest('base64');
    expect(request?.headers['x-turn-hook-signature']).toBe(signature);
  });

  test.each([
    [400, '{"messages":[{"id":"m1"}]}'],
    [200, '{"messages":[]}'],
    [200, '{"messages":[{"id":1}]}'],
  ])('has failed after the response %i %s', async (status, body) => {
    bridge.answerWith({ status, body });
    expect((await sendMessage({ text: 'Hello' })).body).toMatchObject({
      id: null,
      status: 'failed',
      answer: { status, body },
    });
    expect((await report('m1', 'sent')).status).toBe(400);
  });

  test('has failed without a response', async () => {
    bridge.answerWith(drop);
    expect((await sendMessage({ text: 'Hello' })).body).toMatchObject({ id: null, status: 'failed', answer: null });
    turn.connect({ bridgeUrl: `http://127.0.0.1:${await freePort()}` });
    expect((await sendMessage({ text: 'Hello' })).body).toMatchObject({ id: null, status: 'failed', answer: null });
  });
});

describe('the echo bot', () => {
  const conversation = () => posted().map(({ to, content }) => [to, content]);

  beforeEach(() => setUp({ bot: 'echo' }));

  test('echoes each text in order, and ends the conversation on "stop"', async () => {
    await receive('u1', 'Hi');
    await receive('u2', 'STOP');
    await expect.poll(conversation).toEqual([
      [`+${USER}`, 'You wrote: Hi'],
      [`+${USER}`, 'Bye.'],
    ]);
  });

  test('does not answer a repeat', async () => {
    for (const [id, text] of [
      ['u1', 'Hi'],
      ['u1', 'Hi'],
      ['u2', 'Ho'],
    ] as const)
      await receive(id, text);
    await expect.poll(() => conversation().map(([, text]) => text)).toEqual(['You wrote: Hi', 'You wrote: Ho']);
  });
});

describe('responses by rule:', () => {
  test('an error for one phone applies to its messages and status reports, and nothing is accepted', async () => {
    await sendMessage({ text: 'Hello' });
    await setRules({ status: 503, phone: USER });
    expect((await receive('u1', 'Hi')).status).toBe(503);
    expect((await report('m1', 'sent')).status).toBe(503);
    expect((await receive('u2', 'Hi', '27827654321')).status).toBe(200);
    expect([(await list('received')).length, await list('statuses')]).toEqual([1, []]);
  });

  test('an invalid status report can be dropped too', async () => {
    await setRules({ drop: true, after: true });
    await expect(report('m7', 'sent')).rejects.toThrow('fetch failed');
    expect(await list('statuses')).toEqual([]);
  });
});

describe('the API for people', () => {
  test('creates and lists numbers, without secrets', async () => {
    const set = { bot: 'echo', shape: 'fallback', limit: 5, refuses_failed: false };
    expect((await setUp({ ...set, hmac_secret: 'secret' })).status).toBe(200);
    turn.addNumber('other', { token: 't', bridge_token: 't' });
    expect(await ask('GET', '/numbers')).toEqual({
      status: 200,
      body: [
        { number: NUMBER, ...set },
        { number: 'other', bot: 'none', shape: 'channel', limit: 60, refuses_failed: true },
      ],
    });
  });

  test('deletes the records, and later status reports still find their message', async () => {
    await sendMessage({ text: 'Hello' });
    await receive('u1', 'Hi');
    expect((await ask('DELETE', `/numbers/${NUMBER}/calls`)).status).toBe(204);
    for (const what of ['received', 'statuses', 'sent', 'calls']) expect(await list(what)).toEqual([]);
    expect((await report('m1', 'sent')).status).toBe(200);
  });

  test.each<[string, string, unknown, string]>([
    ['PUT', '/numbers/x', {}, '"token" is required. "bridge_token" is required.'],
    [
      'PUT',
      '/numbers/x',
      { token: 't', bridge_token: 't', refuses_failed: 1 },
      '"refuses_failed" must be true or false.',
    ],
    ['POST', `/numbers/${NUMBER}/send`, { text: 'Hi' }, '"to" is required.'],
    ['POST', `/numbers/${NUMBER}/send`, { to: USER }, 'The body must have one of text, image, document and raw.'],
    ['POST', `/numbers/${NUMBER}/send`, { to: USER, image: {} }, '"link" of "image" is required.'],
    [
      'POST',
      `/numbers/${NUMBER}/send`,
      { to: USER, video: {} },
      '"video" is unknown: the fields are to, text, image, document, raw.',
    ],
  ])('%s %s with %j returns 422 and changes nothing', async (method, path, body, message) => {
    expect(await ask(method, path, body)).toEqual({ status: 422, body: { message } });
    expect([(await ask('GET', '/numbers')).body.length, bridge.calls]).toEqual([1, []]);
  });

  test('returns 404 for an unknown number', async () => {
    expect(await ask('GET', '/numbers/other/received')).toEqual({
      status: 404,
      body: { message: 'There is no number other.' },
    });
  });

  test('every request in the help text works', () => tryHelp(turn.url));
});

describe('the simulator of Turn', () => {
  test('closes at once and ends pending calls', async () => {
    await setRules({ hang: true, times: 1 }, { delay_ms: 600_000 });
    const lost = ['u1', 'u2'].map((id) => expect(receive(id, 'Hi')).rejects.toThrow('fetch failed'));
    await expect.poll(() => list('calls')).toMatchObject([{ status: 'timeout' }, { status: null }]);
    bridge.answerWith(() => undefined);
    const unanswered = expect(sendMessage({ text: 'Hello' })).rejects.toThrow('fetch failed');
    await expect.poll(() => bridge.calls).toHaveLength(1);
    await turn.close();
    await Promise.all([...lost, unanswered]);
    await turn.close();
  });
});
