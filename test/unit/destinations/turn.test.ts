/** Turn: how its messages are read, the exact requests to it, its responses, and its settings. */
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AttemptResult } from '../../../shared/destinations/attempt-result.ts';
import type { OutboundResponse } from '../../../shared/destinations/http/request.ts';
import { fromTurn, isOrdinaryWebhook, isSigned, turn, turnMessage } from '../../../shared/destinations/turn.ts';
import type { Entry, PlatformDraft } from '../../../shared/outbox/event.ts';
import type { Message, State } from '../../../shared/outbox/message.ts';
import { errorInBody } from '../../../shared/validation/validation-errors.ts';
import { issuesOf, message, received, sent as sentMessage, reached as stateReached } from './support/entries.ts';
import { settingsCases } from './support/settings-cases.ts';

beforeEach(() => {
  vi.stubEnv('BRIDGE_URL', 'https://bridge.example.com');
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 1) });
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

/** A message of the Channel API as Turn sends it, with many keys that are null. */
const CHANNEL_MESSAGE = {
  block: null,
  resources: null,
  content: 'foo',
  to: '+27821234567',
  context: null,
  turn: { type: 'text', text: { body: 'foo' } },
  waiting_for_user_input: false,
};

/** A message in WhatsApp's format, of the older fallback channel. */
const FALLBACK_MESSAGE = {
  preview_url: false,
  recipient_type: 'individual',
  to: '27821234567',
  type: 'text',
  text: { body: 'foo' },
};

const OURS = 'https://bridge.example.com/media/1';
const FOREIGN = 'https://cdn.example.com/image.jpg';

describe('the parser of messages from Turn', () => {
  const to = '27821234567';
  const textDraft = (body: string): PlatformDraft => ({ to, type: 'text', text: { body } });

  test.each<[string, unknown, PlatformDraft]>([
    ['of the Channel API', CHANNEL_MESSAGE, textDraft('foo')],
    ['of the older fallback channel', FALLBACK_MESSAGE, textDraft('foo')],
    ['of the fallback channel with +', { ...FALLBACK_MESSAGE, to: '+27821234567' }, textDraft('foo')],
    ['of the Channel API without +', { ...CHANNEL_MESSAGE, to: '27821234567' }, textDraft('foo')],
    ['of plain content', { to: '+27821234567', content: 'foo' }, textDraft('foo')],
    ['of plain content, with turn null', { ...CHANNEL_MESSAGE, turn: null }, textDraft('foo')],
    [
      'with text in turn and empty content',
      { ...CHANNEL_MESSAGE, content: '', turn: { type: 'text', text: { body: 'bar', preview_url: true } } },
      textDraft('bar'),
    ],
    [
      'with context and unknown keys',
      { ...CHANNEL_MESSAGE, context: { message_id: 'x' }, from: '27820000000', id: 'x', extra: [1] },
      textDraft('foo'),
    ],
    ['with type null', { ...CHANNEL_MESSAGE, type: null }, textDraft('foo')],
    ['with white space around its text', { ...CHANNEL_MESSAGE, turn: null, content: ' a\nb ' }, textDraft(' a\nb ')],
    [
      'of exactly 4,096 emoji',
      { ...CHANNEL_MESSAGE, turn: { type: 'text', text: { body: '😀'.repeat(4_096) } } },
      textDraft('😀'.repeat(4_096)),
    ],
    [
      'of plain content of exactly 4,096 characters',
      { ...CHANNEL_MESSAGE, turn: null, content: 'x'.repeat(4_096) },
      textDraft('x'.repeat(4_096)),
    ],
    [
      'with an image link to our media, as an image',
      { ...CHANNEL_MESSAGE, turn: { type: 'image', image: { link: OURS } } },
      { to, type: 'image', image: { url: OURS }, mediaAt: '#/turn/image/link' },
    ],
    [
      'with an image link to our media and a null caption, as an image',
      { ...CHANNEL_MESSAGE, content: null, turn: { type: 'image', image: { id: null, link: OURS, caption: null } } },
      { to, type: 'image', image: { url: OURS }, mediaAt: '#/turn/image/link' },
    ],
    [
      'with an image link to our media and an empty caption, as an image',
      { to, type: 'image', image: { link: OURS, caption: '' } },
      { to, type: 'image', image: { url: OURS }, mediaAt: '#/image/link' },
    ],
    [
      'with an image link to our media and a blank caption, as an image',
      { to, type: 'image', image: { link: OURS, caption: ' ' } },
      { to, type: 'image', image: { url: OURS }, mediaAt: '#/image/link' },
    ],
    [
      'with a document link to our media, as a file',
      { ...CHANNEL_MESSAGE, turn: { type: 'document', document: { link: OURS, filename: 'a.pdf' } } },
      { to, type: 'file', file: { url: OURS }, mediaAt: '#/turn/document/link' },
    ],
    [
      "in WhatsApp's format with a document link to our media, as a file",
      { to, type: 'document', document: { link: OURS } },
      { to, type: 'file', file: { url: OURS }, mediaAt: '#/document/link' },
    ],
    [
      'with an image link to our media and a caption, as text',
      { ...CHANNEL_MESSAGE, turn: { type: 'image', image: { link: OURS, caption: 'Look' } } },
      textDraft(`Look\n${OURS}`),
    ],
    [
      'with a document link to our media and a caption, as text',
      { to, type: 'document', document: { link: OURS, caption: 'Read' } },
      textDraft(`Read\n${OURS}`),
    ],
    [
      'with an image link to another host, as text',
      { ...CHANNEL_MESSAGE, turn: { type: 'image', image: { link: FOREIGN } } },
      textDraft(FOREIGN),
    ],
    [
      'with an image link to another host and a caption, as text',
      { to, type: 'image', image: { link: FOREIGN, caption: 'Look\nhere' } },
      textDraft(`Look\nhere\n${FOREIGN}`),
    ],
    [
      'with a document link to another host, as text',
      { to, type: 'document', document: { link: FOREIGN, caption: null } },
      textDraft(FOREIGN),
    ],
    [
      'with a document link to another host and a caption, as text',
      { ...CHANNEL_MESSAGE, turn: { type: 'document', document: { link: FOREIGN, caption: 'Read' } } },
      textDraft(`Read\n${FOREIGN}`),
    ],
    [
      'with an image link to a host whose name begins with ours, as text',
      { to, type: 'image', image: { link: 'https://bridge.example.com.example.net/media/1' } },
      textDraft('https://bridge.example.com.example.net/media/1'),
    ],
    [
      'with the longest caption and the longest link, as text',
      { to, type: 'image', image: { link: FOREIGN.padEnd(2_048, 'x'), caption: '😀'.repeat(2_000) } },
      textDraft(`${'😀'.repeat(2_000)}\n${FOREIGN.padEnd(2_048, 'x')}`),
    ],
  ])('reads a message %s', (_, body, draft) => {
    expect(fromTurn(v.parse(turnMessage, body))).toEqual(draft);
  });

  const BLANK = 'must not be empty or white space only';
  const TYPE = 'must be "text", "image" or "document"';
  const NUMBER = expect.stringContaining('must be a phone number in international format: 7 to 15 digits');

  const withTurn = (given: unknown) => ({ ...CHANNEL_MESSAGE, turn: given });

  test.each<[string, unknown, Record<string, string>]>([
    ['of a type that cannot be delivered', withTurn({ type: 'audio', audio: { link: OURS } }), { '#/turn/type': TYPE }],
    ['with turn of type null', withTurn({ type: null }), { '#/turn/type': TYPE }],
    ['with turn without a type', withTurn({ text: { body: 'foo' } }), { '#/turn/type': 'is required' }],
    ['with a list as turn', withTurn([{ type: 'text', text: { body: 'foo' } }]), { '#/turn/type': 'is required' }],
    [
      "in WhatsApp's format of a type that cannot be delivered",
      { to, type: 'template', template: {} },
      { '#/type': TYPE },
    ],
    [
      'of an image without a link',
      withTurn({ type: 'image', image: { id: '1' } }),
      { '#/turn/image/link': 'is required' },
    ],
    [
      'of an image with an empty link',
      withTurn({ type: 'image', image: { link: '' } }),
      { '#/turn/image/link': BLANK },
    ],
    ['with a null image', withTurn({ type: 'image', image: null }), { '#/turn/image': 'must be an object, not null' }],
    [
      "in WhatsApp's format with a document without a link",
      { to, type: 'document', document: { caption: 'x' } },
      { '#/document/link': 'is required' },
    ],
    ['with an empty text', withTurn({ type: 'text', text: { body: '' } }), { '#/turn/text/body': BLANK }],
    [
      "in WhatsApp's format with a blank text",
      { ...FALLBACK_MESSAGE, text: { body: ' \n' } },
      { '#/text/body': BLANK },
    ],
    ['without a text', withTurn({ type: 'text' }), { '#/turn/text': 'is required' }],
    ['with empty content', { ...CHANNEL_MESSAGE, turn: null, content: '' }, { '#/content': BLANK }],
    ['without content', { to }, { '#/content': 'is required' }],
    [
      'with null turn and null content',
      { ...CHANNEL_MESSAGE, turn: null, content: null },
      { '#/content': 'must be a string, not null' },
    ],
    ['without a number', { ...CHANNEL_MESSAGE, to: undefined }, { '#/to': 'is required' }],
    ["in WhatsApp's format without a number", { type: 'text', text: { body: 'foo' } }, { '#/to': 'is required' }],
    ['of plain content without a number', { content: 'foo' }, { '#/to': 'is required' }],
    ['to a number of letters', { ...CHANNEL_MESSAGE, to: '+2782ABCDEFG' }, { '#/to': NUMBER }],
    ['to a number with two +', { ...FALLBACK_MESSAGE, to: '++27821234567' }, { '#/to': NUMBER }],
    ['to null', { ...CHANNEL_MESSAGE, to: null }, { '#/to': 'must be a string, not null' }],
    [
      'of 4,097 characters',
      withTurn({ type: 'text', text: { body: 'x'.repeat(4_097) } }),
      { '#/turn/text/body': 'must have at most 4096 characters' },
    ],
    [
      'of plain content of 4,097 emoji',
      { to, content: '😀'.repeat(4_097) },
      { '#/content': 'must have at most 4096 characters' },
    ],
    [
      'with a caption of 2,001 and a link of 2,049 characters',
      { to, type: 'image', image: { link: FOREIGN.padEnd(2_049, 'x'), caption: 'x'.repeat(2_001) } },
      {
        '#/image/link': 'must have at most 2048 characters',
        '#/image/caption': 'must have at most 2000 characters',
      },
    ],
    [
      'with half of a surrogate pair in its text',
      { to, content: 'a\ud83d' },
      { '#/content': 'must be valid Unicode: it holds half of a surrogate pair' },
    ],
    [
      'that is invalid in every field',
      { to: 27821234567, type: 'text', text: 'foo' },
      { '#/to': 'must be a string, not a number', '#/text': 'must be an object, not a string' },
    ],
    ['with no field', {}, { '#/to': 'is required', '#/content': 'is required' }],
  ])('rejects a message %s, with one error per invalid field', (_, body, errors) => {
    const { issues = [] } = v.safeParse(turnMessage, body);
    expect(issues.map((issue) => errorInBody(issue))).toEqual(
      Object.entries(errors).map(([pointer, detail]) => ({ pointer, detail })),
    );
  });
});

describe('an ordinary webhook of Turn', () => {
  test.each<[string, { 'x-turn-hook-subscription'?: string }, Record<string, unknown>]>([
    ['its header', { 'x-turn-hook-subscription': 'whatsapp' }, {}],
    ['its header, even with a message of the Channel API', { 'x-turn-hook-subscription': 'turn' }, CHANNEL_MESSAGE],
    ['statuses', {}, { statuses: [{ id: 'x', status: 'delivered', recipient_id: '27821234567' }] }],
    ['an empty list of statuses', {}, { statuses: [] }],
    ['messages', {}, { contacts: [], messages: [{ from: '27821234567', type: 'text', text: { body: 'foo' } }] }],
  ])('is recognised by %s', (_, headers, body) => {
    expect(isOrdinaryWebhook(headers, body)).toBe(true);
  });

  test.each<[string, Record<string, unknown>]>([
    ['message of the Channel API', CHANNEL_MESSAGE],
    ['message of WhatsApp', FALLBACK_MESSAGE],
    ['message whose other keys are null', { ...CHANNEL_MESSAGE, statuses: null, messages: null }],
    [
      'message with a text as messages and an object as statuses',
      { ...CHANNEL_MESSAGE, messages: 'two', statuses: {} },
    ],
    ['empty body', {}],
  ])('is not recognised in a %s', (_, body) => {
    expect(isOrdinaryWebhook({}, body)).toBe(false);
    expect(isOrdinaryWebhook({ 'x-turn-hook-subscription': undefined }, body)).toBe(false);
  });
});

/** The expected signatures were computed independently: HMAC-SHA256 over the bytes. */
describe('a signature', () => {
  const bytes = Buffer.from('{"to":"+27821234567","content":"Zoë 😀"}');
  const signature = '9zlsLvRuWbVXUWfpgJZkNWhAlMbPZeGxgYHXwbf8xAU=';
  const set = { hmac_secret: 'channel secret ë' };

  test("is valid if it was made of the body's bytes with the channel's secret", () => {
    expect(isSigned(bytes, signature, set)).toBe(true);
    expect(isSigned(Buffer.alloc(0), '03i/bQ9M4p03Tre/N7TmohVW905g0Ni8PH/uLkTwHSs=', set)).toBe(true);
  });

  test.each<[string, string | undefined]>([
    ['is missing', undefined],
    ['is empty', ''],
    ['is not base64', '!'],
    ['was made with another secret', 'B/xqcEe4oCj6HEZaNcKxXozmnZtBBjRvSDBo7sRtAWA='],
    ['was made of the same JSON in other bytes', 'aE1b8hUcsGU69d7st72hwk4AkSLE3G1oHtz3B9bnhvc='],
    ['lacks its last byte', '9zlsLvRuWbVXUWfpgJZkNWhAlMbPZeGxgYHXwbf8xA=='],
    ['is cut in half', signature.slice(0, 22)],
    ['has one byte too many', '9zlsLvRuWbVXUWfpgJZkNWhAlMbPZeGxgYHXwbf8xAUA'],
    ['is in hexadecimal', 'f7396c2ef46e59b5575167e980966435684094c6cf65e1b18181d7c1b7fcc405'],
    ['is of SHA-1', 'Kmh096loKlN84lN+/1q5pYvSaLg='],
  ])('is invalid if it %s', (_, given) => {
    expect(isSigned(bytes, given, set)).toBe(false);
  });

  test('is invalid after the secret was changed', () => {
    expect(isSigned(bytes, signature, { hmac_secret: 'other' })).toBe(false);
  });

  test('is invalid for other bytes', () => {
    expect(isSigned(Buffer.from('{"to": "+27821234567", "content": "Zoë 😀"}'), signature, set)).toBe(false);
    expect(isSigned(Buffer.alloc(0), signature, set)).toBe(false);
  });

  test.each([undefined, '', 'x', signature])('is not required if no secret is set: %s', (given) => {
    expect(isSigned(bytes, given, undefined)).toBe(true);
    expect(isSigned(bytes, given, {})).toBe(true);
  });
});

const settings = {
  url: 'https://turn.example.com',
  channel: 'a2c1f0de-0b53-4d0f-8a4e-5f9e2c6b7d80',
  token: 'turn-token',
};

const own: Message = { ...message, origin: { platform: 'turn', id: 'ours-1' } };

const reached = (state: State, of = own): Entry => stateReached(state, of);

const text = received({ type: 'text', text: { body: 'Zoë 😀' } });

const sent = sentMessage(own);

const MESSAGES = 'https://turn.example.com/v1/numbers/a2c1f0de-0b53-4d0f-8a4e-5f9e2c6b7d80/messages';
const STATUSES = 'https://turn.example.com/v1/numbers/a2c1f0de-0b53-4d0f-8a4e-5f9e2c6b7d80/statuses';

describe('requests to Turn', () => {
  test.each<[string, Entry, { url: string; body: string; length: string }]>([
    [
      "a user's text",
      text,
      {
        url: MESSAGES,
        body: '{"contact":{"id":"+27821234567","profile":{"name":"+27821234567"}},"message":{"type":"text","text":{"body":"Zoë 😀"},"from":"+27821234567","id":"message-1","timestamp":"1893456000"}}',
        length: '185',
      },
    ],
    [
      "a user's image, as its URL",
      received({ type: 'image', image: { url: 'https://bridge.example.com/media/1' } }),
      {
        url: MESSAGES,
        body: '{"contact":{"id":"+27821234567","profile":{"name":"+27821234567"}},"message":{"type":"text","text":{"body":"https://bridge.example.com/media/1"},"from":"+27821234567","id":"message-1","timestamp":"1893456000"}}',
        length: '210',
      },
    ],
    [
      "a user's file, as its URL",
      received({ type: 'file', file: { url: 'https://bridge.example.com/media/2' } }),
      {
        url: MESSAGES,
        body: '{"contact":{"id":"+27821234567","profile":{"name":"+27821234567"}},"message":{"type":"text","text":{"body":"https://bridge.example.com/media/2"},"from":"+27821234567","id":"message-1","timestamp":"1893456000"}}',
        length: '210',
      },
    ],
    [
      'the state "sent" of a message from Turn',
      reached('delivered_to_server'),
      {
        url: STATUSES,
        body: '{"status":{"id":"ours-1","timestamp":"1893456001","status":"sent","recipient_id":"+27821234567"}}',
        length: '97',
      },
    ],
    [
      'the state "delivered" of a message from Turn',
      reached('delivered_to_user'),
      {
        url: STATUSES,
        body: '{"status":{"id":"ours-1","timestamp":"1893456001","status":"delivered","recipient_id":"+27821234567"}}',
        length: '102',
      },
    ],
    [
      'the state "read" of a message from Turn',
      reached('read'),
      {
        url: STATUSES,
        body: '{"status":{"id":"ours-1","timestamp":"1893456001","status":"read","recipient_id":"+27821234567"}}',
        length: '97',
      },
    ],
    [
      'the state "failed" after the phone rejected a message from Turn',
      reached('delivery_failed'),
      {
        url: STATUSES,
        body: '{"status":{"id":"ours-1","timestamp":"1893456001","status":"failed","recipient_id":"+27821234567"}}',
        length: '99',
      },
    ],
    [
      'the state "failed" after the app network rejected a message from Turn',
      reached('sending_failed'),
      {
        url: STATUSES,
        body: '{"status":{"id":"ours-1","timestamp":"1893456001","status":"failed","recipient_id":"+27821234567"}}',
        length: '99',
      },
    ],
  ])('contain %s', (_, given, { url, body, length }) => {
    expect(turn.destination(settings).buildRequest(given)).toEqual({
      url,
      headers: { 'content-type': 'application/json', 'content-length': length, authorization: 'Bearer turn-token' },
      body,
    });
  });

  test.each<[string, string | undefined, string]>([
    ['that ends with a slash', 'https://turn.example.com/', MESSAGES],
    ['that ends with slashes', 'https://turn.example.com//', MESSAGES],
    ['with a path', 'https://turn.example.com/api/', MESSAGES.replace('/v1/', '/api/v1/')],
    ['that is not set', undefined, MESSAGES.replace('turn.example.com', 'whatsapp.turn.io')],
  ])('go to the URL of the messages for a base URL %s', (_, url, address) => {
    expect(turn.destination({ ...settings, url }).buildRequest(text)).toMatchObject({ url: address });
  });

  test.each<[string, Entry]>([
    ['an accepted message', reached('sent')],
    ['a message received from a user', reached('received')],
    ['a message from a user that could not be delivered to Turn', reached('reception_failed_http')],
    ['a delivered message of the API', reached('delivered_to_user', message)],
    [
      'a delivered message of RapidPro',
      reached('delivered_to_user', { ...message, origin: { platform: 'rapidpro', id: 'ours-1' } }),
    ],
    ['a message to a user', sent],
  ])('are not made for %s', (_, ignored) => {
    expect(turn.destination(settings).buildRequest(ignored)).toBeUndefined();
  });

  test('report each state separately, because each message has its own id', () => {
    expect(turn.destination(settings).receiptFor).toBeUndefined();
  });
});

describe('a response', () => {
  const DELIVERED: AttemptResult = { status: 'delivered' };
  const retry = (status: number, retryAfter?: number): AttemptResult => ({
    status: 'retry',
    cause: `status_${status}`,
    ...(retryAfter !== undefined && { retryAfter }),
  });
  const rejected = (status: number): AttemptResult => ({ status: 'rejected', cause: `status_${status}` });
  const rateLimited = (wait: number): AttemptResult => ({ status: 'rate_limited', cause: 'status_429', wait });

  /** The results of a response for a user's message, for a state, and for a failure. */
  const resultsOf = (answer: OutboundResponse) => {
    const { interpret } = turn.destination(settings);
    const [delivered, failed, unsent] = [
      reached('delivered_to_user'),
      reached('delivery_failed'),
      reached('sending_failed'),
    ].map((given) => interpret?.(answer, given));
    expect(unsent).toEqual(failed);
    return { message: interpret?.(answer, text), state: delivered, failure: failed };
  };

  test.each<[string, OutboundResponse, { message: AttemptResult; state: AttemptResult; failure: AttemptResult }]>([
    ['200 means delivered', { status: 200, headers: {} }, { message: DELIVERED, state: DELIVERED, failure: DELIVERED }],
    ['201 means delivered', { status: 201, headers: {} }, { message: DELIVERED, state: DELIVERED, failure: DELIVERED }],
    [
      '400 means rejected; a failure counts as delivered, because some versions do not support it',
      { status: 400, headers: {} },
      { message: rejected(400), state: rejected(400), failure: DELIVERED },
    ],
    [
      '422 means rejected; a failure counts as delivered',
      { status: 422, headers: {} },
      { message: rejected(422), state: rejected(422), failure: DELIVERED },
    ],
    [
      '401 is retried until the settings are fixed',
      { status: 401, headers: {} },
      { message: retry(401), state: retry(401), failure: retry(401) },
    ],
    [
      '403 is retried after Retry-After',
      { status: 403, headers: { 'retry-after': '9' } },
      { message: retry(403, 9_000), state: retry(403, 9_000), failure: retry(403, 9_000) },
    ],
    [
      '404 is retried for a message, means rejected for a state, and a failure counts as delivered',
      { status: 404, headers: {} },
      { message: retry(404), state: rejected(404), failure: DELIVERED },
    ],
    ['408 is retried', { status: 408, headers: {} }, { message: retry(408), state: retry(408), failure: retry(408) }],
    ['500 is retried', { status: 500, headers: {} }, { message: retry(500), state: retry(500), failure: retry(500) }],
    [
      '503 is retried after Retry-After',
      { status: 503, headers: { 'retry-after': '5' } },
      { message: retry(503, 5_000), state: retry(503, 5_000), failure: retry(503, 5_000) },
    ],
    [
      '302 is retried, and not followed',
      { status: 302, headers: { location: '/' } },
      { message: retry(302), state: retry(302), failure: retry(302) },
    ],
  ])('with status %s', (_, answer, results) => {
    expect(resultsOf(answer)).toEqual(results);
  });

  // The fake time is 1893456060 seconds since 1970.
  test.each<[string, OutboundResponse['headers'], number]>([
    ['until X-RateLimit-Reset', { 'x-ratelimit-reset': '1893456090' }, 30_000],
    ['for 0 s if X-RateLimit-Reset is in the past', { 'x-ratelimit-reset': '1893456000' }, 0],
    [
      'until X-RateLimit-Reset, even with Retry-After',
      { 'x-ratelimit-reset': '1893456090', 'retry-after': '7' },
      30_000,
    ],
    ['for the seconds of Retry-After', { 'retry-after': '7' }, 7_000],
    ['until the date of Retry-After', { 'retry-after': 'Tue, 01 Jan 2030 00:03:00 GMT' }, 120_000],
    [
      'for the seconds of Retry-After if X-RateLimit-Reset is not a time',
      { 'x-ratelimit-reset': 'soon', 'retry-after': '7' },
      7_000,
    ],
    ['for a minute without these headers', {}, 60_000],
    ['for a minute if X-RateLimit-Reset is empty', { 'x-ratelimit-reset': '' }, 60_000],
    ['for a minute if X-RateLimit-Reset is infinite', { 'x-ratelimit-reset': 'Infinity' }, 60_000],
    ['for a minute if X-RateLimit-Reset is repeated', { 'x-ratelimit-reset': '1893456090, 1893456090' }, 60_000],
    ['for 0 s if X-RateLimit-Reset is negative', { 'x-ratelimit-reset': '-5' }, 0],
    [
      'for the seconds of Retry-After if X-RateLimit-Reset is too large',
      { 'x-ratelimit-reset': '1e400', 'retry-after': '7' },
      7_000,
    ],
    ['for a minute if neither header is a time', { 'x-ratelimit-reset': 'soon', 'retry-after': 'later' }, 60_000],
  ])('with status 429 means rate limited %s: %j', (_, headers, wait) => {
    const result = rateLimited(wait);
    expect(resultsOf({ status: 429, headers })).toEqual({ message: result, state: result, failure: result });
  });
});

const PLAIN_ERROR = 'must be an address without ? and #';
const CHANNEL_ERROR = 'must be 1 to 255 letters, digits, hyphens or underscores';
const TOKEN_ERROR = 'must be 1 to 4096 letters, digits and signs, without spaces';
const URL_ERROR = 'must be an https address, without user name or password';
const BLANK = 'must not be empty or white space only';

describe('settings', () => {
  test("use Turn's public URL by default", () => {
    const { url: _, ...rest } = settings;
    expect(turn.check(rest)).toStrictEqual({ settings: { ...rest, url: 'https://whatsapp.turn.io' } });
  });

  test('keep the secret for incoming requests apart from the settings for outgoing ones', () => {
    expect(turn.check({ ...settings, hmac_secret: 'channel secret' })).toStrictEqual({
      settings,
      hook: { hmac_secret: 'channel secret' },
    });
  });

  settingsCases({
    platform: turn,
    valid: [settings, { ...settings, channel: 'x'.repeat(255), token: 'x'.repeat(4_096) }],
    entry: text,
    invalid: [
      ['without TLS', { ...settings, url: 'http://turn.example.com/' }, [['url', URL_ERROR]]],
      ['with a password', { ...settings, url: 'https://a:b@turn.example.com/' }, [['url', URL_ERROR]]],
      ['with a blank channel', { ...settings, channel: ' ' }, [['channel', CHANNEL_ERROR]]],
      ['with a channel of 256 characters', { ...settings, channel: 'x'.repeat(256) }, [['channel', CHANNEL_ERROR]]],
      ['with ".." as the channel', { ...settings, channel: '..' }, [['channel', CHANNEL_ERROR]]],
      ['with a channel of two path segments', { ...settings, channel: 'a/b' }, [['channel', CHANNEL_ERROR]]],
      ['with a query', { ...settings, url: 'https://turn.example.com/?a=1' }, [['url', PLAIN_ERROR]]],
      ['with a fragment', { ...settings, url: 'https://turn.example.com/#a' }, [['url', PLAIN_ERROR]]],
      ['with an empty token', { ...settings, token: '' }, [['token', TOKEN_ERROR]]],
      ['with a token of 4,097 characters', { ...settings, token: 'x'.repeat(4_097) }, [['token', TOKEN_ERROR]]],
      ['with a token that is invalid in a header', { ...settings, token: 't\n☺' }, [['token', TOKEN_ERROR]]],
      [
        'with an error in every setting',
        { url: '', channel: '', token: '' },
        [
          ['url', URL_ERROR],
          ['channel', CHANNEL_ERROR],
          ['token', TOKEN_ERROR],
        ],
      ],
    ],
    incomplete: [
      [{ channel: settings.channel }, 'token'],
      [{ token: settings.token }, 'channel'],
    ],
  });

  test('are rejected with a blank secret, which cannot sign anything', () => {
    expect(issuesOf(turn, { ...settings, hmac_secret: ' ' })).toMatchObject([
      { path: [{ key: 'hmac_secret' }], message: BLANK },
    ]);
  });

  test('have one option each with a description; token and secret have no label, so they are not shown, and none is generated', () => {
    const shown = { description: expect.stringMatching(/\w/), label: expect.stringMatching(/\w/) };
    const hidden = { description: expect.stringMatching(/\w/) };
    expect(turn.options).toEqual({ url: shown, channel: shown, token: hidden, hmac_secret: hidden });
  });
});

describe('the check of settings', () => {
  test('sends an empty message, which changes nothing', () => {
    expect(turn.probe(settings)?.request).toEqual({
      url: MESSAGES,
      headers: { 'content-type': 'application/json', 'content-length': '2', authorization: 'Bearer turn-token' },
      body: '{}',
    });
  });

  const UNEXPECTED_RESPONSE = 'It should refuse an empty message with 400, as Turn does.';

  test.each<[number, string | undefined]>([
    [400, undefined],
    [422, undefined],
    [429, undefined],
    [401, 'It refuses the token.'],
    [403, 'It refuses the token.'],
    [404, 'It knows no such channel.'],
    [200, UNEXPECTED_RESPONSE],
    [302, UNEXPECTED_RESPONSE],
    [405, UNEXPECTED_RESPONSE],
    [500, UNEXPECTED_RESPONSE],
  ])('interprets %i as: %s', (status, problem) => {
    expect(turn.probe(settings)?.problem(status, '')).toBe(problem);
  });
});
