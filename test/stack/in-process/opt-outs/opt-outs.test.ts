/**
 * Opt-outs, step by step: what a stop prevents, what a start reverts, and in which order reports may arrive.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AccountPlatform } from '../../../../infra/operator/queries/accounts-admin.ts';
import { personalDataOf } from '../../../../infra/operator/queries/personal-data-export.ts';
import { receiveEvents } from '../../../../shared/app-network/event-batch.ts';
import { sendEach } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { hasOptedOut } from '../../../../shared/messaging/opt-outs/opt-outs.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { eraseUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { retrieve, startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { consumedBy } from '../../support/consumed.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { statesWithReasons } from '../../support/states.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

/** The length of a minute in milliseconds. */
const MINUTE = 6_000;
const NOW = Date.UTC(2030, 0, 1);

useOwnTable('opt-outs');

const app = useAppNetworkServer();
useFakeQueue();

captureLog();

useStoppedClock(NOW, MINUTE);

interface World {
  account: string;
  bot: string;
  phone: string;
  toUser: Conversation;
  toPlatform: Conversation;
}

const newWorld = async (platform?: AccountPlatform): Promise<World> => {
  const { account, bot, phone } = await newBusiness(platform);
  await updateUser(randomUUID(), {
    phone_number: phone,
    properties: { device_make: { value: 'Acme', source: 'device' } },
  });
  const conversation = { account, phone };
  return {
    ...{ account, bot, phone },
    toUser: { direction: 'app', ...conversation },
    toPlatform: { direction: 'platform', ...conversation },
  };
};

const newDestination = async (): Promise<DestinationServer> => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  return destination;
};

const report = (events: object[]) => receiveEvents(events, (index) => [String(index)]);

const event = (type: 'user.stopped' | 'user.started', { phone, bot }: World, timestamp?: string) => ({
  id: randomUUID(),
  type,
  ...(timestamp !== undefined && { timestamp }),
  data: { from: phone, to: bot },
});

const stop = async (world: World): Promise<void> => expect(await report([event('user.stopped', world)])).toEqual([]);
const start = async (world: World): Promise<void> => expect(await report([event('user.started', world)])).toEqual([]);

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

const send = ({ account, phone }: World): Promise<string> => sendMessage(account, text(phone), {});

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

const OPTED_OUT = ['sent', 'sending_failed: opted_out'];
const DELIVERED = ['sent', 'delivered_to_server'];

const question = { reason: 'To greet you', data: [{ property: 'first_name' as const, required: false }] };

describe('after a stop', () => {
  test('a message fails with the reason opted_out, also one that was accepted before', async () => {
    const world = await newWorld();
    const before = await send(world);
    await stop(world);
    const after = await send(world);
    expect(await run(world.toUser)).toEqual({ settled: 2 });
    expect(await Promise.all([before, after].map(statesWithReasons))).toEqual([OPTED_OUT, OPTED_OUT]);
    expect(app().calls).toEqual([]);
  });

  test('a message whose attempt failed is not attempted again, neither at once nor later', async () => {
    const world = await newWorld();
    const id = await send(world);
    app().answers = [
      async (response) => {
        await stop(world);
        response.writeHead(503).end();
      },
    ];
    expect(await run(world.toUser)).toEqual({ settled: 1 });
    expect(app().calls).toHaveLength(1);
    expect(await statesWithReasons(id)).toEqual(OPTED_OUT);

    const other = await newWorld();
    const retried = await send(other);
    app().answers = [503];
    app().calls.length = 0;
    await run(other.toUser);
    await stop(other);
    vi.setSystemTime(NOW + 5 * MINUTE);
    app().calls.length = 0;
    app().answers = [204];
    await run(other.toUser);
    expect(app().calls).toEqual([]);
    expect(await statesWithReasons(retried)).toEqual(OPTED_OUT);
  });

  test('other users receive the messages of this business, and the user those of others', async () => {
    const [world, other] = [await newWorld(), await newWorld()];
    const neighbour = { ...world, phone: newPhone() };
    const elsewhere = { ...other, phone: world.phone };
    await stop(world);
    const ids = [await send(neighbour), await send(elsewhere)];
    for (const { account, phone } of [neighbour, elsewhere]) await run({ direction: 'app', account, phone });
    expect(await Promise.all(ids.map(statesWithReasons))).toEqual([DELIVERED, DELIVERED]);
  });

  test('a recipient of a campaign is logged as failed, without an outbox entry; the others receive it', async () => {
    const world = await newWorld();
    const [first, second] = [newPhone(), newPhone()];
    await stop(world);
    const drafts = [first, world.phone, second, world.phone].map(text);
    const { job_id } = await sendEach(world.account, drafts, { priority: 'low' });
    await expand(world.account, undefined, Date.now() + MINUTE);
    const settled = async (phone: string) => (await run({ ...world.toUser, phone })).settled;
    expect([await settled(first), await settled(world.phone), await settled(second)]).toEqual([1, 0, 1]);
    const { entries } = await listLogs(world.account, { job_id, state: 'sending_failed' }, 10);
    expect(entries.map(({ reason, contact }) => `${reason} ${contact}`)).toEqual(
      Array(2).fill(`opted_out ${world.phone}@users.example.com`),
    );
    expect(new Set(app().calls.map(({ json }) => json.data.to))).toEqual(new Set([first, second]));
    expect(app().calls).toHaveLength(2);
  });

  test('a user data request returns user_opted_out, and a repeat of an earlier one its response', async () => {
    const world = await newWorld();
    const { account, phone } = world;
    const first = await startRequest(account, phone, question, 'key');
    await stop(world);
    expect(await startRequest(account, phone, question, 'key')).toEqual(first);
    const other = { ...question, reason: 'Another one' };
    await expect(startRequest(account, phone, other, 'key')).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await expect(startRequest(account, phone, question, 'new')).rejects.toMatchObject({ code: 'user_opted_out' });
    await expect(startRequest(account, phone, question, undefined)).rejects.toMatchObject({ code: 'user_opted_out' });
    await expect(retrieve(account, phone, ['device_make'])).rejects.toMatchObject({ code: 'user_opted_out' });
    await expect(startRequest(account, newPhone(), question, undefined)).rejects.toMatchObject({
      code: 'user_not_found',
    });
    await start(world);
    await retrieve(account, phone, ['device_make']);
    await startRequest(account, phone, question, 'new');
  });

  test('a pending user data request is not shown to the user', async () => {
    const world = await newWorld();
    await startRequest(world.account, world.phone, question, undefined);
    await stop(world);
    expect(await run(world.toUser)).toEqual({ settled: 1 });
    expect(app().calls).toEqual([]);
  });

  test('a start lets pending and later messages pass', async () => {
    const world = await newWorld();
    const pending = await send(world);
    await stop(world);
    await start(world);
    const later = await send(world);
    await run(world.toUser);
    expect(await Promise.all([pending, later].map(statesWithReasons))).toEqual([DELIVERED, DELIVERED]);
  });
});

describe('reports of stops and starts', () => {
  const T = (minutes: number) => sortableTime(NOW + minutes * MINUTE);

  // Each report is of a stop or a start, with its time in minutes from the present.
  test.each<[string, boolean, string, string]>([
    ['a later one wins, in the order of the batch', false, 'stopped', 'started'],
    ['an older start does not revert a newer stop', true, 'stopped -1', 'started -2'],
    ['an older stop does not revert a newer start', false, 'started -1', 'stopped -2'],
    ['of the same time, the later one wins', true, 'started -1', 'stopped -1'],
    ['one without a time is newer than all others', false, 'stopped -1', 'started'],
    ['a time in the future counts as the present', false, 'stopped 60', 'started'],
  ])('%s', async (_, stopped, ...reports) => {
    const world = await newWorld();
    const events = reports.map((one) => {
      const [kind, minutes] = one.split(' ');
      const type = kind === 'stopped' ? 'user.stopped' : 'user.started';
      return event(type, world, minutes === undefined ? undefined : T(Number(minutes)));
    });
    expect(await report(events)).toEqual([]);
    expect(await hasOptedOut(world.account, world.phone)).toBe(stopped);
  });

  test('a repeated stop does not revert a start', async () => {
    const world = await newWorld();
    const first = event('user.stopped', world);
    await report([first]);
    await start(world);
    expect(await report([first])).toEqual([]);
    expect(await hasOptedOut(world.account, world.phone)).toBe(false);
  });

  test('an unknown bot is an error of that event, and holds back later events of the user', async () => {
    const world = await newWorld();
    const lost = event('user.stopped', { ...world, bot: newPhone() });
    expect(await report([lost, event('user.stopped', world)])).toEqual([
      { pointer: '#/0/data/to', detail: "is no bot's number" },
      { pointer: '#/1', detail: expect.stringContaining('earlier event about the same user was rejected') },
    ]);
    expect(await hasOptedOut(world.account, world.phone)).toBe(false);
  });

  test('many at the same time leave the state of the last one', async () => {
    const world = await newWorld();
    const times = Array.from({ length: 8 }, (_, index) => index);
    await Promise.all(
      times.map((index) => report([event(index % 2 === 0 ? 'user.started' : 'user.stopped', world, T(index - 9))])),
    );
    expect(await hasOptedOut(world.account, world.phone)).toBe(true);
  });
});

test.each<[string, AccountPlatform['name'], (phone: string) => [path: string, body: string][]]>([
  [
    'a plain webhook is notified of each change once',
    'webhook',
    (phone) => [
      ['/hook', `{"user":{"contact":"${phone}@users.example.com","state":"stopped"}}`],
      ['/hook', `{"user":{"contact":"${phone}@users.example.com","state":"started"}}`],
    ],
  ],
  [
    'RapidPro stops the contact, and is not notified of a start',
    'rapidpro',
    (phone) => [['/stopped', `from=%2B${phone}`]],
  ],
  ['Turn receives no call', 'turn', () => []],
])('of two stops and two starts, %s', async (_, name, expected) => {
  const { url, calls } = await newDestination();
  const secret = `whsec_${'A'.repeat(32)}`;
  const world = await newWorld({ name, settings: { url, channel: 'c', token: 't', secret } });
  for (const one of [stop, stop, start, start]) {
    await one(world);
    await run(world.toPlatform);
  }
  expect(calls.map(({ path, body }) => [path, body])).toEqual(expected(world.phone));
});

describe('a user who is removed', () => {
  test('has no opt-out any more, also if the user registers again; older reports change nothing', async () => {
    const world = await newWorld();
    await stop(world);
    await eraseUser(world.phone);
    vi.setSystemTime(NOW + 3 * MINUTE);
    await resumeErasure(world.phone);
    expect(await report([event('user.stopped', world, sortableTime(NOW))])).toEqual([]);
    expect(await hasOptedOut(world.account, world.phone)).toBe(false);
    await updateUser(randomUUID(), { phone_number: world.phone });
    const id = await send(world);
    await run(world.toUser);
    expect(await statesWithReasons(id)).toEqual(DELIVERED);
  });

  test('is stopped in RapidPro, and receives nothing pending, if the opt-out is all that is known', async () => {
    const destination = await newDestination();
    const world = await newWorld({ name: 'rapidpro', settings: { url: destination.url } });
    await stop(world);
    expect(await personalDataOf(world.phone)).toMatchObject({
      opt_outs: [{ account: world.account, state: 'stopped', updated: expect.any(String) }],
      waiting: [{ account: world.account, direction: 'platform', what: { type: 'user.state', state: 'stopped' } }],
    });
    expect(await eraseUser(world.phone)).toMatchObject({ opt_outs: 1, waiting: 1 });
    await run(world.toPlatform);
    expect(destination.calls.map(({ path }) => path)).toEqual(['/stopped']);
    expect((await personalDataOf(world.phone)).opt_outs).toEqual([]);
  });
});

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'an opt-out costs 4 read and 4 write units, 8 if a platform is notified, and each check before an attempt 1 read unit',
  async () => {
    const world = await newWorld();
    expect(await consumedBy(() => stop(world))).toMatchObject({ calls: 5, table: 8 });
    expect(await consumedBy(() => hasOptedOut(world.account, world.phone))).toMatchObject({ table: 1 });
    const notified = await newWorld({ name: 'rapidpro', settings: { url: app().url } });
    expect(await consumedBy(() => stop(notified))).toMatchObject({ calls: 5, table: 12 });
  },
);
