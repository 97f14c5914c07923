/** The plain webhook: what is said to it, to the letter, and which settings it takes. */
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Message, State } from '../../../shared/logs.ts';
import type { Content, Entry, Outgoing } from '../../../shared/outbox.ts';
import { webhook } from '../../../shared/platforms/webhook.ts';

const settings = { url: 'https://customer.example.com/hook?key=1', secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX' };

beforeEach(() => {
  vi.stubEnv('JID_DOMAIN', 'users.example.com');
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 1) });
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const message: Message = {
  id: 'message-1',
  account: 'acme',
  phone: '27821234567',
  job_id: 'job-1',
  payload_type: 'text',
  reported: true,
};

const entry = (outgoing: Outgoing): Entry => ({
  pk: 'OUTBOX#platform#acme#27821234567',
  sk: 'ENTRY#entry-1',
  id: 'entry-1',
  created: '2030-01-01T00:00:00.000000',
  outgoing,
});

const received = (content: Content): Entry => entry({ type: 'message.received', message, to: '27820000000', content });

const reached = (state: State): Entry =>
  entry({ type: 'message.state', message, state, created: '2030-01-01T00:00:01.000000' });

/** Bodies, and signatures that were made elsewhere: HMAC-SHA256 over `entry-1.1893456060.` and the body. */
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
    'a message that the app network took',
    reached('delivered_to_server'),
    {
      body: '{"status":{"id":"message-1","state":"delivered_to_server","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '157',
      signature: 'v1,B3ZBIcoS4afgXaHYjYsv0WlXnrBgGu3El/VSAVGQ55E=',
    },
  ],
  [
    'a message that came to the phone',
    reached('delivered_to_user'),
    {
      body: '{"status":{"id":"message-1","state":"delivered_to_user","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '155',
      signature: 'v1,WqYSV5PkU00llJhv2QP0dGDJS7zOV0lfLc+KXjM+WBA=',
    },
  ],
  [
    'a message that was read',
    reached('read'),
    {
      body: '{"status":{"id":"message-1","state":"read","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '142',
      signature: 'v1,aSBEMUD+hecvvG6E7fFDyWxRn5Oz3C7Ks2wpUVSx42w=',
    },
  ],
  [
    'a message that the phone did not take',
    reached('delivery_failed'),
    {
      body: '{"status":{"id":"message-1","state":"delivery_failed","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '153',
      signature: 'v1,qilQ+YUzLEbAmbcSSCt6UprpK4VBuHiRmuo59yKdgDc=',
    },
  ],
  [
    'a message that the app network did not take',
    reached('sending_failed'),
    {
      body: '{"status":{"id":"message-1","state":"sending_failed","contact":"27821234567@users.example.com","job_id":"job-1","created":"2030-01-01T00:00:01.000000"}}',
      length: '152',
      signature: 'v1,89jiZC4ARRFNvbuI2o8KqAuWJQpKyTeFcfAoNF+1ZeM=',
    },
  ],
])('is told of %s', (_, told, { body, length, signature }) => {
  expect(webhook.receiver(settings).posting(told)).toEqual({
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
});

test('is not told of a message to a user', () => {
  const sent = entry({ type: 'message.send', message, content: { type: 'text', text: { body: 'Hello' } } });
  expect(webhook.receiver(settings).posting(sent)).toBeUndefined();
});

test('judges its answers as other receivers do', () => {
  expect(webhook.receiver(settings).judge).toBeUndefined();
});

const URL_FAULT = 'must be an https address, without user name or password';
const SECRET_FAULT = 'must be whsec_ and 24 to 64 bytes in base64';

describe('settings', () => {
  test('are an address and a secret, and nothing else is kept of them', () => {
    expect(webhook.check({ ...settings, more: 'x' })).toEqual(settings);
  });

  test.each<[string, unknown, [string, string][]]>([
    ['without TLS', { ...settings, url: 'http://customer.example.com/' }, [['url', URL_FAULT]]],
    ['with a password', { ...settings, url: 'https://a:b@customer.example.com/' }, [['url', URL_FAULT]]],
    ['without a host', { ...settings, url: 'hook' }, [['url', URL_FAULT]]],
    ['with a short secret', { ...settings, secret: 'whsec_AAAA' }, [['secret', SECRET_FAULT]]],
    ['with a bare secret', { ...settings, secret: settings.secret.slice(6) }, [['secret', SECRET_FAULT]]],
    [
      'with two faults',
      { url: '', secret: '' },
      [
        ['url', URL_FAULT],
        ['secret', SECRET_FAULT],
      ],
    ],
  ])('are refused %s, and it is said why; nothing can be posted by them', (_, wrong, said) => {
    expect(issuesOf(wrong).map(({ path, message }) => [path?.[0]?.key, message])).toEqual(said);
    expect(() => webhook.receiver(wrong).posting(reached('read'))).toThrow('not_set_up');
  });

  test.each([
    [{ url: settings.url }, 'secret'],
    [{ secret: settings.secret }, 'url'],
  ])('are refused where one is missing: %j lacks %s', (wrong, missing) => {
    const [issue, ...others] = issuesOf(wrong);
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ path: [{ key: missing }], received: 'undefined' });
    expect(() => webhook.receiver(wrong).posting(reached('read'))).toThrow('not_set_up');
  });

  test.each([undefined, null, 'x'])('are refused where they are none: %s', (wrong) => {
    expect(() => webhook.check(wrong)).toThrow(v.ValiError);
    expect(() => webhook.receiver(wrong).posting(reached('read'))).toThrow('not_set_up');
  });
});

/** What is said of settings that are refused. */
const issuesOf = (wrong: unknown): v.BaseIssue<unknown>[] => {
  try {
    webhook.check(wrong);
  } catch (error) {
    if (v.isValiError(error)) return error.issues;
  }
  throw new Error('The settings were taken.');
};
