/**
 * The pauses that RapidPro needs, so that it loses no status, and treats no user's text as a repeat.
 *
 * @module-tag long
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { RapidPro } from '../../../../infra/local/simulators/rapidpro/rapidpro.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import type { State } from '../../../../shared/outbox/message.ts';
import { documents } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { logState, reportState } from '../../support/states.ts';
import { newBusiness } from '../../support/world.ts';

/** Milliseconds of a minute: the simulator writes statuses every 125 ms, and remembers a text for up to 1 s. */
const MINUTE = 15_000;

/** Milliseconds between the statuses of a message. */
const STATUS_PAUSE = MINUTE / 60;

let rapidpro: RapidPro;
let bridge: DestinationServer;

captureLog();
useOwnTable('rapidpro-pauses');

beforeAll(() => void vi.stubEnv('MINUTE', String(MINUTE)));

beforeEach(async () => {
  rapidpro = await RapidPro.start({ port: 0, minute: MINUTE });
  bridge = await DestinationServer.start();
  rapidpro.connect({ bridgeUrl: bridge.url });
});

afterAll(() => void vi.unstubAllEnvs());

/** A new account on a channel of RapidPro whose messages the service accepts, with a user and a bot. */
const open = async () => {
  const channel = newId();
  rapidpro.addChannel(channel, { token: 't', max_length: 60 });
  const settings = { url: `${rapidpro.url}/c/ex/${channel}/receive` };
  const { account, bot, phone } = await newBusiness({ name: 'rapidpro', settings });
  const ids: string[] = [];
  bridge.answers = [
    async (response) => {
      const form = new URLSearchParams(bridge.calls.at(-1)?.body);
      const [reference = '', to = '', body = ''] = ['id', 'to_no_plus', 'text'].map((name) => form.get(name) ?? '');
      ids.push(await sendFromPlatform(account, 'rapidpro', { reference, to, type: 'text', text: { body } }));
      response.writeHead(200).end();
    },
  ];
  const address = `${rapidpro.url}/channels/${channel}`;
  const read = async <Item>(list: string) => (await (await fetch(`${address}/${list}`)).json()) as Item[];
  const conversation: Conversation = { direction: 'platform', account, phone };
  const reports: Conversation = { ...conversation, reports: true };
  return {
    ids,
    conversation,
    reports,
    /** Makes RapidPro send a message, and logs states of each part as soon as the service has accepted it. */
    sends: async (text: string, ...states: State[]): Promise<void> => {
      const sending = fetch(`${address}/send`, { method: 'POST', body: JSON.stringify({ to: phone, text }) });
      await expect.poll(() => ids.length, { interval: 5 }).toBeGreaterThan(0);
      for (const state of states) for (const id of ids) await logState(id, state);
      await sending;
    },
    write: (text: string) => receiveMessage(newId(), { from: phone, to: bot, type: 'text', text: { body: text } }),
    statusesInRapidpro: async () => (await read<{ status: string }>('sent')).map(({ status }) => status),
    calls: async () =>
      (await read<{ address: string; duplicate: boolean }>('calls')).map(({ address: called, duplicate }) =>
        duplicate ? `${called} (duplicate)` : called,
      ),
  };
};

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

/** Stops the clock, so that pauses do not become shorter on a busy machine. Returns the time. */
const stopTheClock = (): number => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  return Date.now();
};

/** Calls back before each pause, with its end in milliseconds since 1970. */
const onPause = (watcher: (end: number) => unknown): void => {
  const { setTimeout: pause } = timers;
  vi.spyOn(timers, 'setTimeout').mockImplementation(async (milliseconds = 0) => {
    await watcher(Date.now() + milliseconds);
    return pause(milliseconds) as never;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
};

describe('a status of RapidPro', () => {
  test('of a message that failed at once is not lost, because it is sent a second after the acceptance', async () => {
    const start = stopTheClock();
    const { sends, reports, statusesInRapidpro } = await open();
    await sends('Hi', 'delivery_failed');
    const ends: number[] = [];
    onPause((end) => ends.push(end));
    expect(await run(reports)).toEqual({ settled: 1 });
    expect(ends[0]).toBeGreaterThanOrEqual(start + STATUS_PAUSE);
    await expect.poll(statusesInRapidpro).toEqual(['failed']);
  });

  test('that waits delays no message of a user', async () => {
    const { sends, conversation, reports, write, calls } = await open();
    await sends('Hi', 'delivered_to_user');
    await write('Hello');
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await calls()).toEqual(['receive']);
    expect(await run(reports)).toEqual({ settled: 1 });
    expect(await calls()).toEqual(['receive', 'delivered']);
  });

  test('that follows another one is not lost, because it is sent a second later', async () => {
    const { sends, ids, reports, statusesInRapidpro, calls } = await open();
    await sends('Hi', 'delivered_to_user');
    await run(reports);
    await Promise.all(ids.map((id) => reportState(id, 'delivery_failed')));
    await run(reports);
    await expect.poll(statusesInRapidpro).toEqual(['failed']);
    expect(await calls()).toEqual(['delivered', 'failed']);
  });

  test.each<[State[], string[]]>([
    [['delivered_to_server', 'delivered_to_user'], ['delivered']],
    [['delivered_to_server', 'delivery_failed'], ['failed']],
    [['delivered_to_user', 'delivery_failed'], ['failed']],
    [['delivery_failed', 'delivered_to_user'], ['failed']],
    [['delivered_to_user', 'delivered_to_server'], ['delivered']],
    [['delivered_to_server', 'delivered_to_user', 'delivery_failed'], ['failed']],
  ])('is sent once for all pending states %j, as %j', async (states, expected) => {
    const { sends, reports, statusesInRapidpro, calls } = await open();
    await sends('Hi', ...states);
    expect(await run(reports)).toEqual({ settled: states.length });
    expect(await calls()).toEqual(expected);
    await expect.poll(statusesInRapidpro).toEqual(expected);
  });

  test('is sent again for a part that was accepted later, because RapidPro has overwritten the status', async () => {
    const { reports, calls } = await open();
    const { account, phone: to } = reports;
    for (const body of ['one', 'two']) {
      const part = { reference: '21', to, type: 'text' as const, text: { body } };
      await reportState(await sendFromPlatform(account, 'rapidpro', part), 'delivered_to_user');
      await run(reports);
    }
    expect(await calls()).toEqual(['delivered', 'delivered']);
  });

  test('that is accepted during the pause before another one replaces it', async () => {
    stopTheClock();
    const { sends, ids, reports, calls } = await open();
    await sends('Hi', 'delivered_to_server');
    const replaced = Promise.withResolvers<void>();
    onPause(async () => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
      await Promise.all(ids.map((id) => reportState(id, 'delivered_to_user')));
      replaced.resolve();
    });
    await run(reports);
    await replaced.promise;
    await run(reports);
    expect(await calls()).toEqual(['delivered']);
  });

  test('is sent without a pause if its message was accepted over a second ago: 40 statuses need no pause', async () => {
    const { reports, calls } = await open();
    const { account, phone } = reports;
    const count = 40;
    for (let index = 0; index < count; index += 1) {
      const part = { reference: `${index}`, to: phone, type: 'text' as const, text: { body: 'Hi' } };
      await reportState(await sendFromPlatform(account, 'rapidpro', part), 'delivered_to_user');
    }
    const last = Date.now();
    await expect.poll(() => Date.now() - last).toBeGreaterThan(STATUS_PAUSE);
    const calling = vi.spyOn(documents, 'send');
    expect(await run(reports)).toEqual({ settled: count });
    // A page has ten entries. After each pause, the worker would read the page again.
    const pages = calling.mock.calls.filter(
      ([command]) => command.constructor.name === 'QueryCommand' && JSON.stringify(command.input).includes('ENTRY#'),
    );
    expect(pages).toHaveLength(count / 10 + 1);
    calling.mockRestore();
    expect(await calls()).toHaveLength(count);
  });
});

describe('equal texts of a user', () => {
  test('that are pending together both arrive, with the text between them', async () => {
    const { conversation, write, calls } = await open();
    for (const text of ['one', 'two', 'one']) await write(text);
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(await calls()).toEqual(['receive', 'receive', 'receive']);
  });

  test('both arrive if another worker delivered the first', async () => {
    const { conversation, write, calls } = await open();
    await write('one');
    expect(await run(conversation)).toEqual({ settled: 1 });
    await write('one');
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await calls()).toEqual(['receive', 'receive']);
  });

  test('occupy a worker for at most 8 s of pauses, then it leaves the rest to the next one', async () => {
    const { conversation, write } = await open();
    for (let times = 0; times < 5; times += 1) await write('one');
    const { settled, unfinished } = await run(conversation);
    expect(unfinished).toBe(true);
    expect(settled).toBeLessThanOrEqual(3);
  });

  test('do not delay a worker beyond its remaining time', async () => {
    const { conversation, write } = await open();
    for (const text of ['one', 'one']) await write(text);
    expect(await deliver(conversation, () => 12_500)).toEqual({ settled: 1, unfinished: true });
    expect(await run(conversation)).toEqual({ settled: 1 });
  });
});
