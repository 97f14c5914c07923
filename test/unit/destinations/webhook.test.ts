/** The plain webhook: the exact requests to it, and its settings. */
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { webhooks } from '../../../infra/openapi/webhooks.ts';
import { interpretWebhook, webhook } from '../../../shared/destinations/webhook.ts';
import type { Entry } from '../../../shared/outbox/event.ts';
import { entry, reached, received, sent } from './support/entries.ts';
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

const request = { id: 'request-1', account: 'acme', phone: '27821234567' };

/** The expected signatures were computed independently: HMAC-SHA256 over `entry-1.1893456060.` and the body. */
test.each<[string, Entry, { body: string; length: string; signature: string }]>([
  [
    "a user's text",
    received({ type: 'text', text: { body: 'Zoë 😀' } }),
    {
      body: '{"message":{"from":"27821234567","type":"text","text":{"body":"Zoë 😀"}}}',
      length: '76',
      signature: 'v1,n4g0p2DvJtwodqpUu9/rXzlcvd33hwcPzQbLTnzcdos=',
    },
  ],
  [
    "a user's image",
    received({ type: 'image', image: { url: 'https://bridge.example.com/media/1' } }),
    {
      body: '{"message":{"from":"27821234567","type":"image","image":{"url":"https://bridge.example.com/media/1"}}}',
      length: '102',
      signature: 'v1,FgJoiURj/7rBtx//Fe9SY0Ls285XG8owgqnaJ70Chcc=',
    },
  ],
  [
    "a user's file",
    received({ type: 'file', file: { url: 'https://bridge.example.com/media/2' } }),
    {
      body: '{"message":{"from":"27821234567","type":"file","file":{"url":"https://bridge.example.com/media/2"}}}',
      length: '100',
      signature: 'v1,HRHfoO7tP3UAlA8AmLnXnhb8Y9rOIzqZycHQ+FOroz4=',
    },
  ],
  [
    'the state "delivered_to_server" of a message',
    reached('delivered_to_server'),
    {
      body: '{"status":{"id":"message-1","state":"delivered_to_server","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '157',
      signature: 'v1,B3ZBIcoS4afgXaHYjYsv0WlXnrBgGu3El/VSAVGQ55E=',
    },
  ],
  [
    'the state "delivered_to_user" of a message',
    reached('delivered_to_user'),
    {
      body: '{"status":{"id":"message-1","state":"delivered_to_user","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '155',
      signature: 'v1,WqYSV5PkU00llJhv2QP0dGDJS7zOV0lfLc+KXjM+WBA=',
    },
  ],
  [
    'the state "read" of a message',
    reached('read'),
    {
      body: '{"status":{"id":"message-1","state":"read","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '142',
      signature: 'v1,aSBEMUD+hecvvG6E7fFDyWxRn5Oz3C7Ks2wpUVSx42w=',
    },
  ],
  [
    'the state "delivery_failed" of a message',
    reached('delivery_failed'),
    {
      body: '{"status":{"id":"message-1","state":"delivery_failed","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '153',
      signature: 'v1,qilQ+YUzLEbAmbcSSCt6UprpK4VBuHiRmuo59yKdgDc=',
    },
  ],
  [
    'the state "sending_failed" of a message',
    reached('sending_failed'),
    {
      body: '{"status":{"id":"message-1","state":"sending_failed","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '152',
      signature: 'v1,89jiZC4ARRFNvbuI2o8KqAuWJQpKyTeFcfAoNF+1ZeM=',
    },
  ],
  [
    'a completed user data request',
    entry({ type: 'user_data.completed', request, completed: '2030-01-01T00:00:01.000000' }),
    {
      body: '{"user_data":{"id":"request-1","status":"completed","contact":"27821234567@users.example.com","completed":"2030-01-01T00:00:01.000000"}}',
      length: '136',
      signature: 'v1,wfWUScjwm/IKDx2NNKiu4oXEnGD55KjuRfuCvBeXxsA=',
    },
  ],
  [
    "a user's stop",
    entry({ type: 'user.state', user: { account: 'acme', phone: '27821234567' }, state: 'stopped' }),
    {
      body: '{"user":{"contact":"27821234567@users.example.com","state":"stopped"}}',
      length: '70',
      signature: 'v1,5LYiveGEQHq4GP+BueheuQcycKwbdYW6Tc28GsVxWj0=',
    },
  ],
])(
  'a webhook receives %s in a signed request that matches the API description',
  (_, given, { body, length, signature }) => {
    expect(webhook.destination(settings).buildRequest(given)).toEqual({
      url: 'https://customer.example.com/hook?key=1',
      headers: {
        'content-type': 'application/json',
        'content-length': length,
        'webhook-id': 'entry-1',
        'webhook-timestamp': '1893456060',
        'webhook-signature': signature,
      },
      body,
    });
    const [described = ''] = Object.keys(JSON.parse(body));
    expect(v.is(webhooks[described as keyof typeof webhooks].schema, JSON.parse(body))).toBe(true);
  },
);

test.each<[string, Entry]>([
  ['message to a user', sent()],
  ['report of a removed user', entry({ type: 'user.stopped', user: { account: 'acme', phone: '27821234567' } })],
  [
    'user data request to a user',
    entry({
      type: 'user_data.request',
      request,
      business: 'Acme',
      reason: 'To greet you',
      properties: [{ property: 'first_name', required: true }],
    }),
  ],
])('a webhook does not receive a %s', (_, toUser) => {
  expect(webhook.destination(settings).buildRequest(toUser)).toBeUndefined();
});

test.each<[number, object]>([
  [204, { status: 'delivered' }],
  [301, { status: 'retry', cause: 'status_301' }],
  [401, { status: 'retry', cause: 'status_401' }],
  [404, { status: 'retry', cause: 'status_404' }],
  [410, { status: 'disabled', cause: 'status_410' }],
  [400, { status: 'retry', cause: 'status_400', isRefusal: true }],
  [413, { status: 'retry', cause: 'status_413', isRefusal: true }],
  [422, { status: 'retry', cause: 'status_422', isRefusal: true }],
  [503, { status: 'retry', cause: 'status_503' }],
])('the status %i of a webhook means %j', (status, result) => {
  expect(interpretWebhook({ status, headers: {} })).toEqual(result);
});

test('a webhook receives every state separately, without status receipts', () => {
  expect(webhook.destination(settings).receiptFor).toBeUndefined();
});

const URL_ERROR = 'must be an https address, without user name or password';
const SECRET_ERROR = 'must be whsec_ and 24 to 64 bytes in base64';

describe('settings', () => {
  settingsCases({
    platform: webhook,
    valid: [settings],
    entry: reached('read'),
    invalid: [
      ['without TLS', { ...settings, url: 'http://customer.example.com/' }, [['url', URL_ERROR]]],
      ['with a password', { ...settings, url: 'https://a:b@customer.example.com/' }, [['url', URL_ERROR]]],
      ['without a host', { ...settings, url: 'hook' }, [['url', URL_ERROR]]],
      ['with a short secret', { ...settings, secret: 'whsec_AAAA' }, [['secret', SECRET_ERROR]]],
      ['with a bare secret', { ...settings, secret: settings.secret.slice(6) }, [['secret', SECRET_ERROR]]],
      [
        'with an error in both settings',
        { url: '', secret: '' },
        [
          ['url', URL_ERROR],
          ['secret', SECRET_ERROR],
        ],
      ],
    ],
    incomplete: [
      [{ url: settings.url }, 'secret'],
      [{ secret: settings.secret }, 'url'],
    ],
  });

  test('have one option each with a description; the secret has no label, so it is not shown', () => {
    expect(webhook.options).toEqual({
      url: { description: expect.stringMatching(/\w/), label: expect.stringMatching(/\w/) },
      secret: { description: expect.stringMatching(/\w/), make: expect.any(Function) },
    });
  });

  test('are valid with a generated secret, which is different each time', () => {
    const made = [1, 2].map(() => webhook.options.secret?.make?.());
    expect(new Set(made).size).toBe(2);
    for (const secret of made) {
      expect(webhook.check({ ...settings, secret })).toEqual({ settings: { ...settings, secret } });
    }
  });
});

describe('a replaced secret', () => {
  const replaced = 'whsec_GBkaGxwdHh8gISIjJCUmJygpKissLS4v';
  const until = Date.UTC(2030, 0, 2);
  const previous = [{ secret: replaced, until }];
  const requests = () => [
    webhook.destination(settings, previous).buildRequest(reached('read')),
    webhook.probe(settings, previous)?.request,
  ];

  const isAcceptedBy = (secret: string): boolean[] =>
    requests().map((request) => {
      try {
        new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {});
        return true;
      } catch {
        return false;
      }
    });

  test('signs requests and checks as well until its time, and not afterwards', () => {
    vi.setSystemTime(until - 1);
    expect(isAcceptedBy(settings.secret)).toEqual([true, true]);
    expect(isAcceptedBy(replaced)).toEqual([true, true]);
    vi.setSystemTime(until);
    expect(isAcceptedBy(settings.secret)).toEqual([true, true]);
    expect(isAcceptedBy(replaced)).toEqual([false, false]);
  });
});

describe('the check of settings', () => {
  test('sends a signed request without a message', () => {
    const probe = webhook.probe(settings)?.request;
    expect(probe).toMatchObject({
      url: settings.url,
      headers: { 'content-type': 'application/json', 'content-length': '12', 'webhook-timestamp': '1893456060' },
      body: '{"check":{}}',
    });
    expect(new Webhook(settings.secret).verify(probe?.body ?? '', probe?.headers ?? {})).toEqual({ check: {} });
  });

  test.each<[number, string | undefined]>([
    [200, undefined],
    [204, undefined],
    [299, undefined],
    [199, 'It should answer 2xx.'],
    [300, 'It should answer 2xx.'],
    [302, 'It should answer 2xx.'],
    [400, 'It should answer 2xx.'],
    [404, 'It should answer 2xx.'],
    [500, 'It should answer 2xx.'],
  ])('interprets %i as: %s', (status, problem) => {
    expect(webhook.probe(settings)?.problem(status, '')).toBe(problem);
  });
});
