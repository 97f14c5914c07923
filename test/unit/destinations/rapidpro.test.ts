/** RapidPro: how its messages are read, the exact requests to it, its responses, and its settings. */
import { parse } from 'node:querystring';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OutboundResponse } from '../../../shared/destinations/http/request.ts';
import {
  fromRapidpro,
  leastPartOf,
  rapidpro,
  rapidproMessage,
  rapidproSetup,
} from '../../../shared/destinations/rapidpro.ts';
import type { Entry } from '../../../shared/outbox/event.ts';
import type { Message, State } from '../../../shared/outbox/message.ts';
import { errorInBody } from '../../../shared/validation/validation-errors.ts';
import { entry, message, received, sent as sentMessage, reached as stateReached } from './support/entries.ts';
import { inShort } from './support/results.ts';
import { settingsCases } from './support/settings-cases.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 1) }));

afterEach(() => void vi.useRealTimers());

const UUID = '0d6b9c1e-6a35-4c5c-9f1b-2b8a8f3b8a11';

/** A text of characters that take two code units and four bytes. */
const emoji = (count: number): string => '😀'.repeat(count);

const TO = '&to=27821234567';

test.each<[what: string, form: string, id: string, text: string, replies?: string[]]>([
  [
    'with quick replies',
    `id=21&text=Hello+%26+welcome+%E2%98%BA+100%25${TO}&quick_reply=Yes&quick_reply=No+%26+maybe`,
    '21',
    'Hello & welcome ☺ 100%',
    ['Yes', 'No & maybe'],
  ],
  ['of one part, with the only quick reply', `id=23&text=CCCC+DDDD${TO}&quick_reply=One`, '23', 'CCCC DDDD', ['One']],
  ['with the number in to_no_plus', 'id=24&text=Hi&to_no_plus=27821234567', '24', 'Hi'],
  ['with a number with + in to', 'id=25&text=Hi&to=%2B27821234567', '25', 'Hi'],
  ['with + before to_no_plus', 'id=26&text=Hi&to_no_plus=%2B27821234567', '26', 'Hi'],
  ['with an empty to_no_plus beside to', `id=27&text=Hi&to_no_plus=${TO}`, '27', 'Hi'],
  ['with to_no_plus, which precedes to', 'id=28&text=Hi&to_no_plus=27821234567&to=%2B27829999999', '28', 'Hi'],
  ['of a newer version, with a UUID as its id', `id=${UUID}&text=Hi${TO}`, UUID, 'Hi'],
  ['with the longest id', `id=${'9'.repeat(255)}&text=Hi${TO}`, '9'.repeat(255), 'Hi'],
  [
    'with blank quick replies, which are dropped',
    `id=29&text=Hi${TO}&quick_reply=&quick_reply=Yes&quick_reply=+%0A&quick_reply=+No+`,
    '29',
    'Hi',
    ['Yes', ' No '],
  ],
  ['with nothing but a blank quick reply', `id=30&text=Hi${TO}&quick_reply=`, '30', 'Hi'],
  [
    'with ten quick replies and uncounted blank ones',
    `id=31&text=Hi${TO}&quick_reply=${'&quick_reply=x'.repeat(10)}&quick_reply=+`,
    '31',
    'Hi',
    Array<string>(10).fill('x'),
  ],
  ['with an attachment', `id=22&text=pic%0Ahttps%3A%2F%2Ffoo.bar%2F1.jpg${TO}`, '22', 'pic\nhttps://foo.bar/1.jpg'],
  ['that is an attachment', `id=32&text=%0Ahttps%3A%2F%2Ffoo.bar%2F1.jpg${TO}`, '32', 'https://foo.bar/1.jpg'],
  [
    'that is two attachments',
    `id=33&text=%0A%0Ahttp%3A%2F%2Ffoo.bar%2F1.jpg%0Ahttps%3A%2F%2Ffoo.bar%2F2.jpg${TO}`,
    '33',
    'http://foo.bar/1.jpg\nhttps://foo.bar/2.jpg',
  ],
  ['that begins with an empty line', `id=34&text=%0A+Hi+https%3A%2F%2Ff.b%2F%0A${TO}`, '34', '\n Hi https://f.b/\n'],
  ['of 4,096 characters', `id=35&text=${'x'.repeat(4_096)}${TO}`, '35', 'x'.repeat(4_096)],
  ['of 4,096 emoji', `id=36&text=${encodeURIComponent(emoji(4_096))}${TO}`, '36', emoji(4_096)],
  ['with unknown fields', `id=37&text=Hi${TO}&from=27820000000&channel=x&channel=y&text2=`, '37', 'Hi'],
])('a message of RapidPro is read %s', (_, form, reference, body, quick_replies) => {
  expect(fromRapidpro(v.parse(rapidproMessage, parse(form)))).toEqual({
    ...{ reference, to: '27821234567', type: 'text', text: { body } },
    ...(quick_replies && { quick_replies }),
  });
});

test.each(['', '+%0A%C2%A0', '+&quick_reply=Yes'])('a message of RapidPro with a blank text is ignored: %j', (text) => {
  expect(fromRapidpro(v.parse(rapidproMessage, parse(`id=1&text=${text}${TO}`)))).toBeUndefined();
});

const BLANK = 'must not be empty or white space only';
const TWICE = 'must be a string, not an array';
const TOO_LONG = 'must have at most 4096 characters';
const NUMBER = expect.stringContaining(
  'must be a phone number in international format, here or in the field to: 7 to 15 digits',
);

test.each<[what: string, form: string, errors: Record<string, string>]>([
  ['without a text', `id=1${TO}`, { '#/text': 'is required' }],
  ['of 4,097 characters', `id=1&text=${'x'.repeat(4_097)}${TO}`, { '#/text': TOO_LONG }],
  ['of 4,097 emoji', `id=1&text=${encodeURIComponent(emoji(4_097))}${TO}`, { '#/text': TOO_LONG }],
  ['with two texts', `id=1&text=a&text=b${TO}`, { '#/text': TWICE }],
  ['to letters', 'id=1&text=a&to_no_plus=2782ABCDEFG', { '#/to_no_plus': NUMBER }],
  ['to letters in the field to', 'id=1&text=a&to=2782ABCDEFG', { '#/to_no_plus': NUMBER }],
  ['to a number after a space', 'id=1&text=a&to=++27821234567', { '#/to_no_plus': NUMBER }],
  ['to too few digits', 'id=1&text=a&to_no_plus=278212', { '#/to_no_plus': NUMBER }],
  ['to too many digits', 'id=1&text=a&to_no_plus=2782123456789012', { '#/to_no_plus': NUMBER }],
  ['without a number', 'id=1&text=a', { '#/to_no_plus': NUMBER }],
  ['with empty numbers', 'id=1&text=a&to_no_plus=&to=', { '#/to_no_plus': NUMBER }],
  ['with an invalid to_no_plus and a valid to', `id=1&text=a&to_no_plus=x${TO}`, { '#/to_no_plus': NUMBER }],
  ['to two numbers', 'id=1&text=a&to_no_plus=27821234567&to_no_plus=27821234568', { '#/to_no_plus': TWICE }],
  ['without an id', `text=a${TO}`, { '#/id': 'is required' }],
  ['with an empty id', `id=&text=a${TO}`, { '#/id': BLANK }],
  ['with a blank id', `id=+&text=a${TO}`, { '#/id': BLANK }],
  ['with too long an id', `id=${'9'.repeat(256)}&text=a${TO}`, { '#/id': 'must have at most 255 characters' }],
  ['with two ids', `id=1&id=2&text=a${TO}`, { '#/id': TWICE }],
  [
    'with too long a quick reply',
    `id=1&text=a${TO}&quick_reply=x&quick_reply=${'x'.repeat(4_097)}`,
    { '#/quick_reply/1': TOO_LONG },
  ],
  ['with no field', '', { '#/id': 'is required', '#/text': 'is required', '#/to_no_plus': NUMBER }],
  [
    'that is invalid in every field, with eleven quick replies',
    `id=+&text=&to=1${'&quick_reply=x'.repeat(11)}`,
    { '#/id': BLANK, '#/quick_reply': 'must hold at most 10 quick replies', '#/to_no_plus': NUMBER },
  ],
])('a message of RapidPro is rejected %s, with one error per invalid field', (_, form, errors) => {
  const { issues = [] } = v.safeParse(rapidproMessage, parse(form));
  expect(issues.map((issue) => errorInBody(issue))).toEqual(
    Object.entries(errors).map(([pointer, detail]) => ({ pointer, detail })),
  );
});

test.each([
  [undefined, 54],
  [{}, 54],
  [{ max_length: '4096' }, 4_090],
])('the hook %j gives %i as the least number of bytes of an equal part', (hook, bytes) => {
  expect(leastPartOf(hook)).toBe(bytes);
});

const BASE = 'https://flows.example.com/c/ex/5c8d';
const settings = { url: `${BASE}/receive` };
const everything = {
  ...settings,
  sent_url: 'https://other.example.com/sent',
  delivered_url: 'https://other.example.com/delivered?key=1',
  failed_url: 'https://other.example.com/failed/',
  stopped_url: 'https://other.example.com/stopped',
};

const own: Message = { ...message, origin: { platform: 'rapidpro', id: '21' } };
const reached = (state: State, of = own): Entry => stateReached(state, of);
const withId = (id: string): Message => ({ ...message, origin: { platform: 'rapidpro', id } });
const text = received({ type: 'text', text: { body: 'Zoë 😀 & 100%\n' } });
const user = { account: 'acme', phone: '27821234567' };
const removed = entry({ type: 'user.stopped', user });
const stopped = entry({ type: 'user.state', user, state: 'stopped' });
const FROM = 'from=%2B27821234567';
const DATE = 'date=2030-01-01T00%3A00%3A00.999999Z';

test.each<[what: string, given: Entry, address: string, body: string, length: number]>([
  ["a user's text", text, 'receive', `${FROM}&text=Zo%C3%AB+%F0%9F%98%80+%26+100%25%0A&${DATE}`, 97],
  [
    "a user's image, as its URL",
    received({ type: 'image', image: { url: 'https://bridge.example.com/media/1' } }),
    'receive',
    `${FROM}&text=https%3A%2F%2Fbridge.example.com%2Fmedia%2F1&${DATE}`,
    106,
  ],
  [
    "a user's file, as its URL",
    received({ type: 'file', file: { url: 'https://bridge.example.com/media/2?a=b&c' } }),
    'receive',
    `${FROM}&text=https%3A%2F%2Fbridge.example.com%2Fmedia%2F2%3Fa%3Db%26c&${DATE}`,
    118,
  ],
  ['the state "sent"', reached('delivered_to_server'), 'sent', 'id=21', 5],
  ['the state "delivered"', reached('delivered_to_user'), 'delivered', 'id=21', 5],
  ['a read message as "delivered"', reached('read'), 'delivered', 'id=21', 5],
  ['the failure of a delivery', reached('delivery_failed'), 'failed', 'id=21', 5],
  ['the failure of sending', reached('sending_failed'), 'failed', 'id=21', 5],
  ['a UUID as the id', reached('read', withId(UUID)), 'delivered', `id=${UUID}`, 39],
  ['an id of any characters', reached('read', withId('a b&c=☺')), 'delivered', 'id=a+b%26c%3D%E2%98%BA', 22],
  ['a removed user, whom it stops', removed, 'stopped', FROM, 19],
  ['a user who stops the business', stopped, 'stopped', FROM, 19],
])('RapidPro receives %s by a form', (_, given, segment, body, length) => {
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(length) };
  expect(rapidpro(settings).buildRequest(given)).toEqual({ url: `${BASE}/${segment}`, headers: form, body });
});

test.each<[settings: object, urls: string[]]>([
  [
    { url: `${BASE}/receive?key=a%2Fb&x` },
    ['receive', 'sent', 'delivered', 'failed', 'stopped'].map((segment) => `${BASE}/${segment}?key=a%2Fb&x`),
  ],
  [
    { url: `${BASE}/receive/` },
    ['receive/', 'sent', 'delivered', 'failed', 'stopped'].map((segment) => `${BASE}/${segment}`),
  ],
  [
    { url: 'https://flows.example.com:8443' },
    ['', '/sent', '/delivered', '/failed', '/stopped'].map((path) => `https://flows.example.com:8443${path}`),
  ],
  [{ ...settings, sent_url: everything.sent_url }, [settings.url, everything.sent_url, `${BASE}/delivered`]],
  [
    everything,
    [everything.url, everything.sent_url, everything.delivered_url, everything.failed_url, everything.stopped_url],
  ],
])('statuses are reported beside the receive URL, or at URLs of their own: %j', (given, urls) => {
  const { buildRequest } = rapidpro(given);
  const states = ['delivered_to_server', 'delivered_to_user', 'sending_failed'] as const;
  const entries = [text, ...states.map((state) => reached(state)), stopped];
  expect(entries.slice(0, urls.length).map((one) => buildRequest(one)?.url)).toEqual(urls);
});

const request = { id: 'request-1', ...user };

test.each<[what: string, ignored: Entry]>([
  ['an accepted message', reached('sent')],
  ['a message received from a user', reached('received')],
  ['a message from a user that could not be delivered to RapidPro', reached('reception_failed_http')],
  ['a delivered message of the API', reached('delivered_to_user', message)],
  ['a delivered message of Turn', reached('read', { ...message, origin: { platform: 'turn', id: '21' } })],
  ['a message to a user', sentMessage(own)],
  ['a user who starts again', entry({ type: 'user.state', user, state: 'started' })],
  ['a completed user data request', entry({ type: 'user_data.completed', request, completed: '2030-01-01T00:00:01' })],
])('RapidPro receives no request for %s', (_, ignored) => {
  expect(rapidpro(settings).buildRequest(ignored)).toBeUndefined();
  expect(rapidpro(settings).receiptFor?.(ignored)).toBeUndefined();
});

test.each<[State, status: string, ...neverAfter: string[]]>([
  ['delivered_to_server', 'sent', 'delivered', 'failed'],
  ['delivered_to_user', 'delivered', 'failed'],
  ['read', 'delivered', 'failed'],
  ['delivery_failed', 'failed'],
  ['sending_failed', 'failed'],
])('all parts of a message share one receipt of %s: %s is reported once, and never after %s', (state, ...statuses) => {
  const [status, ...neverAfter] = statuses;
  const { id, accepted, expires_at } = own;
  const receipt = { id: '21', generation: 0, message: id, state: status, neverAfter, accepted, pauseMs: 1_000 };
  expect(rapidpro(settings).receiptFor?.(reached(state))).toEqual({ ...receipt, expires_at });
});

test.each([text, removed, stopped])('messages of users and stops have no receipt: each is delivered (%#)', (given) => {
  expect(rapidpro(settings).receiptFor?.(given)).toBeUndefined();
});

const answer = (status: number, headers: OutboundResponse['headers'] = {}, body?: string): OutboundResponse => ({
  ...{ status, headers },
  ...(body !== undefined && { body }),
});
const courierError = (error: string): string => JSON.stringify({ message: 'Error', data: [{ type: 'error', error }] });
const refusal = (error: string) => answer(400, {}, courierError(error));
const DATE_OF_RETRY = 'Tue, 01 Jan 2030 00:03:00 GMT';
const DATABASE = 'dial tcp 127.0.0.1:5432: connect: connection refused';
const NO_CHANNEL = 'unable to find channel with uuid: 8eb23e93-5ecb-45ba-b726-3b064e0c56ab';

/** Errors of courier 8.2.1 and 26.3.38. A status is late eleven minutes after it was reached. */
test.each<[what: string, OutboundResponse, message: string, status?: string, late?: string]>([
  ['200', answer(200), 'delivered'],
  ['201', answer(201), 'delivered'],
  ['204', answer(204), 'delivered'],
  ['302, which is not followed', answer(302, { location: '/' }), 'retry'],
  ['401', answer(401), 'retry'],
  ['403 with Retry-After', answer(403, { 'retry-after': '9' }), 'retry 9000'],
  ['404 of a proxy', answer(404, {}, '<h1>Not Found</h1>'), 'retry', 'rejected'],
  ['413', answer(413), 'rejected'],
  ['429', answer(429), 'retry'],
  ['429 for half a minute', answer(429, { 'retry-after': '30' }), 'rate_limited 30000'],
  [
    '429 until a date',
    answer(429, { 'retry-after': DATE_OF_RETRY }),
    'rate_limited 120000',
    'rate_limited 120000',
    'rate_limited 0',
  ],
  ['500', answer(500), 'retry'],
  ['502 of a proxy', answer(502, {}, '<h1>Bad Gateway</h1>'), 'retry'],
  ['503 with Retry-After', answer(503, { 'retry-after': '5' }), 'retry 5000'],
  ['400 without a body', answer(400), 'retry', 'retry', 'rejected'],
  ['400 without an error', refusal(''), 'retry', 'retry', 'rejected'],
  ['400 with an unknown error', refusal('something new'), 'retry', 'retry', 'rejected'],
  ['a number', refusal('not a possible number'), 'rejected'],
  ['a number in 26.3.38', refusal('the phone number supplied is not a number'), 'rejected'],
  ['no sender', refusal("must have one of 'sender' or 'from' set"), 'rejected'],
  ['no id', refusal("field 'id' required"), 'rejected'],
  ['an id', refusal('schema: error converting value for "id"'), 'rejected'],
  ['a date', refusal('invalid date format, must be RFC 3339'), 'rejected'],
  ['the channel', refusal('channel not found'), 'retry'],
  ['the channel in 26.3.38', refusal(NO_CHANNEL), 'retry'],
  ['the database', refusal(DATABASE), 'retry'],
  ['a timeout', refusal('context deadline exceeded (Client.Timeout exceeded)'), 'retry'],
])('a response of RapidPro means: %s', (_, response, ofMessage, ofStatus = ofMessage, ofLate = ofStatus) => {
  const { interpret } = rapidpro(settings);
  const resultOf = (given: Entry): string => inShort(interpret?.(response, given), response.status);
  expect(resultOf(text)).toBe(ofMessage);
  for (const given of [reached('delivered_to_user'), reached('delivery_failed'), removed, stopped]) {
    expect(resultOf(given)).toBe(ofStatus);
  }
  vi.setSystemTime(Date.now() + 10 * 60_000);
  expect(resultOf(reached('delivered_to_user'))).toBe(ofLate);
});

test("RapidPro's request body, filled in, is a message that the service accepts", () => {
  const values = { bridgeUrl: '', token: '', encodedToken: '', botNumber: '', name: '' };
  const body = rapidproSetup.fields(values).find(({ field }) => field === 'Request body')?.value;
  const filled = body
    ?.replace('{{id}}', '21')
    .replace('{{text}}', 'Hello')
    .replace('{{to_no_plus}}', '27821234567')
    .replace('{{quick_replies}}', '&quick_reply=Yes');
  expect(v.parse(rapidproMessage, parse(filled ?? ''))).toMatchObject({
    id: '21',
    text: 'Hello',
    quick_reply: ['Yes'],
  });
});

const URL_ERROR = 'must be an https address, without user name or password';
const LENGTH_ERROR = 'must be a whole number from 60 to 6400';

settingsCases({
  name: 'rapidpro',
  platform: rapidpro,
  setup: rapidproSetup,
  entry: text,
  valid: [
    [settings],
    [everything],
    ...['60', '2048', '6400'].map((max_length): [object, object] => [settings, { max_length }]),
  ],
  invalid: [
    [{ url: undefined, sent_url: everything.sent_url }, { url: 'missing' }],
    [{ url: 'http://flows.example.com/' }, { url: URL_ERROR }],
    [{ url: 'https://a:b@flows.example.com/' }, { url: URL_ERROR }],
    [{ url: 'receive' }, { url: URL_ERROR }],
    [
      { url: '', sent_url: 'sent', delivered_url: '', failed_url: '', stopped_url: '' },
      { url: URL_ERROR, sent_url: URL_ERROR, delivered_url: URL_ERROR, failed_url: URL_ERROR, stopped_url: URL_ERROR },
    ],
    ...['59', '6401', '1e3', '060', '-60', ''].map((max_length): [object, Record<string, string>] => [
      { max_length },
      { max_length: LENGTH_ERROR },
    ]),
  ],
  secrets: [],
  check: {
    url: settings.url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
    body: '',
  },
  answers: [
    [400, courierError("must have one of 'sender' or 'from' set")],
    [400, '', /not a receive URL.* returned 400/, /ends with \/receive/],
    [200, courierError("must have one of 'sender' or 'from' set"), /not a receive URL.* returned 200/],
    [400, courierError("field 'id' required"), /not a receive URL/],
    [400, courierError('Channel not found'), /inactive or deleted/, /channel exists/],
    [404, courierError('channel not found'), /no such channel/, /channel exists/],
    [400, courierError(DATABASE), /database/, /some minutes/],
    [200, '{"message":"Message Accepted","data":[]}', /not a receive URL/],
    [401, '', /asks for a password/, /\/c\/ex\//],
    [403, '', /blocks the service \(403\)/, /\/c\/ex\//],
    [404, '<h1>Not Found</h1>', /^No channel has this URL\.$/, /Copy the receive URL/],
  ],
});

test.each([404, 405])('the check names a mistyped receive URL after %i', (status) => {
  const probe = rapidproSetup.probe({ url: `${BASE}/recieve?key=1` }, []);
  expect(probe.fault({ status, body: '' })?.cause).toMatch(/yours ends with \/recieve\.$/);
});
