/**
 * Delivery of one conversation at a time, with a fake clock: order, retry schedule, circuit, permanent failures.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { resetCircuit } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import { sortableTime, timestamp } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { settle } from '../../../../shared/delivery/apply-result.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { APP_NETWORK_DESTINATION } from '../../../../shared/destinations/destination.ts';
import { ScheduledWork } from '../../../../shared/due-work/scheduled-work.ts';
import { statusReceiptKey } from '../../../../shared/messaging/entities.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation, Entry } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { lifetimeFrom, logItem, type Message, type State } from '../../../../shared/outbox/message.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents, putIfAbsent, remove } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer, drop, hang } from '../../support/destination-server.ts';
import { useOwnTable, useSecret } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newAccount, newAccountId, newPhone } from '../../support/world.ts';

/** Milliseconds of a minute of the schedule. Pauses of seconds are real: 1.5 s take 100 ms. */
const MINUTE = 4_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

let app: DestinationServer;
let platform: DestinationServer;
let secret = '';
const written = captureLog();

useOwnTable('delivery');
useSecret(() => secret);

beforeAll(async () => {
  app = await DestinationServer.start();
  platform = await DestinationServer.start();
  secret = JSON.stringify({ url: app.url, secret: SECRET });
  vi.stubEnv('MINUTE', String(MINUTE));
});

afterAll(() => Promise.all([app.close(), platform.close()]));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const destination of [app, platform]) {
    destination.calls.length = 0;
    destination.answers = [204];
  }
});

afterEach(async () => {
  vi.restoreAllMocks();
  // All tests share the network's circuit.
  await resetCircuit(APP_NETWORK_DESTINATION);
  vi.useRealTimers();
});

const plenty = () => 60_000;

const run = (conversation: Conversation, remaining = plenty) => deliver(conversation, remaining);

/** Advances the clock, in minutes of the schedule. */
const later = async (minutes: number): Promise<void> => {
  vi.setSystemTime(Date.now() + minutes * MINUTE);
};

/** Minutes of the first step of the retry schedule. */
const FIRST_STEP = (RETRY_STEPS_MS[0] ?? 0) / 60_000;

const text = (to: string, body: string) => ({ to, type: 'text' as const, text: { body } });

const newConversation = async (direction: Conversation['direction'] = 'app'): Promise<Conversation> => {
  const account = await newAccount();
  return { direction, account, phone: newPhone() };
};

/** A new conversation with these texts pending. */
const pending = async (...bodies: string[]) => {
  const conversation = await newConversation();
  const ids: string[] = [];
  for (const body of bodies) ids.push(await sendMessage(conversation.account, text(conversation.phone, body), {}));
  return { conversation, ids };
};

const bodies = (destination = app): string[] => destination.calls.map(({ json }) => json.data.text.body);

const statesOf = async ({ account, phone }: Conversation): Promise<string[]> =>
  (await listLogs(account, { phone }, 100)).entries.map(({ state }) => state).reverse();

/** Minutes until the conversation's next attempt. */
const minutesToRetry = async (conversation: Conversation): Promise<number> => {
  const head = await readHead(conversation);
  return (Date.parse(head?.retryAt ?? '') - Date.now()) / MINUTE;
};

const isEmpty = async (conversation: Conversation): Promise<boolean> =>
  (await readHead(conversation)) === undefined && (await oldestEntries(conversation)).entries.length === 0;

describe('the app network', () => {
  test('receives pending messages oldest first, as its contract defines, and the outbox is empty then', async () => {
    const { conversation, ids } = await pending('one', 'two', 'three');
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(bodies()).toEqual(['one', 'two', 'three']);
    expect(new Set(app.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
    const [first] = app.calls;
    expect(first?.json).toEqual({
      type: 'message.send',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      data: {
        id: ids[0],
        from: expect.stringMatching(/^\d+$/),
        to: conversation.phone,
        type: 'text',
        text: { body: 'one' },
      },
    });
    expect(await statesOf(conversation)).toEqual([
      ...['sent', 'sent', 'sent'],
      ...['delivered_to_server', 'delivered_to_server', 'delivered_to_server'],
    ]);
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('receives a message of an account without a bot, without a sender', async () => {
    const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
    const conversation: Conversation = { direction: 'app', account, phone: newPhone() };
    await sendMessage(account, text(conversation.phone, 'Hello'), {});
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(app.calls[0]?.json.data).not.toHaveProperty('from');
  });

  test('receives 23 pending messages, and one that is accepted during the delivery, in one run', async () => {
    const { conversation } = await pending(...Array.from({ length: 23 }, (_, index) => `${index}`));
    app.answers = [
      (response) => {
        void sendMessage(conversation.account, text(conversation.phone, 'late'), {}).then(() =>
          response.writeHead(204).end(),
        );
      },
      204,
    ];
    expect(await run(conversation)).toEqual({ settled: 24 });
    expect(bodies()).toEqual([...Array.from({ length: 23 }, (_, index) => `${index}`), 'late']);
    expect(await isEmpty(conversation)).toBe(true);
  });
});

test('a message accepted between the last read of the outbox and the end of its conversation is delivered', async () => {
  const { conversation } = await pending('one');
  const send = documents.send.bind(documents);
  let late: Promise<string> | undefined;
  vi.spyOn(documents, 'send').mockImplementation(async (command) => {
    if (command.constructor.name === 'DeleteCommand') {
      late ??= sendMessage(conversation.account, text(conversation.phone, 'two'), {});
      await late;
    }
    return send(command);
  });
  expect(await run(conversation)).toEqual({ settled: 2 });
  expect(bodies()).toEqual(['one', 'two']);
  expect(await isEmpty(conversation)).toBe(true);
});

describe("a pending message, if its account's bot number changes,", () => {
  const withNumber = async () => {
    const { conversation, ids } = await pending('one', 'two');
    const { bot_number: number = '' } = (await findAccount(conversation.account)) ?? {};
    return { conversation, ids, number };
  };

  const senders = () => app.calls.map(({ json }) => json.data.from);

  test('is delivered from the new number', async () => {
    const { conversation } = await withNumber();
    const bot_number = newPhone();
    await updateAccount(conversation.account, { bot_number });
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(senders()).toEqual([bot_number, bot_number]);
  });

  test('fails without an attempt if another account has the old number now', async () => {
    const { conversation, ids, number } = await withNumber();
    await updateAccount(conversation.account, { bot_number: null });
    await createAccount({ name: 'Next', id: newAccountId(), bot_number: number });
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(app.calls).toEqual([]);
    for (const id of ids) {
      expect((await messageHistory(id))?.states).toMatchObject([
        { state: 'sent' },
        { state: 'sending_failed', reason: 'bot_number_released' },
      ]);
    }
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('fails without a second attempt if the number is removed during the first', async () => {
    const { conversation } = await withNumber();
    app.answers = [
      (response) =>
        void updateAccount(conversation.account, { bot_number: null }).then(() => response.writeHead(503).end()),
      204,
    ];
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(app.calls).toHaveLength(1);
    expect(await statesOf(conversation)).toEqual(['sent', 'sent', 'sending_failed', 'sending_failed']);
  });

  test('is delivered from a number that its account received after the message was accepted', async () => {
    const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
    const conversation: Conversation = { direction: 'app', account, phone: newPhone() };
    await sendMessage(account, text(conversation.phone, 'Hello'), {});
    const bot_number = newPhone();
    await updateAccount(account, { bot_number });
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(senders()).toEqual([bot_number]);
  });
});

describe('a message that the app network rejects', () => {
  test('is sending_failed at once, and the next message is delivered', async () => {
    const { conversation } = await pending('one', 'two');
    app.answers = [422, 204];
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(bodies()).toEqual(['one', 'two']);
    expect(await statesOf(conversation)).toEqual(['sent', 'sent', 'sending_failed', 'delivered_to_server']);
  });
});

describe('a message that the app network does not accept now', () => {
  test.each([
    ['503', 503],
    ['a dropped connection', drop],
    ['no response within 10 s', hang],
  ])('is attempted again with the same id after %s', async (_, answer) => {
    const { conversation } = await pending('one');
    app.answers = [answer, 204];
    expect(await run(conversation)).toEqual({ settled: 1 });
    const ids = app.calls.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([ids[0], ids[0]]);
  });

  test.each([
    [0, 1.5],
    [1, 0.5],
    [1.4, 0.25],
    [10, 0.25],
  ])('whose attempt took %d s is retried %d s later: RapidPro detects repeats for 2 s', async (took, min) => {
    const pauses: number[] = [];
    vi.spyOn(timers, 'setTimeout').mockImplementation(async (milliseconds) => void pauses.push(milliseconds ?? 0));
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    const { conversation } = await pending('one');
    app.answers = [
      (response) => {
        vi.setSystemTime(Date.now() + (took / 60) * MINUTE);
        response.writeHead(503).end();
      },
      204,
    ];
    expect(await run(conversation)).toEqual({ settled: 1 });
    // The fake clock has whole milliseconds.
    expect(Math.round(((pauses.at(-1) ?? 0) * 60) / MINUTE / 0.05) * 0.05).toBeCloseTo(min, 5);
  });

  test('delays its conversation until the retry, and no later message overtakes it', async () => {
    const { conversation } = await pending('one', 'two');
    app.answers = [500];
    expect(await run(conversation)).toEqual({ settled: 0, retry_scheduled: 'status_500' });
    await sendMessage(conversation.account, text(conversation.phone, 'three'), {});
    app.answers = [204];
    expect(await run(conversation)).toEqual({ settled: 0 });
    expect(bodies()).toEqual(['one', 'one']);
    await later(1.3 * FIRST_STEP);
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(bodies()).toEqual(['one', 'one', 'one', 'two', 'three']);
  });

  test('waits as long as Retry-After asks, if that is less than twice the step', async () => {
    const { conversation } = await pending('one');
    const seconds = String((1.5 * FIRST_STEP * MINUTE) / 1_000);
    app.answers = [{ status: 503, headers: { 'retry-after': seconds } }];
    await run(conversation);
    expect(app.calls).toHaveLength(1);
    const minutes = await minutesToRetry(conversation);
    expect(minutes).toBeGreaterThan(1.2 * FIRST_STEP - 0.2);
    expect(minutes).toBeLessThanOrEqual(1.5 * FIRST_STEP);
  });

  test('survives an outage of a day: all messages arrive, in order', async () => {
    const { conversation } = await pending('one', 'two');
    app.answers = [500];
    const end = Date.now() + 24 * 60 * MINUTE;
    while (Date.now() < end) {
      await run(conversation);
      await sendMessage(conversation.account, text(conversation.phone, 'more'), {});
      await later((await minutesToRetry(conversation)) + 0.01);
    }
    app.calls.length = 0;
    app.answers = [204];
    await run(conversation);
    expect(bodies().slice(0, 3)).toEqual(['one', 'two', 'more']);
    expect(new Set(await statesOf(conversation))).toEqual(new Set(['sent', 'delivered_to_server']));
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('fails permanently after three days, with all messages as old; newer messages are attempted', async () => {
    const { conversation } = await pending('one', 'two');
    app.answers = [500];
    await run(conversation);
    await later(3 * 24 * 60 - 1);
    await sendMessage(conversation.account, text(conversation.phone, 'new'), {});
    await later(2);
    expect(await run(conversation)).toEqual({ settled: 2, retry_scheduled: 'status_500' });
    expect(await statesOf(conversation)).toEqual(['sent', 'sent', 'sent', 'sending_failed', 'sending_failed']);
    expect((await oldestEntries(conversation)).entries.map(({ outgoing }) => outgoing)).toMatchObject([
      { content: { text: { body: 'new' } } },
    ]);
  });
});

describe("the circuit of an account's messages to users", () => {
  let account = '';

  beforeEach(async () => {
    ({ account } = await newConversation());
  });

  /** Delivers a message to another user of the account. */
  const failing = async () => {
    const conversation: Conversation = { direction: 'app', account, phone: newPhone() };
    await sendMessage(account, text(conversation.phone, 'one'), {});
    return { conversation, result: await run(conversation) };
  };

  test('opens after failures for three users in a row; then conversations wait without a call', async () => {
    app.answers = [500];
    for (let count = 0; count < 3; count += 1) expect((await failing()).result.retry_scheduled).toBe('status_500');
    const calls = app.calls.length;
    const { conversation, result } = await failing();
    expect(result.retry_scheduled).toBe('circuit_open');
    expect(app.calls).toHaveLength(calls);
    expect(await minutesToRetry(conversation)).toBeLessThanOrEqual(1.21);
    expect((await readHead(conversation))?.attempts).toBe(0);
  });

  test('lets one of two conversations probe after a minute, and closes if the probe succeeds', async () => {
    app.answers = [500];
    for (let count = 0; count < 3; count += 1) await failing();
    const first = await failing();
    const second = await failing();
    await later(1.3 * FIRST_STEP);
    app.calls.length = 0;
    const probe = Promise.withResolvers<ServerResponse>();
    app.answers = [probe.resolve, 204];
    const runs = [run(first.conversation), run(second.conversation)];
    // The other conversation ends while the probe is under way.
    expect(await Promise.race(runs)).toMatchObject({ settled: 0 });
    (await probe.promise).writeHead(204).end();
    const results = await Promise.all(runs);
    expect(results.map(({ settled }) => settled).sort()).toEqual([0, 1]);
    expect(app.calls).toHaveLength(1);
    expect((await failing()).result).toEqual({ settled: 1 });
  });
});

describe('a worker', () => {
  const removeEntry = ({ pk, sk }: Entry) => remove({ pk, sk });

  test('that has no time for the first entry is stalled, and sweep finds the conversation', async () => {
    const { conversation } = await pending('one');
    expect(await run(conversation, () => 11_999)).toEqual({ settled: 0, unfinished: true, stalled: true });
    expect(bodies()).toEqual([]);
    const partitions: Key[] = [];
    for await (const due of new ScheduledWork('conversations', sortableTime(Date.now() + MINUTE)).due())
      partitions.push(...due);
    const { pk, sk } = headKey(conversationName(conversation));
    expect(partitions).toContainEqual(expect.objectContaining({ pk, sk }));
    expect(await run(conversation)).toEqual({ settled: 1 });
  });

  test('is not stalled if another worker removed an entry', async () => {
    const { conversation } = await pending('one', 'two');
    const [first] = (await oldestEntries(conversation)).entries;
    if (first === undefined) throw new Error('There is no entry.');
    let left = 60_000;
    const send = documents.send.bind(documents);
    const spy = vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      // The check before the attempt.
      if (command.constructor.name === 'BatchGetCommand' && JSON.stringify(command.input).includes(first.sk)) {
        spy.mockRestore();
        left = 0;
        await removeEntry(first);
      }
      return send(command);
    });
    expect(await run(conversation, () => left)).toEqual({ settled: 0, unfinished: true });
    expect(bodies()).toEqual([]);
    expect(await run(conversation)).toEqual({ settled: 1 });
  });

  test('delivers an entry by the settings at the time of its acceptance or later ones', async () => {
    const conversation = await withWebhook();
    const later = { name: 'webhook' as const, settings: { url: `${platform.url}/later`, secret: SECRET } };
    await received(conversation, 'one');
    const changeSettings = async (response: ServerResponse): Promise<void> => {
      await updateAccount(conversation.account, { platform: later });
      await received(conversation, 'two');
      response.writeHead(204).end();
    };
    platform.answers = [(response) => void changeSettings(response), 204];
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(platform.calls.map(({ path, json }) => [path, json.message.text.body])).toEqual([
      ['/hook', 'one'],
      ['/hook/later', 'two'],
    ]);
  });

  test.each([
    ['the log entry', 'PutCommand'],
    ['the removal of its entry', 'DeleteCommand'],
  ])('that ends between an attempt and %s repeats only that attempt, with the same id', async (_, before) => {
    const { conversation } = await pending('one', 'two');
    const send = documents.send.bind(documents);
    const spy = vi.spyOn(documents, 'send').mockImplementation((command) => {
      if (command.constructor.name === before) throw new Error('crashed');
      return send(command);
    });
    await expect(run(conversation)).rejects.toThrow('crashed');
    spy.mockRestore();
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(bodies()).toEqual(['one', 'one', 'two']);
    const [first, again] = app.calls.map(({ headers }) => headers['webhook-id']);
    expect(again).toBe(first);
    expect(await statesOf(conversation)).toEqual(['sent', 'sent', 'delivered_to_server', 'delivered_to_server']);
  });

  test('that ends after it logged a delivery leaves that state, even if the repeat is rejected', async () => {
    const { conversation } = await pending('one');
    const send = documents.send.bind(documents);
    const spy = vi.spyOn(documents, 'send').mockImplementation((command) => {
      if (command.constructor.name === 'DeleteCommand') throw new Error('crashed');
      return send(command);
    });
    await expect(run(conversation)).rejects.toThrow('crashed');
    spy.mockRestore();
    app.answers = [400];
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(bodies()).toEqual(['one', 'one']);
    expect(await statesOf(conversation)).toEqual(['sent', 'delivered_to_server']);
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('logs no state of an entry that was removed during its attempt: the remover logs the state', async () => {
    const { conversation } = await pending('one', 'two');
    const [first] = (await oldestEntries(conversation)).entries;
    if (first === undefined) throw new Error('There is no entry.');
    const failed = { status: 'withheld', cause: 'cancelled' } as const;
    app.answers = [(response) => void settle(first, failed, []).then(() => response.writeHead(204).end()), 204];
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(bodies()).toEqual(['one', 'two']);
    expect((await statesOf(conversation)).toSorted()).toEqual([
      'delivered_to_server',
      'sending_failed',
      'sent',
      'sent',
    ]);
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('does not post an entry that was removed during the attempt of the previous entry', async () => {
    const { conversation } = await pending('one', 'two', 'three');
    const [, second] = (await oldestEntries(conversation)).entries;
    if (second === undefined) throw new Error('There is no entry.');
    app.answers = [(response) => void removeEntry(second).then(() => response.writeHead(204).end()), 204];
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(bodies()).toEqual(['one', 'three']);
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('removes an entry whose state is logged already, and does not report that state again', async () => {
    const conversation = await withWebhook();
    const { account, phone } = conversation;
    const id = await sendMessage(account, text(phone, 'Hello'), {});
    const message: Message = {
      id,
      account,
      phone,
      job_id: newId(),
      payload_type: 'text',
      ...lifetimeFrom(timestamp()),
    };
    await putIfAbsent(logItem(message, 'delivered_to_server', timestamp()));
    const toUser: Conversation = { ...conversation, direction: 'app' };
    expect(await run(toUser)).toEqual({ settled: 1 });
    expect(await isEmpty(toUser)).toBe(true);
    expect(await isEmpty(conversation)).toBe(true);
    expect(await statesOf(conversation)).toEqual(['sent', 'delivered_to_server']);
  });

  test('removes an entry whose status receipt was written during the attempt', async () => {
    const conversation = { ...(await newConversation('platform')), reports: true } as const;
    const { account, phone } = conversation;
    await updateAccount(account, { platform: { name: 'rapidpro', settings: { url: platform.url } } });
    const part = { reference: '21', to: phone, type: 'text' as const, text: { body: 'Hello' } };
    await reportState(await sendFromPlatform(account, 'rapidpro', part), 'delivered_to_user');
    const receipt = {
      ...statusReceiptKey(account, '21', 0, 'delivered'),
      expires_at: Math.ceil(Date.now() / 1_000) + 60,
    };
    platform.answers = [(response) => void putIfAbsent(receipt).then(() => response.writeHead(200).end())];
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('does nothing in an empty conversation', async () => {
    expect(await run(await newConversation())).toEqual({ settled: 0 });
  });

  test('logs failures with account and message id, without phone number or text', async () => {
    const { conversation, ids } = await pending('a secret text');
    app.answers = [500];
    await run(conversation);
    await later(3 * 24 * 60);
    await run(conversation);
    const lines = written.map((line) => JSON.parse(line)).filter(({ message }) => message !== 'accepted');
    expect(lines).toMatchObject([
      {
        message: 'retry scheduled',
        account: conversation.account,
        message_id: ids[0],
        cause: 'status_500',
        attempts: 1,
      },
      { message: 'permanently failed', account: conversation.account, message_id: ids[0], cause: 'status_500' },
    ]);
    expect(written.join()).not.toMatch(new RegExp(`a secret text|${conversation.phone}`));
  });
});

/** An account whose platform is a plain webhook. */
const withWebhook = async (): Promise<Conversation> => {
  const conversation = await newConversation('platform');
  await updateAccount(conversation.account, {
    platform: { name: 'webhook', settings: { url: platform.url, secret: SECRET } },
  });
  return conversation;
};

let events = 0;

/** The conversation's user writes to the bot. */
const received = async ({ account, phone }: Conversation, body = 'Hello'): Promise<void> => {
  events += 1;
  const { bot_number: to = '' } = (await findAccount(account)) ?? {};
  await receiveMessage(`event-${events}-${phone}`, { from: phone, to, type: 'text', text: { body } });
};

describe('a plain webhook', () => {
  test("receives users' messages in order, signed with the account's secret", async () => {
    const conversation = await withWebhook();
    await received(conversation, 'one');
    await received(conversation, 'two');
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(platform.calls.map(({ json }) => json)).toEqual(
      ['one', 'two'].map((body) => ({ message: { type: 'text', from: conversation.phone, text: { body } } })),
    );
    for (const { headers, body } of platform.calls) new Webhook(SECRET).verify(body, headers as Record<string, string>);
    expect(await statesOf(conversation)).toEqual(['received', 'received']);
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('gets signatures by the present secret and by a replaced one', async () => {
    const conversation = await withWebhook();
    const replaced = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
    const settings = { url: platform.url, secret: SECRET };
    const previous_secrets = [{ secret: replaced, until: Date.now() + 60_000 }];
    await updateAccount(conversation.account, { platform: { name: 'webhook', settings, previous_secrets } });
    await received(conversation);
    expect(await run(conversation)).toEqual({ settled: 1 });
    const [{ body, headers } = { body: '', headers: {} }] = platform.calls;
    for (const secret of [SECRET, replaced]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toHaveProperty('message');
    }
  });

  test('is notified of each state after sent once, in the order of the log', async () => {
    const conversation = await withWebhook();
    const { account, phone } = conversation;
    const id = await sendMessage(account, text(phone, 'Hello'), {});
    await run({ ...conversation, direction: 'app' });
    for (const state of ['delivered_to_user', 'read', 'delivered_to_user'] satisfies State[])
      await reportState(id, state);
    await run(conversation);
    const logged = (await listLogs(account, { phone }, 10)).entries.reverse();
    expect(platform.calls.map(({ json }) => json.status)).toEqual(
      logged.slice(1).map(({ state, contact, job_id, created }) => ({ id, state, contact, job_id, created })),
    );
    expect(logged.map(({ state }) => state)).toEqual(['sent', 'delivered_to_server', 'delivered_to_user', 'read']);
  });

  test('that refuses a status for an hour causes no log entry', async () => {
    const conversation = await withWebhook();
    await sendMessage(conversation.account, text(conversation.phone, 'Hello'), {});
    await run({ ...conversation, direction: 'app' });
    platform.answers = [422];
    expect(await run(conversation)).toMatchObject({ settled: 0, retry_scheduled: 'status_422' });
    await later(59);
    expect(await run(conversation)).toMatchObject({ settled: 0, retry_scheduled: 'status_422' });
    await later(1);
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await statesOf(conversation)).toEqual(['sent', 'delivered_to_server']);
    expect(await isEmpty(conversation)).toBe(true);
  });
});
