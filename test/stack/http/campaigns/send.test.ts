/** Batches of messages: from the request to the phones, the log and the counters. */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { chunkKey, uploadKey } from '../../../../shared/campaigns/entities.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { newId, newUnguessableId } from '../../../../shared/core/ids.ts';
import { getConsistent, putIfAbsent } from '../../../../shared/table/client.ts';
import { dueAt } from '../../../../shared/table/keys.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { shownOn, untilShown } from '../../support/phones.ts';
import { type Caller, newCaller, newMedia, newPhone, newPhones } from '../../support/world.ts';

const { bridge_url, app_token } = inject('stack');

const business = (): Promise<Caller> => newCaller('messages', 'stats');

const text = (body = 'Hello') => ({ type: 'text', text: { body } }) as const;

const textsOn = async (phone: string, count: number): Promise<unknown[]> =>
  (await untilShown(phone, count)).map(({ data }) =>
    'text' in data ? (data.text as { body: string }).body : undefined,
  );

/** The counts of a job by state, over today and tomorrow. */
const countsOf = async ({ token }: Caller, job: string): Promise<Record<string, number>> => {
  const day = (later: number) => new Date(Date.now() + later).toISOString().slice(0, 10);
  const query = { start_date: day(-86_400_000), end_date: day(86_400_000) };
  const { body } = await call('listJobs', { token, query });
  return Object.fromEntries(
    (body ?? []).flatMap(({ job_id, state, count }) => (job_id === job ? [[state, count]] : [])),
  );
};

describe('a message to many', () => {
  test('is shown once on each phone, and logged and counted for each', async () => {
    const caller = await business();
    const { token } = caller;
    // More than a step of the expansion, so that a second run continues it.
    const count = 30;
    const to = newPhones(count);
    const { body } = await call('sendMessage', { token, body: { to: [...to, ...to.slice(0, 5)], ...text() } });
    expect(body).toEqual({ job_id: expect.stringMatching(/^[0-9a-f-]{36}$/), messages: count });

    await expect.poll(() => countsOf(caller, body.job_id)).toEqual({ sent: count, delivered_to_server: count });
    for (const phone of to) expect(await shownOn(phone)).toHaveLength(1);
    const ids = new Map<string, string>();
    await expect
      .poll(async () => {
        const logs = (await call('listLogs', { token, query: { state: 'sent', limit: '1000' } })).body ?? [];
        for (const { contact, id } of logs) ids.set(contact, id);
        return logs.map(({ contact, job_id }) => `${contact.split('@')[0]} ${job_id}`).sort();
      })
      .toEqual(to.toSorted().map((phone) => `${phone} ${body.job_id}`));
    const [[contact, id] = ['', '']] = ids;
    const { body: message } = await call('readMessage', { token, path: { id } });
    expect(message).toMatchObject({ contact, job_id: body.job_id, payload_type: 'text' });
  });

  test('may be to one number, with a job, a priority, quick replies and fields without effect', async () => {
    const { token } = await business();
    const to = newPhone();
    const job_id = randomUUID();
    const { body } = await call('sendMessage', {
      token,
      query: { job_id },
      body: {
        to: [to],
        recipient_type: 'broadcast',
        priority: 'high',
        type: 'text',
        text: { body: 'Hello', allow_merge: true },
        quick_replies: ['Yes'],
      },
    });
    expect(body).toEqual({ job_id, messages: 1 });
    const [shown] = await untilShown(to, 1);
    expect(shown?.data).toMatchObject({ to, type: 'text', text: { body: 'Hello' }, quick_replies: ['Yes'] });
    expect(shown?.data).not.toHaveProperty('text.allow_merge');
  });

  test('may be an image, and is rejected if it belongs to another account', { tags: 'long' }, async () => {
    const { account, token } = await business();
    const to = newPhones(2);
    const url = `${bridge_url}/media/${await newMedia(account)}`;
    await call('sendMessage', { token, body: { to, type: 'image', image: { url } } });
    for (const phone of to)
      expect((await untilShown(phone, 1))[0]?.data).toMatchObject({ type: 'image', image: { url } });

    const other = await business();
    const { status, body } = await fail('sendMessage', {
      token: other.token,
      body: { to, type: 'image', image: { url } },
    });
    expect([status, body.errors]).toMatchObject([422, [{ pointer: '#/image/url' }]]);
  });

  test('names each invalid number, and accepts none of the others', async () => {
    const { token } = await business();
    const valid = newPhone();
    const { status, body } = await fail('sendMessage', { token, body: { to: ['1', valid, '+2782', ''], ...text() } });
    expect(status).toBe(422);
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['#/to/0', '#/to/2', '#/to/3']);
    const many = await fail('sendMessage', { token, body: { to: Array(10_000).fill('no number'), ...text() } });
    expect(many.body.errors).toHaveLength(100);
    expect(many.body.detail).toContain('10000');
    expect(await call('listLogs', { token })).toMatchObject({ status: 204 });
  });

  test.each([
    ['no number', []],
    ['10,001 numbers', Array(10_001).fill('27821234567')],
    ['an object', { phone: '27821234567' }],
    ['numbers of another type', [27821234567]],
    ['a list in a list', [['27821234567']]],
  ])('returns 422 for %s', async (_, to) => {
    const { token } = await business();
    const body = JSON.stringify({ to, ...text() });
    const headers = { 'content-type': 'application/json' };
    expect((await sendRaw('sendMessage', { token, headers, body })).status).toBe(422);
  });
});

describe('several messages', () => {
  test('return their ids in the order of the request, and keep the order of messages to one number', async () => {
    const caller = await business();
    const { token } = caller;
    const [first = '', second = ''] = newPhones(2);
    const drafts = [
      { to: second, ...text('a') },
      { to: first, ...text('b') },
      { to: second, ...text('c') },
      { to: first, ...text('d') },
      { to: second, ...text('e') },
    ];
    const { body } = await call('sendMessages', { token, body: drafts });
    expect(body.messages.map(({ to }) => to)).toEqual(drafts.map(({ to }) => to));
    expect(await textsOn(first, 2)).toEqual(['b', 'd']);
    expect(await textsOn(second, 3)).toEqual(['a', 'c', 'e']);
    const shown = await shownOn(second);
    expect(shown.map(({ data }) => data.id)).toEqual([0, 2, 4].map((index) => body.messages[index]?.id));
    await expect.poll(() => countsOf(caller, body.job_id)).toEqual({ sent: 5, delivered_to_server: 5 });
  });

  test('are accepted all or none: an image of another account is named by its place', async () => {
    const { account, token } = await business();
    const [first = '', second = ''] = newPhones(2);
    const own = `${bridge_url}/media/${await newMedia(account)}`;
    const foreign = `${bridge_url}/media/${await newMedia((await business()).account)}`;
    const image = (to: string, url: string) => ({ to, type: 'image', image: { url } }) as const;
    const { status, body } = await fail('sendMessages', {
      token,
      body: [image(first, own), image(second, foreign), { to: first, ...text() }, image(first, foreign)],
    });
    expect(status).toBe(422);
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['#/1/image/url', '#/3/image/url']);
    expect(await call('listLogs', { token })).toMatchObject({ status: 204 });
    await call('sendMessages', { token, body: [image(first, own), image(second, own)] });
    expect((await untilShown(second, 1))[0]?.data).toMatchObject({ image: { url: own } });
  });

  test.each([
    ['no message', [], '#'],
    ['1,001 messages', Array(1_001).fill({ to: '27821234567', ...text() }), '#'],
    ['a message to many', [{ to: ['27821234567'], ...text() }], '#/0/to'],
    ['a message without content', [{ to: '27821234567' }], '#/0/type'],
    ['a single message', { to: '27821234567', ...text() }, '#'],
  ])('return 422 for %s', async (_, messages, pointer) => {
    const { token } = await business();
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await sendRaw('sendMessages', { token, headers, body: JSON.stringify(messages) });
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: [{ pointer }] });
  });
});

describe('send_at', () => {
  const later = () => Date.now() + 3_600_000;

  test.each([
    ['RFC 3339', (ms: number) => new Date(ms).toISOString()],
    ['RFC 3339 in another zone', (ms: number) => new Date(ms + 7_200_000).toISOString().replace('Z', '+02:00')],
    ['Unix seconds', (ms: number) => Math.round(ms / 1_000)],
    ['Unix seconds as text', (ms: number) => String(ms / 1_000)],
  ])('is accepted as %s, and the message is scheduled', async (_, form) => {
    const { token } = await business();
    const { body } = await call('sendMessage', { token, body: { to: newPhone(), ...text(), send_at: form(later()) } });
    const { body: message } = await call('readMessage', { token, path: { id: body.id } });
    expect(message.states).toEqual([{ state: 'scheduled', created: expect.any(String) }]);
    expect(await call('listLogs', { token })).toMatchObject({ status: 204 });
  });

  test('of messages to many delays all of them, and at its time they are sent', { tags: 'long' }, async () => {
    const { token } = await business();
    const [first = '', second = ''] = newPhones(2);
    const send_at = later() / 1_000;
    const { body: many } = await call('sendMessage', { token, body: { to: [first, second], ...text(), send_at } });
    expect(many).toMatchObject({ messages: 2 });
    const drafts = [first, second].map((to) => ({ to, ...text(), send_at }));
    const { body: each } = await call('sendMessages', { token, body: drafts });
    const { body: message } = await call('readMessage', { token, path: { id: each.messages[1]?.id ?? '' } });
    expect(message.states).toMatchObject([{ state: 'scheduled' }]);
    // At least a minute ahead, which is six seconds on the served stack.
    const soon = { to: [newPhone()], ...text('soon'), send_at: (Date.now() + 12_000) / 1_000 };
    await call('sendMessage', { token, body: soon });
    expect(await textsOn(soon.to[0] ?? '', 1)).toEqual(['soon']);
    expect(await shownOn(first)).toEqual([]);
  });

  test.each([
    ['the past', () => 0],
    ['36 days ahead', () => Date.now() / 1_000 + 36 * 86_400],
    ['Unix milliseconds', () => Date.now() + 86_400_000],
    ['a time that no date has', () => 1e21],
    ['a time before 1970', () => -1e21],
    ['no time', () => 'tomorrow'],
    ['a day that does not exist', () => '2999-02-30T10:00:00Z'],
    ['a time without a zone', () => '2999-02-20T10:00:00'],
    ['a list', () => [1]],
    ['null', () => null],
  ])('returns 422 for %s', async (_, send_at) => {
    const { token } = await business();
    const headers = { 'content-type': 'application/json' };
    const draft = { to: newPhone(), ...text(), valid_for: 60, send_at: send_at() };
    for (const [name, body, pointer] of [
      ['sendMessage', draft, '#/send_at'],
      ['sendMessages', [draft], '#/0/send_at'],
    ] as const) {
      const received = await sendRaw(name, { token, headers, body: JSON.stringify(body) });
      expect(received).toMatchObject({ status: 422, body: { errors: [{ pointer }] } });
    }
  });

  test('must be the same in all messages of a request', async () => {
    const { token } = await business();
    const [first, second] = newPhones(2).map((to) => ({ to, ...text() }));
    const body = [{ ...first, send_at: later() / 1_000 }, { ...second }] as Parameters<
      typeof call<'sendMessages'>
    >[1]['body'];
    const { body: problem } = await fail('sendMessages', { token, body: body ?? [] });
    expect(problem.errors).toMatchObject([{ pointer: '#/1/send_at' }]);
  });
});

describe('the workers', () => {
  test('erase: a removed user is left out of messages for later, which are logged as failed', {
    tags: 'long',
  }, async () => {
    const { token } = await business();
    const gone = newPhone();
    const send_at = Date.now() / 1_000 + 86_400;
    await call('sendMessage', { token, body: { to: [gone, newPhone()], ...text(), send_at } });
    await call('sendMessage', { token, body: { to: gone, ...text(), send_at } });
    const removal = { id: randomUUID(), type: 'user.removed', data: { phone_number: gone } };
    await call('receiveAppEvents', { token: app_token, body: removal });
    const logsOf = async (query: { state?: 'sending_failed' }) => (await call('listLogs', { token, query })).body ?? [];
    await expect
      .poll(() => logsOf({ state: 'sending_failed' }))
      .toMatchObject([{ reason: 'user_erased' }, { reason: 'user_erased' }]);
    await expect
      .poll(async () => (await logsOf({})).map(({ state }) => state).sort())
      .toEqual(['sending_failed', 'sending_failed', 'sent', 'sent']);
    expect(JSON.stringify(await logsOf({}))).not.toContain(gone);
  });

  test('sweep: chunks of a request that was not accepted within an hour are removed', async () => {
    const upload = newUnguessableId();
    const { pk, sk } = uploadKey(upload);
    const chunk = chunkKey(upload, 0);
    await putIfAbsent(chunk);
    await putIfAbsent({
      pk,
      sk,
      ...dueAt('uploads', { account: newId(), id: upload, time: sortableTime(Date.now()) }),
    });
    await expect
      .poll(() => Promise.all([getConsistent({ pk, sk }), getConsistent(chunk)]))
      .toEqual([undefined, undefined]);
  });
});

describe('an idempotency key', () => {
  test('makes equal requests at once one batch, and another request with the key returns 422', async () => {
    const { token } = await business();
    const to = newPhones(3);
    const request = { token, headers: { 'idempotency-key': randomUUID() }, body: { to, ...text() } };
    const answers = await Promise.all(Array.from({ length: 4 }, () => call('sendMessage', request)));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    for (const phone of to) await untilShown(phone, 1);
    expect((await call('sendMessage', request)).body).toEqual(answers[0]?.body);
    for (const phone of to) expect(await shownOn(phone)).toHaveLength(1);

    for (const body of [
      { to: to.slice(1), ...text() },
      { to, ...text('other') },
      { to, ...text(), priority: 'high' as const },
      { to: to[0] ?? '', ...text() },
    ]) {
      expect((await fail('sendMessage', { ...request, body })).body.code).toBe('idempotency_key_reused');
    }
  });

  test('of a message to one number is not accepted for a list', async () => {
    const { token } = await business();
    const to = newPhone();
    const headers = { 'idempotency-key': randomUUID() };
    await call('sendMessage', { token, headers, body: { to, ...text() } });
    const { body } = await fail('sendMessage', { token, headers, body: { to: [to], ...text() } });
    expect(body.code).toBe('idempotency_key_reused');
  });

  test('makes repeats of several messages return the same ids', async () => {
    const { token } = await business();
    const [first = '', second = ''] = newPhones(2);
    const body = [
      { to: second, ...text('1') },
      { to: first, ...text('2') },
    ];
    const request = { token, headers: { 'idempotency-key': randomUUID() }, body };
    const { body: answer } = await call('sendMessages', request);
    expect((await call('sendMessages', request)).body).toEqual(answer);
    for (const phone of [first, second]) await untilShown(phone, 1);
    expect((await call('sendMessages', request)).body).toEqual(answer);
    for (const phone of [first, second]) expect(await shownOn(phone)).toHaveLength(1);
    expect((await fail('sendMessages', { ...request, body: body.slice(1) })).body.code).toBe('idempotency_key_reused');
  });
});
