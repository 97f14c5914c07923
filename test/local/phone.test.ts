/**
 * The phone's server: its page, its views, its live feed, and its origin check.
 *
 * @module-tag long
 */
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makePage } from '../../infra/local/phone/page-files.ts';
import { Phone } from '../../infra/local/phone/phone.ts';
import type { PhoneView } from '../../infra/local/phone/views.ts';
import { SimulatedUsers } from '../../infra/local/simulators/app-network/simulated-users.ts';
import { Changes } from '../../infra/local/simulators/changes.ts';
import { Simulators } from '../../infra/local/simulators/simulators.ts';
import { askAt, aTime, type Bridge, openBridge, signatureOf } from './support/simulator.ts';

const PHONE = '27821234567';
const BOT = '447700900000';

let simulators: Simulators;
let bridge: Bridge;
let phone: Phone;

beforeEach(async () => {
  bridge = await openBridge();
  bridge.answerWith({ status: 204 });
  simulators = await Simulators.start({ ports: { phone: 0, rapidpro: 0, turn: 0 }, minute: 60_000 });
  simulators.connect({ bridgeUrl: bridge.url, appToken: 'bapi_app' });
  phone = new Phone(simulators, new Changes());
  phone.serve(
    { baseUrl: bridge.url, bridgeUrl: bridge.url },
    {
      token: 'bapi_demo',
      app_token: 'bapi_app',
      turn_token: 'bapi_turn',
      bot_phone_number: BOT,
      turn_bot_phone_number: '1',
      panelist: PHONE,
    },
  );
});

afterEach(async () => {
  await simulators.close();
  await bridge.close();
});

const ask = (method: string, path: string, body?: unknown) => askAt(simulators.app.phoneUrl, method, path, body);

const viewOf = async (number = PHONE): Promise<PhoneView> => (await ask('GET', `/view/phones/${number}`)).body;

/** Sends an event to a phone like the service. */
const deliver = async (data: object, type = 'message.send') => {
  const body = JSON.stringify({ type, timestamp: '2026-01-02T03:04:05.000000', data: { to: PHONE, ...data } });
  const headers = signatureOf(simulators.app.secret, body);
  expect((await fetch(simulators.app.appUrl, { method: 'POST', headers, body })).status).toBe(204);
};

describe('the URL of the phones', () => {
  test.each([
    [
      'the page to a browser',
      'text/html,application/xhtml+xml,*/*;q=0.8',
      'text/html; charset=utf-8',
      '<!doctype html>',
    ],
    ['the help to curl', '*/*', 'text/plain; charset=utf-8', 'The simulated app network'],
    [
      'the help to clients that accept JSON',
      'application/json',
      'text/plain; charset=utf-8',
      'The simulated app network',
    ],
  ])('returns %s', async (_, accept, type, begin) => {
    const answer = await fetch(simulators.app.phoneUrl, { headers: { accept } });
    expect([answer.headers.get('content-type'), (await answer.text()).startsWith(begin)]).toEqual([type, true]);
  });

  test('has a page that loads only its own files and the media of the service', async () => {
    const answer = await fetch(simulators.app.phoneUrl, { headers: { accept: 'text/html' } });
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).toContain(`img-src 'self' data: ${bridge.url};`);
  });

  test('has a page with at most 144 KB of script', async () => {
    const { script, style } = await makePage();
    expect(Buffer.byteLength(script)).toBeLessThanOrEqual(144 * 1024);
    expect([script, style]).not.toContain('');
  });
});

describe('the view of a phone', () => {
  const write = (text: string, event_id: string) =>
    ask('POST', `/phones/${PHONE}/messages`, { to: BOT, text, event_id });

  test('lists a rejected message with the reason, and lists it once if it is sent again', async () => {
    const problem = { detail: 'It is not valid.', errors: [{ pointer: '/data/to', detail: "is no bot's number" }] };
    bridge.answerWith({ status: 422, type: 'application/problem+json', body: JSON.stringify(problem) });
    await write('Hello', 'e1');
    expect((await viewOf()).timeline).toMatchObject([
      { outcome: 'refused', detail: "It is not valid. /data/to is no bot's number" },
    ]);
    bridge.answerWith((response) => void response.destroy());
    await write('Hello', 'e1');
    expect((await viewOf()).timeline).toMatchObject([{ outcome: 'unanswered' }]);
    bridge.answerWith({ status: 204 });
    await write('Hello', 'e1');
    expect((await viewOf()).timeline).toMatchObject([{ id: 'e1', outcome: 'taken', detail: null }]);
  });

  test('omits a state that the service did not accept', async () => {
    await deliver({ id: 'm1', from: BOT, type: 'text', text: { body: 'Hi' } });
    bridge.answerWith({ status: 503 });
    await ask('POST', '/messages/m1/states', { state: 'read' });
    expect((await viewOf()).timeline).toMatchObject([{ states: [] }]);
  });

  const request = {
    id: 'r1',
    business: 'Demo',
    reason: 'To greet you',
    properties: [{ property: 'first_name', reason: 'Your name', required: true }, { property: 'last_name' }],
  };

  test('shows what was withdrawn, what has expired, and for how many days the consent of a request is valid', async () => {
    await deliver({ ...request, valid_days: 7 }, 'user_data.request');
    await ask('POST', '/requests/r1/answers', { answers: { first_name: 'approved' } });
    await ask('POST', '/requests/r1/withdrawals', { properties: ['first_name', 'last_name'] });
    await deliver({ ...request, id: 'r2', valid_days: 1e-9 }, 'user_data.request');
    await ask('POST', '/requests/r2/answers', { answers: { first_name: 'approved', last_name: 'denied' } });
    // The service denies a property that is withdrawn before it is answered. The consent expires within a millisecond.
    const timeline = async () => (await viewOf()).timeline;
    await expect.poll(timeline).toMatchObject([
      { id: 'r1', valid_days: 7, answers: { first_name: 'withdrawn', last_name: 'denied' } },
      { id: 'r2', answers: { first_name: 'expired', last_name: 'denied' } },
    ]);
  });

  test('lists answers by consent rules', async () => {
    await ask('PUT', '/consent', { all: 'approved' });
    await deliver(request, 'user_data.request');
    await expect
      .poll(async () => (await viewOf()).timeline)
      .toMatchObject([{ answers: { first_name: 'approved', last_name: 'approved' } }]);
  });
});

describe('the live feed', () => {
  /** Opens the feed. Returns a function that reads until the feed has contained all given events. */
  const follow = async () => {
    const answer = await fetch(`${simulators.app.phoneUrl}/live`);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let received = '';
    return async (...parts: string[]): Promise<void> => {
      while (parts.some((part) => !received.includes(`event: changed\ndata: ${part}\n\n`))) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`The feed has ended with ${JSON.stringify(received)}.`);
        received += value;
      }
    };
  };

  test('reports changes of phones, traces and counters', async () => {
    const waitFor = await follow();
    await ask('POST', `/phones/${PHONE}/messages`, { to: BOT, text: 'Hello' });
    await waitFor('phones');
    phone.onLine('{"level":"info","message":"accepted","type":"message.send","trace_id":"1","message_id":"m1"}');
    phone.onLine('{"level":"info","message":"count","entries":1,"counted":1}');
    phone.onLine('no JSON');
    await waitFor('traces', 'funnel');
  });

  test('ends when the app network closes', async () => {
    const waitFor = await follow();
    await simulators.close();
    await expect(waitFor('phones')).rejects.toThrow();
  });
});

describe('traces', () => {
  /** A request of the demo account to the API, as the gateway shows it. */
  const accept = (requestId: string, { url = '/v1/message', type = 'application/json', body = message } = {}) => {
    phone.onLine(
      JSON.stringify({
        message: 'accepted',
        type: 'message.send',
        account: 'demo',
        trace_id: requestId,
        message_id: 'm1',
      }),
    );
    phone.onExchange({
      requestId,
      time: Date.now(),
      ms: 5,
      method: 'POST',
      url,
      headers: { host: 'h', 'content-type': type, authorization: 'Bearer bapi_secret', 'idempotency-key': 'k' },
      body: Buffer.from(body),
      routeKey: `POST ${url}`,
      context: { account: 'demo' },
      status: 200,
      responseHeaders: { 'content-type': 'application/json' },
      responseBody: '{"id":"m1"}',
    });
  };
  const message = JSON.stringify({ to: PHONE, type: 'text', text: { body: 'Hi' } });

  test('show each call to a destination with its response, or that there was none', async () => {
    accept('t1');
    await ask('PUT', '/behaviour', { drop: true, times: 1 });
    const data = { id: 'm1', from: BOT, type: 'text', text: { body: 'Hi' } };
    await expect(deliver(data)).rejects.toThrow();
    await deliver(data);
    const attempts = async () =>
      (await ask('GET', '/view/traces/m1')).body.steps
        .filter(({ title }: { title: string }) => title.startsWith('Attempt'))
        .map(({ status }: { status: unknown }) => status);
    await expect.poll(attempts).toEqual(['no response', 204]);
    const {
      body: { rows: calls },
    } = await ask('GET', '/view/calls');
    expect(calls.map(({ server, status, trace }: Record<string, unknown>) => [server, status, trace])).toEqual([
      ['app', 204, 't1'],
      ['app', null, 't1'],
      ['service', 200, 't1'],
    ]);
    expect((await ask('GET', `/view/calls/${calls[0].id}`)).body).toMatchObject({
      call: { method: 'POST', path: '/app' },
    });
    expect((await ask('GET', '/view/traces')).body.destinations).toMatchObject([
      { server: 'app', calls: [{ ok: false }, { ok: true }] },
      { server: 'rapidpro', calls: [] },
      { server: 'turn', calls: [] },
    ]);
    expect(await ask('DELETE', '/traces')).toMatchObject({ status: 204 });
    expect((await ask('GET', '/view/traces')).body.rows).toEqual([]);
    expect(await ask('GET', '/view/traces/m1')).toMatchObject({ status: 404 });
    expect(await ask('GET', `/view/calls/${calls[0].id}`)).toMatchObject({ status: 404 });
  });

  test("send a request again with the business's own token, and without its idempotency key", async () => {
    accept('t1');
    bridge.answerWith({ status: 200, body: '{"id":"m2"}' });
    expect(await ask('POST', '/traces/t1/again')).toMatchObject({ status: 204 });
    expect(bridge.calls).toMatchObject([
      { method: 'POST', url: '/v1/message', body: message, headers: { authorization: 'Bearer bapi_demo' } },
    ]);
    expect(bridge.calls[0]?.headers['idempotency-key']).toBe(undefined);
    expect(await ask('POST', '/traces/t2/again')).toMatchObject({ status: 404 });
    expect(await ask('POST', '/traces/t2/retry')).toMatchObject({ status: 404 });
  });

  test.each([
    ['message.received', { from: PHONE, to: BOT, type: 'text', text: { body: 'Hello' } }],
    ['message.state', { id: 'm1', state: 'delivery_failed', reason: 'No space' }],
    ['user.updated', { phone_number: PHONE, properties: { first_name: { value: 'Thandi', source: 'user' } } }],
    ['user.removed', { phone_number: PHONE }],
    ['user.stopped', { from: PHONE, to: BOT }],
    ['user.started', { from: PHONE, to: BOT }],
    ['user_data.answered', { id: 'r1', answers: { first_name: 'approved' } }],
    ['user_data.withdrawn', { id: 'r1', properties: ['first_name'] }],
  ])('report %s again with the same data, as another event', async (type, data) => {
    const event = { id: 'e1', timestamp: aTime, type, data };
    accept('t1', { url: '/v1/app/events', body: JSON.stringify({ ...event, timestamp: '2026-01-02T03:04:05Z' }) });
    expect(await ask('POST', '/traces/t1/again')).toMatchObject({ status: 204 });
    const reported = bridge.calls.map(({ body }) => JSON.parse(body));
    expect(reported).toEqual([{ ...event, id: expect.any(String) }]);
    expect(reported[0].id).not.toBe('e1');
  });

  test('list the switches that were set, the newest first', async () => {
    for (const mode of ['failing', 'normal']) await ask('PATCH', '/destinations/turn', { mode, share: 0.5 });
    expect((await ask('GET', '/view/switched')).body).toMatchObject([
      { name: 'Turn', mode: 'normal', share: 1 },
      { name: 'Turn', mode: 'failing', share: 0.5 },
    ]);
  });

  test('send one of the last 20 uploads again as it was', async () => {
    const upload = { url: '/v1/upload_file', type: 'multipart/form-data; boundary=x' };
    bridge.answerWith({ status: 200, body: '{}' });
    accept('t1', { ...upload, body: '--x\r\nfirst\r\n--x--' });
    expect(await ask('POST', '/traces/t1/again')).toMatchObject({ status: 204 });
    expect(bridge.calls).toMatchObject([
      { url: '/v1/upload_file', body: '--x\r\nfirst\r\n--x--', headers: { 'content-type': upload.type } },
    ]);
    for (let index = 2; index <= 21; index += 1) accept(`t${index}`, { ...upload, body: '--x--' });
    bridge.calls.length = 0;
    expect(await ask('POST', '/traces/t1/again')).toEqual({
      status: 422,
      body: { message: 'Its file is not kept any more: the stack keeps the last 20 uploads.' },
    });
    expect(bridge.calls).toEqual([]);
  });
});

describe('the origin check', () => {
  /** Sends headers that `fetch` does not allow. Returns the status. */
  const statusFor = (method: string, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${simulators.app.phoneUrl}/behaviour`, { method, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      outgoing.on('error', reject).end();
    });
  const ownHost = () => new URL(simulators.app.phoneUrl).host;

  test.each([
    ['a foreign host name', { host: 'attacker.example' }],
    ['a host name that begins with localhost', { host: 'localhost.attacker.example:80' }],
    ['a foreign origin', { origin: 'https://attacker.example' }],
    ['an origin with another port', { origin: 'http://127.0.0.1:1' }],
    ['the origin null', { origin: 'null' }],
  ])('rejects %s', async (_, headers) => {
    for (const method of ['GET', 'DELETE']) expect(await statusFor(method, { host: ownHost(), ...headers })).toBe(403);
  });

  test('accepts the own host, localhost and [::1]', async () => {
    const { port } = new URL(simulators.app.phoneUrl);
    for (const host of [ownHost(), `localhost:${port}`, `[::1]:${port}`]) {
      expect(await statusFor('GET', { host })).toBe(200);
      expect(await statusFor('DELETE', { host, origin: `http://${host}` })).toBe(204);
    }
  });
});

describe('the business', () => {
  test("returns 404 for an unknown action, 422 for an unknown phone, and the service's error as 502", async () => {
    expect(await ask('POST', '/businesses/demo/acts/nothing', { phone: PHONE })).toMatchObject({ status: 404 });
    expect(await ask('POST', '/businesses/nobody/acts/greeting', { phone: PHONE })).toMatchObject({ status: 404 });
    expect(await ask('POST', '/businesses/demo/acts/greeting', { phone: '1' })).toMatchObject({ status: 422 });
    bridge.answerWith({ status: 404, body: '{"detail":"There is no such user."}' });
    expect(await ask('POST', '/businesses/demo/acts/consent', { phone: PHONE })).toEqual({
      status: 502,
      body: { message: 'There is no such user.' },
    });
    expect(bridge.calls.at(-1)).toMatchObject({ headers: { authorization: 'Bearer bapi_demo' } });
  });

  test('sends a message to one user, and returns its id', async () => {
    bridge.answerWith({ status: 200, body: '{"id":"m1"}' });
    const message = { to: PHONE, type: 'text', text: { body: 'Hello' } };
    expect(await ask('POST', '/businesses/demo-turn/messages', message)).toEqual({ status: 201, body: { id: 'm1' } });
    expect(bridge.calls.at(-1)).toMatchObject({ url: '/v1/message', headers: { authorization: 'Bearer bapi_turn' } });
    expect(await ask('POST', '/businesses/demo/messages', { type: 'text' })).toMatchObject({ status: 422 });
  });
});

describe('simulated users', { tags: 'long' }, () => {
  beforeEach(() => new SimulatedUsers(simulators.app).watch());

  const reports = () =>
    bridge.calls
      .flatMap(({ body }) => JSON.parse(body))
      .map(({ data }) => `${data.id} ${data.state}`)
      .sort();

  test('have phones that report what they got, while no page is open; made-up users read it and are not listed', async () => {
    await deliver({ id: 'm1', to: '99900000001', type: 'text', text: { body: 'Hi' } });
    await deliver({ id: 'm2', type: 'text', text: { body: 'Hi' } });
    await expect.poll(reports).toEqual(['m1 delivered_to_user', 'm1 read', 'm2 delivered_to_user']);
    expect(bridge.calls.at(-1)).toMatchObject({
      url: '/v1/app/events',
      headers: { authorization: 'Bearer bapi_app' },
    });
    expect((await ask('GET', '/view/phones')).body).toMatchObject([{ phone: PHONE, unread: ['m2'] }]);
  });

  test('have phones that report again what the service did not take', async () => {
    bridge.answerWith({ status: 503 });
    await deliver({ id: 'm1', type: 'text', text: { body: 'Hi' } });
    await expect.poll(() => reports().length).toBeGreaterThan(1);
  });
});

test('the list of phones has the last 50 that only received messages, and each known user', async () => {
  await ask('POST', `/phones/${PHONE}/user`, { properties: { first_name: { value: 'Thandi', source: 'user' } } });
  for (let number = 0; number < 55; number += 1) {
    await deliver({ id: `m${number}`, to: `2782000${1000 + number}`, type: 'text', text: { body: 'Hi' } });
  }
  const { body } = await ask('GET', '/view/phones');
  expect(body).toHaveLength(51);
  expect(body[0]).toMatchObject({ phone: PHONE, name: 'Thandi' });
  // A phone that is not in the list can be opened.
  expect(await viewOf('27820001000')).toMatchObject({ summary: { unread: ['m0'] }, timeline: [{ id: 'm0' }] });
});
