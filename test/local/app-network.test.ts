/**
 * The simulator of the app network: its API for the service, for tests and for people.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../infra/local/aws/loopback.ts';
import { Clock } from '../../infra/local/aws/time/clock.ts';
import { AppNetwork } from '../../infra/local/simulators/app-network/app-network.ts';
import type { Call, PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import type { Rule } from '../../infra/local/simulators/fault-rules.ts';
import { askAt, aTime, aUuid, type Bridge, openBridge, signatureOf, tryHelp } from './support/simulator.ts';

const PHONE = '27821234567';
const OTHER_PHONE = '27827654321';
const BOT = '447700900000';

let app: AppNetwork;
let bridge: Bridge;
/** The results of the random function in order, then 0. */
let rolls: number[];

beforeEach(async () => {
  rolls = [];
  app = await AppNetwork.start({ port: 0, random: () => rolls.shift() ?? 0 });
  bridge = await openBridge();
  bridge.answerWith({ status: 204 });
  app.connect({ bridgeUrl: bridge.url, appToken: 'bapi_app' });
});

afterEach(async () => {
  await app.close();
  await bridge.close();
});

const event = (body: string, to = PHONE) => ({
  type: 'message.send',
  timestamp: '2026-01-02T03:04:05.000000',
  data: { id: `id of ${body}`, from: BOT, to, type: 'text', text: { body } },
});

const userDataRequest = {
  type: 'user_data.request',
  timestamp: '2026-01-02T03:04:05.000000',
  data: {
    id: 'request',
    to: PHONE,
    business: 'Demo',
    reason: 'To greet you',
    properties: [{ property: 'first_name', reason: 'Your name', required: true }],
  },
};

const signed = (id: string, body: string, { secret = app.secret, time = new Date() } = {}) =>
  signatureOf(secret, body, id, time);

const post = (body: string, headers: Record<string, string>, signal: AbortSignal | null = null) =>
  fetch(app.appUrl, { method: 'POST', headers, body, signal });

/** Sends a signed event like the service. */
const deliver = (id: string, content: unknown, signal?: AbortSignal) => {
  const body = JSON.stringify(content);
  return post(body, signed(id, body), signal);
};

const ask = (method: string, path: string, body?: unknown) => askAt(app.phoneUrl, method, path, body);

const shown = async (phone = PHONE): Promise<PhoneMessage[]> => (await ask('GET', `/phones/${phone}/messages`)).body;
const all = async (phone = PHONE): Promise<PhoneMessage[]> =>
  (await ask('GET', `/phones/${phone}/messages?all=true`)).body;
const calls = async (): Promise<Call[]> => (await ask('GET', '/calls')).body;
const setRules = (...rules: Rule[]) => ask('PUT', '/behaviour', rules);

const idsOf = (all: { webhook_id: string }[]) => all.map(({ webhook_id }) => webhook_id);

describe('an event from the service', () => {
  test('returns 204 and appears on its phone', async () => {
    const sent = event('Hello');
    const answer = await deliver('m1', sent);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(await shown()).toEqual([
      { webhook_id: 'm1', type: 'message.send', data: sent.data, received: aTime, attempts: 1, taken: true },
    ]);
    expect((await ask('GET', '/phones')).body).toEqual([{ phone: PHONE, messages: 1, untaken: 0 }]);
    expect(await calls()).toEqual([{ webhook_id: 'm1', phone: PHONE, type: 'message.send', status: 204, time: aTime }]);
  });

  test.each<[string, { type: string; data: Record<string, unknown> }]>([
    [
      'text with quick replies',
      { ...event('Well?'), data: { ...event('Well?').data, quick_replies: ['Yes', 'No'], future_field: 1 } },
    ],
    [
      'an image',
      { ...event(''), data: { id: '1', from: BOT, to: PHONE, type: 'image', image: { url: 'https://x/i' } } },
    ],
    ['a file', { ...event(''), data: { id: '1', from: BOT, to: PHONE, type: 'file', file: { url: 'https://x/f' } } }],
    ['a user data request', userDataRequest],
  ])('%s appears unchanged', async (_, sent) => {
    expect((await deliver('m1', sent)).status).toBe(204);
    expect(await shown()).toMatchObject([{ type: sent.type, data: sent.data }]);
  });

  test('with a repeated id counts as one message with two attempts', async () => {
    await deliver('m1', event('one'));
    await deliver('m2', event('two'));
    await deliver('m1', event('one'));
    expect((await shown()).map(({ webhook_id, attempts }) => [webhook_id, attempts])).toEqual([
      ['m1', 2],
      ['m2', 1],
    ]);
    expect(idsOf(await calls())).toEqual(['m1', 'm2', 'm1']);
  });

  test('to another phone with the same id appears on that phone', async () => {
    await deliver('m1', event('one'));
    await deliver('m1', event('one', OTHER_PHONE));
    expect(await shown()).toHaveLength(1);
    expect(await shown(OTHER_PHONE)).toHaveLength(1);
    expect((await ask('GET', '/phones')).body).toEqual([
      { phone: PHONE, messages: 1, untaken: 0 },
      { phone: OTHER_PHONE, messages: 1, untaken: 0 },
    ]);
  });

  test('appears in the order of acceptance', async () => {
    await setRules({ status: 503, times: 1 });
    await deliver('m1', event('one'));
    await deliver('m2', event('two'));
    await deliver('m1', event('one'));
    expect(idsOf(await shown())).toEqual(['m2', 'm1']);
    expect(idsOf(await all())).toEqual(['m1', 'm2']);
  });

  test('is gone after DELETE /calls', async () => {
    await deliver('m1', event('one'));
    expect((await ask('DELETE', '/calls')).status).toBe(204);
    expect([await calls(), await shown(), (await ask('GET', '/phones')).body]).toEqual([[], [], []]);
  });
});

describe('a request with an invalid signature', () => {
  const body = JSON.stringify(event('Hello'));
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

  test.each<[string, () => Record<string, string>]>([
    ['no signature headers', () => ({})],
    ['another secret', () => signed('m1', body, { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` })],
    ['a signature over another body', () => signed('m1', `${body} `)],
    ['an old signature', () => signed('m1', body, { time: secondsAgo(330) })],
    ['a signature from the future', () => signed('m1', body, { time: secondsAgo(-330) })],
  ])('with %s returns 401 and leaves no trace', async (_, headers) => {
    await setRules({ status: 503, times: 1 });
    const answer = await post(body, headers());
    expect([answer.status, await answer.json()]).toEqual([401, { message: expect.stringContaining('signature') }]);
    expect([await calls(), (await ask('GET', '/phones')).body]).toEqual([[], []]);
    expect((await ask('GET', '/behaviour')).body).toEqual([{ status: 503, times: 1 }]);
  });

  test('returns 401 even if its body is invalid', async () => {
    expect((await post('{', {})).status).toBe(401);
  });

  test('is accepted if it is minutes old only because the clock runs faster than real time', async () => {
    const clock = new Clock();
    onTestFinished(clock.use());
    clock.run(600);
    onTestFinished(() => clock.run(1));
    expect((await post(body, signed('fast', body, { time: new Date(clock.now() - 330_000) }))).status).toBe(204);
    clock.run(1);
    expect((await post(body, signed('real', body, { time: new Date(clock.now() - 330_000) }))).status).toBe(401);
  });

  test('is accepted with one valid signature of several', async () => {
    const headers = signed('m1', body);
    const rotated = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
    expect((await post(body, rotated)).status).toBe(204);
  });
});

test.each<[string, string]>([
  ['no JSON', '{"type":'],
  ['null', 'null'],
  ['an event of an unknown type', JSON.stringify({ ...event('Hello'), type: 'message.sent' })],
  ['an event without data', JSON.stringify({ ...event('Hello'), data: undefined })],
  ['an event without a time', JSON.stringify({ ...event('Hello'), timestamp: undefined })],
  ['a message to a number with +', JSON.stringify(event('Hello', `+${PHONE}`))],
  ['a text without text', JSON.stringify({ ...event('Hello'), data: { ...event('Hello').data, text: undefined } })],
])('a signed request with %s returns 400, is listed in /calls, and appears on no phone', async (_, body) => {
  const answer = await post(body, signed('m1', body));
  expect([answer.status, await answer.json()]).toEqual([400, { message: expect.any(String) }]);
  expect(await calls()).toEqual([{ webhook_id: 'm1', phone: null, type: null, status: 400, time: aTime }]);
  expect((await ask('GET', '/phones')).body).toEqual([]);
});

describe('responses by rule:', () => {
  test('without a rule, the response is 204', async () => {
    expect(await ask('GET', '/behaviour')).toEqual({ status: 200, body: [] });
  });

  test.each([200, 299])('an event with the response %i is accepted', async (status) => {
    await setRules({ status });
    expect((await deliver('m1', event('Hello'))).status).toBe(status);
    expect(await shown()).toMatchObject([{ taken: true }]);
  });

  test.each([302, 408, 503])('an event with the response %i appears on no phone', async (status) => {
    await setRules({ status });
    const answer = await fetch(app.appUrl, {
      method: 'POST',
      headers: signed('m1', JSON.stringify(event('Hello'))),
      body: JSON.stringify(event('Hello')),
      redirect: 'manual',
    });
    expect(answer.status).toBe(status);
    expect(await shown()).toEqual([]);
    expect(await all()).toMatchObject([{ webhook_id: 'm1', attempts: 1, taken: false }]);
    expect(await calls()).toMatchObject([{ phone: PHONE, status }]);
    expect((await ask('GET', '/phones')).body).toEqual([{ phone: PHONE, messages: 0, untaken: 1 }]);
  });

  test('failed attempts are counted, and an accepted message stays accepted after a later failure', async () => {
    await setRules({ status: 503, times: 2 });
    for (let attempt = 1; attempt <= 3; attempt += 1) await deliver('m1', event('Hello'));
    expect(await shown()).toMatchObject([{ attempts: 3, taken: true }]);
    await setRules({ status: 500 });
    await deliver('m1', event('Hello'));
    expect(await shown()).toMatchObject([{ attempts: 4, taken: true }]);
    expect((await calls()).map(({ status }) => status)).toEqual([503, 503, 204, 500]);
  });

  test('retry_after sets the header Retry-After', async () => {
    await setRules({ status: 429, retry_after: 30 });
    expect((await deliver('m1', event('Hello'))).headers.get('retry-after')).toBe('30');
  });

  test('times limits the number of calls, then the rule is removed', async () => {
    expect(await setRules({ status: 503, times: 2 })).toEqual({ status: 200, body: [{ status: 503, times: 2 }] });
    expect((await deliver('m1', event('Hello'))).status).toBe(503);
    expect((await ask('GET', '/behaviour')).body).toEqual([{ status: 503, times: 1 }]);
    expect((await deliver('m1', event('Hello'))).status).toBe(503);
    expect((await ask('GET', '/behaviour')).body).toEqual([]);
    expect((await deliver('m1', event('Hello'))).status).toBe(204);
  });

  test('phone limits the rule to calls for that phone', async () => {
    await setRules({ status: 503, phone: PHONE, times: 1 });
    expect((await deliver('m1', event('Hello', OTHER_PHONE))).status).toBe(204);
    expect((await deliver('m2', event('Hello', PHONE))).status).toBe(503);
  });

  test('share limits the rule to that share of calls', async () => {
    await setRules({ status: 503, share: 0.33 });
    rolls = [0.32, 0.33, 0.99, 0];
    const statuses = [];
    for (const id of ['m1', 'm2', 'm3', 'm4']) statuses.push((await deliver(id, event('Hello'))).status);
    expect(statuses).toEqual([503, 204, 204, 503]);
  });

  test('by default, a share of 0.5 applies at random', async () => {
    const fair = await AppNetwork.start({ port: 0, secret: app.secret });
    await fetch(`${fair.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify({ status: 503, share: 0.5 }) });
    const body = JSON.stringify(event('Hello'));
    const statuses = new Set<number>();
    // Fails by chance once in 2^99 runs.
    for (let call = 0; call < 100; call += 1)
      statuses.add((await fetch(fair.appUrl, { method: 'POST', headers: signed('m', body), body })).status);
    await fair.close();
    expect(statuses).toEqual(new Set([204, 503]));
  });

  test('of several rules, the first one that applies is used', async () => {
    await setRules({ status: 500, phone: OTHER_PHONE }, { status: 502, share: 0.5, times: 1 }, { status: 503 });
    rolls = [0.7, 0.2];
    const statuses = [];
    for (const id of ['m1', 'm2', 'm3']) statuses.push((await deliver(id, event('Hello'))).status);
    expect(statuses).toEqual([503, 502, 503]);
    expect((await ask('GET', '/behaviour')).body).toEqual([{ status: 500, phone: OTHER_PHONE }, { status: 503 }]);
  });

  test('a single rule without a list replaces all rules', async () => {
    await setRules({ status: 500 }, { status: 502 });
    expect(await ask('PUT', '/behaviour', { status: 503 })).toEqual({ status: 200, body: [{ status: 503 }] });
  });

  test('DELETE /behaviour removes the rules', async () => {
    await setRules({ status: 503 });
    expect((await ask('DELETE', '/behaviour')).status).toBe(204);
    expect((await deliver('m1', event('Hello'))).status).toBe(204);
  });

  test('rules of one phone come first, and are set and removed without a change of the others', async () => {
    const ofOther = { status: 500, phone: OTHER_PHONE };
    await setRules({ status: 503 }, { status: 418, phone: PHONE }, ofOther);
    const path = `/phones/${PHONE}/behaviour`;
    const rules = [{ status: 502, times: 1, phone: PHONE }, { status: 503 }, ofOther];
    expect(await ask('PUT', path, [{ status: 502, times: 1 }])).toEqual({ status: 200, body: rules });
    expect((await deliver('m1', event('Hello'))).status).toBe(502);
    expect((await deliver('m1', event('Hello'))).status).toBe(503);
    await ask('PUT', path, { drop: true });
    expect((await ask('PUT', path, { status: 1 })).status).toBe(422);
    await expect(deliver('m1', event('Hello'))).rejects.toThrow('fetch failed');
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await ask('GET', '/behaviour')).body).toEqual([{ status: 503 }, ofOther]);
  });

  test('drop closes the connection without a response, and no message appears', async () => {
    await setRules({ drop: true });
    await expect(deliver('m1', event('Hello'))).rejects.toThrow('fetch failed');
    expect(await shown()).toEqual([]);
    expect(await all()).toMatchObject([{ attempts: 1, taken: false }]);
    expect(await calls()).toMatchObject([{ status: 'dropped' }]);
  });

  test('hang never responds, and no message appears', async () => {
    await setRules({ hang: true });
    const giveUp = new AbortController();
    const answer = deliver('m1', event('Hello'), giveUp.signal);
    await expect.poll(calls).toMatchObject([{ status: 'timeout' }]);
    giveUp.abort();
    await expect(answer).rejects.toThrow('aborted');
    expect(await shown()).toEqual([]);
    expect(await all()).toMatchObject([{ attempts: 1, taken: false }]);
  });

  test('drop with after accepts the message first, and its repeat appears once', async () => {
    await setRules({ drop: true, after: true, times: 1 });
    await expect(deliver('m1', event('Hello'))).rejects.toThrow('fetch failed');
    expect(await shown()).toMatchObject([{ attempts: 1, taken: true }]);
    await deliver('m1', event('Hello'));
    expect(await shown()).toMatchObject([{ attempts: 2, taken: true }]);
    expect((await calls()).map(({ status }) => status)).toEqual(['dropped', 204]);
  });

  test('delay_ms delays the response', async () => {
    await setRules({ delay_ms: 300 });
    const started = performance.now();
    expect((await deliver('m1', event('Hello'))).status).toBe(204);
    // Timers can be one millisecond early.
    expect(performance.now() - started).toBeGreaterThan(298);
    expect(await shown()).toHaveLength(1);
    expect(await calls()).toMatchObject([{ status: 204 }]);
  });

  test("a response after the client's time limit is listed as a timeout, and the message is accepted", async () => {
    await setRules({ delay_ms: 2_000 });
    const giveUp = new AbortController();
    const answer = deliver('m1', event('Hello'), giveUp.signal);
    await expect.poll(calls, { interval: 5 }).toHaveLength(1);
    giveUp.abort();
    await expect(answer).rejects.toThrow('aborted');
    await expect.poll(calls).toMatchObject([{ status: 'timeout' }]);
    expect(await shown()).toMatchObject([{ taken: true }]);
  });

  test('a delayed call is listed without a status, its message is not accepted, and it ends when the simulator closes', async () => {
    await setRules({ delay_ms: 600_000 });
    const lost = expect(deliver('m1', event('Hello'))).rejects.toThrow('fetch failed');
    await expect.poll(calls).toMatchObject([{ webhook_id: 'm1', phone: PHONE, status: null }]);
    expect([await shown(), await all()]).toMatchObject([[], [{ attempts: 1, taken: false }]]);
    await app.close();
    await lost;
  });

  test.each<[unknown, string]>([
    [{ status: 199 }, '"status" must be 200 to 599, a whole number.'],
    [{ delay_ms: -1 }, '"delay_ms" must be 0 to 600000, a whole number.'],
    [{ drop: 1 }, '"drop" must be true or false.'],
    [{ status: 503, retry_after: 1.5 }, '"retry_after" must be a whole number from 0.'],
    [{ times: 0 }, '"times" must be a whole number from 1.'],
    [
      { state: 503 },
      '"state" is unknown: the fields are status, delay_ms, drop, hang, after, retry_after, share, times, phone.',
    ],
    [{ drop: true, hang: true }, 'The body must have one of status, drop and hang, or none of them.'],
    [{ after: true }, 'The body must have drop or hang where it has after.'],
    [{ retry_after: 3 }, 'The body must have status where it has retry_after.'],
    [null, 'The body must be an object.'],
    [503, 'The body must be an object.'],
    [[{ after: true }], 'Entry 1 must have drop or hang where it has after.'],
  ])('invalid rules return 422, and the previous rules stay: %j', async (rules, message) => {
    await setRules({ status: 503 });
    expect(await ask('PUT', '/behaviour', rules)).toEqual({ status: 422, body: { message } });
    expect((await ask('GET', '/behaviour')).body).toEqual([{ status: 503 }]);
  });
});

describe('events from the app network to the service:', () => {
  const name = { first_name: { value: 'Thandi', source: 'user' } };
  const user = { id: 'u1', panelist: true, properties: name };
  const answers = { first_name: 'approved', number: 'denied' };
  const text = { type: 'text', text: { body: 'Hi' } };
  const stop = { from: PHONE, to: BOT };
  const stopPath = `/phones/${PHONE}/stops/${BOT}`;
  const userPath = `/phones/${PHONE}/user`;
  const failed = { state: 'delivery_failed', reason: 'gone' };

  const eventCases: [what: string, request: string, body: object | undefined, type: string, data: object][] = [
    ['writes', `POST /phones/${PHONE}/messages`, { to: BOT, text: 'Hi' }, 'message.received', { ...stop, ...text }],
    ['gets a message', 'POST /messages/a%20b/states', { state: 'read' }, 'message.state', { id: 'a b', state: 'read' }],
    ['does not get a message', 'POST /messages/m1/states', failed, 'message.state', { id: 'm1', ...failed }],
    ['is registered', `POST ${userPath}`, {}, 'user.updated', { phone_number: PHONE }],
    ['becomes a panelist', `POST ${userPath}`, user, 'user.updated', { phone_number: PHONE, ...user }],
    ['answers a request', 'POST /requests/r1/answers', { answers }, 'user_data.answered', { id: 'r1', answers }],
    [
      'withdraws consent',
      'POST /requests/r1/withdrawals',
      { properties: ['first_name'] },
      'user_data.withdrawn',
      { id: 'r1', properties: ['first_name'] },
    ],
    ['is removed', `DELETE ${userPath}`, undefined, 'user.removed', { phone_number: PHONE }],
    ['stops a business', `PUT ${stopPath}`, undefined, 'user.stopped', stop],
    ['starts a business again', `DELETE ${stopPath}`, undefined, 'user.started', stop],
  ];

  /** Makes a request of the form `METHOD PATH`. */
  const make = (request: string, body?: object) => {
    const [method = '', path = ''] = request.split(' ');
    return ask(method, path, body);
  };

  test.each(eventCases)('a user %s', async (_, request, body, type, data) => {
    const reply = await make(request, body);
    expect(reply).toEqual({ status: 200, body: { event: { id: aUuid, timestamp: aTime, type, data }, status: 204 } });
    expect(bridge.calls).toMatchObject([
      {
        method: 'POST',
        url: '/v1/app/events',
        headers: { authorization: 'Bearer bapi_app', 'content-type': 'application/json' },
        body: JSON.stringify(reply.body.event),
      },
    ]);
  });

  test.each(eventCases)('a user %s, with a given event id', async (_, request, body, type, data) => {
    const reply = await make(request, { ...body, event_id: 'again' });
    expect(reply.body).toEqual({ event: { id: 'again', timestamp: aTime, type, data }, status: 204 });
  });

  test.each(['[ {"id":"1"} , 7 ]', 'null', '{"a":1,"a":2}'])('%s is passed on unchanged', async (body) => {
    expect(await ask('POST', '/events', body)).toEqual({ status: 204, body: '' });
    expect(bridge.calls).toMatchObject([
      { url: '/v1/app/events', headers: { authorization: 'Bearer bapi_app' }, body },
    ]);
  });

  test("the service's error is returned", async () => {
    const problem = { code: 'invalid_request', errors: [{ pointer: '#/0' }] };
    bridge.answerWith({ status: 422, type: 'application/problem+json', body: JSON.stringify(problem) });
    expect(await ask('PUT', stopPath)).toEqual({ status: 422, body: problem });
    expect(await ask('POST', '/events', [])).toEqual({ status: 422, body: problem });
  });

  test('a redirect of the service is returned, and not followed', async () => {
    bridge.answerWith({ status: 307, body: 'elsewhere' });
    expect(await ask('POST', '/events', [])).toEqual({ status: 307, body: 'elsewhere' });
  });

  test('a service that is down causes a 502', async () => {
    const bridgeUrl = `http://127.0.0.1:${await freePort()}`;
    app.connect({ bridgeUrl, appToken: 'bapi_app' });
    expect(await ask('POST', '/events', [])).toEqual({
      status: 502,
      body: { message: `The service does not respond at ${bridgeUrl}.` },
    });
  });

  test('a service that has not started causes a 502', async () => {
    const early = await AppNetwork.start({ port: 0 });
    const reply = await fetch(`${early.phoneUrl}/events`, { method: 'POST', body: '[]' });
    expect([reply.status, await reply.json()]).toEqual([
      502,
      { message: 'The service is not available yet: the stack is starting.' },
    ]);
    await early.close();
  });

  test.each<[string, string, unknown, string]>([
    ['POST', '/phones/1/messages', {}, '"to" is required.'],
    ['POST', '/phones/1/messages', { to: 1, text: null }, '"to" must be a string. "text" must be a string.'],
    ['POST', '/phones/1/messages', 'null', 'The body must be an object.'],
    ['POST', '/messages/m1/states', { state: 'seen' }, '"state" must be delivered_to_user, read or delivery_failed.'],
    ['POST', '/messages/m1/states', { state: 'read', event_id: 7 }, '"event_id" must be a string.'],
    ['POST', '/phones/1/user', { properties: 'all' }, '"properties" must be an object.'],
    ['DELETE', '/phones/1/user', { id: '1' }, '"id" is unknown: the fields are event_id.'],
  ])('%s %s with %j returns 422, and no event is sent', async (method, path, body, message) => {
    expect(await ask(method, path, body)).toEqual({ status: 422, body: { message } });
    expect(bridge.calls).toEqual([]);
  });

  test.each([
    ['POST', '/phones/1/messages'],
    ['POST', '/events'],
  ])('%s %s with a body that is not JSON returns 400, and no event is sent', async (method, path) => {
    expect(await ask(method, path, '{"to":')).toEqual({ status: 400, body: { message: 'The body must be JSON.' } });
    expect(bridge.calls).toEqual([]);
  });

  test('the stops of a user are shown until they are reverted, or the user is removed', async () => {
    const stops = async () => (await ask('GET', `/phones/${PHONE}/stops`)).body;
    for (const bot of [BOT, OTHER_PHONE]) await ask('PUT', `/phones/${PHONE}/stops/${bot}`);
    expect(await stops()).toEqual([BOT, OTHER_PHONE]);
    await ask('DELETE', `/phones/${PHONE}/stops/${BOT}`);
    expect(await stops()).toEqual([OTHER_PHONE]);
    await ask('DELETE', `/phones/${PHONE}/user`);
    expect(await stops()).toEqual([]);
  });

  test('every request in the help text works', async () => {
    await tryHelp(app.phoneUrl);
  });
});

test.each([
  ['GET', '/nothing'],
  ['PATCH', '/behaviour'],
])('%s %s returns 404', async (method, path) => {
  expect(await ask(method, path)).toEqual({
    status: 404,
    body: { message: `There is no ${method} ${path}: GET / lists the requests.` },
  });
});

test('a body over 10 MB returns 413, and the next call works', async () => {
  const body = `"${'x'.repeat(10 * 1024 * 1024)}"`;
  const answer = await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body });
  expect([answer.status, await answer.json()]).toEqual([413, { message: 'The body must have at most 10 MB.' }]);
  expect(await calls()).toEqual([]);
});

describe('automatic answers to user data requests', () => {
  const requestFor = (id: string, ...properties: string[]) => ({
    ...userDataRequest,
    data: { ...userDataRequest.data, id, properties: properties.map((property) => ({ property })) },
  });

  const answersTo = (id: string) =>
    bridge.calls.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.id === id && data.answers);

  test.each<[string, unknown, Record<string, string>]>([
    ['all properties', { all: 'approved' }, { first_name: 'approved', last_name: 'approved' }],
    [
      'all properties except one',
      { phone: PHONE, all: 'approved', properties: { last_name: 'denied' } },
      { first_name: 'approved', last_name: 'denied' },
    ],
    [
      'some properties, and no answer for the rest',
      { properties: { last_name: 'approved' } },
      { last_name: 'approved' },
    ],
    [
      'by the first rule that applies',
      [{ phone: OTHER_PHONE, all: 'approved' }, { all: 'denied' }],
      { first_name: 'denied', last_name: 'denied' },
    ],
  ])('answer %s by the consent rules', async (_, rules, answers) => {
    expect((await ask('PUT', '/consent', rules)).status).toBe(200);
    expect((await ask('GET', '/consent')).body).toEqual([rules].flat());
    await deliver('m1', requestFor('r1', 'first_name', 'last_name'));
    await expect
      .poll(() => answersTo('r1'))
      .toEqual([{ id: aUuid, timestamp: aTime, type: 'user_data.answered', data: { id: 'r1', answers } }]);
  });

  test('are not sent without a rule, or for properties that no rule names', async () => {
    await deliver('m1', requestFor('r1', 'first_name'));
    await ask('PUT', '/consent', { all: 'approved' });
    expect((await ask('DELETE', '/consent')).status).toBe(204);
    await deliver('m2', requestFor('r2', 'first_name'));
    await ask('PUT', '/consent', { properties: { last_name: 'approved' } });
    await deliver('m3', requestFor('r3', 'first_name'));
    await ask('PUT', '/consent', { all: 'approved' });
    await deliver('m4', requestFor('r4', 'first_name'));
    await expect.poll(() => answersTo('r4')).toHaveLength(1);
    expect(bridge.calls).toHaveLength(1);
  });

  test.each<[unknown, string]>([
    [{ all: 'yes' }, '"all" must be approved or denied.'],
    [
      { phone: '+27' },
      '"phone" must be a phone number in international format without +: 7 to 15 digits; it contains +.',
    ],
    [[{ properties: { first_name: 'no' } }], '"first_name" of "properties" of entry 1 must be approved or denied.'],
    [{ never: true }, '"never" is unknown: the fields are phone, all, properties.'],
  ])('invalid rules return 422, and the previous rules stay: %j', async (rules, message) => {
    await ask('PUT', '/consent', { all: 'denied' });
    expect(await ask('PUT', '/consent', rules)).toEqual({ status: 422, body: { message } });
    expect((await ask('GET', '/consent')).body).toEqual([{ all: 'denied' }]);
  });
});

describe('the simulator of the app network', () => {
  test('generates a valid and different secret each time, and gives the stack its URL and secret', async () => {
    const other = await AppNetwork.start({ port: 0 });
    await other.close();
    expect(app.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(other.secret).not.toBe(app.secret);
    expect(app.appUrl).toBe(`${app.phoneUrl}/app`);
    expect(JSON.parse(app.stackSecret)).toEqual({ url: app.appUrl, secret: app.secret });
  });

  test('uses a given secret and port, on the loopback interface only', async () => {
    const port = await freePort();
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const other = await AppNetwork.start({ port, secret });
    expect(other.phoneUrl).toBe(`http://127.0.0.1:${port}`);
    const body = JSON.stringify(event('Hello'));
    const headers = signed('m1', body, { secret });
    expect((await fetch(other.appUrl, { method: 'POST', headers, body })).status).toBe(204);
    // A server on all interfaces would also listen on this address.
    await expect(fetch(`http://127.0.0.2:${port}`)).rejects.toThrow('fetch failed');
    await other.close();
    await expect(fetch(other.phoneUrl)).rejects.toThrow('fetch failed');
  });
});
