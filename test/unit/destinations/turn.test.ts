/** Turn: how its messages are read, the exact requests to it, its responses, and its settings. */
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OutboundResponse } from '../../../shared/destinations/http/request.ts';
import { checkSettings } from '../../../shared/destinations/setup.ts';
import {
  fromTurn,
  isOrdinaryWebhook,
  isSigned,
  turn,
  turnMessage,
  turnSetup,
} from '../../../shared/destinations/turn.ts';
import type { Entry, PlatformDraft } from '../../../shared/outbox/event.ts';
import type { Message, State } from '../../../shared/outbox/message.ts';
import { errorInBody } from '../../../shared/validation/validation-errors.ts';
import { message, received, sent as sentMessage, reached as stateReached } from './support/entries.ts';
import { inShort } from './support/results.ts';
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
const LONGEST = FOREIGN.padEnd(2_048, 'x');

const to = '27821234567';
const text = (body: string): PlatformDraft => ({ to, type: 'text', text: { body } });
const document = (body: string): PlatformDraft => ({ ...text(body), asFile: true });

/** A message of the Channel API. */
const inTurn = (turn: unknown) => ({ ...CHANNEL_MESSAGE, turn });
const plain = (content: unknown) => ({ ...CHANNEL_MESSAGE, turn: null, content });
/** The same without a text that could be sent in its place. */
const alone = (turn: unknown) => ({ ...inTurn(turn), content: null });

const BUTTONS = {
  type: 'interactive',
  interactive: {
    type: 'button',
    header: { type: 'text', text: 'Clinic' },
    body: { text: 'Will you come?' },
    footer: { text: 'Reply STOP to end' },
    action: {
      buttons: [
        { type: 'reply', reply: { id: '1', title: 'Yes' } },
        { type: 'reply', reply: { id: '2', title: 'No' } },
      ],
    },
  },
};

const LIST = {
  type: 'interactive',
  interactive: {
    type: 'list',
    body: { text: 'Which day?' },
    action: {
      button: 'Days',
      sections: [
        { title: 'This week', rows: [{ id: 'a', title: 'Monday', description: 'until noon' }] },
        {
          title: 'Next week',
          rows: [
            { id: 'b', title: 'Friday', description: null },
            { id: 'c', title: 'Monday' },
          ],
        },
      ],
    },
  },
};

test.each<[what: string, body: unknown, draft: PlatformDraft]>([
  ['of the Channel API', CHANNEL_MESSAGE, text('foo')],
  ['of the older fallback channel', FALLBACK_MESSAGE, text('foo')],
  ['of the fallback channel with +', { ...FALLBACK_MESSAGE, to: '+27821234567' }, text('foo')],
  ['of the Channel API without +', { ...CHANNEL_MESSAGE, to: '27821234567' }, text('foo')],
  ['of plain content', { to: '+27821234567', content: 'foo' }, text('foo')],
  ['of plain content, with turn null', plain('foo'), text('foo')],
  [
    'with text in turn and empty content',
    { ...inTurn({ type: 'text', text: { body: 'bar', preview_url: true } }), content: '' },
    text('bar'),
  ],
  [
    'with context and unknown keys',
    { ...CHANNEL_MESSAGE, context: { message_id: 'x' }, from: '27820000000', id: 'x', extra: [1] },
    text('foo'),
  ],
  [
    'with null as the value of unknown keys',
    { ...inTurn({ type: 'text', text: { body: 'foo', preview_url: null }, image: null }), from: null, statuses: null },
    text('foo'),
  ],
  ['with type null', { ...CHANNEL_MESSAGE, type: null }, text('foo')],
  ['with white space around its text', plain(' a\nb '), text(' a\nb ')],
  ['of 4,096 emoji', inTurn({ type: 'text', text: { body: '😀'.repeat(4_096) } }), text('😀'.repeat(4_096))],
  ['of plain content of 4,096 characters', plain('x'.repeat(4_096)), text('x'.repeat(4_096))],
  ['with our image', inTurn({ type: 'image', image: { link: OURS } }), text(OURS)],
  [
    'with our image and a null caption',
    { ...inTurn({ type: 'image', image: { id: null, link: OURS, caption: null } }), content: null },
    text(OURS),
  ],
  ['with our image and no caption', { to, type: 'image', image: { link: OURS, caption: '' } }, text(OURS)],
  ['with our image, blank caption', { to, type: 'image', image: { link: OURS, caption: ' ' } }, text(OURS)],
  ['with our document', inTurn({ type: 'document', document: { link: OURS, filename: 'a.pdf' } }), document(OURS)],
  ["in WhatsApp's format with our document", { to, type: 'document', document: { link: OURS } }, document(OURS)],
  [
    'with our image and a caption',
    inTurn({ type: 'image', image: { link: OURS, caption: 'Look' } }),
    text(`Look\n${OURS}`),
  ],
  [
    'with our document, a caption',
    { to, type: 'document', document: { link: OURS, caption: 'A' } },
    document(`A\n${OURS}`),
  ],
  ['with an image of another host', inTurn({ type: 'image', image: { link: FOREIGN } }), text(FOREIGN)],
  ['with its caption', { to, type: 'image', image: { link: FOREIGN, caption: 'A\nb' } }, text(`A\nb\n${FOREIGN}`)],
  ['with a document', { to, type: 'document', document: { link: FOREIGN, caption: null } }, document(FOREIGN)],
  [
    'with a document and its caption',
    inTurn({ type: 'document', document: { link: FOREIGN, caption: 'Read' } }),
    document(`Read\n${FOREIGN}`),
  ],
  [
    'with an image of a host whose name begins with ours',
    { to, type: 'image', image: { link: 'https://bridge.example.com.example.net/media/1' } },
    text('https://bridge.example.com.example.net/media/1'),
  ],
  [
    'with the longest caption and link',
    { to, type: 'image', image: { link: LONGEST, caption: '😀'.repeat(2_000) } },
    text(`${'😀'.repeat(2_000)}\n${LONGEST}`),
  ],
  ['with audio', inTurn({ type: 'audio', audio: { link: OURS } }), text(OURS)],
  ['with a video', inTurn({ type: 'video', video: { link: OURS, caption: 'Look' } }), text(`Look\n${OURS}`)],
  ['with a sticker', { to, type: 'sticker', sticker: { link: FOREIGN } }, text(FOREIGN)],
  [
    'with a location',
    inTurn({ type: 'location', location: { latitude: -33.92, longitude: 18.42, name: 'Clinic', address: null } }),
    text('Clinic\ngeo:-33.92,18.42'),
  ],
  [
    'with buttons',
    inTurn(BUTTONS),
    { ...text('Clinic\nWill you come?\nReply STOP to end'), quick_replies: ['Yes', 'No'] },
  ],
  [
    'with buttons below an image',
    inTurn({
      type: 'interactive',
      interactive: { ...BUTTONS.interactive, header: { type: 'image', image: { link: OURS } }, footer: null },
    }),
    { ...text(`Will you come?\n${OURS}`), quick_replies: ['Yes', 'No'] },
  ],
  [
    "in WhatsApp's format with a list",
    { to, ...LIST },
    { ...text('Which day?\nMonday: until noon'), quick_replies: ['Monday', 'Friday'] },
  ],
  [
    'with a list of more rows than the app shows',
    inTurn({
      type: 'interactive',
      interactive: {
        body: { text: 'Which?' },
        action: {
          sections: [0, 1].map((section) => ({
            rows: Array.from({ length: 6 }, (_, index) => ({ title: `Row ${6 * section + index + 1}` })),
          })),
        },
      },
    }),
    {
      ...text('Which?\nRow 11\nRow 12'),
      quick_replies: Array.from({ length: 10 }, (_, index) => `Row ${index + 1}`),
    },
  ],
  ...['contacts', 'template', 'reaction', 'order', 'flow'].map((type): [string, unknown, PlatformDraft] => [
    `of the type ${type} as its content`,
    inTurn({ type, [type]: {} }),
    text('foo'),
  ]),
  ['of a template in its content', inTurn({ type: 'template', template: { name: 'hello' } }), text('foo')],
  ['of an image without a link as its content', inTurn({ type: 'image', image: { id: '1' } }), text('foo')],
  [
    'of interactive parts that are unknown as its content',
    inTurn({ type: 'interactive', interactive: { type: 'flow' } }),
    text('foo'),
  ],
])('a message of Turn is read %s', (_, body, draft) => {
  expect(fromTurn(v.parse(turnMessage, body))).toEqual(draft);
});

const BLANK = 'must not be empty or white space only';
const TYPE = 'must be "text", "image", "document", "audio", "video", "sticker", "location" or "interactive"';
const MISSING = 'is required';
const NUMBER = expect.stringContaining('must be a phone number in international format: 7 to 15 digits');

test.each<[what: string, body: unknown, errors: Record<string, string>]>([
  ...['contacts', 'template', 'reaction'].flatMap((type): [string, unknown, Record<string, string>][] => [
    [`of the type ${type} without content`, alone({ type, [type]: {} }), { '#/turn/type': TYPE }],
    [`of the type ${type} in WhatsApp's format`, { to, type, [type]: {} }, { '#/type': TYPE }],
  ]),
  ['with turn of type null', alone({ type: null }), { '#/turn/type': TYPE }],
  ['with turn without a type', alone({ text: { body: 'foo' } }), { '#/turn/type': MISSING }],
  ['with a list as turn', alone([{ type: 'text', text: { body: 'foo' } }]), { '#/turn/type': MISSING }],
  ['of an image without a link', alone({ type: 'image', image: { id: '1' } }), { '#/turn/image/link': MISSING }],
  ['of an image with an empty link', alone({ type: 'image', image: { link: '' } }), { '#/turn/image/link': BLANK }],
  ['of a video without a link', { to, type: 'video', video: {} }, { '#/video/link': MISSING }],
  [
    'of interactive parts without choices',
    { to, type: 'interactive', interactive: { body: { text: 'Hi' }, action: { name: 'cta_url' } } },
    { '#/interactive/action': 'must have buttons or sections' },
  ],
  ['with a null image', alone({ type: 'image', image: null }), { '#/turn/image': 'must be an object, not null' }],
  ['with no link of a document', { to, type: 'document', document: { caption: 'x' } }, { '#/document/link': MISSING }],
  ['with an empty text', inTurn({ type: 'text', text: { body: '' } }), { '#/turn/text/body': BLANK }],
  ["in WhatsApp's format with a blank text", { ...FALLBACK_MESSAGE, text: { body: ' \n' } }, { '#/text/body': BLANK }],
  ['without a text', inTurn({ type: 'text' }), { '#/turn/text': MISSING }],
  ['with empty content', plain(''), { '#/content': BLANK }],
  ['without content', { to }, { '#/content': MISSING }],
  ['with null content', plain(null), { '#/content': 'must be a string, not null' }],
  ['without a number', { ...CHANNEL_MESSAGE, to: undefined }, { '#/to': MISSING }],
  ["in WhatsApp's format without a number", { type: 'text', text: { body: 'foo' } }, { '#/to': MISSING }],
  ['of plain content without a number', { content: 'foo' }, { '#/to': MISSING }],
  ['to letters', { ...CHANNEL_MESSAGE, to: '+2782ABCDEFG' }, { '#/to': NUMBER }],
  ['to a number with two +', { ...FALLBACK_MESSAGE, to: '++27821234567' }, { '#/to': NUMBER }],
  ['to null', { ...CHANNEL_MESSAGE, to: null }, { '#/to': 'must be a string, not null' }],
  [
    'of 4,097 characters',
    inTurn({ type: 'text', text: { body: 'x'.repeat(4_097) } }),
    { '#/turn/text/body': 'must have at most 4096 characters' },
  ],
  ['of 4,097 emoji', { to, content: '😀'.repeat(4_097) }, { '#/content': 'must have at most 4096 characters' }],
  [
    'with a caption of 2,001 and a link of 2,049 characters',
    { to, type: 'image', image: { link: `${LONGEST}x`, caption: 'x'.repeat(2_001) } },
    { '#/image/link': 'must have at most 2048 characters', '#/image/caption': 'must have at most 2000 characters' },
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
  ['with no field', {}, { '#/to': MISSING, '#/content': MISSING }],
])('a message of Turn is rejected %s, with one error per invalid field', (_, body, errors) => {
  const { issues = [] } = v.safeParse(turnMessage, body);
  expect(issues.map((issue) => errorInBody(issue))).toEqual(
    Object.entries(errors).map(([pointer, detail]) => ({ pointer, detail })),
  );
});

test.each<[isOrdinary: boolean, headers: Parameters<typeof isOrdinaryWebhook>[0], body: object]>([
  [true, { 'x-turn-hook-subscription': 'whatsapp' }, {}],
  [true, { 'x-turn-hook-subscription': 'turn' }, CHANNEL_MESSAGE],
  [true, { 'x-whatsapp-id': 'x' }, FALLBACK_MESSAGE],
  [true, {}, { ...FALLBACK_MESSAGE, _vnd: { v1: { direction: 'outbound', author: { type: 'OWNER' } } } }],
  [false, {}, { ...FALLBACK_MESSAGE, _vnd: { v1: { direction: 'inbound' } } }],
  [false, {}, { ...FALLBACK_MESSAGE, _vnd: null }],
  [true, {}, { statuses: [{ id: 'x', status: 'delivered', recipient_id: '27821234567' }] }],
  [true, {}, { statuses: [] }],
  [true, {}, { messages: [], to, type: 'text', text: { body: 'Hi' } }],
  [true, {}, { contacts: [], messages: [{ from: '27821234567', type: 'text', text: { body: 'foo' } }] }],
  [false, {}, CHANNEL_MESSAGE],
  [false, { 'x-turn-hook-subscription': undefined }, FALLBACK_MESSAGE],
  [false, {}, { ...CHANNEL_MESSAGE, statuses: null, messages: null }],
  [false, {}, { ...CHANNEL_MESSAGE, messages: 'two', statuses: {} }],
  [false, {}, {}],
])(
  'it is %s that a request is an ordinary webhook of Turn with the headers %j and the body %j',
  (is, headers, body) => {
    expect(isOrdinaryWebhook(headers, { ...body })).toBe(is);
  },
);

const bytes = Buffer.from('{"to":"+27821234567","content":"Zoë 😀"}');
const SIGNATURE = '9zlsLvRuWbVXUWfpgJZkNWhAlMbPZeGxgYHXwbf8xAU=';
const set = { hmac_secret: 'channel secret ë' };

/** The expected signatures were computed independently: HMAC-SHA256 over the bytes. */
test.each<[isValid: boolean, what: string, signature: string | undefined, set?: object, bytes?: Buffer]>([
  [true, 'of the bytes', SIGNATURE],
  [true, 'of no bytes', '03i/bQ9M4p03Tre/N7TmohVW905g0Ni8PH/uLkTwHSs=', set, Buffer.alloc(0)],
  [false, 'that is missing', undefined],
  [false, 'that is empty', ''],
  [false, 'that is not base64', '!'],
  [false, 'of another secret', 'B/xqcEe4oCj6HEZaNcKxXozmnZtBBjRvSDBo7sRtAWA='],
  [false, 'of the same JSON in other bytes', 'aE1b8hUcsGU69d7st72hwk4AkSLE3G1oHtz3B9bnhvc='],
  [false, 'without its last byte', '9zlsLvRuWbVXUWfpgJZkNWhAlMbPZeGxgYHXwbf8xA=='],
  [false, 'that is cut in half', SIGNATURE.slice(0, 22)],
  [false, 'with one byte too many', '9zlsLvRuWbVXUWfpgJZkNWhAlMbPZeGxgYHXwbf8xAUA'],
  [false, 'in hexadecimal', 'f7396c2ef46e59b5575167e980966435684094c6cf65e1b18181d7c1b7fcc405'],
  [false, 'of SHA-1', 'Kmh096loKlN84lN+/1q5pYvSaLg='],
  [false, 'of the secret before a change', SIGNATURE, { hmac_secret: 'other' }],
  [false, 'of other bytes', SIGNATURE, set, Buffer.from('{"to": "+27821234567", "content": "Zoë 😀"}')],
  [false, 'of some bytes, for none', SIGNATURE, set, Buffer.alloc(0)],
  ...[undefined, '', 'x', SIGNATURE].map((given): [boolean, string, string | undefined, object] => [
    true,
    'that no secret requires',
    given,
    {},
  ]),
])('it is %s that a signature is valid %s: %s', (isValid, _, signature, secrets = set, signed = bytes) => {
  expect(isSigned(signed, signature, secrets)).toBe(isValid);
});

test('no signature is required without settings', () => {
  expect(isSigned(bytes, undefined, undefined)).toBe(true);
});

const settings = {
  url: 'https://turn.example.com',
  channel: 'a2c1f0de-0b53-4d0f-8a4e-5f9e2c6b7d80',
  token: 'turn-token',
};

const own: Message = { ...message, origin: { platform: 'turn', id: 'ours-1' } };
const reached = (state: State, of = own): Entry => stateReached(state, of);
const userText = received({ type: 'text', text: { body: 'Zoë 😀' } });
const NUMBERS = 'https://turn.example.com/v1/numbers/a2c1f0de-0b53-4d0f-8a4e-5f9e2c6b7d80';

const messageBody = (body: string): string =>
  `{"contact":{"id":"+27821234567","profile":{"name":"+27821234567"}},"message":{"type":"text","text":{"body":"${body}"},"from":"+27821234567","id":"message-1","timestamp":"1893456000"}}`;
const statusBody = (status: string): string =>
  `{"status":{"id":"ours-1","timestamp":"1893456001","status":"${status}","recipient_id":"+27821234567"}}`;

const shaped = (content: object): string =>
  messageBody('X').replace('{"type":"text","text":{"body":"X"}', JSON.stringify(content).slice(0, -1));

const KEY = '#00112233445566778899aabb'.padEnd(89, '0');

const userMedia = (
  [
    [
      'an image',
      { type: 'image', image: { url: OURS, caption: 'Look', size: 7, mime_type: 'image/png' } },
      { type: 'image', image: { link: OURS, caption: 'Look', mime_type: 'image/png' } },
    ],
    [
      'an encrypted image',
      { type: 'image', image: { url: `aesgcm://files.example.com/a.jpg${KEY}` } },
      { type: 'image', image: { link: `aesgcm://files.example.com/a.jpg${KEY}` } },
    ],
    [
      'a file',
      { type: 'file', file: { url: OURS, filename: 'a.pdf' } },
      { type: 'document', document: { link: OURS, filename: 'a.pdf' } },
    ],
    ['a sound', { type: 'audio', audio: { url: OURS } }, { type: 'audio', audio: { link: OURS } }],
    ['a film', { type: 'video', video: { url: OURS } }, { type: 'video', video: { link: OURS } }],
    [
      'a location',
      { type: 'location', location: { latitude: 1.5, longitude: -2 } },
      { type: 'location', location: { latitude: 1.5, longitude: -2 } },
    ],
  ] as const
).map(([what, content, shape]): [string, Entry, string, string, number] => {
  const body = shaped(shape);
  return [what, received(content), 'messages', body, Buffer.byteLength(body)];
});

test.each<[what: string, given: Entry, path: string, body: string, length: number]>([
  ["a user's text", userText, 'messages', messageBody('Zoë 😀'), 185],
  ...userMedia,
  ['the state "sent"', reached('delivered_to_server'), 'statuses', statusBody('sent'), 97],
  ['the state "delivered"', reached('delivered_to_user'), 'statuses', statusBody('delivered'), 102],
  ['the state "read"', reached('read'), 'statuses', statusBody('read'), 97],
  ['the failure of a delivery', reached('delivery_failed'), 'statuses', statusBody('failed'), 99],
  ['the failure of sending', reached('sending_failed'), 'statuses', statusBody('failed'), 99],
])('Turn receives %s', (_, given, path, body, length) => {
  expect(turn(settings).buildRequest(given)).toEqual({
    url: `${NUMBERS}/${path}`,
    headers: {
      'content-type': 'application/json',
      'content-length': String(length),
      authorization: 'Bearer turn-token',
    },
    body,
  });
});

test.each<[base: string | undefined, host: string]>([
  ['https://turn.example.com/', 'turn.example.com'],
  ['https://turn.example.com//', 'turn.example.com'],
  ['https://turn.example.com/api/', 'turn.example.com/api'],
  [undefined, 'whatsapp.turn.io'],
])('requests go to the base URL %s', (url, host) => {
  const address = `${NUMBERS}/messages`.replace('turn.example.com', host);
  expect(turn({ ...settings, url }).buildRequest(userText)?.url).toBe(address);
});

test.each<[what: string, ignored: Entry]>([
  ['an accepted message', reached('sent')],
  ['a message received from a user', reached('received')],
  ['a message from a user that could not be delivered to Turn', reached('reception_failed_http')],
  ['a delivered message of the API', reached('delivered_to_user', message)],
  ['a message of RapidPro', reached('read', { ...message, origin: { platform: 'rapidpro', id: 'ours-1' } })],
  ['a message to a user', sentMessage(own)],
])('Turn receives no request for %s', (_, ignored) => {
  expect(turn(settings).buildRequest(ignored)).toBeUndefined();
  // Each message has its own id, so each state is reported separately.
  expect(turn(settings).receiptFor).toBeUndefined();
});

const RESET = 'x-ratelimit-reset';

/** Some versions of Turn do not support failures: a rejected one counts as delivered. The time is 1893456060. */
test.each<[status: number, headers: OutboundResponse['headers'], message: string, state?: string, failure?: string]>([
  [200, {}, 'delivered'],
  [201, {}, 'delivered'],
  [302, { location: '/' }, 'retry'],
  [400, {}, 'rejected', 'rejected', 'delivered'],
  [401, {}, 'retry'],
  [403, { 'retry-after': '9' }, 'retry 9000'],
  [404, {}, 'retry', 'rejected', 'delivered'],
  [408, {}, 'retry'],
  [422, {}, 'rejected', 'rejected', 'delivered'],
  [500, {}, 'retry'],
  [503, { 'retry-after': '5' }, 'retry 5000'],
  [429, { [RESET]: '1893456090' }, 'rate_limited 30000'],
  [429, { [RESET]: '1893456000' }, 'rate_limited 0'],
  [429, { [RESET]: '-5' }, 'rate_limited 0'],
  [429, { [RESET]: '1893456090', 'retry-after': '7' }, 'rate_limited 30000'],
  [429, { 'retry-after': '7' }, 'rate_limited 7000'],
  [429, { 'retry-after': 'Tue, 01 Jan 2030 00:03:00 GMT' }, 'rate_limited 120000'],
  [429, { [RESET]: 'soon', 'retry-after': '7' }, 'rate_limited 7000'],
  [429, { [RESET]: '1e400', 'retry-after': '7' }, 'rate_limited 7000'],
  [429, {}, 'rate_limited 60000'],
  [429, { [RESET]: '' }, 'rate_limited 60000'],
  [429, { [RESET]: 'Infinity' }, 'rate_limited 60000'],
  [429, { [RESET]: '1893456090, 1893456090' }, 'rate_limited 60000'],
  [429, { [RESET]: 'soon', 'retry-after': 'later' }, 'rate_limited 60000'],
])(
  'the status %i of Turn with the headers %j means: %s',
  (status, headers, ofMessage, ofState = ofMessage, ofFailure = ofMessage) => {
    const { interpret } = turn(settings);
    const given = [userText, reached('delivered_to_user'), reached('delivery_failed'), reached('sending_failed')];
    const results = given.map((one) => inShort(interpret?.({ status, headers }, one), status));
    expect(results).toEqual([ofMessage, ofState, ofFailure, ofFailure]);
  },
);

const URL_ERROR = 'must be an https address, without user name or password';
const PLAIN_ERROR = 'must be an address without ? and #';
const CHANNEL_ERROR = 'must be 1 to 255 letters, digits, hyphens or underscores';
const TOKEN_ERROR = 'must be 1 to 4096 letters, digits and signs, without spaces';

settingsCases({
  name: 'turn',
  platform: turn,
  setup: turnSetup,
  entry: userText,
  valid: [
    [settings],
    [{ ...settings, channel: 'x'.repeat(255), token: 'x'.repeat(4_096) }],
    [settings, { hmac_secret: 'channel secret' }],
  ],
  invalid: [
    [{ token: undefined }, { token: 'missing' }],
    [{ channel: undefined }, { channel: 'missing' }],
    [{ url: 'http://turn.example.com/' }, { url: URL_ERROR }],
    [{ url: 'https://a:b@turn.example.com/' }, { url: URL_ERROR }],
    [{ url: 'https://turn.example.com/?a=1' }, { url: PLAIN_ERROR }],
    [{ url: 'https://turn.example.com/#a' }, { url: PLAIN_ERROR }],
    ...[' ', 'x'.repeat(256), '..', 'a/b'].map((channel): [object, Record<string, string>] => [
      { channel },
      { channel: CHANNEL_ERROR },
    ]),
    ...['', 'x'.repeat(4_097), 't\n☺'].map((token): [object, Record<string, string>] => [
      { token },
      { token: TOKEN_ERROR },
    ]),
    [
      { url: '', channel: '', token: '' },
      { url: URL_ERROR, channel: CHANNEL_ERROR, token: TOKEN_ERROR },
    ],
    [{ hmac_secret: ' ' }, { hmac_secret: BLANK }],
  ],
  secrets: ['token', 'hmac_secret'],
  check: {
    url: `${NUMBERS}/messages`,
    headers: { 'content-type': 'application/json', 'content-length': '2', authorization: 'Bearer turn-token' },
    body: '{}',
  },
  answers: [
    [400, ''],
    [422, ''],
    [429, ''],
    [401, '', /refuses the token \(401\)/, /authentication token/],
    [403, '', /refuses the token \(403\)/, /of this channel/],
    [404, '', /no such channel/, /UUID/],
    [200, '', /not Turn's API.* returned 200/, /Turn's URL/],
    [405, '', /not Turn's API/, /Turn's URL/],
  ],
});

test("the default URL is Turn's public one", () => {
  const { url: _, ...rest } = settings;
  expect(checkSettings(turnSetup, rest)).toStrictEqual({ settings: { ...rest, url: 'https://whatsapp.turn.io' } });
});
