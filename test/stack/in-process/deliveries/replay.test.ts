/**
 * Replays, one conversation at a time: ids, order, repeats, and what happens between.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { recordFailure } from '../../../../shared/delivery/circuit-breaker.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';

import { listDeliveries } from '../../../../shared/delivery/history/deliveries.ts';
import { type Recovered, recoverDeliveries } from '../../../../shared/delivery/history/recover.ts';
import { replayDelivery } from '../../../../shared/delivery/history/replay.ts';
import { RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { destinationNameOf } from '../../../../shared/destinations/destination.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation, Entry } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents, putAll } from '../../../../shared/table/client.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { consumedBy } from '../../support/consumed.ts';
import { type Answer, DestinationServer } from '../../support/destination-server.ts';
import { failedAttempt } from '../../support/failed-attempt.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

const MINUTE = 4_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

let webhook: DestinationServer;

captureLog();
useOwnTable('replay');

beforeAll(async () => {
  webhook = await DestinationServer.start();
  vi.stubEnv('MINUTE', String(MINUTE));
});

afterAll(() => webhook.close());

beforeEach(() => {
  webhook.calls.length = 0;
  webhook.answers = [200];
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const later = (milliseconds: number) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds });
};

/** A response after a moment of the clock, which tests stop: attempts begin at different times. */
const slowly =
  (status: number): Answer =>
  (response) => {
    later(5);
    response.writeHead(status).end();
  };

const onWebhook = () => newBusiness({ name: 'webhook', settings: { url: webhook.url, secret: SECRET } });

type Business = Awaited<ReturnType<typeof newBusiness>>;

/** A user writes texts to the bot. Returns their conversation. */
const write = async ({ account, bot }: Business, texts: string[], phone = newPhone()): Promise<Conversation> => {
  for (const body of texts) await receiveMessage(newId(), { from: phone, to: bot, type: 'text', text: { body } });
  return { direction: 'platform', account, phone };
};

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

/** Runs until the webhook has refused each pending event for an hour. */
const untilFailed = async (conversation: Conversation): Promise<void> => {
  webhook.answers = [400];
  while ((await readHead(conversation)) !== undefined) {
    await run(conversation);
    later(60 * MINUTE);
  }
};

/** A user writes texts that the webhook rejects. */
const rejected = async (here: Business, texts: string[], phone?: string): Promise<Conversation> => {
  const conversation = await write(here, texts, phone);
  await untilFailed(conversation);
  webhook.answers = [200];
  webhook.calls.length = 0;
  return conversation;
};

const historyOf = async (account: string) => (await listDeliveries(account, {}, 500)).deliveries;
const newestOf = async (account: string): Promise<string> => (await historyOf(account))[0]?.id ?? '';

const textsReceived = (): string[] => webhook.calls.map(({ json }) => json.message.text.body);

const pendingOf = async (conversation: Conversation): Promise<Entry[]> => (await oldestEntries(conversation)).entries;

/** Recovers call after call, as a client does. */
const recoverAll = async (account: string, since: number, until?: number): Promise<Recovered> => {
  const total = { queued: 0, pending: 0 };
  let after: string | undefined;
  do {
    const { recovered, next } = await recoverDeliveries(account, { since, until }, after);
    total.queued += recovered.queued;
    total.pending += recovered.pending;
    after = next;
  } while (after !== undefined);
  return total;
};

const SINCE = Date.now() - 60_000;

describe('a replay', () => {
  test('sends the same bytes with the same webhook-id, a new timestamp and a valid signature', async () => {
    const here = await onWebhook();
    const conversation = await write(here, ['Hi']);
    await run(conversation);
    const id = await newestOf(here.account);
    later(90_000);
    const event_id = id.slice(0, 36);
    expect(await replayDelivery(here.account, id)).toEqual({ event_id, status: 'queued' });
    await run(conversation);
    const [first, second] = webhook.calls;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(event_id);
    expect(first?.headers['webhook-id']).toBe(event_id);
    expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(
      Number(first?.headers['webhook-timestamp']) + 80,
    );
    expect(() =>
      new Webhook(SECRET).verify(second?.body ?? '', second?.headers as Record<string, string>),
    ).not.toThrow();
    expect(await historyOf(here.account)).toMatchObject([
      { event_id, attempt: 1, status: 'succeeded' },
      { event_id, attempt: 1, status: 'succeeded' },
    ]);
  });

  test('is delivered after the pending events of its user', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['first']);
    const id = await newestOf(here.account);
    await write(here, ['second'], conversation.phone);
    await replayDelivery(here.account, id);
    await write(here, ['third'], conversation.phone);
    await run(conversation);
    expect(textsReceived()).toEqual(['second', 'first', 'third']);
  });

  test('is retried like other events, and its attempts are counted anew', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    await replayDelivery(here.account, await newestOf(here.account));
    webhook.answers = [slowly(503)];
    expect(await run(conversation)).toMatchObject({ retry_scheduled: 'status_503' });
    webhook.answers = [200];
    later(2 * MINUTE * ((RETRY_STEPS_MS[0] ?? 0) / 60_000));
    expect(await run(conversation)).toEqual({ settled: 1 });
    const attempts = (await historyOf(here.account)).map(({ attempt, status_code }) => [attempt, status_code]);
    expect(attempts).toEqual([
      [3, 200],
      [2, 503],
      [1, 503],
      [2, 400],
      [1, 400],
    ]);
  });

  test('while the circuit is open waits for its end', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    for (let failure = 0; failure < 3; failure += 1) await recordFailure(destinationNameOf(conversation), 'closed');
    expect(await replayDelivery(here.account, await newestOf(here.account))).toMatchObject({ status: 'queued' });
    expect(await run(conversation)).toMatchObject({ retry_scheduled: 'circuit_open' });
    expect(webhook.calls).toEqual([]);
    later(3 * MINUTE);
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(textsReceived()).toEqual(['Hi']);
  });

  test('changes neither the log nor the state of the message', async () => {
    const here = await onWebhook();
    const conversation = await write(here, ['Hi']);
    await run(conversation);
    const { entries } = await listLogs(here.account, {}, 100);
    await replayDelivery(here.account, await newestOf(here.account));
    await untilFailed(conversation);
    expect((await listLogs(here.account, {}, 100)).entries).toEqual(entries);
  });

  test('costs 4 read units, and at most 8 write units in one transaction', async () => {
    const here = await onWebhook();
    await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    const { calls, table } = await consumedBy(() => replayDelivery(here.account, id));
    expect(calls).toBe(5);
    expect(table).toBeLessThanOrEqual(4 + 8);
  });
});

describe('of two replays of an event, one adds it', () => {
  test('one after the other', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    expect(await replayDelivery(here.account, id)).toMatchObject({ status: 'queued' });
    expect(await replayDelivery(here.account, id)).toMatchObject({ status: 'pending' });
    expect(await pendingOf(conversation)).toHaveLength(1);
  });

  test('at the same time', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    const replays = await Promise.all(Array.from({ length: 4 }, () => replayDelivery(here.account, id)));
    expect(replays.filter(({ status }) => status === 'queued')).toHaveLength(1);
    expect(await pendingOf(conversation)).toHaveLength(1);
  });

  test('by different attempts of it, also while the replay is retried', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    await replayDelivery(here.account, id);
    webhook.answers = [503];
    await run(conversation);
    for (const { id: attempt } of await historyOf(here.account)) {
      expect(await replayDelivery(here.account, attempt)).toMatchObject({ status: 'pending' });
    }
    expect(await recoverAll(here.account, SINCE)).toMatchObject({ queued: 0 });
    expect(await pendingOf(conversation)).toHaveLength(1);
  });

  test('and a third one adds it again after the delivery', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    await replayDelivery(here.account, id);
    await run(conversation);
    expect(await replayDelivery(here.account, id)).toMatchObject({ status: 'queued' });
    await run(conversation);
    expect(textsReceived()).toEqual(['Hi', 'Hi']);
  });
});

test('a report about a message of RapidPro, which the account has left, is pending where it was, and follows there', async () => {
  const here = await onWebhook();
  const { account } = here;
  const conversation: Conversation = { direction: 'platform', account, phone: newPhone(), reports: true };
  const settings = { url: webhook.url, secret: SECRET };
  await updateAccount(account, { platform: { name: 'rapidpro', settings: { url: webhook.url } } });
  const text = { to: conversation.phone, type: 'text', text: { body: 'Hi' } } as const;
  const id = await sendFromPlatform(account, 'rapidpro', { ...text, reference: '21' });
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  await reportState(id, 'delivered_to_user');
  webhook.answers = [503];
  await run(conversation);
  const attempt = await newestOf(account);
  expect(await replayDelivery(account, attempt)).toMatchObject({ status: 'pending' });
  webhook.answers = [204];
  later(60 * MINUTE);
  await run(conversation);
  expect(await replayDelivery(account, attempt)).toMatchObject({ status: 'queued' });
  expect(await pendingOf(conversation)).toHaveLength(1);
});

test('an event that is pending since its first attempt is not added', async () => {
  const here = await onWebhook();
  const conversation = await write(here, ['Hi']);
  webhook.answers = [503];
  await run(conversation);
  expect(await replayDelivery(here.account, await newestOf(here.account))).toMatchObject({ status: 'pending' });
  expect(await pendingOf(conversation)).toHaveLength(1);
});

describe('nothing is sent', () => {
  test('after the erasure of the user', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    expect(await historyOf(here.account)).toHaveLength(2);
    expect(await eraseUser(conversation.phone)).toMatchObject({ deliveries: 2 });
    expect(await historyOf(here.account)).toEqual([]);
    await expect(replayDelivery(here.account, id)).rejects.toMatchObject({ code: 'delivery_not_found' });
    expect(await recoverAll(here.account, SINCE)).toEqual({ queued: 0, pending: 0 });
    expect(await readHead(conversation)).toBeUndefined();
  });

  test('if the user is erased while the replay is pending', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    await replayDelivery(here.account, await newestOf(here.account));
    expect(await eraseUser(conversation.phone)).toMatchObject({ deliveries: 2, waiting: 1 });
    await run(conversation);
    expect(webhook.calls).toEqual([]);
  });

  test('if the user is erased between the look and the replay', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    const send = documents.send.bind(documents);
    let isErased = false;
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      if (!isErased && command.constructor.name === 'TransactWriteCommand') {
        isErased = true;
        await eraseUser(conversation.phone);
      }
      return send(command);
    });
    await expect(replayDelivery(here.account, id)).rejects.toMatchObject({ code: 'delivery_not_found' });
    expect(isErased).toBe(true);
    expect(await readHead(conversation)).toBeUndefined();
  });

  test('of an attempt that is recorded after the erasure, which its last run removes', async () => {
    const here = await onWebhook();
    const conversation = await write(here, ['Hi']);
    webhook.answers = [
      (response) => void eraseUser(conversation.phone).then(() => response.writeHead(200).end(conversation.phone)),
    ];
    await run(conversation);
    expect(await historyOf(here.account)).toHaveLength(1);
    later(180_000);
    const { resumeErasure } = await import('../../../../shared/user-data/erasure.ts');
    expect(await resumeErasure(conversation.phone)).toMatchObject({ deliveries: 1 });
    expect(await historyOf(here.account)).toEqual([]);
  });

  test('after seven days', async () => {
    const here = await onWebhook();
    await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    later(7 * 86_400_000 + 1_000);
    await expect(replayDelivery(here.account, id)).rejects.toMatchObject({ code: 'delivery_not_found' });
    expect(await recoverAll(here.account, 0)).toEqual({ queued: 0, pending: 0 });
  });

  test('if the account has no platform any more', async () => {
    const here = await onWebhook();
    await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    await updateAccount(here.account, { platform: null });
    await expect(replayDelivery(here.account, id)).rejects.toMatchObject({ code: 'platform_not_set_up' });
    await expect(recoverAll(here.account, SINCE)).rejects.toMatchObject({ code: 'platform_not_set_up' });
  });

  test('for another account, whose replay of the id finds nothing', async () => {
    const [here, other] = [await onWebhook(), await onWebhook()];
    const conversation = await rejected(here, ['Hi']);
    const id = await newestOf(here.account);
    await expect(replayDelivery(other.account, id)).rejects.toMatchObject({ code: 'delivery_not_found' });
    expect(await recoverAll(other.account, SINCE)).toMatchObject({ queued: 0 });
    expect(await readHead(conversation)).toBeUndefined();
  });
});

describe('a recovery', () => {
  test('sends events of a user in their order, after the pending ones, and leaves out those that succeeded', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['one', 'two', 'three']);
    await write(here, ['accepted'], conversation.phone);
    await run(conversation);
    await write(here, ['pending'], conversation.phone);
    webhook.calls.length = 0;
    expect(await recoverAll(here.account, SINCE)).toEqual({ queued: 3, pending: 0 });
    await run(conversation);
    expect(textsReceived()).toEqual(['pending', 'one', 'two', 'three']);
  });

  test('keeps the order of the events if one of them has failed again later than the others', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['one', 'two']);
    const one = (await historyOf(here.account)).at(-1);
    await replayDelivery(here.account, one?.id ?? '');
    await untilFailed(conversation);
    webhook.answers = [200];
    webhook.calls.length = 0;
    expect(await recoverAll(here.account, SINCE)).toMatchObject({ queued: 2 });
    await run(conversation);
    expect(textsReceived()).toEqual(['one', 'two']);
  });

  test('that is repeated, also at the same time, sends each event once', async () => {
    const here = await onWebhook();
    const conversations = [await rejected(here, ['one', 'two']), await rejected(here, ['three'])];
    const all = await Promise.all([recoverAll(here.account, SINCE), recoverAll(here.account, SINCE)]);
    expect(all.reduce((sum, { queued }) => sum + queued, 0)).toBe(3);
    expect(await recoverAll(here.account, SINCE)).toMatchObject({ queued: 0 });
    for (const conversation of conversations) await run(conversation);
    expect(textsReceived()).toEqual(['one', 'two', 'three']);
    expect(await recoverAll(here.account, SINCE)).toEqual({ queued: 0, pending: 0 });
  });

  test('sends an event again whose replay has failed permanently', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    await recoverAll(here.account, SINCE);
    await untilFailed(conversation);
    expect(await recoverAll(here.account, SINCE)).toEqual({ queued: 1, pending: 0 });
  });

  test('leaves out an event that is pending, because its worker ended before it settled the event', async () => {
    const here = await onWebhook();
    const conversation = await write(here, ['Hi']);
    webhook.answers = [400];
    await run(conversation);
    later(60 * MINUTE);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation((command) =>
      command.constructor.name === 'TransactWriteCommand' ? Promise.reject(new Error('killed')) : send(command),
    );
    await expect(run(conversation)).rejects.toThrow('killed');
    vi.restoreAllMocks();
    expect(await historyOf(here.account)).toHaveLength(2);
    expect(await recoverAll(here.account, SINCE)).toEqual({ queued: 0, pending: 1 });
    expect(await pendingOf(conversation)).toHaveLength(1);
  });

  test('is limited to a period, which includes its beginning and excludes its end', async () => {
    const here = await onWebhook();
    const conversation = await rejected(here, ['Hi']);
    const [{ event_id } = { event_id: '' }] = await historyOf(here.account);
    const time = Number.parseInt(event_id.slice(0, 13).replace('-', ''), 16);
    expect(await recoverAll(here.account, time + 1)).toMatchObject({ queued: 0 });
    expect(await recoverAll(here.account, time - 10, time)).toMatchObject({ queued: 0 });
    expect(await recoverAll(here.account, time + 1, time)).toMatchObject({ queued: 0 });
    expect(await recoverAll(here.account, time, time + 1)).toMatchObject({ queued: 1 });
    expect(await pendingOf(conversation)).toHaveLength(1);
  });

  test('of more events than a call handles goes on with the next call, in order', async () => {
    const here = await onWebhook();
    const conversation: Conversation = { direction: 'platform', account: here.account, phone: newPhone() };
    const events = Array.from({ length: 650 }, () => newId());
    await putAll(events.map((id) => failedAttempt(conversation, id)));
    // Positions that a caller has made up.
    for (const position of ['', 'x', '15', '15 x', '16 x', '0 ~', `0 ${'x'.repeat(240)}`]) {
      const { recovered } = await recoverDeliveries(here.account, { since: Date.now() + 365 * 86_400_000 }, position);
      expect(recovered.queued).toBe(0);
    }
    const first = await recoverDeliveries(here.account, { since: 0 });
    expect(first.next).toBeDefined();
    expect(first.recovered.queued).toBeLessThan(650);
    // On a slow machine, there are more calls.
    expect(first.recovered.queued + (await recoverAll(here.account, 0)).queued).toBe(650);
    const found: string[] = [];
    const { pendingEntries } = await import('../../../../shared/outbox/entries.ts');
    for await (const entries of pendingEntries(conversation))
      found.push(...entries.map(({ replay }) => replay?.event ?? ''));
    expect(found).toEqual(events);
  });
});

test('the history of an erased user has no item left, and that of another user stays', async () => {
  const here = await onWebhook();
  const [one, other] = [await rejected(here, ['Hi']), await rejected(here, ['Hello'])];
  await eraseUser(one.phone);
  expect((await historyOf(here.account)).map(({ phone }) => phone)).toEqual([other.phone, other.phone]);
});
