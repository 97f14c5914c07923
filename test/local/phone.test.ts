/** The phone's server: its page, its views, its live feed, and its origin check. */
import { request } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makePage } from '../../infra/local/phone/page-files.ts';
import { Phone } from '../../infra/local/phone/phone.ts';
import type { PhoneView } from '../../infra/local/phone/views.ts';
import { Simulators } from '../../infra/local/simulators/simulators.ts';
import { askAt, aTime, type Bridge, openBridge } from './support/simulator.ts';

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
  phone = new Phone(simulators);
  phone.serve(
    { baseUrl: bridge.url, bridgeUrl: bridge.url },
    { token: 'bapi_demo', app_token: 'bapi_app', bot_phone_number: BOT, turn_bot_phone_number: '1', panelist: PHONE },
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
  const id = crypto.randomUUID();
  const time = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(time.getTime() / 1000)}`,
    'webhook-signature': new Webhook(simulators.app.secret).sign(id, time, body),
  };
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

  test('has a page with at most 60 KB of script', async () => {
    const { script, style } = await makePage();
    expect(Buffer.byteLength(script)).toBeLessThanOrEqual(60 * 1024);
    expect([script, style]).not.toContain('');
  });
});

describe('the view of a phone', () => {
  const write = (text: string, event_id: string) =>
    ask('POST', `/phones/${PHONE}/messages`, { to: BOT, text, event_id });

  test("lists messages in order, with reported states and the service's responses", async () => {
    await write('Hello', 'e1');
    await deliver({ id: 'm1', from: BOT, type: 'text', text: { body: 'Hi' }, quick_replies: ['Yes'] });
    await ask('POST', '/messages/m1/states', { state: 'delivered_to_user' });
    await ask('POST', '/messages/m1/states', { state: 'read' });
    expect((await viewOf()).timeline).toEqual([
      { kind: 'written', id: 'e1', time: aTime, to: BOT, text: 'Hello', outcome: 'taken', detail: null },
      {
        kind: 'received',
        id: 'm1',
        time: aTime,
        from: BOT,
        content: { type: 'text', body: 'Hi' },
        quick_replies: ['Yes'],
        states: ['delivered_to_user', 'read'],
      },
    ]);
    expect((await ask('GET', '/view/phones')).body).toMatchObject([{ phone: PHONE, undelivered: [], unread: [] }]);
  });

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

  test('lists a user data request with business, reasons and the first answer to each property', async () => {
    await deliver(request, 'user_data.request');
    expect((await ask('GET', '/view/phones')).body).toMatchObject([{ asks: 1 }]);
    await ask('POST', '/requests/r1/answers', { answers: { first_name: 'approved' } });
    await ask('POST', '/requests/r1/answers', { answers: { first_name: 'denied', last_name: 'denied' } });
    expect((await viewOf()).timeline).toMatchObject([
      {
        kind: 'request',
        business: 'Demo',
        reason: 'To greet you',
        properties: [
          { property: 'first_name', reason: 'Your name', required: true },
          { property: 'last_name', reason: null, required: false },
        ],
        answers: { first_name: 'approved', last_name: 'denied' },
      },
    ]);
    expect((await ask('GET', '/view/phones')).body).toMatchObject([{ asks: 0 }]);
  });

  test('lists answers by consent rules', async () => {
    await ask('PUT', '/consent', { all: 'approved' });
    await deliver(request, 'user_data.request');
    await expect
      .poll(async () => (await viewOf()).timeline)
      .toMatchObject([{ answers: { first_name: 'approved', last_name: 'approved' } }]);
  });

  test("shows the user's properties: null values are removed, and a removed user is null", async () => {
    const name = { value: 'Thandi', source: 'user' };
    await ask('POST', `/phones/${PHONE}/user`, { panelist: true, properties: { first_name: name, last_name: name } });
    await ask('POST', `/phones/${PHONE}/user`, { properties: { last_name: { value: null } } });
    expect((await viewOf()).user).toEqual({ panelist: true, properties: { first_name: name } });
    await ask('DELETE', `/phones/${PHONE}/user`);
    expect((await viewOf()).user).toBe(null);
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

  test('reports changes of phones, platforms, requests and counters', async () => {
    const waitFor = await follow();
    await ask('POST', `/phones/${PHONE}/messages`, { to: BOT, text: 'Hello' });
    await waitFor('phones');
    await askAt(simulators.rapidpro.url, 'PUT', '/channels/c', { token: 't' });
    await waitFor('platforms');
    phone.onLine(
      '{"trace_id":"1","time":"1767323045000","route":"POST /v1/message","status":"200","account":"-","ms":"12"}',
    );
    phone.onLine('{"level":"info","message":"count","entries":1,"counted":1}');
    phone.onLine('no JSON');
    await waitFor('requests', 'funnel');
    expect((await ask('GET', '/view/requests')).body).toEqual([
      { id: '1', time: '2026-01-02T03:04:05.000Z', route: 'POST /v1/message', status: 200, account: null, ms: 12 },
    ]);
  });

  test('ends when the app network closes', async () => {
    const waitFor = await follow();
    await simulators.close();
    await expect(waitFor('phones')).rejects.toThrow();
  });
});

describe("the views of the service's work", () => {
  test('list deliveries with their attempts, and the messages of each platform', async () => {
    await deliver({ id: 'm1', from: BOT, type: 'text', text: { body: 'Hi' } });
    expect((await ask('GET', '/view/deliveries')).body).toMatchObject([
      { phone: PHONE, what: 'message.send', attempts: [{ outcome: '204', taken: true }] },
    ]);
    simulators.rapidpro.addChannel('c', { token: 't' });
    simulators.turn.addNumber('n', { token: 't', bridge_token: 't' });
    await fetch(`${simulators.rapidpro.url}/c/ex/c/receive`, {
      method: 'POST',
      body: new URLSearchParams({ from: PHONE, text: 'Hello' }),
    });
    await askAt(simulators.turn.url, 'POST', '/numbers/n/send', { to: PHONE, text: 'Hello you' });
    expect((await ask('GET', '/view/platforms')).body).toMatchObject([
      { platform: 'RapidPro', line: 'c', got: [{ what: 'receive', text: 'Hello', outcome: '200' }], sent: [] },
      { platform: 'Turn', line: 'n', got: [], sent: [{ to: PHONE, text: 'Hello you' }] },
    ]);
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
    expect(await ask('POST', '/business/nothing', { phone: PHONE })).toMatchObject({ status: 404 });
    expect(await ask('POST', '/business/greeting', { phone: '1' })).toMatchObject({ status: 422 });
    bridge.answerWith({ status: 404, body: '{"detail":"There is no such user."}' });
    expect(await ask('POST', '/business/consent', { phone: PHONE })).toEqual({
      status: 502,
      body: { message: 'There is no such user.' },
    });
    expect(bridge.calls.at(-1)).toMatchObject({ headers: { authorization: 'Bearer bapi_demo' } });
  });
});
