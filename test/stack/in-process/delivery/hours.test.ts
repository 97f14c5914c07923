/**
 * Messages with sending hours, step by step: they wait outside them, others overtake them, and nothing else changes.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import {
  findOpenCircuit,
  pendingConversations,
  readBacklog,
  resetCircuit,
  resumeConversations,
} from '../../../../infra/operator/queries/outbox-inspection.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import type { SendingHours } from '../../../../shared/core/sending-hours.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { APP_NETWORK_DESTINATION } from '../../../../shared/destinations/destination.ts';
import { countBacklog } from '../../../../shared/due-work/backlog.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { reportOptOut } from '../../../../shared/messaging/opt-outs/changes.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, headKey, isEntryKey, isHeadKey } from '../../../../shared/outbox/entities.ts';
import { conversationsOf } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { readMessage } from '../../../../shared/stats/message-log.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { HOURS, MORNING, NIGHT, NOON } from '../../support/sending-hours.ts';
import { statesWithReasons } from '../../support/states.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { dueItems } from '../../support/whole-table.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

useOwnTable('hours');
captureLog();
const app = useAppNetworkServer();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

useStoppedClock(NIGHT, MINUTE);

type User = Awaited<ReturnType<typeof newBusiness>>;

const newUser = async (sending_hours?: SendingHours): Promise<User> => {
  const user = await newBusiness();
  if (sending_hours) await updateAccount(user.account, { sending_hours });
  return user;
};

type Options = Parameters<typeof sendMessage>[2];

const send = ({ account, phone }: User, options: Options = {}): Promise<string> =>
  sendMessage(account, { to: phone, type: 'text', text: { body: 'Hello' } }, options);

/** The conversations towards a user, without and with hours. */
const towards = ({ account, phone }: User) =>
  conversationsOf(account, phone).filter(({ direction }) => direction === 'app');

/** What `sweep` finds due of a user: the sort keys of entries whose time is over, and whether a head is. */
const dueOf = async (user: User) => {
  const outboxes = towards(user).map((one) => headKey(conversationName(one)).pk);
  const due = await dueItems('conversations', new Date().toISOString());
  const found = due.filter(({ pk }) => outboxes.includes(pk));
  return { ended: found.filter(isEntryKey).map(({ sk }) => sk), heads: found.filter(isHeadKey).length };
};

/** Wakes both conversations, as for new entries, and as `sweep` does. */
const run = async (user: User): Promise<void> => {
  const { ended } = await dueOf(user);
  for (const conversation of towards(user)) await deliver(conversation, () => 60_000, { ended, cancelled: true });
};

const received = (): string[] => app().calls.map(({ json }) => json.data.id);

const headOf = async (user: User) => {
  const [, withHours] = towards(user);
  return withHours && readHead(withHours);
};

const DELIVERED = ['sent', 'delivered_to_server'];

const at = (time: number) => vi.setSystemTime(time);

describe('a message with sending hours', () => {
  test('is sent at once within them', async () => {
    const user = await newUser();
    at(NOON);
    const id = await send(user, HOURS);
    await run(user);
    expect(received()).toEqual([id]);
    expect(await headOf(user)).toBeUndefined();
  });

  test('waits outside them, without an attempt, and is sent when they begin', async () => {
    const user = await newUser();
    const id = await send(user, HOURS);
    await run(user);
    expect(await headOf(user)).toMatchObject({ dueAt: new Date(MORNING).toISOString(), cause: 'outside_hours' });
    expect((await headOf(user))?.attempts).toBeUndefined();
    expect(await readMessage(user.account, id)).toMatchObject({ waits_until: '2030-01-02T06:00:00.000000' });
    at(MORNING - 1);
    expect(await dueOf(user)).toEqual({ ended: [], heads: 0 });
    await run(user);
    expect(received()).toEqual([]);

    at(MORNING);
    expect(await dueOf(user)).toMatchObject({ heads: 1 });
    await run(user);
    expect(received()).toEqual([id]);
    expect(await statesWithReasons(id)).toEqual(DELIVERED);
    expect(await readMessage(user.account, id)).not.toHaveProperty('waits_until');
    expect(await headOf(user)).toBeUndefined();
  });

  test('is overtaken by others, and keeps its place among its own kind', async () => {
    const user = await newUser();
    const waiting = [await send(user, HOURS), await send(user, HOURS)];
    const urgent = [await send(user), await send(user, { ...HOURS, urgent: true }), await send(user)];
    await run(user);
    expect(received()).toEqual(urgent);
    at(MORNING);
    await run(user);
    expect(received()).toEqual([...urgent, ...waiting]);
  });

  test('waits behind an earlier one with other hours', async () => {
    const user = await newUser();
    const first = await send(user, HOURS);
    const second = await send(user, { between: ['21:00', '23:00'], time_zone: HOURS.time_zone });
    await run(user);
    expect(received()).toEqual([]);
    at(MORNING);
    await run(user);
    expect(received()).toEqual([first]);
    at(Date.UTC(2030, 0, 2, 19));
    await run(user);
    expect(received()).toEqual([first, second]);
  });

  test.each([
    ['before the first attempt', 1],
    ['also behind 60 others', 61],
  ])('costs as much to wait, %s', async (_, count) => {
    const user = await newUser();
    for (let sent = 0; sent < count; sent += 1) await send(user, HOURS);
    const [withoutHours, withHours] = towards(user);
    if (withoutHours === undefined || withHours === undefined) throw new Error('There are two conversations.');
    // The head, a page of ten entries, what may prevent the attempt of the first one, and the new time of the head.
    expect(await consumedBy(() => deliver(withHours, () => 60_000))).toMatchObject({ calls: 4 });
    // Until then, a wake-up reads only the head.
    expect(await consumedBy(() => deliver(withHours, () => 60_000))).toMatchObject({ calls: 1, table: 1 });
    const id = await send(user);
    expect(await consumedBy(() => deliver(withoutHours, () => 60_000))).toMatchObject({ calls: 7 });
    expect(received()).toEqual([id]);
    at(MORNING);
    await run(user);
    expect(received()).toHaveLength(count + 1);
  });

  test('is not late while it waits, and is late some time after its hours have begun', async () => {
    const user = await newUser();
    await send(user, HOURS);
    await run(user);
    at(MORNING - 1);
    expect((await countBacklog(() => false)).oldest_s).toBe(0);
    expect(await readBacklog()).not.toHaveProperty('oldest');
    expect(await pendingConversations({ account: user.account })).toMatchObject([
      { phone: user.phone, entries: 1, failed: 0, cause: 'outside_hours', next: new Date(MORNING).toISOString() },
    ]);
    at(MORNING + HOUR);
    expect((await countBacklog(() => false)).oldest_s).toBe(3_600);
    app().answers = [503, 503, 204];
    await run(user);
    expect((await countBacklog(() => false)).oldest_s).toBe(3_600);
    expect((await readBacklog()).oldest).toBe('2030-01-02T06:00:00.000000');
    at(MORNING + 2 * HOUR);
    await run(user);
    expect(await countBacklog(() => false)).toEqual({ waiting: 0, oldest_s: 0 });
  });
});

describe('while a message waits for its hours', () => {
  test('its validity ends', async () => {
    const user = await newUser();
    const [first, second] = [await send(user, { ...HOURS, valid_for: 3_600 }), await send(user, HOURS)];
    await run(user);
    at(NIGHT + HOUR);
    expect((await dueOf(user)).ended).toHaveLength(1);
    await run(user);
    expect(await statesWithReasons(first)).toEqual(['sent', 'sending_failed: expired']);
    expect(await dueOf(user)).toEqual({ ended: [], heads: 0 });
    at(MORNING);
    await run(user);
    expect(received()).toEqual([second]);
  });

  test('its job can be cancelled', async () => {
    const user = await newUser();
    const job_id = randomUUID();
    const [first, second] = [await send(user, { ...HOURS, job_id }), await send(user, HOURS)];
    await run(user);
    await cancelJob(user.account, job_id);
    await run(user);
    expect(await statesWithReasons(first)).toEqual(['sent', 'sending_failed: cancelled']);
    at(MORNING);
    await run(user);
    expect(received()).toEqual([second]);
  });

  test('its user can stop the account: it fails when it is looked at', async () => {
    const user = await newUser();
    const before = await send(user, HOURS);
    await run(user);
    await reportOptOut('stop', { from: user.phone, to: user.bot, state: 'stopped' }, timestamp());
    at(MORNING);
    await run(user);
    expect(await statesWithReasons(before)).toEqual(['sent', 'sending_failed: opted_out']);
    at(NIGHT + DAY);
    const after = await send(user, HOURS);
    await run(user);
    expect(await statesWithReasons(after)).toEqual(['sent', 'sending_failed: opted_out']);
    expect(received()).toEqual([]);
  });

  test('its user can be erased, and nothing is left', async () => {
    const user = await newUser();
    const id = await send(user, HOURS);
    await run(user);
    expect(await eraseUser(user.phone)).toMatchObject({ waiting: 1 });
    expect(await headOf(user)).toBeUndefined();
    at(MORNING);
    await run(user);
    expect(received()).toEqual([]);
    expect(await statesWithReasons(id)).toEqual(['sent', 'sending_failed: user_erased']);
  });

  test('its account can be suspended and resumed', async () => {
    const user = await newUser();
    const id = await send(user, HOURS);
    await run(user);
    await updateAccount(user.account, { suspended: timestamp() });
    at(MORNING);
    await run(user);
    expect(await headOf(user)).toMatchObject({ cause: 'account_suspended' });
    at(NIGHT + DAY);
    await updateAccount(user.account, { suspended: null });
    expect(await resumeConversations(user.account)).toBe(1);
    await run(user);
    expect(received()).toEqual([]);
    at(MORNING + DAY);
    await run(user);
    expect(received()).toEqual([id]);
  });

  test('it does not take the turn to probe the app network', async () => {
    const user = await newUser();
    const others = await Promise.all([newUser(), newUser(), newUser()]);
    app().answers = [...Array(6).fill(503), 204];
    for (const other of others) {
      await send({ ...other, account: user.account });
      await run({ ...other, account: user.account });
    }
    await send(user, HOURS);
    at(NIGHT + 10 * MINUTE);
    const before = app().calls.length;
    await run(user);
    expect(app().calls).toHaveLength(before);
    const id = await send(user);
    await run(user);
    expect(received().at(-1)).toBe(id);
    expect(await findOpenCircuit(APP_NETWORK_DESTINATION)).toBeUndefined();
  });
});

describe('the attempts of a message with hours', () => {
  test('continue when they begin again, and its earlier failures count', async () => {
    const user = await newUser();
    // A minute before the end.
    at(Date.UTC(2030, 0, 1, 17, 59));
    app().answers = [503, 503, 204];
    const id = await send(user, HOURS);
    await run(user);
    expect(await headOf(user)).toMatchObject({ attempts: 1 });
    at(Date.UTC(2030, 0, 1, 18, 1));
    await run(user);
    expect(await headOf(user)).toMatchObject({
      attempts: 1,
      cause: 'outside_hours',
      retryAt: new Date(MORNING).toISOString(),
    });
    at(MORNING);
    app().answers = [503, 503, 204];
    await run(user);
    expect(await headOf(user)).toMatchObject({ attempts: 2, cause: 'status_503' });
    at(MORNING + 3 * MINUTE);
    await run(user);
    expect(received()).toEqual(Array(5).fill(id));
    expect(await statesWithReasons(id)).toEqual(DELIVERED);
  });

  test('end three days after they were permitted first', async () => {
    const user = await newUser();
    const id = await send(user, HOURS);
    await run(user);
    for (const time of [MORNING, MORNING + DAY, MORNING + 2 * DAY + 11 * HOUR]) {
      at(time);
      app().answers = [503, 503, 204];
      await run(user);
      expect(await statesWithReasons(id)).toEqual(['sent']);
      await resetCircuit(APP_NETWORK_DESTINATION);
    }
    at(MORNING + 3 * DAY);
    app().answers = [503, 503, 204];
    await run(user);
    expect(await statesWithReasons(id)).toEqual(['sent', 'sending_failed: unreachable']);
  });

  test('end with one more when the hours begin, if the three days end outside them', async () => {
    const user = await newUser();
    at(NOON);
    app().answers = [503, 503, 204];
    const id = await send(user, HOURS);
    await run(user);
    at(NIGHT + 3 * DAY);
    await run(user);
    expect(app().calls).toHaveLength(2);
    expect(await statesWithReasons(id)).toEqual(['sent']);
    at(MORNING + 3 * DAY);
    app().answers = [503, 503, 204];
    await run(user);
    expect(app().calls).toHaveLength(4);
    expect(await statesWithReasons(id)).toEqual(['sent', 'sending_failed: unreachable']);
  });
});

describe('the hours of an account', () => {
  const writes = (user: User) =>
    receiveMessage(randomUUID(), { from: user.phone, to: user.bot, type: 'text', text: { body: 'Hi' } });

  test.each<[string, Options, boolean]>([
    ['without a choice', {}, false],
    ['that is urgent', { urgent: true }, true],
    ['with other hours', { between: ['21:00', '23:00'] }, true],
    ['in another zone', { time_zone: 'America/New_York' }, true],
    ['in the zone of a user without one, the default', { time_zone: 'recipient' }, false],
  ])('are the default of a message %s', async (_, options, isSent) => {
    const user = await newUser(HOURS);
    const id = await send(user, options);
    await run(user);
    expect(received()).toEqual(isSent ? [id] : []);
  });

  test.each<[string, number, Options, boolean]>([
    ['a reply within ten minutes is sent', 10 * MINUTE - 1, {}, true],
    ['a message after ten minutes waits', 10 * MINUTE, {}, false],
    ['a reply that is not urgent waits', 0, { urgent: false }, false],
    ['a reply with hours of its own is sent', 0, { between: ['09:00', '10:00'] }, true],
  ])('%s', async (_, later, options, isSent) => {
    const user = await newUser(HOURS);
    await writes(user);
    at(NIGHT + later);
    const id = await send(user, options);
    await run(user);
    expect(received()).toEqual(isSent ? [id] : []);
  });

  test('a message of another user is no reply', async () => {
    const user = await newUser(HOURS);
    await writes({ ...user, phone: newPhone() });
    await send(user);
    await run(user);
    expect(received()).toEqual([]);
  });

  test.each([
    ['waits', false],
    ['is sent as a reply', true],
  ])('a message of a chat platform %s', async (_, isReply) => {
    const user = await newUser(HOURS);
    if (isReply) await writes(user);
    const draft = { to: user.phone, type: 'text' as const, text: { body: 'Hi' } };
    const plain = await sendFromPlatform(user.account, 'turn', draft);
    const numbered = await sendFromPlatform(user.account, 'rapidpro', { ...draft, reference: '1' });
    await run(user);
    expect(received()).toEqual(isReply ? [plain, numbered] : []);
    at(MORNING);
    await run(user);
    expect(received()).toEqual([plain, numbered]);
  });

  test('a message of a chat platform to a number without a zone has those of UTC', async () => {
    const user = await newUser({ between: ['08:00', '20:00'], time_zone: 'recipient' });
    const id = await sendFromPlatform(user.account, 'turn', { to: user.phone, type: 'text', text: { body: 'Hi' } });
    await run(user);
    expect(received()).toEqual([]);
    at(Date.UTC(2030, 0, 2, 8));
    await run(user);
    expect(received()).toEqual([id]);
  });

  test('what is noted of a user who wrote is erased', async () => {
    const user = await newUser(HOURS);
    await writes(user);
    await eraseUser(user.phone);
    await send(user);
    await run(user);
    expect(received()).toEqual([]);
  });

  test('of a message stay as they were when it was accepted', async () => {
    const user = await newUser(HOURS);
    const id = await send(user);
    await updateAccount(user.account, { sending_hours: null });
    const later = await send(user);
    await run(user);
    expect(received()).toEqual([later]);
    at(MORNING);
    await run(user);
    expect(received()).toEqual([later, id]);
  });
});
