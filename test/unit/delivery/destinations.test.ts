/** Attempt results by the destination's response, and requests to the app network, with HTTP servers on loopback. */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { webhooks } from '../../../infra/openapi/webhooks.ts';
import { request as attempt } from '../../../shared/delivery/attempt.ts';
import { resolveDestination } from '../../../shared/delivery/deliver.ts';
import type { AttemptResult } from '../../../shared/destinations/attempt-result.ts';
import type { Conversation, Entry, OutboxEvent } from '../../../shared/outbox/event.ts';
import { documents } from '../../../shared/table/client.ts';
import { type Answer, DestinationServer, drop } from '../../stack/support/destination-server.ts';
import { useSecret } from '../../stack/support/own-table.ts';
import { lifetime } from '../../support/lifetime.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

let app: DestinationServer;
/** The value of the stack's secret, and the number of reads. */
let secret = '';
let reads = 0;

useSecret(() => {
  reads += 1;
  return secret;
});

beforeAll(async () => {
  app = await DestinationServer.start();
});

afterAll(() => app.close());

beforeEach(() => {
  vi.stubEnv('ALLOW_LOOPBACK', 'true');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  app.calls.length = 0;
  app.answers = [204];
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const message = {
  id: 'message-1',
  account: 'acme',
  phone: '27821234567',
  job_id: 'job-1',
  payload_type: 'text',
  ...lifetime,
};

const entry = (outgoing: OutboxEvent): Entry => ({
  pk: 'OUTBOX#app#acme#27821234567',
  sk: 'ENTRY#entry-1',
  id: 'entry-1',
  created: '2030-01-01T00:00:00.000123',
  outgoing,
});

const sent = entry({
  type: 'message.send',
  message,
  from: '27820000000',
  content: { type: 'text', text: { body: 'Zoë 😀' } },
});

const conversation: Conversation = { direction: 'app', account: 'acme', phone: '27821234567' };

/** A destination with the default interpretation of responses. */
const plainDestination = () => ({
  name: 'plain',
  buildRequest: () => ({ url: app.url, headers: { 'content-type': 'application/json' }, body: '{}' }),
});

describe('the result of an attempt', () => {
  test.each<[string, Answer, AttemptResult]>([
    ['204 delivers the entry', 204, { status: 'delivered' }],
    ['404 rejects the entry permanently', 404, { status: 'rejected', cause: 'status_404' }],
    [
      '503 schedules a retry, after the time of Retry-After',
      { status: 503, headers: { 'retry-after': '5' } },
      { status: 'retry', cause: 'status_503', retryAfter: 5_000 },
    ],
    ['a dropped connection schedules a retry', drop, { status: 'retry', cause: 'no_connection' }],
  ])('%s', async (_, answer, result) => {
    app.answers = [answer];
    expect(await attempt(plainDestination(), sent)).toEqual(result);
  });

  test.each([
    ['address_not_public', 'https://10.0.0.1/'],
    ['address_not_https', 'ftp://example.com/'],
  ])('a URL that must not be called schedules a retry without a request: %s', async (cause, url) => {
    const destination = { name: 'wrong', buildRequest: () => ({ ...plainDestination().buildRequest(), url }) };
    expect(await attempt(destination, sent)).toEqual({ status: 'retry', cause });
  });

  test('a destination may interpret responses itself: a 400 with its own header schedules a retry', async () => {
    app.answers = [{ status: 400, headers: { 'x-later': 'yes' } }];
    const interpret = ({ status, headers }: { status: number; headers: Record<string, unknown> }): AttemptResult =>
      status === 400 && headers['x-later'] ? { status: 'retry', cause: 'later' } : { status: 'delivered' };
    expect(await attempt({ ...plainDestination(), interpret }, sent)).toEqual({ status: 'retry', cause: 'later' });
  });
});

test('an entry for which the destination builds no request is skipped', async () => {
  expect(await attempt({ name: 'deaf', buildRequest: () => undefined }, sent)).toEqual({ status: 'skipped' });
  expect(app.calls).toEqual([]);
});

test('an error while building the request is thrown, and is not an attempt result', async () => {
  const buildRequest = () => {
    throw new TypeError('broken');
  };
  await expect(attempt({ name: 'broken', buildRequest }, sent)).rejects.toThrow('broken');
});

const attemptTo = async (outgoing = sent): Promise<AttemptResult> =>
  attempt(await resolveDestination(conversation), outgoing);

const good = (more: object = {}): string => JSON.stringify({ url: app.url, secret: SECRET, ...more });

const NOT_SET_UP = { status: 'retry', cause: 'not_set_up' };

// The order matters: the last test leaves a valid secret for the tests after it.
describe("the stack's secret", () => {
  let time = Date.now();

  /** Sets the clock forward. */
  const letPass = (seconds: number): void => {
    time += seconds * 1000;
    vi.setSystemTime(time);
  };

  beforeEach(() => {
    vi.useFakeTimers({ now: time, toFake: ['Date'] });
    letPass(300);
    reads = 0;
  });

  test.each([
    ['is empty', ''],
    ['has its initial value', 'not set'],
    ['is incomplete JSON', '{"url":"https://app.example.com/"'],
    ['is not an object', '[]'],
    ['has no signing secret', JSON.stringify({ url: 'https://app.example.com/' })],
    ['has no URL', JSON.stringify({ secret: SECRET })],
    ['has an invalid URL', JSON.stringify({ url: 'app', secret: SECRET })],
    ['has an invalid signing secret', JSON.stringify({ url: 'https://app.example.com/', secret: 'secret' })],
    [
      'has an invalid previous secret',
      JSON.stringify({ url: 'https://app.example.com/', secret: SECRET, previous_secret: '' }),
    ],
  ])('if it %s, entries stay pending, and it is read again after five minutes', async (_, value) => {
    secret = value;
    for (let times = 0; times < 3; times += 1) expect(await attemptTo()).toEqual(NOT_SET_UP);
    secret = good();
    letPass(299);
    expect(await attemptTo()).toEqual(NOT_SET_UP);
    expect(reads).toBe(1);
    letPass(1);
    expect(await attemptTo()).toEqual({ status: 'delivered' });
    expect(reads).toBe(2);
  });

  test('if it is valid, it is in use for five minutes, and is then read again', async () => {
    secret = good();
    for (let times = 0; times < 3; times += 1) expect(await attemptTo()).toEqual({ status: 'delivered' });
    secret = 'something else';
    letPass(299);
    expect(await attemptTo()).toEqual({ status: 'delivered' });
    expect(reads).toBe(1);
    letPass(1);
    expect(await attemptTo()).toEqual(NOT_SET_UP);
    expect(reads).toBe(2);
  });

  test.each([
    ['the last URL and secret stay in use', good, { status: 'delivered' }],
    ['entries stay pending', () => 'not set', NOT_SET_UP],
  ])('if a later read fails, %s, and it is read again after half a minute', async (_, value, expected) => {
    secret = value();
    expect(await attemptTo()).toEqual(expected);
    const reachable = process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER;
    letPass(300);
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', 'http://127.0.0.1:1');
    const log = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    expect(await attemptTo()).toEqual(expected);
    expect(log.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
      expect.objectContaining({ level: 'warn', message: 'app network secret not read' }),
    ]);
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', reachable);
    secret = good();
    letPass(29);
    expect(await attemptTo()).toEqual(expected);
    expect(reads).toBe(1);
    letPass(1);
    expect(await attemptTo()).toEqual({ status: 'delivered' });
    expect(reads).toBe(2);
  });

  test('with a previous secret, requests are valid for a server that knows either one', async () => {
    const next = `whsec_${randomBytes(32).toString('base64')}`;
    const accepts = (key: string): boolean => {
      const { body = '', headers = {} } = app.calls.at(-1) ?? {};
      try {
        new Webhook(key).verify(body, headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    };
    for (const [value, byOld, byNew] of [
      [good(), true, false],
      [good({ secret: next, previous_secret: SECRET }), true, true],
      [good({ secret: next }), false, true],
    ] as const) {
      secret = value;
      letPass(300);
      expect(await attemptTo()).toEqual({ status: 'delivered' });
      expect([accepts(SECRET), accepts(next)]).toEqual([byOld, byNew]);
    }
    secret = good();
    letPass(300);
    await attemptTo();
  });
});

describe('the app network', () => {
  test('the app network is one destination for all accounts', async () => {
    expect((await resolveDestination(conversation)).name).toBe('app');
    expect((await resolveDestination({ ...conversation, account: 'other' })).name).toBe('app');
  });

  test.each<[string, OutboxEvent, object]>([
    [
      'a text',
      { type: 'message.send', message, from: '27820000000', content: { type: 'text', text: { body: 'Zoë 😀' } } },
      { id: 'message-1', from: '27820000000', to: '27821234567', type: 'text', text: { body: 'Zoë 😀' } },
    ],
    [
      'a text with quick replies',
      {
        type: 'message.send',
        message,
        from: '27820000000',
        content: { type: 'text', text: { body: 'Well?' } },
        quick_replies: ['Yes', 'No'],
      },
      {
        id: 'message-1',
        from: '27820000000',
        to: '27821234567',
        type: 'text',
        text: { body: 'Well?' },
        quick_replies: ['Yes', 'No'],
      },
    ],
    [
      'an image',
      {
        type: 'message.send',
        message,
        from: '27820000000',
        content: { type: 'image', image: { url: 'https://bridge.example.com/media/1' } },
      },
      {
        id: 'message-1',
        from: '27820000000',
        to: '27821234567',
        type: 'image',
        image: { url: 'https://bridge.example.com/media/1' },
      },
    ],
    [
      'a file, of an account without a bot',
      { type: 'message.send', message, content: { type: 'file', file: { url: 'https://bridge.example.com/media/1' } } },
      { id: 'message-1', to: '27821234567', type: 'file', file: { url: 'https://bridge.example.com/media/1' } },
    ],
    [
      'a user data request',
      {
        type: 'user_data.request',
        request: { id: 'request-1', account: 'acme', phone: '27821234567' },
        business: 'Zoë & Sons',
        reason: 'To open your account',
        properties: [
          { property: 'first_name', reason: 'To greet you', required: true },
          { property: 'citizenship', required: false },
        ],
      },
      {
        id: 'request-1',
        to: '27821234567',
        business: 'Zoë & Sons',
        reason: 'To open your account',
        properties: [
          { property: 'first_name', reason: 'To greet you', required: true },
          { property: 'citizenship', required: false },
        ],
      },
    ],
  ])('receives %s as a signed event that matches the API description', async (_, outgoing, data) => {
    expect(await attemptTo(entry(outgoing))).toEqual({ status: 'delivered' });
    const [call] = app.calls;
    if (call === undefined) throw new Error('There was no call.');
    const event = { type: outgoing.type, timestamp: '2030-01-01T00:00:00.000123Z', data };
    expect(new Webhook(SECRET).verify(call.body, call.headers as Record<string, string>)).toStrictEqual(event);
    expect(call.headers['webhook-id']).toBe('entry-1');
    expect(v.is(webhooks[event.type as keyof typeof webhooks].schema, event)).toBe(true);
  });
});

describe("an account's chat platform", () => {
  const platformEntry = entry({
    type: 'message.received',
    message,
    to: '27820000000',
    content: { type: 'text', text: { body: '' } },
  });

  const attemptTo = async (item: object | undefined) => {
    vi.stubEnv('TABLE_NAME', 'table');
    vi.spyOn(documents, 'send').mockImplementation(async () => ({ Item: item }));
    const destination = await resolveDestination({ ...conversation, direction: 'platform' });
    expect(destination.name).toBe('platform#acme');
    return attempt(destination, platformEntry);
  };

  test('receives the entry at the URL of its settings', async () => {
    expect(await attemptTo({ platform: 'webhook', settings: { url: app.url, secret: SECRET } })).toEqual({
      status: 'delivered',
    });
    expect(app.calls).toMatchObject([{ json: { message: { from: '27821234567' } } }]);
  });

  test('with invalid settings, the attempt schedules a retry', async () => {
    expect(await attemptTo({ platform: 'webhook', settings: {} })).toEqual({ status: 'retry', cause: 'not_set_up' });
  });

  test('without a chat platform, the entry is skipped without a request', async () => {
    expect(await attemptTo(undefined)).toEqual({ status: 'skipped' });
    expect(app.calls).toEqual([]);
  });
});
