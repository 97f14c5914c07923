/** RapidPro: how its messages are read, the exact requests to it, its responses, and its settings. */
import { parse } from 'node:querystring';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AttemptResult } from '../../../shared/destinations/attempt-result.ts';
import type { OutboundResponse } from '../../../shared/destinations/http/request.ts';
import { fromRapidpro, leastPartOf, rapidpro, rapidproMessage } from '../../../shared/destinations/rapidpro.ts';
import type { Entry, PlatformDraft } from '../../../shared/outbox/event.ts';
import type { Message, State } from '../../../shared/outbox/message.ts';
import { errorInBody } from '../../../shared/validation/validation-errors.ts';
import { entry, issuesOf, message, received, sent as sentMessage, reached as stateReached } from './support/entries.ts';
import { settingsCases } from './support/settings-cases.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 1) }));

afterEach(() => void vi.useRealTimers());

const UUID = '0d6b9c1e-6a35-4c5c-9f1b-2b8a8f3b8a11';

describe('the parser of messages from RapidPro', () => {
  const to = '27821234567';

  /** A text of `count` emoji. Each takes two code units and four bytes. */
  const emoji = (count: number): string => '😀'.repeat(count);

  test.each<[string, string, PlatformDraft]>([
    [
      'with quick replies',
      'id=21&text=Hello+%26+welcome+%E2%98%BA+100%25&to=27821234567&quick_reply=Yes&quick_reply=No+%26+maybe',
      {
        reference: '21',
        to,
        type: 'text',
        text: { body: 'Hello & welcome \u263a 100%' },
        quick_replies: ['Yes', 'No & maybe'],
      },
    ],
    [
      'with an attachment',
      'id=22&text=pic%0Ahttps%3A%2F%2Ffoo.bar%2Fimage.jpg&to=27821234567',
      { reference: '22', to, type: 'text', text: { body: 'pic\nhttps://foo.bar/image.jpg' } },
    ],
    [
      'that is the first of two parts',
      'id=23&text=AAA%E2%80%A6+BBBBB&to=27821234567',
      { reference: '23', to, type: 'text', text: { body: 'AAA… BBBBB' } },
    ],
    [
      'that is the last of two parts, with the same id and the only quick reply',
      'id=23&text=CCCC+DDDD&to=27821234567&quick_reply=One',
      { reference: '23', to, type: 'text', text: { body: 'CCCC DDDD' }, quick_replies: ['One'] },
    ],
    [
      'with the number in to_no_plus',
      'id=24&text=Hi&to_no_plus=27821234567',
      { reference: '24', to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'with a number with + in to',
      'id=25&text=Hi&to=%2B27821234567',
      { reference: '25', to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'with + before to_no_plus',
      'id=26&text=Hi&to_no_plus=%2B27821234567',
      { reference: '26', to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'with an empty to_no_plus beside to',
      'id=27&text=Hi&to_no_plus=&to=%2B27821234567',
      { reference: '27', to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'with to_no_plus and to, of which to_no_plus is used',
      'id=28&text=Hi&to_no_plus=27821234567&to=%2B27829999999',
      { reference: '28', to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'of a newer version, with a UUID as its id',
      `id=${UUID}&text=Hi&to_no_plus=27821234567`,
      { reference: UUID, to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'with the longest id',
      `id=${'9'.repeat(255)}&text=Hi&to=27821234567`,
      { reference: '9'.repeat(255), to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'with blank quick replies, which are dropped',
      'id=29&text=Hi&to=27821234567&quick_reply=&quick_reply=Yes&quick_reply=+%0A&quick_reply=+No+',
      { reference: '29', to, type: 'text', text: { body: 'Hi' }, quick_replies: ['Yes', ' No '] },
    ],
    [
      'with nothing but blank quick replies',
      'id=30&text=Hi&to=27821234567&quick_reply=',
      { reference: '30', to, type: 'text', text: { body: 'Hi' } },
    ],
    [
      'with ten quick replies and uncounted blank ones',
      `id=31&text=Hi&to=27821234567&quick_reply=${'&quick_reply=x'.repeat(10)}&quick_reply=+`,
      { reference: '31', to, type: 'text', text: { body: 'Hi' }, quick_replies: Array(10).fill('x') },
    ],
    [
      'that is an attachment without text, without its leading empty line',
      'id=32&text=%0Ahttps%3A%2F%2Ffoo.bar%2Fimage.jpg&to=27821234567',
      { reference: '32', to, type: 'text', text: { body: 'https://foo.bar/image.jpg' } },
    ],
    [
      'that is two attachments without text',
      'id=33&text=%0Ahttp%3A%2F%2Ffoo.bar%2F1.jpg%0Ahttps%3A%2F%2Ffoo.bar%2F2.jpg&to=27821234567',
      { reference: '33', to, type: 'text', text: { body: 'http://foo.bar/1.jpg\nhttps://foo.bar/2.jpg' } },
    ],
    [
      'that is an attachment after empty lines, without these lines',
      'id=36&text=%0A%0Ahttps%3A%2F%2Ffoo.bar%2Fimage.jpg&to=27821234567',
      { reference: '36', to, type: 'text', text: { body: 'https://foo.bar/image.jpg' } },
    ],
    [
      'that begins with an empty line and text, which stays',
      'id=34&text=%0A+Hello+https%3A%2F%2Ffoo.bar%2F%0A&to=27821234567',
      { reference: '34', to, type: 'text', text: { body: '\n Hello https://foo.bar/\n' } },
    ],
    [
      'of exactly 4,096 characters',
      `id=35&text=${'x'.repeat(4_096)}&to=27821234567`,
      { reference: '35', to, type: 'text', text: { body: 'x'.repeat(4_096) } },
    ],
    [
      'of exactly 4,096 emoji',
      `id=36&text=${encodeURIComponent(emoji(4_096))}&to=27821234567`,
      { reference: '36', to, type: 'text', text: { body: emoji(4_096) } },
    ],
    [
      'with unknown fields, which are ignored',
      'id=37&text=Hi&to=27821234567&from=27820000000&channel=x&channel=y&text2=',
      { reference: '37', to, type: 'text', text: { body: 'Hi' } },
    ],
  ])('reads a message %s', (_, form, draft) => {
    expect(fromRapidpro(v.parse(rapidproMessage, parse(form)))).toEqual(draft);
  });

  test.each(['', '+%0A%C2%A0'])('ignores a message with a blank text: %j', (text) => {
    expect(fromRapidpro(v.parse(rapidproMessage, parse(`id=1&text=${text}&to=27821234567`)))).toBeUndefined();
  });

  const BLANK = 'must not be empty or white space only';
  const NUMBER = expect.stringContaining(
    'must be a phone number in international format, here or in the field to: 7 to 15 digits',
  );

  test.each<[string, string, Record<string, string>]>([
    ['without a text', 'id=1&to=27821234567', { '#/text': 'is required' }],
    [
      'of 4,097 characters',
      `id=1&text=${'x'.repeat(4_097)}&to=27821234567`,
      { '#/text': 'must have at most 4096 characters' },
    ],
    [
      'of 4,097 emoji',
      `id=1&text=${encodeURIComponent(emoji(4_097))}&to=27821234567`,
      { '#/text': 'must have at most 4096 characters' },
    ],
    ['with two texts', 'id=1&text=a&text=b&to=27821234567', { '#/text': 'must be a string, not an array' }],
    ['to a number of letters', 'id=1&text=a&to_no_plus=2782ABCDEFG', { '#/to_no_plus': NUMBER }],
    ['to a number of letters in the field to', 'id=1&text=a&to=2782ABCDEFG', { '#/to_no_plus': NUMBER }],
    ['to too few digits', 'id=1&text=a&to_no_plus=278212', { '#/to_no_plus': NUMBER }],
    ['to too many digits', 'id=1&text=a&to_no_plus=2782123456789012', { '#/to_no_plus': NUMBER }],
    ['without a number', 'id=1&text=a', { '#/to_no_plus': NUMBER }],
    ['with empty numbers', 'id=1&text=a&to_no_plus=&to=', { '#/to_no_plus': NUMBER }],
    [
      'with an invalid to_no_plus and a valid to',
      'id=1&text=a&to_no_plus=x&to=27821234567',
      { '#/to_no_plus': NUMBER },
    ],
    [
      'to two numbers',
      'id=1&text=a&to_no_plus=27821234567&to_no_plus=27821234568',
      { '#/to_no_plus': 'must be a string, not an array' },
    ],
    ['without an id', 'text=a&to=27821234567', { '#/id': 'is required' }],
    ['with an empty id', 'id=&text=a&to=27821234567', { '#/id': BLANK }],
    ['with a blank id', 'id=+&text=a&to=27821234567', { '#/id': BLANK }],
    [
      'with an id of 256 characters',
      `id=${'9'.repeat(256)}&text=a&to=27821234567`,
      { '#/id': 'must have at most 255 characters' },
    ],
    ['with two ids', 'id=1&id=2&text=a&to=27821234567', { '#/id': 'must be a string, not an array' }],
    [
      'with eleven quick replies',
      `id=1&text=a&to=27821234567${'&quick_reply=x'.repeat(11)}`,
      { '#/quick_reply': 'must hold at most 10 quick replies' },
    ],
    [
      'with a quick reply that is too long',
      `id=1&text=a&to=27821234567&quick_reply=x&quick_reply=${'x'.repeat(4_097)}`,
      { '#/quick_reply/1': 'must have at most 4096 characters' },
    ],
    ['with no field', '', { '#/id': 'is required', '#/text': 'is required', '#/to_no_plus': NUMBER }],
    [
      'that is invalid in every field',
      `id=+&text=&to=1${'&quick_reply=x'.repeat(11)}`,
      {
        '#/id': BLANK,
        '#/quick_reply': 'must hold at most 10 quick replies',
        '#/to_no_plus': NUMBER,
      },
    ],
  ])('rejects a message %s, with one error per invalid field', (_, form, errors) => {
    const { issues = [] } = v.safeParse(rapidproMessage, parse(form));
    expect(issues.map((issue) => errorInBody(issue))).toEqual(
      Object.entries(errors).map(([pointer, detail]) => ({ pointer, detail })),
    );
  });
});

const settings = { url: 'https://flows.example.com/c/ex/5c8d/receive' };

const own: Message = { ...message, origin: { platform: 'rapidpro', id: '21' } };

const reached = (state: State, of = own): Entry => stateReached(state, of);

const text = received({ type: 'text', text: { body: 'Zoë 😀 & 100%\n' } });

const sent = sentMessage(own);

describe('requests to RapidPro', () => {
  test.each<[string, Entry, { body: string; length: string }]>([
    [
      "a user's text",
      text,
      {
        body: 'from=%2B27821234567&text=Zo%C3%AB+%F0%9F%98%80+%26+100%25%0A&date=2030-01-01T00%3A00%3A00.999999Z',
        length: '97',
      },
    ],
    [
      "a user's image, as its URL",
      received({ type: 'image', image: { url: 'https://bridge.example.com/media/1' } }),
      {
        body: 'from=%2B27821234567&text=https%3A%2F%2Fbridge.example.com%2Fmedia%2F1&date=2030-01-01T00%3A00%3A00.999999Z',
        length: '106',
      },
    ],
    [
      "a user's file, as its URL",
      received({ type: 'file', file: { url: 'https://bridge.example.com/media/2?a=b&c' } }),
      {
        body: 'from=%2B27821234567&text=https%3A%2F%2Fbridge.example.com%2Fmedia%2F2%3Fa%3Db%26c&date=2030-01-01T00%3A00%3A00.999999Z',
        length: '118',
      },
    ],
  ])('contain %s', (_, given, { body, length }) => {
    expect(rapidpro.destination(settings).buildRequest(given)).toEqual({
      url: 'https://flows.example.com/c/ex/5c8d/receive',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': length },
      body,
    });
  });

  test.each<[State, string]>([
    ['delivered_to_server', 'sent'],
    ['delivered_to_user', 'delivered'],
    ['delivery_failed', 'failed'],
    ['sending_failed', 'failed'],
  ])('report the state %s of a message from RapidPro at the URL beside the receive URL: %s', (state, address) => {
    expect(rapidpro.destination(settings).buildRequest(reached(state))).toEqual({
      url: `https://flows.example.com/c/ex/5c8d/${address}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '5' },
      body: 'id=21',
    });
  });

  test.each([
    [UUID, `id=${UUID}`],
    ['a b&c=\u263a', 'id=a+b%26c%3D%E2%98%BA'],
  ])('contain the id exactly as RapidPro sent it: %s', (id, body) => {
    const given = reached('delivered_to_user', { ...message, origin: { platform: 'rapidpro', id } });
    expect(rapidpro.destination(settings).buildRequest(given)).toMatchObject({ body });
  });

  test.each([
    { type: 'user.stopped', user: { account: 'acme', phone: '27821234567' } } as const,
    { type: 'user.state', user: { account: 'acme', phone: '27821234567' }, state: 'stopped' } as const,
  ])('report a user who is removed or stops the business at the URL "stopped", which stops the contact', (outgoing) => {
    const stopped = entry(outgoing);
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '19' };
    const { buildRequest, receiptFor } = rapidpro.destination(settings);
    expect(buildRequest(stopped)).toEqual({
      url: 'https://flows.example.com/c/ex/5c8d/stopped',
      headers: form,
      body: 'from=%2B27821234567',
    });
    expect(receiptFor?.(stopped)).toBeUndefined();
    expect(rapidpro.destination(everything).buildRequest(stopped)?.url).toBe('https://other.example.com/stopped');
  });

  test.each<[string, { receive: string; sent: string; delivered: string; failed: string }]>([
    [
      'https://flows.example.com/c/ex/5c8d/receive?key=a%2Fb&x',
      {
        receive: 'https://flows.example.com/c/ex/5c8d/receive?key=a%2Fb&x',
        sent: 'https://flows.example.com/c/ex/5c8d/sent?key=a%2Fb&x',
        delivered: 'https://flows.example.com/c/ex/5c8d/delivered?key=a%2Fb&x',
        failed: 'https://flows.example.com/c/ex/5c8d/failed?key=a%2Fb&x',
      },
    ],
    [
      'https://flows.example.com/c/ex/5c8d/receive/',
      {
        receive: 'https://flows.example.com/c/ex/5c8d/receive/',
        sent: 'https://flows.example.com/c/ex/5c8d/sent',
        delivered: 'https://flows.example.com/c/ex/5c8d/delivered',
        failed: 'https://flows.example.com/c/ex/5c8d/failed',
      },
    ],
    [
      'https://flows.example.com:8443',
      {
        receive: 'https://flows.example.com:8443',
        sent: 'https://flows.example.com:8443/sent',
        delivered: 'https://flows.example.com:8443/delivered',
        failed: 'https://flows.example.com:8443/failed',
      },
    ],
  ])('report states at URLs derived from the receive URL: %s', (url, addresses) => {
    const { buildRequest } = rapidpro.destination({ url });
    expect({
      receive: buildRequest(text)?.url,
      sent: buildRequest(reached('delivered_to_server'))?.url,
      delivered: buildRequest(reached('delivered_to_user'))?.url,
      failed: buildRequest(reached('sending_failed'))?.url,
    }).toEqual(addresses);
  });

  test('report each state at the URL of its own setting, if set', () => {
    const apart = { ...settings, delivered_url: 'https://other.example.com/done/?key=1' };
    const { buildRequest } = rapidpro.destination(apart);
    expect(buildRequest(reached('delivered_to_user'))).toMatchObject({ url: 'https://other.example.com/done/?key=1' });
    expect(buildRequest(reached('delivered_to_server'))).toMatchObject({
      url: 'https://flows.example.com/c/ex/5c8d/sent',
    });

    const all = { ...apart, sent_url: 'https://other.example.com/a', failed_url: 'https://other.example.com/b' };
    const destination = rapidpro.destination(all);
    expect(destination.buildRequest(reached('delivered_to_server'))).toMatchObject({
      url: 'https://other.example.com/a',
    });
    expect(destination.buildRequest(reached('delivery_failed'))).toMatchObject({ url: 'https://other.example.com/b' });
    expect(destination.buildRequest(text)).toMatchObject({ url: settings.url });
  });

  test.each<[string, Entry]>([
    ['an accepted message', reached('sent')],
    ['a message received from a user', reached('received')],
    ['a message from a user that could not be delivered to RapidPro', reached('reception_failed_http')],
    ['a delivered message of the API', reached('delivered_to_user', message)],
    [
      'a delivered message of Turn',
      reached('delivered_to_user', { ...message, origin: { platform: 'turn', id: '21' } }),
    ],
    ['a message to a user', sent],
    [
      'a completed user data request of an account that used a webhook before',
      entry({
        type: 'user_data.completed',
        request: { id: 'request-1', account: 'acme', phone: '27821234567' },
        completed: '2030-01-01T00:00:01.000000',
      }),
    ],
  ])('are not made for %s', (_, ignored) => {
    const { buildRequest, receiptFor } = rapidpro.destination(settings);
    expect(buildRequest(ignored)).toBeUndefined();
    expect(receiptFor?.(ignored)).toBeUndefined();
  });
});

describe('the status receipt for all parts of a message', () => {
  test.each<[State, { state: string; neverAfter: string[] }]>([
    ['delivered_to_server', { state: 'sent', neverAfter: ['delivered', 'failed'] }],
    ['delivered_to_user', { state: 'delivered', neverAfter: ['failed'] }],
    ['read', { state: 'delivered', neverAfter: ['failed'] }],
    ['delivery_failed', { state: 'failed', neverAfter: [] }],
    ['sending_failed', { state: 'failed', neverAfter: [] }],
  ])('reports %s once, and never after later states: %j', (state, receipt) => {
    expect(rapidpro.destination(settings).receiptFor?.(reached(state))).toEqual({
      id: '21',
      generation: 0,
      message: own.id,
      ...receipt,
      accepted: own.accepted,
      pauseMs: 1_000,
      expires_at: own.expires_at,
    });
  });

  test("does not exist for a user's message: each one is delivered", () => {
    expect(rapidpro.destination(settings).receiptFor?.(text)).toBeUndefined();
  });
});

describe('a response', () => {
  const state = reached('delivered_to_user');
  const retry = (status: number, retryAfter?: number): AttemptResult => ({
    status: 'retry',
    cause: `status_${status}`,
    ...(retryAfter !== undefined && { retryAfter }),
  });
  const rateLimited = (wait: number): AttemptResult => ({ status: 'rate_limited', cause: 'status_429', wait });
  const rejected = (status: number): AttemptResult => ({ status: 'rejected', cause: `status_${status}` });

  test.each<[string, OutboundResponse, { message: AttemptResult; state: AttemptResult }]>([
    [
      '200 means delivered',
      { status: 200, headers: {} },
      { message: { status: 'delivered' }, state: { status: 'delivered' } },
    ],
    [
      '201 means delivered',
      { status: 201, headers: {} },
      { message: { status: 'delivered' }, state: { status: 'delivered' } },
    ],
    [
      '204 means delivered',
      { status: 204, headers: {} },
      { message: { status: 'delivered' }, state: { status: 'delivered' } },
    ],
    ['400 without a body is retried', { status: 400, headers: {} }, { message: retry(400), state: retry(400) }],
    ['413 means rejected', { status: 413, headers: {} }, { message: rejected(413), state: rejected(413) }],
    [
      '401 is retried until the settings are fixed',
      { status: 401, headers: {} },
      { message: retry(401), state: retry(401) },
    ],
    [
      '403 is retried after Retry-After',
      { status: 403, headers: { 'retry-after': '9' } },
      { message: retry(403, 9_000), state: retry(403, 9_000) },
    ],
    [
      '404 is retried for a message, and means rejected for a state',
      { status: 404, headers: {} },
      { message: retry(404), state: rejected(404) },
    ],
    [
      '429 with Retry-After in seconds means rate limited',
      { status: 429, headers: { 'retry-after': '30' } },
      { message: rateLimited(30_000), state: rateLimited(30_000) },
    ],
    [
      '429 with Retry-After as a date means rate limited',
      { status: 429, headers: { 'retry-after': 'Tue, 01 Jan 2030 00:03:00 GMT' } },
      { message: rateLimited(120_000), state: rateLimited(120_000) },
    ],
    ['429 without Retry-After is retried', { status: 429, headers: {} }, { message: retry(429), state: retry(429) }],
    ['500 is retried', { status: 500, headers: {} }, { message: retry(500), state: retry(500) }],
    [
      '503 is retried after Retry-After',
      { status: 503, headers: { 'retry-after': '5' } },
      { message: retry(503, 5_000), state: retry(503, 5_000) },
    ],
    [
      '302 is retried, and not followed',
      { status: 302, headers: { location: '/' } },
      { message: retry(302), state: retry(302) },
    ],
  ])('with status %s', (_, answer, results) => {
    const { interpret } = rapidpro.destination(settings);
    expect({ message: interpret?.(answer, text), state: interpret?.(answer, state) }).toEqual(results);
  });
});

describe('the exact responses of courier 8.2.1 and 26.3.38', () => {
  const CHANNEL = '8eb23e93-5ecb-45ba-b726-3b064e0c56ab';
  const stopped = entry({ type: 'user.stopped', user: { account: 'acme', phone: '27821234567' } });
  const failed = (error: string) => `{"message":"Error","data":[{"type":"error","error":"${error}"}]}`;

  test.each<[string, Entry, number, string, AttemptResult['status']]>([
    [
      "8.2.1, a user's message",
      text,
      200,
      `{"message":"Message Accepted","data":[{"type":"msg","channel_uuid":"${CHANNEL}","msg_uuid":"${UUID}","text":"Hi","urn":"tel:+27821234567","received_on":"2030-01-01T00:00:00.999999Z"}]}`,
      'delivered',
    ],
    [
      '8.2.1, a status, by a number',
      reached('delivered_to_user'),
      200,
      `{"message":"Status Update Accepted","data":[{"type":"status","channel_uuid":"${CHANNEL}","status":"D","msg_id":21}]}`,
      'delivered',
    ],
    [
      '26.3.38, a status, by a UUID',
      reached('delivery_failed', { ...message, origin: { platform: 'rapidpro', id: UUID } }),
      200,
      `{"message":"Status Update Accepted","data":[{"type":"status","channel_uuid":"${CHANNEL}","status":"F","msg_uuid":"${UUID}"}]}`,
      'delivered',
    ],
    [
      'both, a stopped contact',
      stopped,
      200,
      `{"message":"Event Accepted","data":[{"type":"event","channel_uuid":"${CHANNEL}","event_type":"stop_contact","urn":"tel:+27821234567","received_on":"2030-01-01T00:00:00Z"}]}`,
      'delivered',
    ],
    ['both, a stopped contact with an invalid number', stopped, 400, failed('not a possible number'), 'rejected'],
    ['8.2.1, a stopped contact, inactive channel', stopped, 400, failed('channel not found'), 'retry'],
    ["8.2.1, a user's message, inactive channel", text, 400, failed('channel not found'), 'retry'],
    [
      "26.3.38, a user's message, inactive channel",
      text,
      400,
      failed(`unable to find channel with uuid: ${CHANNEL}`),
      'retry',
    ],
    [
      '8.2.1, a status, without its database',
      reached('delivered_to_user'),
      400,
      failed('dial tcp 127.0.0.1:5432: connect: connection refused'),
      'retry',
    ],
    [
      '8.2.1, a status by an id that is not a number',
      reached('delivered_to_user'),
      400,
      failed('schema: error converting value for \\"id\\"'),
      'rejected',
    ],
    ['both, behind a proxy without a server', text, 502, '<h1>Bad Gateway</h1>', 'retry'],
    ['both, behind a proxy without this host', text, 404, '<h1>Not Found</h1>', 'retry'],
  ])('%s', (_, given, status, body, result) => {
    const { interpret } = rapidpro.destination(settings);
    expect(interpret?.({ status, headers: {}, body }, given).status).toBe(result);
  });
});

describe('a 400 response of courier', () => {
  /** The results of a 400 for a user's message, for a recent status, and for a status of eleven minutes ago. */
  const resultsOf = (error: string) => {
    const { interpret } = rapidpro.destination(settings);
    const body = JSON.stringify({ message: 'Error', data: [{ type: 'error', error }] });
    const answer = { status: 400, headers: {}, body };
    const [message, status] = [text, reached('delivered_to_user')].map((one) => interpret?.(answer, one)?.status);
    vi.setSystemTime(Date.now() + 10 * 60_000);
    return { message, status, lateStatus: interpret?.(answer, reached('delivered_to_user'))?.status };
  };

  test.each([
    ['8.2.1', 'not a possible number'],
    ['8.2.1', "must have one of 'sender' or 'from' set"],
    ['8.2.1', "field 'id' required"],
    ['8.2.1', 'schema: error converting value for "id"'],
    ['both', 'invalid date format, must be RFC 3339'],
    ['26.3.38', 'the phone number supplied is not a number'],
  ])('about the request rejects the entry: %s, %s', (_, error) => {
    expect(resultsOf(error)).toEqual({ message: 'rejected', status: 'rejected', lateStatus: 'rejected' });
  });

  test.each([
    ['8.2.1', 'channel not found'],
    ['26.3.38', 'unable to find channel with uuid: 8eb23e93-5ecb-45ba-b726-3b064e0c56ab'],
    ['8.2.1', 'dial tcp 127.0.0.1:5432: connect: connection refused'],
    ['8.2.1', 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'],
  ])('about the channel or its database is retried for three days: %s, %s', (_, error) => {
    expect(resultsOf(error)).toEqual({ message: 'retry', status: 'retry', lateStatus: 'retry' });
  });

  test.each(['', 'something new'])(
    'with an unknown error is retried, but rejects a status after ten minutes: %j',
    (error) => {
      expect(resultsOf(error)).toEqual({ message: 'retry', status: 'retry', lateStatus: 'rejected' });
    },
  );
});

const URL_ERROR = 'must be an https address, without user name or password';

/** All settings. */
const everything = {
  ...settings,
  sent_url: 'https://other.example.com/sent',
  delivered_url: 'https://other.example.com/delivered',
  failed_url: 'https://other.example.com/failed',
  stopped_url: 'https://other.example.com/stopped',
};

describe('settings', () => {
  settingsCases({
    platform: rapidpro,
    valid: [settings, everything],
    entry: text,
    invalid: [
      ['without TLS', { url: 'http://flows.example.com/' }, [['url', URL_ERROR]]],
      ['with a password', { url: 'https://a:b@flows.example.com/' }, [['url', URL_ERROR]]],
      ['without a host', { url: 'receive' }, [['url', URL_ERROR]]],
      ['with an invalid URL of a state', { ...settings, sent_url: 'sent' }, [['sent_url', URL_ERROR]]],
      [
        'with invalid URLs everywhere',
        { url: '', sent_url: '', delivered_url: '', failed_url: '' },
        [
          ['url', URL_ERROR],
          ['sent_url', URL_ERROR],
          ['delivered_url', URL_ERROR],
          ['failed_url', URL_ERROR],
        ],
      ],
    ],
    incomplete: [[{ sent_url: everything.sent_url }, 'url']],
  });

  test.each(['60', '2048', '6400'])(
    "keep the channel's Max length apart, because no request needs it: %s",
    (max_length) => {
      expect(rapidpro.check({ ...settings, max_length })).toStrictEqual({ settings, hook: { max_length } });
    },
  );

  test.each(['59', '6401', '1e3', '060', '-60', ''])('are rejected with an invalid Max length: %s', (invalid) => {
    expect(issuesOf(rapidpro, { ...settings, max_length: invalid })).toMatchObject([
      { path: [{ key: 'max_length' }], message: 'must be a whole number from 60 to 6400' },
    ]);
  });

  test.each([
    [undefined, 54],
    [{}, 54],
    [{ max_length: '4096' }, 4_090],
  ])('give the least number of bytes of an equal part: %j', (hook, bytes) => {
    expect(leastPartOf(hook)).toBe(bytes);
  });

  test('have one option each with description and label; no option is secret or generated', () => {
    expect(Object.keys(rapidpro.options)).toEqual([...Object.keys(everything), 'max_length']);
    for (const option of Object.values(rapidpro.options)) {
      expect(option).toEqual({ description: expect.stringMatching(/\w/), label: expect.stringMatching(/\w/) });
    }
    const labels = Object.values(rapidpro.options).map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
  });
});

describe('the check of settings', () => {
  test('sends an empty message to the receive URL, which changes nothing', () => {
    expect(rapidpro.probe(everything)?.request).toEqual({
      url: settings.url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
      body: '',
    });
  });

  const EMPTY_MESSAGE_ERROR = `{"message":"Error","data":[{"type":"error","error":"must have one of 'sender' or 'from' set"}]}`;
  const CHANNEL_ERROR = '{"message":"Error","data":[{"type":"error","error":"Channel not found"}]}';
  const UNEXPECTED_RESPONSE = "It should refuse an empty message with 400, as RapidPro's receive URL does.";

  test.each<[number, string, string | undefined]>([
    [400, EMPTY_MESSAGE_ERROR, undefined],
    [400, '', UNEXPECTED_RESPONSE],
    [200, EMPTY_MESSAGE_ERROR, UNEXPECTED_RESPONSE],
    [400, `{"message":"Error","data":[{"type":"error","error":"field 'id' required"}]}`, UNEXPECTED_RESPONSE],
    [400, CHANNEL_ERROR, 'It knows no such channel.'],
    [404, CHANNEL_ERROR.toLowerCase(), 'It knows no such channel.'],
    [200, '{"message":"Message Accepted","data":[]}', UNEXPECTED_RESPONSE],
    [302, '', UNEXPECTED_RESPONSE],
    [401, '', UNEXPECTED_RESPONSE],
    [404, '<h1>Not Found</h1>', UNEXPECTED_RESPONSE],
    [500, '<h1>No channel</h1>', UNEXPECTED_RESPONSE],
  ])('interprets %i %j as: %s', (status, body, problem) => {
    expect(rapidpro.probe(settings)?.problem(status, body)).toBe(problem);
  });
});
