/**
 * Consent that ends, step by step: by withdrawal, by its own expiry, or with the user; and what the business must do.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { handler as erase } from '../../../../functions/workers/erase.ts';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { personalDataOf } from '../../../../infra/operator/queries/personal-data-export.ts';
import { receiveEvents } from '../../../../shared/app-network/event-batch.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { enqueueWrites, oldestEntries, transactInOrder } from '../../../../shared/outbox/entries.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { getConsistent, page, remove, update } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { acknowledgeDeletion } from '../../../../shared/user-data/consent-ends.ts';
import { listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { readConsents } from '../../../../shared/user-data/consents.ts';
import { acknowledgements, requestKey } from '../../../../shared/user-data/entities.ts';
import { eraseUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { fetchRequest, startRequest } from '../../../../shared/user-data/requests.ts';
import type { RequestItem } from '../../../../shared/user-data/stored-request.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { itemsOf, sorted } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const NOW = Date.UTC(2030, 0, 1);
const DAY = 86_400_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

useOwnTable('consent');
useFakeQueue();
const written = captureLog();

let webhook: DestinationServer;

beforeAll(async () => {
  webhook = await DestinationServer.start();
});

afterAll(() => webhook.close());

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  webhook.answers = [204];
});

afterEach(() => void vi.useRealTimers());

const later = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds);

interface World {
  account: string;
  phone: string;
}

const newBusiness = async (): Promise<string> => {
  const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  await updateAccount(id, { platform: { name: 'webhook', settings: { url: webhook.url, secret: SECRET } } });
  return id;
};

const newWorld = async (): Promise<World> => {
  const phone = newPhone();
  const properties = {
    first_name: { value: 'Thandi-1f3', source: 'user' },
    last_name: { value: 'Mokoena-9c2', source: 'user' },
    device_make: { value: 'Acme', source: 'device' },
  };
  await updateUser(randomUUID(), { phone_number: phone, properties });
  return { account: await newBusiness(), phone };
};

type Name = 'first_name' | 'last_name' | 'device_make' | 'citizenship';

const ask = async ({ account, phone }: World, names: Name[], valid_days?: number): Promise<string> => {
  const data = names.map((property) => ({ property, required: false }));
  return (await startRequest(account, phone, { reason: 'To know you', data, valid_days }, undefined)).id;
};

const report = (type: string, data: object, id: string = randomUUID()) =>
  receiveEvents([{ id, type, data }], (index) => [String(index)]);

const approve = async (id: string, ...names: Name[]): Promise<void> => {
  const answers = Object.fromEntries(names.map((name) => [name, 'approved']));
  expect(await report('user_data.answered', { id, answers })).toEqual([]);
};

const withdraw = async (id: string, ...properties: string[]): Promise<void> =>
  expect(await report('user_data.withdrawn', { id, properties })).toEqual([]);

/** A completed request, whose user has approved both names. */
const newConsent = async (world: World, valid_days?: number): Promise<string> => {
  const id = await ask(world, ['first_name', 'last_name', 'device_make'], valid_days);
  await approve(id, 'first_name', 'last_name');
  return id;
};

/** The same, of a new user to a new business. */
const newConsented = async (valid_days?: number) => {
  const world = await newWorld();
  return { world, id: await newConsent(world, valid_days) };
};

const statusesOf = async ({ account }: World, id: string): Promise<Record<string, string>> => {
  const { results } = await fetchRequest(account, id);
  return Object.fromEntries(Object.entries(results).map(([name, { status }]) => [name, status]));
};

/** The items in the partition of a request. */
const storedOf = async (id: string): Promise<string> => JSON.stringify(await itemsOf(requestKey(id)), sorted);

/** The requests whose deletion is outstanding, the oldest first. */
const outstanding = async (): Promise<string[]> => {
  const { items } = await page<Key>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :owed',
    ExpressionAttributeValues: { ':owed': acknowledgements },
  });
  return items.map(({ pk }) => pk.slice(requestKey('').pk.length));
};

const notify = ({ account, phone }: World) => deliver({ direction: 'consent', account, phone }, () => 60_000);

/** The bodies that the webhook has received about ended consent since the last call. */
const notified = (): object[] =>
  webhook.calls.splice(0).flatMap(({ body }) => {
    const { user_data } = JSON.parse(body) as { user_data?: { status: string } };
    return user_data !== undefined && user_data.status !== 'completed' ? [user_data] : [];
  });

const sweep = () => erase({ step: 'consents' }, { getRemainingTimeInMillis: () => 60_000 } as never);

describe('a withdrawal', () => {
  test('replaces the values by the end of their consent, and keeps those of other properties', async () => {
    const { world, id } = await newConsented();
    expect(Object.values(await statusesOf(world, id))).toEqual(['approved', 'approved', 'approved']);
    later(1_000);
    await withdraw(id, 'first_name');
    const { status, results } = await fetchRequest(world.account, id);
    expect(status).toBe('completed');
    expect(results.first_name).toEqual({
      status: 'withdrawn',
      timestamp: expect.stringMatching(/^2030-01-01T00:00:01/),
    });
    expect(results.last_name).toMatchObject({ status: 'approved', value: 'Mokoena-9c2' });
    expect(await storedOf(id)).not.toContain('Thandi-1f3');
    expect(written.join('')).not.toContain('Thandi-1f3');
  });

  test('notifies the webhook of the business, which then owes the deletion until it acknowledges it', async () => {
    const { world, id } = await newConsented();
    await withdraw(id, 'first_name', 'device_make');
    expect(await outstanding()).toContain(id);
    await notify(world);
    expect(notified()).toEqual([
      {
        id,
        status: 'withdrawn',
        properties: ['device_make', 'first_name'],
        contact: `${world.phone}@users.example.com`,
        ended: expect.stringMatching(/^2030-01-01T/),
      },
    ]);
    await acknowledgeDeletion(world.account, id);
    expect(await outstanding()).not.toContain(id);
    // Again, and after another withdrawal.
    await acknowledgeDeletion(world.account, id);
    await withdraw(id, 'last_name');
    expect(await outstanding()).toContain(id);
  });

  test('has a receipt, and so has the acknowledgement; the receipt of the release remains', async () => {
    const { world, id } = await newConsented();
    later(1_000);
    await withdraw(id, 'first_name');
    later(1_000);
    await acknowledgeDeletion(world.account, id);
    const receipts = await listConsentReceipts(world.phone);
    expect(receipts.map(({ event, properties, request }) => ({ event, properties, request }))).toEqual([
      { event: undefined, properties: ['device_make'], request: id },
      { event: undefined, properties: ['first_name', 'last_name'], request: id },
      { event: 'withdrawn', properties: ['first_name'], request: id },
      { event: 'deleted', properties: ['first_name'], request: id },
    ]);
  });

  test('that is repeated changes nothing, with the same event or another one', async () => {
    const { world, id } = await newConsented();
    const event = randomUUID();
    const data = { id, properties: ['first_name'] };
    expect(await report('user_data.withdrawn', data, event)).toEqual([]);
    const stored = await storedOf(id);
    later(1_000);
    expect(await report('user_data.withdrawn', data, event)).toEqual([]);
    await withdraw(id, 'first_name');
    expect(await storedOf(id)).toBe(stored);
    const { entries } = await oldestEntries({ direction: 'consent', ...world });
    expect(entries).toHaveLength(1);
  });

  test('of a property that the user has not answered yet denies it, and a later approval releases nothing', async () => {
    const world = await newWorld();
    const id = await ask(world, ['first_name', 'last_name']);
    await approve(id, 'last_name');
    await withdraw(id, 'first_name', 'last_name');
    await approve(id, 'first_name', 'last_name');
    expect(await statusesOf(world, id)).toEqual({ first_name: 'denied', last_name: 'withdrawn' });
    expect(await storedOf(id)).not.toMatch(/Thandi|Mokoena/);
  });

  test('of a property that was denied, or that has no value, changes nothing', async () => {
    const world = await newWorld();
    const id = await ask(world, ['first_name', 'citizenship']);
    await report('user_data.answered', { id, answers: { first_name: 'denied', citizenship: 'approved' } });
    await withdraw(id, 'first_name', 'citizenship');
    expect(await statusesOf(world, id)).toEqual({ first_name: 'denied', citizenship: 'unavailable' });
    expect(await outstanding()).not.toContain(id);
  });

  test('works after the request has expired: the business is notified, and the fetch shows the end', async () => {
    const { world, id } = await newConsented();
    later(31 * DAY);
    await expect(fetchRequest(world.account, id)).rejects.toMatchObject({ code: 'request_not_found' });
    // TTL removes expired items later.
    await remove(requestKey(id));
    await withdraw(id, 'last_name');
    expect(await statusesOf(world, id)).toEqual({ last_name: 'withdrawn' });
    await notify(world);
    expect(notified()).toMatchObject([{ id, status: 'withdrawn', properties: ['last_name'] }]);
    await acknowledgeDeletion(world.account, id);
    await expect(fetchRequest(await newBusiness(), id)).rejects.toMatchObject({ code: 'request_not_found' });
  });
});

describe('a consent with valid_days', () => {
  test('shows until when it is valid, and shows no value from that moment, also before the worker runs', async () => {
    const { world, id } = await newConsented(7);
    const { results } = await fetchRequest(world.account, id);
    const valid_until = expect.stringMatching(/^2030-01-08T00:00:00/);
    expect(results).toMatchObject({ first_name: { status: 'approved', valid_until }, device_make: { valid_until } });
    later(7 * DAY + 1_000);
    expect(Object.values(await statusesOf(world, id))).toEqual(['expired', 'expired', 'expired']);
    expect(JSON.stringify((await personalDataOf(world.phone)).requests)).not.toContain('Thandi-1f3');
  });

  test('is removed by the worker within a minute of its end, and the business is notified and owes the deletion', async () => {
    const { world, id } = await newConsented(7);
    later(7 * DAY - 60_000);
    await sweep();
    expect(await storedOf(id)).toContain('Thandi-1f3');
    later(120_000);
    await sweep();
    expect(await storedOf(id)).not.toMatch(/Thandi|Mokoena/);
    await notify(world);
    expect(notified()).toMatchObject([
      { id, status: 'expired', properties: ['device_make', 'first_name', 'last_name'] },
    ]);
    expect(await outstanding()).toContain(id);
    const stored = await storedOf(id);
    await sweep();
    expect(await storedOf(id)).toBe(stored);
  });

  test('counts the days from each release, and ends one after the other', async () => {
    const world = await newWorld();
    const id = await ask(world, ['first_name', 'last_name'], 7);
    await approve(id, 'first_name');
    later(DAY);
    await approve(id, 'last_name');
    later(6 * DAY + 1_000);
    await sweep();
    expect(await statusesOf(world, id)).toEqual({ first_name: 'expired', last_name: 'approved' });
    later(DAY);
    await sweep();
    expect(await statusesOf(world, id)).toEqual({ first_name: 'expired', last_name: 'expired' });
  });

  test('that was withdrawn before does not expire again', async () => {
    const { world, id } = await newConsented(7);
    await withdraw(id, 'first_name', 'last_name', 'device_make');
    await notify(world);
    notified();
    later(8 * DAY);
    await sweep();
    await notify(world);
    expect(notified()).toEqual([]);
    expect(await statusesOf(world, id)).toMatchObject({ first_name: 'withdrawn' });
  });

  test('can be acknowledged as soon as the fetch shows its end', async () => {
    const world = await newWorld();
    const id = await newConsent(world, 1);
    later(DAY + 1_000);
    await acknowledgeDeletion(world.account, id);
    expect(await outstanding()).not.toContain(id);
    expect(await storedOf(id)).not.toMatch(/Thandi|Mokoena/);
  });

  test('of 365 days outlives its request of 30 days: it still expires, and the business is notified', async () => {
    const world = await newWorld();
    const id = await newConsent(world, 365);
    later(40 * DAY);
    await remove(requestKey(id));
    later(325 * DAY + 1_000);
    await sweep();
    await notify(world);
    expect(notified()).toMatchObject([{ id, status: 'expired' }]);
  });
});

describe('an acknowledgement', () => {
  test('of a request whose consent has not ended is rejected', async () => {
    const { world, id } = await newConsented();
    await expect(acknowledgeDeletion(world.account, id)).rejects.toMatchObject({ code: 'consent_not_ended' });
    const pending = await ask(world, ['first_name']);
    await expect(acknowledgeDeletion(world.account, pending)).rejects.toMatchObject({ code: 'consent_not_ended' });
  });

  test('of all properties lets the consent expire 30 days after its end; without one, it stays', async () => {
    const world = await newWorld();
    const [id, other] = [await newConsent(world), await newConsent(world)];
    for (const one of [id, other]) await withdraw(one, 'first_name', 'last_name', 'device_make');
    await acknowledgeDeletion(world.account, id);
    const ends = async (request: string) =>
      (JSON.parse(await storedOf(request)) as { sk: string; expires_at?: number }[]).find(({ sk }) =>
        sk.startsWith('CONSENT#'),
      )?.expires_at;
    expect(await ends(id)).toBe(NOW / 1_000 + 30 * 86_400);
    expect(await ends(other)).toBeUndefined();
  });
});

describe('with the removal of its user, a consent', () => {
  test('ends: the business is notified and owes the deletion, under a pseudonym', async () => {
    const { world, id } = await newConsented();
    const erased = await eraseUser(world.phone);
    expect(erased.consents).toBe(1);
    const [consent] = (await readConsents(id)).consents;
    expect(consent?.phone).toMatch(/^erased-/);
    expect(await storedOf(id)).not.toContain(world.phone);
    expect(await outstanding()).toContain(id);
    await notify({ ...world, phone: String(consent?.phone) });
    expect(notified()).toMatchObject([
      { id, status: 'withdrawn', properties: ['device_make', 'first_name', 'last_name'] },
    ]);
    await expect(fetchRequest(world.account, id)).rejects.toMatchObject({ code: 'request_not_found' });
    await acknowledgeDeletion(world.account, id);
    expect(await outstanding()).not.toContain(id);
    later(180_000);
    await resumeErasure(world.phone);
    expect(await personalDataOf(world.phone)).toMatchObject({ consents: [], grants: [] });
  });

  test('whose notification is pending is notified again, without the number; one that was acknowledged is not', async () => {
    const world = await newWorld();
    const [pending, done] = [await newConsent(world), await newConsent(world)];
    for (const id of [pending, done]) await withdraw(id, 'first_name', 'last_name', 'device_make');
    await acknowledgeDeletion(world.account, done);
    await eraseUser(world.phone);
    expect((await oldestEntries({ direction: 'consent', ...world })).entries).toEqual([]);
    const [consent] = (await readConsents(pending)).consents;
    await notify({ ...world, phone: String(consent?.phone) });
    expect(notified()).toMatchObject([{ id: pending, contact: `${consent?.phone}@users.example.com` }]);
    expect(await storedOf(done)).not.toContain(world.phone);
  });
});

describe('the webhook for ends of consent of an account with RapidPro', () => {
  let rapidpro: DestinationServer;
  beforeAll(async () => {
    rapidpro = await DestinationServer.start();
  });
  afterAll(() => rapidpro.close());

  const consent_webhook = () => ({ settings: { url: webhook.url, secret: SECRET } });

  test('receives the signed end of a consent, also while RapidPro fails; RapidPro receives nothing of it', async () => {
    const world = await newWorld();
    const settings = { url: rapidpro.url };
    await updateAccount(world.account, {
      platform: { name: 'rapidpro', settings },
      consent_webhook: consent_webhook(),
    });
    rapidpro.answers = [503];
    const { account, phone } = world;
    const message = { id: randomUUID(), account, phone, job_id: randomUUID(), payload_type: 'text', ...lifetime };
    const content = { type: 'text' as const, text: { body: 'Hello' } };
    const received = { type: 'message.received' as const, message, to: newPhone(), content };
    await transactInOrder((after) => enqueueWrites({ direction: 'platform', account, phone }, received, after));
    const id = await newConsent(world);
    await withdraw(id, 'first_name');
    await deliver({ direction: 'platform', account, phone }, () => 60_000);
    expect(rapidpro.calls.length).toBeGreaterThan(0);

    webhook.calls.splice(0);
    expect(await notify(world)).toMatchObject({ settled: 1 });
    const [{ headers, body } = { headers: {}, body: '' }] = webhook.calls.splice(0);
    expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toMatchObject({
      user_data: { id, status: 'withdrawn', properties: ['first_name'] },
    });
    expect(rapidpro.calls.map((call) => call.body).join('')).not.toContain(id);
  });

  test('is called instead of a plain webhook of the account, which is called again after its removal', async () => {
    const world = await newWorld();
    const own = await DestinationServer.start();
    onTestFinished(() => own.close());
    await updateAccount(world.account, { consent_webhook: { settings: { url: own.url, secret: SECRET } } });
    const id = await newConsent(world);
    await withdraw(id, 'first_name');
    await notify(world);
    expect([own.calls.length, notified()]).toEqual([1, []]);
    await updateAccount(world.account, { consent_webhook: null });
    await withdraw(id, 'last_name');
    await notify(world);
    expect([own.calls.length, notified()]).toMatchObject([1, [{ id, properties: ['last_name'] }]]);
  });
});

test('the end of a consent waits while the business has no webhook, and the deletion stays outstanding', async () => {
  const { phone } = await newWorld();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
  const world = { account, phone };
  const id = await newConsent(world);
  await withdraw(id, 'first_name');
  expect(await notify(world)).toEqual({ settled: 0, retry_scheduled: 'no_platform' });
  expect(await readHead({ direction: 'consent', account, phone })).toMatchObject({ state: 'waiting' });
  expect(notified()).toEqual([]);
  expect(await outstanding()).toContain(id);
  await updateAccount(account, { consent_webhook: { settings: { url: webhook.url, secret: SECRET } } });
  expect(await notify(world)).toMatchObject({ settled: 1 });
  expect(notified()).toMatchObject([{ id, status: 'withdrawn', properties: ['first_name'] }]);
  expect(await outstanding()).toContain(id);
});

test('a withdrawal during an answer is applied after it: neither is lost', async () => {
  const world = await newWorld();
  const id = await ask(world, ['first_name', 'last_name']);
  await Promise.all([approve(id, 'first_name'), withdraw(id, 'last_name')]);
  expect(await statusesOf(world, id)).toEqual({ first_name: 'approved', last_name: 'denied' });
  await update({
    Key: requestKey(id),
    UpdateExpression: 'SET version = version + :one',
    ExpressionAttributeValues: { ':one': 1 },
  });
  await withdraw(id, 'first_name');
  expect((await getConsistent<RequestItem>(requestKey(id)))?.results.first_name).toMatchObject({ status: 'withdrawn' });
});
