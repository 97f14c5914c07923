/** The business's own references, on the served stack: of messages, jobs and user data requests. */
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageKey } from '../../../../shared/outbox/entities.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { applied, removed, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

/** An account with a bot and a webhook, and a user. */
const newWorld = async () => {
  const webhook = await DestinationServer.start();
  onTestFinished(() => webhook.close());
  const caller = await newCaller('messages', 'stats', 'user_data', 'bridge');
  const phone = newPhone();
  const settings = { url: webhook.url, secret: `whsec_${'A'.repeat(32)}` };
  await updateAccount(caller.account, { bot_number: newPhone(), platform: { name: 'webhook', settings } });
  await applied(updated(phone, { properties: { device_make: { value: 'Acme', source: 'device' } } }));
  return { ...caller, phone, webhook };
};

const text = (to: string, reference?: string) => ({ to, type: 'text' as const, text: { body: 'Hello' }, reference });

/** The log entries with these filters, of all pages. */
const logsOf = async ({ token }: Pick<Caller, 'token'>, filter: Record<string, string>) => {
  const found = (await call('listLogs', { token, query: filter })).body ?? [];
  return found.map(({ id, state, reference }) => [id, state, reference]).sort();
};

/** The day of the hours before now: midnight may pass between a message and its count. */
const dayBefore = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 10);

describe('the reference of a message', () => {
  test('is in the logs, the message, the webhook and its history, and finds the message in all of them', async () => {
    const world = await newWorld();
    const { token, phone, webhook } = world;
    const { id } = (await call('sendMessage', { token, body: text(phone, 'order #1047 é') })).body;
    await call('sendMessage', { token, body: text(phone, 'order') });
    await call('sendMessage', { token, body: text(phone) });
    const reference = 'order #1047 é';
    const both = ['delivered_to_server', 'sent'].map((state) => [id, state, reference]);
    await expect.poll(() => logsOf(world, { reference })).toEqual(both);
    await expect
      .poll(() => logsOf(world, { reference, state: 'sent', contact: phone }))
      .toEqual([[id, 'sent', reference]]);
    expect(await logsOf(world, { reference, contact: newPhone() })).toEqual([]);
    await expect
      .poll(async () => (await logsOf(world, { contact: phone, state: 'sent' })).map(([, , one]) => one))
      .toEqual(expect.arrayContaining(['order', reference, undefined]));
    expect((await call('readMessage', { token, path: { id } })).body.reference).toBe(reference);
    await expect
      .poll(() => webhook.calls.map(({ json }) => json.status).filter((status) => status?.id === id))
      .toContainEqual(expect.objectContaining({ state: 'delivered_to_server', reference }));
    const attempts = async () => (await call('listDeliveries', { token, query: { reference } })).body ?? [];
    await expect.poll(attempts).toContainEqual(expect.objectContaining({ message_id: id, reference }));
    for (const attempt of await attempts()) expect(attempt).toMatchObject({ message_id: id, reference });
  });

  test('comes back for each message of a request with many, also while the message is scheduled', async () => {
    const world = await newWorld();
    const { token } = world;
    const [one, two] = [newPhone(), newPhone()];
    const body = [text(one, 'row 1'), text(two, 'row 2')];
    const sent = (await call('sendMessages', { token, body })).body.messages;
    for (const [index, reference] of ['row 1', 'row 2'].entries()) {
      await expect
        .poll(() => logsOf(world, { reference, state: 'sent' }))
        .toEqual([[sent[index]?.id, 'sent', reference]]);
    }
    await call('sendMessage', { token, body: { ...text(one, 'to both'), to: [one, two] } });
    await expect.poll(async () => (await logsOf(world, { reference: 'to both', state: 'sent' })).length).toBe(2);
    const send_at = Math.floor(Date.now() / 1_000) + 3_600;
    const { id } = (await call('sendMessage', { token, body: { ...text(one, 'later'), send_at } })).body;
    expect((await call('readMessage', { token, path: { id } })).body).toMatchObject({
      reference: 'later',
      states: [{ state: 'scheduled' }],
    });
  });

  test('belongs to an account: another one finds nothing by it', async () => {
    const [world, other] = [await newWorld(), await newWorld()];
    await call('sendMessage', { token: world.token, body: text(world.phone, 'mine') });
    await expect.poll(async () => (await logsOf(world, { reference: 'mine' })).length).toBeGreaterThan(0);
    expect(await logsOf(other, { reference: 'mine' })).toEqual([]);
  });

  test('is part of the request: its idempotency key with another reference returns 422', async () => {
    const { token, phone } = await newWorld();
    const headers = { 'idempotency-key': randomUUID() };
    await call('sendMessage', { token, headers, body: text(phone, 'one') });
    const again = await fail('sendMessage', { token, headers, body: text(phone, 'two') });
    expect([again.status, again.body.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('is removed with its user', { tags: 'long' }, async () => {
    const world = await newWorld();
    const { token, phone } = world;
    const { id } = (await call('sendMessage', { token, body: text(phone, 'Thandi') })).body;
    await expect.poll(async () => (await logsOf(world, { reference: 'Thandi' })).length).toBe(2);
    await applied(removed(phone));
    await expect.poll(() => logsOf(world, { reference: 'Thandi' })).toEqual([]);
    expect(JSON.stringify(await getConsistent(messageKey(id)))).not.toContain('Thandi');
  });

  test.each([
    ['65 characters', 'x'.repeat(65), 'must have at most 64 characters'],
    ['only white space', ' ', 'must not be empty or white space only'],
  ])('of %s returns 422', async (_, reference, detail) => {
    const { token, phone } = await newWorld();
    const refused = await fail('sendMessage', { token, body: text(phone, reference) });
    expect(refused.body.errors).toEqual([{ pointer: '#/reference', detail }]);
  });
});

describe('the reference of a job', () => {
  test('is part of the job, and filters the counts', async () => {
    const world = await newWorld();
    const { token, phone } = world;
    const job_id = randomUUID();
    const query = { job_id, job_reference: 'spring' };
    await call('sendMessage', { token, query, body: text(phone) });
    await call('sendMessage', { token, query, body: text(phone) });
    await call('sendMessage', { token, body: text(phone) });
    expect((await call('readJob', { token, path: { job_id } })).body.reference).toBe('spring');
    const counts = async (job_reference: string) => {
      const period = { start_date: dayBefore(1), end_date: dayBefore(0), job_reference };
      const rows = (await call('listJobs', { token, query: period })).body ?? [];
      return rows.filter(({ state }) => state === 'sent').map((row) => [row.job_id, row.count]);
    };
    await expect.poll(() => counts('spring')).toEqual([[job_id, 2]]);
    expect(await counts('autumn')).toEqual([]);
  });

  test('belongs to the own job of a request to many without job_id', async () => {
    const { token, phone } = await newWorld();
    const sending = { token, query: { job_reference: 'autumn' }, body: { ...text(phone), to: [phone, newPhone()] } };
    const { job_id } = (await call('sendMessage', sending)).body;
    expect((await call('readJob', { token, path: { job_id } })).body.reference).toBe('autumn');
  });

  test('is given later, too, and stays: another one returns 422', async () => {
    const { token, phone } = await newWorld();
    const job_id = randomUUID();
    const send = (job_reference?: string) => ({
      token,
      query: { job_id, ...(job_reference && { job_reference }) },
      body: text(phone),
    });
    await call('sendMessage', send());
    await call('sendMessage', send('spring'));
    const refused = await fail('sendMessage', send('autumn'));
    expect(refused.body.errors).toEqual([
      { parameter: 'job_reference', detail: 'must be the reference that the job has already, or be left out' },
    ]);
    await call('sendMessage', send());
    expect((await call('readJob', { token, path: { job_id } })).body.reference).toBe('spring');
  });

  test('needs a job_id for a message to one user', async () => {
    const { token, phone } = await newWorld();
    const refused = await fail('sendMessage', { token, query: { job_reference: 'spring' }, body: text(phone) });
    expect(refused.body.errors).toEqual([{ parameter: 'job_reference', detail: 'needs job_id, which names the job' }]);
  });
});

test('the reference of a user data request comes back with its results, and to the webhook', async () => {
  const { token, phone, webhook } = await newWorld();
  const body = { reason: 'To help you', data: [{ property: 'device_make' as const }], reference: 'ticket-7' };
  const started = await call('startUserDataRequest', { token, path: { phone_number: phone }, body });
  const { requestId: id } = started.body;
  expect((await call('fetchUserData', { token, path: { id } })).body).toMatchObject({
    status: 'completed',
    reference: 'ticket-7',
  });
  await expect
    .poll(() => webhook.calls.map(({ json }) => json.user_data))
    .toContainEqual(expect.objectContaining({ id, status: 'completed', reference: 'ticket-7' }));
});
