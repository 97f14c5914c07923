/**
 * Messages, from the request to the phone, the delivery log and the job counters.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { idempotencyRecordKey } from '../../../../shared/table/keys.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { report, shownOn, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newMedia, newPhone } from '../../support/world.ts';

const { bridge_url } = inject('stack');

const business = (): Promise<Caller> => newCaller('messages', 'stats');

const text = (to: string, body = 'Hello') =>
  ({ to, recipient_type: 'individual', type: 'text', text: { body } }) as const;

const today = (): string => new Date().toISOString().slice(0, 10);

const period = () => ({ start_date: today(), end_date: today() });

/** The states in a contact's delivery log, oldest first. */
const statesOf = async ({ token }: Caller, contact: string): Promise<string[]> =>
  ((await call('listLogs', { token, query: { contact } })).body ?? []).map(({ state }) => state).reverse();

const untilStates = (caller: Caller, contact: string, ...states: string[]): Promise<void> =>
  expect.poll(() => statesOf(caller, contact)).toEqual(states);

describe('a message', () => {
  test('is shown on the phone, and each of its states is in logs and jobs', async () => {
    const caller = await business();
    const { token } = caller;
    const to = newPhone();
    const { body } = await call('sendMessage', { token, body: text(to) });
    const [shown] = await untilShown(to, 1);
    expect(shown?.data).toEqual({
      id: body.id,
      from: expect.stringMatching(/^\d+$/),
      to,
      type: 'text',
      text: { body: 'Hello' },
    });

    await untilStates(caller, to, 'sent', 'delivered_to_server');
    await report(body.id, 'delivered_to_user');
    await report(body.id, 'read');
    await untilStates(caller, to, 'sent', 'delivered_to_server', 'delivered_to_user', 'read');

    const logs = (await call('listLogs', { token })).body ?? [];
    expect(logs).toHaveLength(4);
    for (const { contact, created, job_id } of logs) {
      expect(contact).toBe(`${to}@users.example.com`);
      expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
      expect(job_id).toBe(logs[0]?.job_id);
    }
    await expect
      .poll(async () => (await call('listJobs', { token, query: period() })).body)
      .toEqual(
        ['sent', 'delivered_to_server', 'delivered_to_user', 'read'].map((state) => ({
          job_id: logs[0]?.job_id,
          state,
          payload_type: 'text',
          count: 1,
        })),
      );
  });

  test('is accepted on the bridge host, too', async () => {
    const { token } = await business();
    const to = newPhone();
    const response = await fetch(`${bridge_url}/v1/message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(text(to, 'Over the bridge')),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    await untilShown(to, 1);
  });

  test('may contain quick replies, or media by their datafree URL', async () => {
    const { account, token } = await business();
    const to = newPhone();
    const url = `${bridge_url}/media/${await newMedia(account)}`;
    await call('sendMessage', { token, body: { ...text(to), quick_replies: ['Yes', 'No'] } });
    await call('sendMessage', { token, body: { to, type: 'image', image: { url } } });
    await call('sendMessage', { token, body: { to, type: 'file', file: { url } } });
    expect((await untilShown(to, 3)).map(({ data }) => data)).toMatchObject([
      { type: 'text', quick_replies: ['Yes', 'No'] },
      { type: 'image', image: { url } },
      { type: 'file', file: { url } },
    ]);
  });

  test('belongs to the job of its job_id, by default to a job of its account and day', async () => {
    const caller = await business();
    const { token } = caller;
    const job_id = randomUUID();
    await call('sendMessage', { token, query: { job_id: job_id.toUpperCase() }, body: text(newPhone()) });
    await call('sendMessage', { token, body: text(newPhone()) });
    await call('sendMessage', { token, body: text(newPhone()) });
    const logs = (await call('listLogs', { token, query: { state: 'sent' } })).body ?? [];
    const [second, first, named] = logs.map((entry) => entry.job_id);
    expect(named).toBe(job_id);
    expect(first).toBe(second);
    expect(first).not.toBe(job_id);
    const other = await business();
    await call('sendMessage', { token: other.token, body: text(newPhone()) });
    expect((await call('listLogs', { token: other.token })).body?.at(-1)?.job_id).not.toBe(first);
  });

  test('may have 4,096 emoji in its text, and 4,096 in ten quick replies together', async () => {
    const { token } = await business();
    const to = newPhone();
    const body = '😀'.repeat(4_096);
    const quick_replies = [...Array(9).fill('😀'.repeat(409)), '😀'.repeat(415)];
    await call('sendMessage', { token, body: { ...text(to, body), quick_replies } });
    const longer = [...quick_replies.slice(1), '😀'.repeat(410)];
    expect(
      (await fail('sendMessage', { token, body: { ...text(to, body), quick_replies: longer } })).body,
    ).toMatchObject({
      errors: [{ pointer: '#/quick_replies', detail: 'must have at most 4096 characters together' }],
    });
    const [shown] = await untilShown(to, 1);
    expect(shown?.data).toMatchObject({ text: { body } });
  });
});

describe('an idempotency key', () => {
  test('makes five equal requests at once return the same id, and one message is sent', async () => {
    const { token } = await business();
    const to = newPhone();
    const request = { token, headers: { 'idempotency-key': randomUUID() }, body: text(to) };
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await call('sendMessage', request)).body.id));
    expect(new Set(ids).size).toBe(1);
    await untilShown(to, 1);
    await call('sendMessage', { token, body: text(to, 'after') });
    await untilShown(to, 2);
  });

  test.each([
    ['another text', { body: text('27820000001', 'Other') }],
    ['another number', { body: text('27820000002') }],
    ['another job', { body: text('27820000001'), query: { job_id: randomUUID() } }],
  ])('with %s returns 422 idempotency_key_reused', async (_, other) => {
    const { token } = await business();
    const headers = { 'idempotency-key': randomUUID() };
    await call('sendMessage', { token, headers, body: text('27820000001') });
    const { body } = await fail('sendMessage', { token, headers, ...other });
    expect(body).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
      detail: expect.stringContaining('another message.'),
    });
  });

  test('that has expired, and that the table still has, sends another message, which is counted', async () => {
    const { account, token } = await business();
    const [to, key] = [newPhone(), randomUUID()];
    const id = newId();
    await putIfAbsent({
      ...idempotencyRecordKey(account, 'sendMessage', key),
      ...{ request: 'another one', accepted: { id }, expires_at: 1 },
    });
    const { body } = await call('sendMessage', { token, headers: { 'idempotency-key': key }, body: text(to) });
    expect(body.id).not.toBe(id);
    await untilShown(to, 1);
    await expect
      .poll(async () => (await call('listJobs', { token, query: period() })).body?.map(({ state }) => state))
      .toEqual(['sent', 'delivered_to_server']);
  });

  test("is independent of another account's equal key", async () => {
    const headers = { 'idempotency-key': 'the same' };
    const [one, two] = [await business(), await business()];
    const first = await call('sendMessage', { token: one.token, headers, body: text(newPhone()) });
    const second = await call('sendMessage', { token: two.token, headers, body: text(newPhone()) });
    expect(first.body.id).not.toBe(second.body.id);
  });
});

describe('an invalid message', () => {
  const long = 'x'.repeat(4_097);

  test.each<[string, unknown, ...string[]]>([
    ['an empty object', {}, '#/to is required', '#/type is required'],
    [
      'a + in the number',
      text('+27820000001'),
      '#/to must be a phone number in international format without +: 7 to 15 digits; it contains +',
    ],
    [
      'an unknown type',
      { ...text('27820000001'), type: 'sticker' },
      '#/type must be "text", "image", "file", "audio" or "video"',
    ],
    ['no text', { to: '27820000001', type: 'text' }, '#/text is required'],
    ['too long a text', text('27820000001', long), '#/text/body must have at most 4096 characters'],
    [
      'a group',
      { ...text('27820000001'), recipient_type: 'group' },
      '#/recipient_type must be "individual" or "broadcast"',
    ],
    [
      'too many quick replies',
      { ...text('27820000001'), quick_replies: Array(11).fill('x') },
      '#/quick_replies must hold at most 10 quick replies',
    ],
    [
      'invalid quick replies',
      { ...text('27820000001'), quick_replies: ['', 1, long] },
      '#/quick_replies/0 must not be empty or white space only',
      '#/quick_replies/1 must be a string, not a number',
      '#/quick_replies/2 must have at most 4096 characters',
    ],
    [
      'two errors',
      { to: 1, type: 'text', text: { body: 2 } },
      '#/to must be a string, not a number',
      '#/text/body must be a string, not a number',
    ],
    [
      'an image from another host',
      { to: '27820000001', type: 'image', image: { url: 'https://example.com/a.png' } },
      `#/image/url must be a datafree URL of yours, which begins with ${bridge_url}/media/: upload what you send with POST /v1/upload_image`,
    ],
    [
      "a file from a host that begins like the service's",
      { to: '27820000001', type: 'file', file: { url: `${bridge_url}.example.com/a` } },
      `#/file/url must be a datafree URL of yours, which begins with ${bridge_url}/media/: upload what you send with POST /v1/upload_file`,
    ],
  ])('returns 422 with every validation error, and nothing is sent: %s', async (_, body, ...expected) => {
    const { token } = await business();
    const received = await sendRaw('sendMessage', {
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(received.body).toMatchObject({ status: 422, code: 'invalid_request' });
    const { errors } = received.body as { errors: { pointer: string; detail: string }[] };
    expect(errors.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(expected);
    expect((await call('listLogs', { token })).status).toBe(204);
  });

  test('with a job_id that is not a UUID returns 422', async () => {
    const { token } = await business();
    const { body } = await fail('sendMessage', { token, query: { job_id: 'campaign-1' }, body: text('27820000001') });
    expect(body.errors).toEqual([{ parameter: 'job_id', detail: 'must be a UUID' }]);
  });
});

describe("a user's message to a bot", () => {
  const withPlatform = async () => {
    const destination = await DestinationServer.start();
    const caller = await newCaller('messages', 'stats');
    const bot = newPhone();
    const settings = { url: destination.url, secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
    await updateAccount(caller.account, { bot_number: bot, platform: { name: 'webhook', settings } });
    return { destination, caller, bot };
  };

  test("reaches the account's webhook, and is logged", async () => {
    const { destination, caller, bot } = await withPlatform();
    try {
      const phone = newPhone();
      expect((await write(phone, bot, 'Hi')).status).toBe(200);
      await expect
        .poll(() => destination.calls.map(({ json }) => json))
        .toEqual([{ message: { type: 'text', from: phone, text: { body: 'Hi' } } }]);
      expect(await statesOf(caller, phone)).toEqual(['received']);
    } finally {
      await destination.close();
    }
  });

  test('waits after the webhook has answered 410, and arrives when the webhook is set again', async () => {
    const { destination, caller, bot } = await withPlatform();
    const { account } = caller;
    try {
      destination.answers = [410];
      const phone = newPhone();
      await write(phone, bot, 'Hi');
      await expect
        .poll(() => readHead({ direction: 'platform', account, phone }))
        .toMatchObject({ state: 'waiting', cause: 'status_410' });
      expect(destination.calls).toHaveLength(1);
      destination.answers = [200];
      const settings = { url: destination.url, secret: `whsec_${Buffer.alloc(32, 2).toString('base64')}` };
      await updateAccount(account, { platform: { name: 'webhook', settings } });
      await expect.poll(() => destination.calls.length).toBe(2);
      expect(destination.calls[1]?.json).toEqual({ message: { type: 'text', from: phone, text: { body: 'Hi' } } });
      expect(await statesOf(caller, phone)).toEqual(['received']);
      expect(destination.calls).toHaveLength(2);
    } finally {
      await destination.close();
    }
  });

  test('is logged as received if the account has no platform, and no phone shows it', async () => {
    const caller = await business();
    const bot = newPhone();
    await updateAccount(caller.account, { bot_number: bot });
    const phone = newPhone();
    expect((await write(phone, bot, 'Hi')).status).toBe(200);
    expect(await statesOf(caller, phone)).toEqual(['received']);
    expect(await shownOn(phone)).toEqual([]);
  });
});

describe('statistics', () => {
  test('contain nothing of another account: 204', async () => {
    const [one, two] = [await business(), await business()];
    const to = newPhone();
    await call('sendMessage', { token: one.token, body: text(to) });
    expect((await call('listLogs', { token: two.token, query: { contact: to } })).status).toBe(204);
    expect((await call('listJobs', { token: two.token, query: period() })).status).toBe(204);
  });

  test('can be filtered by a contact of the logs, or by its phone number', async () => {
    const { token } = await business();
    const [to, other] = [newPhone(), newPhone()];
    await call('sendMessage', { token, body: text(to) });
    await call('sendMessage', { token, body: text(other) });
    for (const contact of [to, `${to}@users.example.com`]) {
      const { body } = await call('listLogs', { token, query: { contact, state: 'sent' } });
      expect(body?.map((entry) => entry.contact)).toEqual([`${to}@users.example.com`]);
    }
  });

  test('are paginated by a Link header with filters and limit, up to the last page', async () => {
    const { token } = await business();
    const to = newPhone();
    for (let count = 0; count < 5; count += 1) await call('sendMessage', { token, body: text(to) });
    let seen = 0;
    let query = 'state=sent&limit=2';
    for (const size of [2, 2, 1]) {
      const { body, headers } = await sendRaw('listLogs', { token, query });
      expect(body).toHaveLength(size);
      seen += size;
      const link = headers.get('link');
      expect(link === null).toBe(seen === 5);
      query = /^<\/v1\/stats\/logs\?(.+)>; rel="next"$/.exec(link ?? '')?.[1] ?? '';
    }
  });

  test.each([
    ['limit=0', 'limit', 'must be a whole number from 1 to 1000'],
    ['limit=1001', 'limit', 'must be a whole number from 1 to 1000'],
    ['state=gone', 'state', /^must be "sent", "received", .+ or "reception_failed_http"$/],
    ['contact=nobody', 'contact', 'must be a contact as the logs show it, or its phone number'],
    ['contact=27820000001@elsewhere.example', 'contact', 'must be a contact as the logs show it, or its phone number'],
    ['job_id=1', 'job_id', 'must be a UUID'],
    ['start=yesterday', 'start', /Unix seconds/],
    ['start=1.0000000001', 'start', /Unix seconds/],
    ['start=1e9', 'start', /Unix seconds/],
    ['end=999999999999999', 'end', /^must be in the years 1970 to 9999/],
  ])('return 422 for an invalid filter: logs?%s', async (query, parameter, detail) => {
    const { token } = await business();
    const { status, body } = await sendRaw('listLogs', { token, query });
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: [{ parameter, detail: expect.stringMatching(detail) }] });
  });

  test.each([
    ['', ['start_date is required', 'end_date is required']],
    ['start_date=2026-01-01', ['end_date is required']],
    ['start_date=2026-02-30&end_date=2026-03-01', ['start_date must be a day that exists, as YYYY-MM-DD']],
    [
      'start_date=1.1.2026&end_date=2026-3-1',
      ['start_date must be a day that exists, as YYYY-MM-DD', 'end_date must be a day that exists, as YYYY-MM-DD'],
    ],
    [
      'start_date=2026-03-02&end_date=2026-03-01',
      ['end_date must not be before start_date, nor more than 366 days after it'],
    ],
    [
      'start_date=2025-01-01&end_date=2026-01-03',
      ['end_date must not be before start_date, nor more than 366 days after it'],
    ],
    ['start=2025-01-01&end=2026-01-03', ['end must not be before start_date, nor more than 366 days after it']],
    ['start=2026-01-01', ['end_date is required']],
    [
      'start=1.1.2026&end=-1',
      [
        'start must be a day that exists, as YYYY-MM-DD, or a time as RFC 3339 writes it or in Unix seconds',
        'end must be a day that exists, as YYYY-MM-DD, or a time as RFC 3339 writes it or in Unix seconds',
      ],
    ],
    [
      'start_date=2026-01-01&start=2026-01-02&end=2026-01-03&end_date=2026-01-04',
      [
        'start must be the same day as start_date: use one of them',
        'end must be the same day as end_date: use one of them',
      ],
    ],
  ])('return 422 for an invalid period: jobs?%s', async (query, expected) => {
    const { token } = await business();
    const { status, body } = await sendRaw('listJobs', { token, query });
    expect(status).toBe(422);
    const { errors } = body as { errors: { parameter: string; detail: string }[] };
    expect(errors.map(({ parameter, detail }) => `${parameter} ${detail}`)).toEqual(expected);
  });

  test.each([
    ['days', (day: string) => [day, day]],
    ['Unix seconds', (day: string) => [`${Date.parse(day) / 1000}`, `${Date.parse(day) / 1000 + 86_399.5}`]],
    ['both pairs of names', (day: string) => [`${day}&start_date=${day}`, `${day}&end_date=${day}`]],
  ])('count the jobs of the same day for start and end as %s', async (_, name) => {
    const { token } = await business();
    await call('sendMessage', { token, body: text(newPhone()) });
    const [start, end] = name(today());
    await expect
      .poll(async () => (await sendRaw('listJobs', { token, query: `start=${start}&end=${end}` })).body)
      .toContainEqual(expect.objectContaining({ state: 'sent', payload_type: 'text', count: 1 }));
  });

  test('accept a period of 366 days', async () => {
    const { token } = await business();
    const query = { start_date: '2025-01-01', end_date: '2026-01-02' };
    expect((await call('listJobs', { token, query })).status).toBe(204);
  });
});

describe('sending hours', () => {
  /** Times of the day some hours from now, in UTC. */
  const fromNow = (...hours: number[]): string[] =>
    hours.map((hour) => new Date(Date.now() + hour * 3_600_000).toISOString().slice(11, 16));
  const open = () => ({ between: fromNow(-2, 2), time_zone: 'UTC' });
  const closed = () => ({ between: fromNow(2, 4), time_zone: 'UTC' });

  test('within them, a message is sent at once; outside them, its status says until when it waits', async () => {
    const { token } = await business();
    const to = newPhone();
    const later = closed();
    const waiting = await call('sendMessage', { token, body: { ...text(to), ...later } });
    const sent = await call('sendMessage', { token, body: { ...text(to), ...open() } });
    const urgent = await call('sendMessage', { token, body: { ...text(to), ...later, urgent: true } });
    // Messages with hours keep their order.
    expect((await untilShown(to, 1)).map(({ data }) => data.id)).toEqual([urgent.body.id]);
    const statusOf = async (id: string) => (await call('readMessage', { token, path: { id } })).body;
    const status = await statusOf(waiting.body.id);
    expect(status.states).toMatchObject([{ state: 'sent' }]);
    expect(status.waits_until?.slice(11)).toBe(`${later.between[0]}:00.000000`);
    expect(await statusOf(sent.body.id)).not.toHaveProperty('waits_until');
    expect(await statusOf(urgent.body.id)).not.toHaveProperty('waits_until');
    const other = newPhone();
    const { body } = await call('sendMessage', { token, body: { ...text(other), ...open() } });
    expect((await untilShown(other, 1)).map(({ data }) => data.id)).toEqual([body.id]);
  });

  test('an empty list of times is none', async () => {
    const { token } = await business();
    const to = newPhone();
    const { body } = await call('sendMessage', { token, body: { ...text(to), between: [] } });
    expect((await untilShown(to, 1)).map(({ data }) => data.id)).toEqual([body.id]);
  });

  test('a reply is sent outside the hours of its account', async () => {
    const caller = await business();
    const hours = closed();
    const sending_hours = { between: [hours.between[0] ?? '', hours.between[1] ?? ''], time_zone: 'UTC' };
    const { bot_number = '' } = await updateAccount(caller.account, {
      sending_hours: sending_hours as { between: [string, string]; time_zone: string },
    });
    const [writer, other] = [newPhone(), newPhone()];
    await write(writer, bot_number, 'Hello');
    await untilStates(caller, writer, 'received');
    const [waiting, reply] = [
      await call('sendMessage', { token: caller.token, body: text(other) }),
      await call('sendMessage', { token: caller.token, body: text(writer) }),
    ];
    expect((await untilShown(writer, 1)).map(({ data }) => data.id)).toEqual([reply.body.id]);
    const { body } = await call('readMessage', { token: caller.token, path: { id: waiting.body.id } });
    expect(body).toHaveProperty('waits_until');
  });

  test.each<[object, string, string]>([
    [{ between: ['08:00', '20:00'] }, '#/time_zone', 'is required, because your account has no default'],
    [{ time_zone: 'UTC' }, '#/between', 'is required, because your account has no default'],
    [{ between: ['08:00', '20:00'], time_zone: 'recipient' }, '#/to', 'is of a country with no time zone'],
    [{ between: ['08:00'], time_zone: 'UTC' }, '#/between', 'must hold 2 times'],
    [{ between: ['08:00', '20:00', '22:00'], time_zone: 'UTC' }, '#/between', 'must hold at most 2 times'],
    [{ between: ['08:00', '25:00'], time_zone: 'UTC' }, '#/between/1', 'must be a time of the day'],
    [{ between: ['08:00', '08:00'], time_zone: 'UTC' }, '#/between', 'must be two different times'],
    [{ between: ['08:00', '20:00'], time_zone: 'GMT+99' }, '#/time_zone', 'must be the name of an IANA time zone'],
    [{ between: ['08:00', '20:00'], time_zone: '' }, '#/time_zone', 'must be the name of an IANA time zone'],
    [{ urgent: 'yes' }, '#/urgent', ''],
  ])('%j returns 422', async (hours, pointer, detail) => {
    const { token } = await business();
    // Numbers of tests belong to no country.
    const { status, body } = await fail('sendMessage', { token, body: { ...text(newPhone()), ...hours } as never });
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ pointer, detail: expect.stringContaining(detail) }]);
  });
});
