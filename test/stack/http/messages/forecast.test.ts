/** Forecasts on the served stack: exact sums, nothing sent, and plans that only the same request fulfils. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { optOutKey } from '../../../../shared/messaging/entities.ts';
import { put } from '../../../../shared/table/client.ts';
import { applied, removed, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { newCaller, newMedia, newPhone, newPhones } from '../../support/world.ts';

/** A registered user. */
const newUser = async (): Promise<string> => {
  const phone = newPhone();
  await applied(updated(phone, {}));
  return phone;
};

/** A user who has stopped an account. */
const newStopped = async (account: string): Promise<string> => {
  const phone = newPhone();
  await put({ ...optOutKey(account, phone), state: 'stopped', updated: '2026-01-01T00:00:00.000000' });
  return phone;
};

const text = { type: 'text', text: { body: 'A new survey is open.' } } as const;

const logged = async (token: string, contact: string) =>
  (await call('listLogs', { token, query: { contact } })).body ?? [];

const newSender = () => newCaller('messages', 'stats', 'account');

/** What a forecast says about numbers. */
const sumsOf = ({ messages, valid, duplicates, not_registered, stopped }: Record<string, unknown>) => ({
  ...{ messages, valid, duplicates, not_registered, stopped },
});

describe('a forecast', () => {
  test('counts each message once, charges each number, and sends nothing', async () => {
    const { token, account } = await newSender();
    const [user, other, stopped, ...unknown] = [
      await newUser(),
      await newUser(),
      await newStopped(account),
      ...newPhones(3),
    ];
    const to = [user, other, stopped, ...unknown, user, stopped, user];
    const sums = { messages: 9, valid: 2, duplicates: 3, not_registered: 3, stopped: 1 };
    const forecast = async () => (await call('sendMessage', { token, body: { to, ...text, dry_run: true } })).body;
    // Registrations and stops of the last second may be missing.
    await expect.poll(async () => sumsOf(await forecast())).toEqual(sums);
    expect(sums.valid + sums.duplicates + sums.not_registered + sums.stopped).toBe(sums.messages);
    const used = async () => (await call('readConfiguration', { token })).body.configuration.allowances.contacts.used;
    const numbers = new Set(to).size;
    await expect
      .poll(async () => {
        const before = await used();
        expect(await forecast()).toEqual({
          ...{ dry_run: true, ...sums, outside_hours: 0 },
          ...{ estimated_end: expect.any(String), plan: expect.any(String) },
        });
        return (await used()) - before;
      })
      .toBe(numbers);
    expect(await logged(token, user)).toEqual([]);
  });

  test('of messages to one user each counts a number as often as it is given', async () => {
    const { token, account } = await newSender();
    const [user, stopped] = [await newUser(), await newStopped(account)];
    const body = [user, user, stopped, newPhone()].map((to) => ({ to, ...text, dry_run: true }));
    const sums = { messages: 4, valid: 2, duplicates: 0, not_registered: 1, stopped: 1 };
    await expect.poll(async () => sumsOf((await call('sendMessages', { token, body })).body)).toEqual(sums);
  });

  test('of a message to one user, also for later, ends at its time', async () => {
    const { token } = await newSender();
    const to = await newUser();
    const send_at = Math.floor(Date.now() / 1_000) + 3_600;
    const dry = async (more = {}) =>
      (await call('sendMessage', { token, body: { to, ...text, ...more, dry_run: true } })).body;
    await expect.poll(async () => (await dry()).valid).toBe(1);
    const now = await dry();
    const later = await dry({ send_at });
    expect(now.estimated_end <= new Date().toISOString()).toBe(true);
    expect(Date.parse(`${later.estimated_end}Z`)).toBeGreaterThanOrEqual(send_at * 1_000);
  });

  test('ends later if batches of the account go first', async () => {
    const { token } = await newSender();
    const send_at = Math.floor(Date.now() / 1_000) + 3_600;
    const draft = { to: newPhones(1_000), ...text, send_at };
    const alone = (await call('sendMessage', { token, body: { ...draft, dry_run: true } })).body;
    await call('sendMessage', { token, body: { ...draft, to: newPhones(5_000), send_at: send_at - 60 } });
    await call('sendMessage', {
      token,
      body: { ...draft, to: newPhones(5_000), send_at: send_at - 60, priority: 'low' },
    });
    const end = async () =>
      (await call('sendMessage', { token, body: { ...draft, dry_run: true } })).body.estimated_end;
    const begun = send_at * 1_000;
    const took = (time: string) => Date.parse(`${time}Z`) - begun;
    await expect.poll(async () => Math.round(took(await end()) / took(alone.estimated_end))).toBe(6);
    const body = newPhones(2).map((to) => ({ to, ...text, send_at, dry_run: true }));
    const endOfList = async () => (await call('sendMessages', { token, body })).body.estimated_end;
    await expect.poll(async () => Math.round(took(await endOfList()) / took(alone.estimated_end))).toBe(5);
  });

  test('counts the valid messages that wait for their sending hours, and says until when', async () => {
    const { token } = await newSender();
    const to = [await newUser(), newPhone()];
    const hour = (ahead: number) => `${String((new Date().getUTCHours() + ahead) % 24).padStart(2, '0')}:00`;
    const forecast = async (between: [string, string]) =>
      (await call('sendMessage', { token, body: { to, ...text, between, time_zone: 'UTC', dry_run: true } })).body;
    const closed: [string, string] = [hour(2), hour(3)];
    const until = expect.stringMatching(new RegExp(`T${hour(2)}:00\\.000000$`));
    await expect
      .poll(() => forecast(closed))
      .toMatchObject({ valid: 1, outside_hours: 1, outside_hours_until: until, estimated_end: until });
    const open = () => forecast([hour(-1 + 24), hour(2)]);
    await expect.poll(open).toMatchObject({ valid: 1, outside_hours: 0 });
    expect(await open()).not.toHaveProperty('outside_hours_until');
  });

  test.each<[string, object, string]>([
    ['an invalid number', { to: ['123', 'x'] }, '#/to/0'],
    ['hours of no zone', { between: ['08:00', '20:00'] }, '#/time_zone'],
    ['a time in the past', { send_at: 1_000_000_000 }, '#/send_at'],
    ['media of nobody', { type: 'image', image: { url: 'https://example.com/a.png' } }, '#/image/url'],
    ['media of another account', { type: 'image', image: { url: 'ANOTHER' } }, '#/image/url'],
  ])('with %s returns the error of the request itself', async (_, change, pointer) => {
    const { token } = await newSender();
    const url = `https://bridge.example.com/media/${await newMedia((await newSender()).account)}`;
    const body = JSON.parse(JSON.stringify({ to: [newPhone()], ...text, ...change }).replace('ANOTHER', url));
    const [real, dry] = [
      await fail('sendMessage', { token, body }),
      await fail('sendMessage', { token, body: { ...body, dry_run: true } }),
    ];
    expect(dry.body.errors).toEqual(real.body.errors);
    expect(dry.body.errors?.[0]).toMatchObject({ pointer });
  });

  test('of a cancelled job returns 409, and of a job with another reference 422', async () => {
    const { token } = await newSender();
    const job_id = randomUUID();
    const body = { to: [newPhone()], ...text };
    await call('sendMessage', { token, query: { job_id, job_reference: 'spring' }, body });
    const dry = { ...body, dry_run: true };
    const other = await fail('sendMessage', { token, query: { job_id, job_reference: 'autumn' }, body: dry });
    expect(other.body.errors).toMatchObject([{ parameter: 'job_reference' }]);
    await call('cancelJob', { token, path: { job_id } });
    const cancelled = await fail('sendMessage', { token, query: { job_id }, body: dry });
    expect([cancelled.status, cancelled.body.code]).toEqual([409, 'job_cancelled']);
  });

  test('needs dry_run in all messages of a request', async () => {
    const { token } = await newSender();
    const body = [
      { to: newPhone(), ...text, dry_run: true },
      { to: newPhone(), ...text },
    ];
    const refused = await fail('sendMessages', { token, body });
    expect(refused.body.errors).toEqual([
      { pointer: '#/1/dry_run', detail: 'must be the same in all messages of a request' },
    ]);
  });
});

describe('a plan', () => {
  test('sends the request that it was made for, in another order of the numbers, too, and again with its idempotency key', async () => {
    const { token } = await newSender();
    const [one, two] = [await newUser(), await newUser()];
    const { plan } = (await call('sendMessage', { token, body: { to: [one, two], ...text, dry_run: true } })).body;
    const sending = { token, headers: { 'idempotency-key': randomUUID() }, body: { to: [two, one], ...text, plan } };
    const { job_id, messages } = (await call('sendMessage', sending)).body;
    expect(messages).toBe(2);
    expect((await call('sendMessage', sending)).body).toEqual({ job_id, messages });
    await expect.poll(async () => (await logged(token, one)).length).toBeGreaterThan(0);
  });

  test('of a message to one user, and of messages with texts of their own, sends them', async () => {
    const { token } = await newSender();
    const to = await newUser();
    const one = (await call('sendMessage', { token, body: { to, ...text, dry_run: true } })).body.plan;
    expect((await call('sendMessage', { token, body: { to, ...text, plan: one } })).body.id).toBeDefined();
    const body = [to, newPhone()].map((number, index) => ({
      ...{ to: number, type: 'text' as const, text: { body: `Hello ${index}` }, valid_for: 600 },
    }));
    const dry = body.map((message) => ({ ...message, dry_run: true }));
    const { plan } = (await call('sendMessages', { token, body: dry })).body;
    const sent = await call('sendMessages', { token, body: body.map((message) => ({ ...message, plan })) });
    expect(sent.body.messages).toHaveLength(2);
  });

  const changes: [string, (body: { to: string[] } & Record<string, unknown>) => object][] = [
    ['one recipient more', (body) => ({ ...body, to: [...body.to, newPhone()] })],
    ['one recipient less', (body) => ({ ...body, to: body.to.slice(1) })],
    ['another recipient', (body) => ({ ...body, to: [...body.to.slice(1), newPhone()] })],
    ['a recipient twice', (body) => ({ ...body, to: [...body.to, ...body.to] })],
    ['another text', (body) => ({ ...body, text: { body: 'Another text' } })],
    ['quick replies', (body) => ({ ...body, quick_replies: ['Yes'] })],
    ['a reference', (body) => ({ ...body, reference: 'spring' })],
    ['sending hours', (body) => ({ ...body, between: ['00:00', '23:59'], time_zone: 'UTC' })],
    ['an urgent message', (body) => ({ ...body, urgent: true })],
    ['another priority', (body) => ({ ...body, priority: 'low' })],
    ['a limited time', (body) => ({ ...body, valid_for: 60 })],
    ['a later time', (body) => ({ ...body, send_at: Math.floor(Date.now() / 1_000) + 600 })],
    ['a changed plan', (body) => ({ ...body, plan: `${body.plan}x` })],
    [
      'a plan of another time',
      (body) => ({ ...body, plan: String(body.plan).replace(/^\d+/, (time) => String(Number(time) - 1)) }),
    ],
    ['an invented plan', (body) => ({ ...body, plan: 'yes' })],
    ['an empty plan', (body) => ({ ...body, plan: '' })],
  ];

  test('does not send a request with any change: 409, and nothing is sent', { tags: 'long' }, async () => {
    const { token } = await newSender();
    const body = { to: newPhones(2), ...text };
    const { plan } = (await call('sendMessage', { token, body: { ...body, dry_run: true } })).body;
    for (const [name, change] of changes) {
      const refused = await fail('sendMessage', { token, body: change({ ...body, plan }) as never });
      expect([refused.status, refused.body.code], name).toEqual([409, 'plan_differs']);
    }
    expect((await call('listLogs', { token })).status).toBe(204);
  });

  test('belongs to its account, its endpoint and its job', async () => {
    const [{ token }, other] = [await newSender(), await newSender()];
    const to = newPhones(2);
    const { plan } = (await call('sendMessage', { token, body: { to, ...text, dry_run: true } })).body;
    const refused = [
      await fail('sendMessage', { token: other.token, body: { to, ...text, plan } }),
      await fail('sendMessages', { token, body: to.map((one) => ({ to: one, ...text, plan })) }),
      await fail('sendMessage', { token, query: { job_id: randomUUID() }, body: { to, ...text, plan } }),
    ];
    expect(refused.map(({ body }) => body.code)).toEqual(Array(3).fill('plan_differs'));
  });

  test('stays valid if a recipient stops the account or leaves the app meanwhile', async () => {
    const { token } = await newSender();
    const to = [await newUser()];
    const { plan } = (await call('sendMessage', { token, body: { to, ...text, dry_run: true } })).body;
    for (const one of to) await applied(removed(one));
    expect((await call('sendMessage', { token, body: { to, ...text, plan } })).body.messages).toBe(1);
  });
});
