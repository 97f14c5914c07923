/** The plain webhook: the exact requests to it, its responses, and its settings. */

import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { webhooks } from '../../../infra/openapi/webhooks.ts';
import { checkSettings, probeOf } from '../../../shared/destinations/setup.ts';
import { newSigningSecret } from '../../../shared/destinations/signing-secrets.ts';
import { webhook, webhookSetup } from '../../../shared/destinations/webhook.ts';
import type { Entry } from '../../../shared/outbox/event.ts';
import type { State } from '../../../shared/outbox/message.ts';
import { entry, reached, received, sent } from './support/entries.ts';
import { inShort } from './support/results.ts';
import { settingsCases } from './support/settings-cases.ts';

const settings = { url: 'https://customer.example.com/hook?key=1', secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX' };

beforeEach(() => {
  vi.stubEnv('JID_DOMAIN', 'users.example.com');
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 1) });
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const user = { account: 'acme', phone: '27821234567' };
const request = { id: 'request-1', ...user };
const created = '2030-01-01T00:00:01.000000';

const stateEvent = (state: State): [Entry, string] => [
  reached(state),
  `{"status":{"id":"message-1","state":"${state}","contact":"27821234567@users.example.com","job_id":"job-1","created":"${created}"}}`,
];
const media = (type: string, url: string): string =>
  `{"message":{"from":"27821234567","type":"${type}","${type}":{"url":"${url}"}}}`;

const IMAGE = 'https://bridge.example.com/media/1';
const FILE = 'https://bridge.example.com/media/2';

/** The expected signatures were computed independently: HMAC-SHA256 over `entry-1.1893456060.` and the body. */
test.each<[what: string, given: Entry, body: string, length: number, signature: string]>([
  [
    "a user's text",
    received({ type: 'text', text: { body: 'Zoë 😀' } }),
    '{"message":{"from":"27821234567","type":"text","text":{"body":"Zoë 😀"}}}',
    76,
    'n4g0p2DvJtwodqpUu9/rXzlcvd33hwcPzQbLTnzcdos=',
  ],
  [
    "a user's image",
    received({ type: 'image', image: { url: IMAGE } }),
    media('image', IMAGE),
    102,
    'FgJoiURj/7rBtx//Fe9SY0Ls285XG8owgqnaJ70Chcc=',
  ],
  [
    "a user's file",
    received({ type: 'file', file: { url: FILE } }),
    media('file', FILE),
    100,
    'HRHfoO7tP3UAlA8AmLnXnhb8Y9rOIzqZycHQ+FOroz4=',
  ],
  [
    'the state delivered_to_server',
    ...stateEvent('delivered_to_server'),
    157,
    'B3ZBIcoS4afgXaHYjYsv0WlXnrBgGu3El/VSAVGQ55E=',
  ],
  [
    'the state delivered_to_user',
    ...stateEvent('delivered_to_user'),
    155,
    'WqYSV5PkU00llJhv2QP0dGDJS7zOV0lfLc+KXjM+WBA=',
  ],
  ['the state read', ...stateEvent('read'), 142, 'aSBEMUD+hecvvG6E7fFDyWxRn5Oz3C7Ks2wpUVSx42w='],
  ['the state delivery_failed', ...stateEvent('delivery_failed'), 153, 'qilQ+YUzLEbAmbcSSCt6UprpK4VBuHiRmuo59yKdgDc='],
  ['the state sending_failed', ...stateEvent('sending_failed'), 152, '89jiZC4ARRFNvbuI2o8KqAuWJQpKyTeFcfAoNF+1ZeM='],
  [
    'a completed user data request',
    entry({ type: 'user_data.completed', request, completed: created }),
    `{"user_data":{"id":"request-1","status":"completed","contact":"27821234567@users.example.com","completed":"${created}"}}`,
    136,
    'wfWUScjwm/IKDx2NNKiu4oXEnGD55KjuRfuCvBeXxsA=',
  ],
  [
    "a user's stop",
    entry({ type: 'user.state', user, state: 'stopped' }),
    '{"user":{"contact":"27821234567@users.example.com","state":"stopped"}}',
    70,
    '5LYiveGEQHq4GP+BueheuQcycKwbdYW6Tc28GsVxWj0=',
  ],
])(
  'a webhook receives %s in a signed request that matches the API description',
  (_, given, body, length, signature) => {
    expect(webhook(settings).buildRequest(given)).toEqual({
      url: 'https://customer.example.com/hook?key=1',
      headers: {
        'content-type': 'application/json',
        'content-length': String(length),
        'webhook-id': 'entry-1',
        'webhook-timestamp': '1893456060',
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
    const [described = ''] = Object.keys(JSON.parse(body));
    expect(v.is(webhooks[described as keyof typeof webhooks].schema, JSON.parse(body))).toBe(true);
    // Every state is reported separately.
    expect(webhook(settings).receiptFor).toBeUndefined();
  },
);

const properties = [{ property: 'first_name', required: true }] as const;

test.each<[what: string, ignored: Entry]>([
  ['message to a user', sent()],
  ['report of a removed user', entry({ type: 'user.stopped', user })],
  [
    'user data request to a user',
    entry({
      type: 'user_data.request',
      request,
      business: 'Acme',
      reason: 'To greet you',
      properties: [...properties],
    }),
  ],
])('a webhook does not receive a %s', (_, ignored) => {
  expect(webhook(settings).buildRequest(ignored)).toBeUndefined();
});

test.each([
  [204, 'delivered'],
  [301, 'retry'],
  [401, 'retry'],
  [404, 'retry'],
  [410, 'disabled'],
  [418, 'retry'],
  [400, 'retry isRefusal'],
  [413, 'retry isRefusal'],
  [422, 'retry isRefusal'],
  [503, 'retry'],
])('the status %i of a webhook means %s', (answer, result) => {
  expect(inShort(webhook(settings).interpret?.({ status: answer, headers: {} }, reached('read')), answer)).toBe(result);
});

test.each([
  [204, 'delivered'],
  [410, 'disabled'],
  [422, 'rejected'],
  [503, 'rejected'],
])('the status %i with "webhook-delivery: abort-message" means %s', (status, result) => {
  const headers = { 'webhook-delivery': 'abort-message' };
  expect(webhook(settings).interpret?.({ status, headers }, reached('read'))).toMatchObject({ status: result });
});

const URL_ERROR = 'must be an https address, without user name or password';
const SECRET_ERROR = 'must be whsec_ and 24 to 64 bytes in base64';

settingsCases({
  name: 'webhook',
  platform: webhook,
  setup: webhookSetup,
  entry: reached('read'),
  valid: [[settings], [{ ...settings, secret: newSigningSecret() }]],
  invalid: [
    [{ url: undefined }, { url: 'missing' }],
    [{ secret: undefined }, { secret: 'missing' }],
    [{ url: 'http://customer.example.com/' }, { url: URL_ERROR }],
    [{ url: 'https://a:b@customer.example.com/' }, { url: URL_ERROR }],
    [{ url: 'hook' }, { url: URL_ERROR }],
    [{ secret: 'whsec_AAAA' }, { secret: SECRET_ERROR }],
    [{ secret: settings.secret.slice(6) }, { secret: SECRET_ERROR }],
    [
      { url: '', secret: '' },
      { url: URL_ERROR, secret: SECRET_ERROR },
    ],
  ],
  secrets: ['secret'],
  check: {
    url: settings.url,
    headers: expect.objectContaining({ 'content-type': 'application/json', 'content-length': '12' }),
    body: '{"check":{}}',
  },
  answers: [
    [200, ''],
    [204, ''],
    [299, ''],
    [199, '', /should answer 2xx/],
    [400, '', /should answer 2xx, but returned 400/, /2xx/],
    [401, '', /refuses the signed request \(401\)/, /secret/],
    [403, '', /refuses the signed request \(403\)/, /secret/],
    [404, '', /no such URL/, /path/],
    [422, '', /returned 422/, /2xx/],
  ],
});

test('a new secret is another one each time, and is shown once', () => {
  const made = [1, 2].map(() => webhookSetup.options.secret.make?.() ?? '');
  expect(new Set(made).size).toBe(2);
  for (const secret of made) expect(() => checkSettings(webhookSetup, { ...settings, secret })).not.toThrow();
  const values = { bridgeUrl: '', token: '', encodedToken: '', botNumber: '', name: '' };
  expect(webhookSetup.fields(values)).toEqual([]);
  expect(webhookSetup.fields({ ...values, made: { secret: 'whsec_1' } })).toMatchObject([{ value: 'whsec_1' }]);
});

test('a replaced secret signs requests and checks as well until its time, and not afterwards', () => {
  const replaced = 'whsec_GBkaGxwdHh8gISIjJCUmJygpKissLS4v';
  const until = Date.UTC(2030, 0, 2);
  const isAcceptedBy = (secret: string): boolean[] => {
    const previous = [{ secret: replaced, until }];
    const requests = [
      webhook(settings, previous).buildRequest(reached('read')),
      probeOf(webhookSetup, settings, previous)?.request,
    ];
    return requests.map((one) => {
      try {
        new Webhook(secret).verify(one?.body ?? '', one?.headers ?? {});
        return true;
      } catch {
        return false;
      }
    });
  };
  vi.setSystemTime(until - 1);
  expect(isAcceptedBy(settings.secret)).toEqual([true, true]);
  expect(isAcceptedBy(replaced)).toEqual([true, true]);
  vi.setSystemTime(until);
  expect(isAcceptedBy(settings.secret)).toEqual([true, true]);
  expect(isAcceptedBy(replaced)).toEqual([false, false]);
});
