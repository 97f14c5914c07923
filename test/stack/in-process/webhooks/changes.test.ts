/**
 * Changes of webhooks while events are pending, one conversation at a time: nothing waits for a retry of what is gone.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import {
  addEndpoint,
  changeEndpoint,
  deleteEndpoint,
  listEndpoints,
  rotateSecret,
  testEndpoint,
} from '../../../../shared/delivery/endpoints.ts';
import { listDeliveries } from '../../../../shared/delivery/history/deliveries.ts';
import { replayDelivery } from '../../../../shared/delivery/history/replay.ts';
import { RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { type EndpointNumber, endpointNumbers } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { authorOf, newBusiness } from '../../support/world.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
/** Milliseconds of a minute: retries are quicker. */
const MINUTE = 2_000;

let [failing, working]: DestinationServer[] = [];

captureLog();
useOwnTable('webhook-changes');

const servers = (): [DestinationServer, DestinationServer] => {
  if (failing === undefined || working === undefined) throw new Error('The servers have not started.');
  return [failing, working];
};

beforeAll(async () => {
  vi.stubEnv('MINUTE', String(MINUTE));
  [failing, working] = [await DestinationServer.start(), await DestinationServer.start()];
});

afterAll(async () => void (await Promise.all(servers().map((server) => server.close()))));

beforeEach(() => {
  for (const server of servers()) {
    server.calls.length = 0;
    server.answers = [200];
  }
});

afterEach(() => void vi.useRealTimers());

const later = (minutes: number) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * MINUTE });
};

const newAuthor = async () => {
  const business = await newBusiness();
  return { ...business, by: authorOf(business.account) };
};

type Business = Awaited<ReturnType<typeof newAuthor>>;

const write = ({ bot, phone }: Business, body: string) =>
  receiveMessage(randomUUID(), { from: phone, to: bot, type: 'text', text: { body } });

const at = ({ account, phone }: Business, endpoint?: EndpointNumber): Conversation => ({
  direction: 'platform',
  account,
  phone,
  endpoint,
});

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

/** Delivers what is due for a user. */
const runAll = async (business: Business): Promise<void> => {
  await run(at(business));
  for (const number of endpointNumbers) await run(at(business, number));
};

/** Runs until the next retry of a conversation is hours ahead. */
const untilHoursAhead = async (business: Business, conversation: Conversation): Promise<void> => {
  for (const step of RETRY_STEPS_MS) {
    await runAll(business);
    later((step / 60_000) * 1.3);
  }
  await runAll(business);
  const { retryAt = '' } = (await readHead(conversation)) ?? {};
  expect(Date.parse(retryAt)).toBeGreaterThan(Date.now() + 60 * MINUTE);
};

/** A webhook whose next retry of a text is hours ahead. Returns its id. */
const addFailing = async (business: Business): Promise<string> => {
  const [down] = servers();
  down.answers = [503];
  const { id } = await addEndpoint(business.by, { url: down.url });
  await write(business, 'old');
  await untilHoursAhead(business, at(business, 1));
  return id;
};

const textsAt = ({ calls }: DestinationServer): string[] =>
  calls.map(({ json }) => (json.data ?? json.message).text.body);

test('a webhook that gets the number of a deleted one gets none of its events, and does not wait for its retries', async () => {
  const business = await newAuthor();
  const [, up] = servers();
  const id = await addFailing(business);
  await deleteEndpoint(business.by, id);
  await addEndpoint(business.by, { url: up.url });
  await write(business, 'new');
  await runAll(business);
  expect(textsAt(up)).toEqual(['new']);
});

test('a webhook beside that of an operator does not wait for its retries', async () => {
  const business = await newAuthor();
  const [down, up] = servers();
  down.answers = [503];
  await updateAccount(business.account, { platform: { name: 'webhook', settings: { url: down.url, secret: SECRET } } });
  await write(business, 'old');
  await untilHoursAhead(business, at(business));
  await addEndpoint(business.by, { url: up.url });
  await write(business, 'new');
  await runAll(business);
  expect(textsAt(up)).toEqual(['old', 'new']);
});

test('after a change of its URL, a webhook gets at once what has failed', async () => {
  const business = await newAuthor();
  const [, up] = servers();
  const id = await addFailing(business);
  await changeEndpoint(business.by, id, { url: up.url });
  await runAll(business);
  expect(textsAt(up)).toEqual(['old']);
});

test('a webhook that was disabled stays so with another secret, and gets what has waited after a change', async () => {
  const business = await newAuthor();
  const [server] = servers();
  server.answers = [410];
  const { id } = await addEndpoint(business.by, { url: server.url });
  await write(business, 'one');
  await runAll(business);
  // It waits for the second time, for some hours.
  later(3);
  await runAll(business);
  server.answers = [200];
  server.calls.length = 0;
  await rotateSecret(business.by, id);
  await write(business, 'two');
  await runAll(business);
  expect(await listEndpoints(business.account)).toMatchObject([{ status: 'disabled' }]);
  expect(server.calls).toEqual([]);
  await changeEndpoint(business.by, id, {});
  await runAll(business);
  expect(textsAt(server)).toEqual(['one', 'two']);
});

test('a test is not delayed by one that failed before', async () => {
  const business = await newAuthor();
  const [server] = servers();
  server.answers = [404];
  const { id } = await addEndpoint(business.by, { url: server.url });
  const tests: Conversation = { direction: 'platform', account: business.account, phone: '', endpoint: 1 };
  await testEndpoint(business.account, id);
  for (const step of RETRY_STEPS_MS.slice(0, 4)) {
    await run(tests);
    later((step / 60_000) * 1.3);
  }
  server.answers = [200];
  server.calls.length = 0;
  await changeEndpoint(business.by, id, { description: 'Corrected' });
  await testEndpoint(business.account, id);
  await run(tests);
  expect(server.calls.length).toBe(2);
});

test('a delivery to the webhook of an operator is sent again to what it has become, once, and to no other', async () => {
  const business = await newAuthor();
  const { account } = business;
  const [former, other] = servers();
  former.answers = [{ status: 500, headers: { 'webhook-delivery': 'abort-message' } }];
  await updateAccount(account, { platform: { name: 'webhook', settings: { url: former.url, secret: SECRET } } });
  await write(business, 'one');
  await run(at(business));
  const [delivery] = (await listDeliveries(account, {}, 10)).deliveries;
  former.answers = [503];
  await addEndpoint(business.by, { url: other.url });
  expect((await replayDelivery(account, delivery?.id ?? '')).status).toBe('queued');
  await runAll(business);
  expect((await replayDelivery(account, delivery?.id ?? '')).status).toBe('pending');
  expect((await oldestEntries(at(business, 1))).entries).toHaveLength(1);
  expect(other.calls).toEqual([]);
  // After it was deleted, there is nothing to which it could be sent.
  const [first] = await listEndpoints(account);
  await deleteEndpoint(business.by, first?.id ?? '');
  await expect(replayDelivery(account, delivery?.id ?? '')).rejects.toThrow('platform_not_set_up');
});

test('a 410 to a request that began before a change disables nothing', async () => {
  const business = await newAuthor();
  const [former, next] = servers();
  const { id } = await addEndpoint(business.by, { url: former.url });
  former.answers = [
    (response) => {
      void deleteEndpoint(business.by, id)
        .then(() => addEndpoint(business.by, { url: next.url }))
        .then(() => response.writeHead(410).end());
    },
  ];
  await write(business, 'one');
  await runAll(business);
  await write(business, 'two');
  later(10);
  await runAll(business);
  expect(textsAt(next)).toEqual(['two']);
  expect(await listEndpoints(business.account)).toMatchObject([{ status: 'working' }]);
});
