/**
 * What is accepted for an account waits for a destination: one that is missing, disabled, or that refuses for a time.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { beginListening } from '../../../../infra/operator/listen/mode.ts';
import { type AccountPlatform, showAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { listDeliveries } from '../../../../shared/delivery/history/deliveries.ts';
import { replayDelivery } from '../../../../shared/delivery/history/replay.ts';
import { healthOf } from '../../../../shared/delivery/platform-health.ts';
import { RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents } from '../../../../shared/table/client.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let webhook: DestinationServer;

const written = captureLog();
useOwnTable('no-destination');

beforeAll(async () => {
  webhook = await DestinationServer.start();
});

afterAll(() => webhook.close());

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  webhook.calls.length = 0;
  webhook.answers = [200];
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const later = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

const plainWebhook = (): AccountPlatform => ({
  name: 'webhook',
  settings: { url: webhook.url, secret: `whsec_${randomBytes(32).toString('base64')}` },
});

/** A business, with a platform or without one, and a user who writes to its bot. */
const open = async (platform?: AccountPlatform) => {
  const { account, bot, phone } = await newBusiness(platform);
  const conversation: Conversation = { direction: 'platform', account, phone };
  return {
    account,
    bot,
    phone,
    conversation,
    write: (body: string) => receiveMessage(newId(), { from: phone, to: bot, type: 'text', text: { body } }),
    run: () => deliver(conversation, () => 60_000),
    states: async () => (await listLogs(account, { phone }, 100)).entries.map(({ state, reason }) => [state, reason]),
  };
};

const textsReceived = () => webhook.calls.map(({ json }) => json.message.text.body);

test('an entry that is accepted while an offer to former listeners is withdrawn is delivered', async () => {
  const { account, conversation, write, run } = await open(plainWebhook());
  await beginListening(account);
  await write('one');
  expect(await run()).toEqual({ settled: 0, retry_scheduled: 'listening' });
  await updateAccount(account, { platform: plainWebhook() });
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: {
    input: { UpdateExpression?: string };
  }) => {
    if (command.input.UpdateExpression?.startsWith('REMOVE #gsi3pk')) {
      spy.mockRestore();
      await write('two');
    }
    return send(command as never);
  }) as never);
  expect(await run()).toEqual({ settled: 2 });
  expect(textsReceived()).toEqual(['one', 'two']);
  expect(await readHead(conversation)).toBeUndefined();
});

describe("a user's text to an account without a platform", () => {
  test('waits, and is delivered in order after a platform is set', async () => {
    const { account, conversation, write, run } = await open();
    await write('one');
    expect(await run()).toEqual({ settled: 0, retry_scheduled: 'no_platform' });
    await write('two');
    expect(await run()).toEqual({ settled: 0 });
    later(2 * DAY);
    await updateAccount(account, { platform: plainWebhook() });
    const head = await readHead(conversation);
    expect(head && Date.parse(head.dueAt)).toBeLessThanOrEqual(Date.now());
    expect(await run()).toEqual({ settled: 2 });
    expect(textsReceived()).toEqual(['one', 'two']);
    expect(await readHead(conversation)).toBeUndefined();
  });

  test('waits also while the account is suspended', async () => {
    const { account, write, run } = await open();
    await updateAccount(account, { suspended: timestamp() });
    await write('one');
    expect(await run()).toEqual({ settled: 0, retry_scheduled: 'no_platform' });
    await updateAccount(account, { suspended: null, platform: plainWebhook() });
    expect(await run()).toEqual({ settled: 1 });
    expect((await showAccount(account)).platform).toBe('webhook');
  });

  test('is logged as failed after three days, with a reason, and raises no alarm', async () => {
    const { conversation, write, run, states } = await open();
    await write('one');
    await run();
    // Its age is not measured.
    expect(await readHead(conversation)).toMatchObject({ state: 'waiting' });
    for (let looks = 0; looks < 20; looks += 1) {
      const head = await readHead(conversation);
      if (head === undefined) break;
      vi.setSystemTime(Math.max(Date.parse(head.dueAt), Date.now()) + 1);
      await run();
    }
    expect(await readHead(conversation)).toBeUndefined();
    expect(await states()).toEqual([
      ['reception_failed_http', 'no_platform'],
      ['received', undefined],
    ]);
    expect(written.join('\n')).not.toContain('permanently failed');
  });

  test('is delivered if the platform is set between the look-up and the wait', async () => {
    const { account, write, run } = await open();
    await write('one');
    const send = documents.send.bind(documents);
    let isSet = false;
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      const isWait = JSON.stringify(command.input).includes('WAITING#');
      if (isWait && !isSet) {
        isSet = true;
        await updateAccount(account, { platform: plainWebhook() });
      }
      return send(command);
    });
    expect(await run()).toEqual({ settled: 1 });
    expect(textsReceived()).toEqual(['one']);
  });

  test('is removed by an erasure of the user', async () => {
    const { conversation, write, run } = await open();
    await write('one');
    await run();
    later(1_000);
    expect(await eraseUser(conversation.phone)).toMatchObject({ waiting: 1 });
    expect(await readHead(conversation)).toBeUndefined();
  });
});

describe('a webhook that returns 410', () => {
  test('gets no second request if the read after it is stale', async () => {
    const { write, run } = await open(plainWebhook());
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation((async (command: {
      input: { Key?: { sk: string }; ConsistentRead?: boolean };
    }) => {
      const { Key, ConsistentRead } = command.input;
      const isStale = Key?.sk === 'DISABLED' && ConsistentRead === false;
      return isStale ? { $metadata: {} } : send(command as never);
    }) as never);
    await write('one');
    webhook.answers = [410];
    expect(await run()).toEqual({ settled: 0, retry_scheduled: 'status_410' });
    expect(webhook.calls).toHaveLength(1);
  });

  test('gets no more requests, shows as disabled, and receives all events after it is set again', async () => {
    const platform = plainWebhook();
    const { account, write, run } = await open(platform);
    await write('one');
    webhook.answers = [410];
    expect(await run()).toEqual({ settled: 0, retry_scheduled: 'status_410' });
    const event = webhook.calls[0]?.headers['webhook-id'];
    await write('two');
    later(7 * HOUR);
    expect(await run()).toEqual({ settled: 0, retry_scheduled: 'status_410' });
    expect(webhook.calls).toHaveLength(1);
    expect(await healthOf({ id: account })).toMatchObject({
      ...{ status: 'disabled', cause: 'status_410', last_event: event, pending_messages: 2 },
    });
    expect(written.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ message: 'webhook disabled', level: 'error', account, webhooks_disabled: 1 }),
    );
    later(1_000);
    await updateAccount(account, { platform });
    expect(await healthOf({ id: account })).toMatchObject({ status: 'working' });
    webhook.calls.length = 0;
    webhook.answers = [200];
    expect(await run()).toEqual({ settled: 2 });
    expect(textsReceived()).toEqual(['one', 'two']);
    expect(webhook.calls[0]?.headers['webhook-id']).toBe(event);
  });

  test('can be sent its events again for seven days after they have waited for three', async () => {
    const { account, write, run, states } = await open(plainWebhook());
    await write('one');
    webhook.answers = [410];
    await run();
    later(3 * DAY + 1);
    expect(await run()).toEqual({ settled: 1 });
    expect(await states()).toContainEqual(['reception_failed_http', 'no_platform']);
    later(6 * DAY);
    await updateAccount(account, { platform: plainWebhook() });
    const [{ id } = { id: '' }] = (await listDeliveries(account, { status: 'failed' }, 1)).deliveries;
    webhook.answers = [200];
    webhook.calls.length = 0;
    expect(await replayDelivery(account, id)).toMatchObject({ status: 'queued' });
    await run();
    expect(textsReceived()).toEqual(['one']);
  });
});

describe('a plain webhook', () => {
  test('loses nothing while it returns 404 for a minute', async () => {
    const { write, run } = await open(plainWebhook());
    for (const body of ['one', 'two', 'three']) await write(body);
    webhook.answers = [404];
    await run();
    later(1.5 * (RETRY_STEPS_MS[0] ?? 0));
    webhook.calls.length = 0;
    webhook.answers = [200];
    expect(await run()).toEqual({ settled: 3 });
    expect(textsReceived()).toEqual(['one', 'two', 'three']);
  });

  test.each<[string, DestinationServer['answers'][number], string]>([
    ['status 404', 404, 'status_404'],
    ['a response that is not HTTP', (response) => response.socket?.end('nonsense\r\n\r\n'), 'invalid_response'],
  ])('is retried for three days after %s, and then fails', async (_, answer, cause) => {
    const { conversation, write, run, states } = await open(plainWebhook());
    await write('one');
    webhook.answers = [answer];
    expect(await run()).toMatchObject({ settled: 0, retry_scheduled: cause });
    later(3 * DAY - 60_000);
    expect(await run()).toMatchObject({ settled: 0 });
    expect(await readHead(conversation)).toBeDefined();
    later(7 * HOUR);
    expect(await run()).toEqual({ settled: 1 });
    expect(await states()).toContainEqual(['reception_failed_http', 'unreachable']);
  });

  test('that asks for a pause of 3 s, and then in another response for 1 s, gets nothing for 3 s', async () => {
    const { bot, conversation, write } = await open(plainWebhook());
    await write('one');
    const other = { ...conversation, phone: newPhone() };
    await receiveMessage(newId(), { from: other.phone, to: bot, type: 'text', text: { body: 'two' } });
    const limited: ServerResponse[] = [];
    webhook.answers = [(response) => limited.push(response)];
    const deliverBoth = () => [conversation, other].map((one) => deliver(one, () => 60_000));
    const running = deliverBoth();
    await expect.poll(() => limited.length).toBe(2);
    limited[0]?.writeHead(429, { 'retry-after': '3' }).end();
    await Promise.race(running);
    limited[1]?.writeHead(429, { 'retry-after': '1' }).end();
    await Promise.all(running);
    webhook.answers = [200];
    later(2_900);
    await Promise.all(deliverBoth());
    expect(webhook.calls).toHaveLength(2);
    later(100);
    await Promise.all(deliverBoth());
    expect(webhook.calls).toHaveLength(4);
  });

  test('that rejects its token shows as failing, with cause and last event', async () => {
    const { account, write, run } = await open(plainWebhook());
    await write('one');
    webhook.answers = [401];
    for (let attempts = 0; attempts < 3; attempts += 1) {
      await run();
      later(HOUR);
    }
    expect(await healthOf({ id: account })).toMatchObject({
      status: 'failing',
      cause: 'status_401',
      last_event: webhook.calls[0]?.headers['webhook-id'],
      last_failure: expect.stringMatching(/^\d{4}-/),
      pending_messages: 1,
    });
  });

  test('that refuses an event gets it for an hour, then the next event, and can be sent the first again', async () => {
    const { account, write, run, states } = await open(plainWebhook());
    const long = randomBytes(40_000).toString('base64');
    await write(long);
    await write('two');
    webhook.answers = [422];
    const start = Date.now();
    for (;;) {
      const over = Date.now() - start >= HOUR;
      // The last attempt, and then the next event.
      if (over) webhook.answers = [422, 200];
      const { settled } = await run();
      expect(settled).toBe(over ? 2 : 0);
      if (over) break;
      expect(await healthOf({ id: account })).toMatchObject({ status: 'working' });
      later(5 * 60_000);
    }
    expect(Date.now() - start).toBeGreaterThanOrEqual(HOUR);
    expect(textsReceived().at(-1)).toBe('two');
    expect(await states()).toContainEqual(['reception_failed_http', 'refused']);
    const [failed] = (await listDeliveries(account, { status: 'failed' }, 1)).deliveries;
    expect(failed).not.toHaveProperty('next_attempt');
    webhook.calls.length = 0;
    webhook.answers = [200];
    await replayDelivery(account, failed?.id ?? '');
    await run();
    expect(textsReceived()).toEqual([long]);
  });

  test('keeps an event in the outbox while the history does not accept its last attempt', async () => {
    const { account, conversation, write, run } = await open(plainWebhook());
    await write('one');
    webhook.answers = [503];
    later(3 * DAY + 1);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation((command) =>
      JSON.stringify(command.input).includes('"DELIVERIES#') ? Promise.reject(new Error('no history')) : send(command),
    );
    await expect(run()).rejects.toThrow('no history');
    expect(await readHead(conversation)).toBeDefined();
    vi.restoreAllMocks();
    expect(await run()).toEqual({ settled: 1 });
    expect((await listDeliveries(account, { status: 'failed' }, 1)).deliveries).toHaveLength(1);
  });
});
