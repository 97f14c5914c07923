/**
 * Deliveries to chat platforms, one conversation at a time, with a fake clock: rate limits and status reports.
 *
 * @module-tag long
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { findOpenCircuit, pendingConversations } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { destinationNameOf } from '../../../../shared/destinations/destination.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { findMessages, recordStates } from '../../../../shared/messaging/state-reports.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { documents } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

/** Milliseconds of a minute of the schedule. */
const MINUTE = 4_000;

let platform: DestinationServer;

captureLog();
useOwnTable('platform-delivery');

beforeAll(async () => {
  platform = await DestinationServer.start();
  vi.stubEnv('MINUTE', String(MINUTE));
});

afterAll(() => platform.close());

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  platform.calls.length = 0;
  platform.answers = [200];
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Advances the clock, in minutes of the schedule. */
const later = (minutes: number) => vi.setSystemTime(Date.now() + minutes * MINUTE);

const onTurn = () => newBusiness({ name: 'turn', settings: { url: platform.url, channel: 'channel', token: 'token' } });
const onRapidpro = () => newBusiness({ name: 'rapidpro', settings: { url: platform.url } });

const text = (body: string) => ({ type: 'text' as const, text: { body } });

/** A new user writes to the bot. Returns their conversation. */
const written = async ({ account, bot }: { account: string; bot: string }): Promise<Conversation> => {
  const phone = newPhone();
  await receiveMessage(newId(), { from: phone, to: bot, ...text('Hi') });
  return { direction: 'platform', account, phone };
};

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

/** Minutes until the conversation's next attempt. */
const minutesToRetry = async (conversation: Conversation): Promise<number> => {
  const head = await readHead(conversation);
  return (Date.parse(head?.retryAt ?? '') - Date.now()) / MINUTE;
};

/** Makes the platform return 429 until so many minutes from now, in Turn's header: whole seconds since 1970. */
const limitFor = (minutes: number) => {
  const reset = Math.ceil((Date.now() + minutes * MINUTE) / 1000);
  platform.answers = [{ status: 429, headers: { 'x-ratelimit-reset': String(reset) } }];
};

describe('a platform that asks for fewer requests', () => {
  test('receives no call from any conversation of its account during the pause', async () => {
    const here = await onTurn();
    const [first, second] = [await written(here), await written(here)];
    limitFor(3);
    const paused_until = Math.ceil((Date.now() + 3 * MINUTE) / 1000) * 1000;
    expect(await run(first)).toEqual({ settled: 0, retry_scheduled: 'status_429', paused_until });
    expect(await run(second)).toEqual({ settled: 0, retry_scheduled: 'rate_limited', paused_until });
    expect(platform.calls).toHaveLength(1);
    for (const conversation of [first, second]) {
      expect(await minutesToRetry(conversation)).toBeGreaterThan(2.9);
      expect(await minutesToRetry(conversation)).toBeLessThan(3.6);
    }
    later(3.6);
    platform.answers = [200];
    for (const conversation of [first, second]) expect(await run(conversation)).toEqual({ settled: 1 });
  });

  test('receives no call during the pause, and calls of every conversation at once after it', async () => {
    const here = await onTurn();
    const conversations = await Promise.all([written(here), written(here), written(here), written(here)]);
    limitFor(1);
    for (const conversation of conversations) await run(conversation);
    expect(platform.calls).toHaveLength(1);
    later(1.6);
    platform.calls.length = 0;
    // Respond when all calls have arrived: no conversation waits for another one's attempt.
    const { promise: all, resolve: isAll } = Promise.withResolvers<void>();
    platform.answers = [
      (response) => {
        if (platform.calls.length === conversations.length) isAll();
        void all.then(() => response.writeHead(200).end());
      },
    ];
    const results = await Promise.all(conversations.map(run));
    expect(results).toEqual(conversations.map(() => ({ settled: 1 })));
  });

  test('during a probe closes its circuit, and the pause applies', async () => {
    const here = await onTurn();
    platform.answers = [500];
    for (let times = 0; times < 3; times += 1) await run(await written(here));
    later(1.3);
    limitFor(1);
    const conversation = await written(here);
    expect(await run(conversation)).toMatchObject({ retry_scheduled: 'status_429' });
    expect(await findOpenCircuit(destinationNameOf(conversation))).toBeUndefined();
    expect(await run(await written(here))).toMatchObject({ retry_scheduled: 'rate_limited' });
  });

  test('five times in a row causes no growing delays, because no attempt counts as failed', async () => {
    const conversation = await written(await onTurn());
    for (let times = 0; times < 5; times += 1) {
      limitFor(1);
      expect(await run(conversation)).toMatchObject({ settled: 0, retry_scheduled: 'status_429' });
      expect((await readHead(conversation))?.attempts).toBe(0);
      expect(await minutesToRetry(conversation)).toBeLessThan(1.6);
      later(1.6);
    }
  });

  test.each([
    ['10 minutes at most, for a time years ahead', 1e6, 9.9, 10.1],
    ['a moment, for a time in the past', -5, 0, 0.1],
  ])('is paused for %s', async (_, minutes, min, max) => {
    const conversation = await written(await onTurn());
    limitFor(minutes);
    await run(conversation);
    expect(await minutesToRetry(conversation)).toBeGreaterThan(min);
    expect(await minutesToRetry(conversation)).toBeLessThan(max);
  });

  test('does not receive a message that is older than three days again', async () => {
    const conversation = await written(await onTurn());
    later(3 * 24 * 60);
    limitFor(1);
    expect(await run(conversation)).toEqual({ settled: 1 });
  });

  test("does not delay messages to another account's platform", async () => {
    limitFor(3);
    await run(await written(await onTurn()));
    platform.answers = [200];
    expect(await run(await written(await onTurn()))).toEqual({ settled: 1 });
  });
});

describe('a status of RapidPro', () => {
  /** Two parts of one message, and the conversation whose outbox receives their states. */
  const twoParts = async () => {
    const here = await onRapidpro();
    const phone = newPhone();
    const ids: string[] = [];
    for (const part of ['one', 'two']) {
      ids.push(await sendFromPlatform(here.account, 'rapidpro', { reference: '21', to: phone, ...text(part) }));
    }
    const conversation: Conversation = { direction: 'platform', account: here.account, phone, reports: true };
    return { here, conversation, ids };
  };

  const reports = () => platform.calls.map(({ body }) => body);

  const report = async (ids: string[], state: 'delivered_to_user' | 'delivery_failed' | 'read') => {
    for (const id of ids) await reportState(id, state);
  };

  test('is reported once, when the first part reaches it', async () => {
    const { conversation, ids } = await twoParts();
    await report(ids, 'delivered_to_user');
    expect(await run(conversation)).toEqual({ settled: 2 });
    await report(ids, 'delivered_to_user');
    await run(conversation);
    expect(reports()).toEqual(['id=21']);
  });

  test('is accepted together with those of other messages, each in its conversation', async () => {
    const { here, conversation, ids } = await twoParts();
    await updateAccount(here.account, {
      platform: { name: 'webhook', settings: { url: platform.url, secret: `whsec_${'A'.repeat(43)}=` } },
    });
    const { phone } = conversation;
    const other = await sendMessage(here.account, { to: phone, ...text('three') }, {});
    const messages = await findMessages([...ids, other]);
    await recordStates([...messages.values()].map((message) => ({ message, state: 'delivered_to_user' as const })));
    const stateIn = async (one: Conversation) =>
      (await oldestEntries(one)).entries.map(({ outgoing }) => 'message' in outgoing && outgoing.message.id).sort();
    expect(await stateIn(conversation)).toEqual(ids.toSorted());
    expect(await stateIn({ direction: 'platform', account: here.account, phone })).toEqual([other]);
    const listed = await pendingConversations({ account: here.account, direction: 'platform' });
    expect(listed.map(({ reports = false, entries }) => ({ reports, entries }))).toEqual(
      expect.arrayContaining([
        { reports: true, entries: 2 },
        { reports: false, entries: 1 },
      ]),
    );
  });

  test('is reported once for each message id', async () => {
    const { here, conversation, ids } = await twoParts();
    const other = { reference: '22', to: conversation.phone, ...text('one') };
    const otherId = await sendFromPlatform(here.account, 'rapidpro', other);
    await report([...ids, otherId], 'delivered_to_user');
    await run(conversation);
    expect(reports()).toEqual(['id=21', 'id=22']);
  });

  test('is reported again if the worker crashes before it records the report', async () => {
    const { conversation, ids } = await twoParts();
    await report(ids.slice(0, 1), 'delivered_to_user');
    const send = documents.send.bind(documents);
    const spy = vi.spyOn(documents, 'send').mockImplementation((command) => {
      if (command.constructor.name === 'TransactWriteCommand') throw new Error('crashed');
      return send(command);
    });
    await expect(run(conversation)).rejects.toThrow('crashed');
    spy.mockRestore();
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(reports()).toEqual(['id=21', 'id=21']);
  });

  test('is reported for the second part if RapidPro rejected the report for the first', async () => {
    const { conversation, ids } = await twoParts();
    platform.answers = [410, 200];
    for (const id of ids) {
      await report([id], 'delivery_failed');
      expect(await run(conversation)).toEqual({ settled: 1 });
    }
    expect(reports()).toEqual(['id=21', 'id=21']);
  });

  test('is never delivered after failed, because RapidPro shows the last status that it receives', async () => {
    const { conversation, ids } = await twoParts();
    const [first = '', second = ''] = ids;
    await report([first], 'delivery_failed');
    await run(conversation);
    await report([second], 'delivered_to_user');
    expect(await run(conversation)).toEqual({ settled: 1 });
    // The furthest status of all parts, again: the second part may have overwritten what RapidPro shows.
    expect(platform.calls.map(({ path, body }) => [path, body])).toEqual([
      ['/failed', 'id=21'],
      ['/failed', 'id=21'],
    ]);
  });

  test('that need not be reported does not close an open circuit', async () => {
    const { here, conversation, ids } = await twoParts();
    const [first = '', second = ''] = ids;
    later(1);
    await report([first], 'delivered_to_user');
    await run(conversation);
    // Attempts in other conversations fail, and the circuit opens.
    platform.answers = [500];
    for (let times = 0; times < 3; times += 1) await run(await written(here));
    const calls = platform.calls.length;
    await report([second], 'delivered_to_user');
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await run(await written(here))).toEqual({ settled: 0, retry_scheduled: 'circuit_open' });
    expect(platform.calls).toHaveLength(calls);
  });
});
