/**
 * Listeners over the API of the served stack: events of users are claimed and settled, and rejected claims change nothing.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { beginListening, endListening } from '../../../../infra/operator/listen/mode.ts';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newPseudonym } from '../../../../shared/core/ids.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { putIfAbsent, remove, update } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { answered, applied, named, removed, state, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { newCaller, newPhone } from '../../support/world.ts';

/** A new account with a bot, whose events wait for listeners. */
const newListener = async () => {
  const caller = await newCaller('listen', 'bridge', 'messages', 'stats', 'user_data');
  const bot = newPhone();
  await updateAccount(caller.account, { bot_number: bot });
  const secret = (await beginListening(caller.account)) ?? '';
  return { ...caller, bot, secret };
};

type Listener = Awaited<ReturnType<typeof newListener>>;

const write = (from: string, { bot }: Pick<Listener, 'bot'>, body: string) =>
  applied({ id: randomUUID(), type: 'message.received', data: { from, to: bot, type: 'text', text: { body } } });

/** Claims one event, and waits until there is one. */
const claimOne = async ({ token }: Pick<Listener, 'token'>) => {
  for (;;) {
    const { body } = await call('claimDeliveries', { token, query: { limit: '1', long_poll: '25' } });
    const [event] = body ?? [];
    if (event !== undefined) return event;
  }
};

/** Claims what is due now. */
const claimNow = async ({ token }: Pick<Listener, 'token'>) => (await call('claimDeliveries', { token })).body ?? [];

const settle = async ({ token }: Pick<Listener, 'token'>, claim: string, outcome: object) =>
  (await call('settleDelivery', { token, body: { claim, ...outcome } })).body;

/** The attempts in the history, newest event first. A list may be stale. */
const historyOf = async ({ token }: Listener) => (await call('listDeliveries', { token })).body ?? [];

const logsOf = async ({ token }: Listener) => (await call('listLogs', { token })).body ?? [];

const textIn = (event: { body: string }): string => JSON.parse(event.body).message.text.body;

const keyOf = (account: string, phone: string) => headKey(conversationName({ direction: 'platform', account, phone }));

/** Ends the time of a claim. */
const runOut = ({ account }: Listener, phone: string) =>
  update({
    Key: keyOf(account, phone),
    UpdateExpression: 'SET claimed_until = :past, gsi3sk = :past',
    ExpressionAttributeValues: { ':past': '2020-01-01T00:00:00.000Z' },
  });

/** Has the program refused the oldest event of a conversation for an hour. */
const passHourOfRefusals = ({ account }: Listener, phone: string) =>
  update({
    Key: keyOf(account, phone),
    UpdateExpression: 'SET refused = :past',
    ConditionExpression: 'attribute_exists(refused)',
    ExpressionAttributeValues: { ':past': '2020-01-01T00:00:00.000Z' },
  });

describe('a listener', () => {
  test('gets the events of a user in order, one at a time, signed as for a webhook', async () => {
    const listener = await newListener();
    const phone = newPhone();
    for (const body of ['one', 'two', 'three']) await write(phone, listener, body);

    const first = await claimOne(listener);
    expect(first).toMatchObject({ type: 'message', attempt: 1, contact: expect.stringContaining(`${phone}@`) });
    expect(first.headers['webhook-id']).toBe(first.event_id);
    expect(new Webhook(listener.secret).verify(first.body, first.headers)).toMatchObject({ message: { from: phone } });
    expect(await claimNow(listener)).toEqual([]);

    const texts = [textIn(first)];
    expect(await settle(listener, first.claim, { status_code: 204, duration_ms: 5 })).toEqual({ status: 'delivered' });
    for (let more = 0; more < 2; more += 1) {
      const event = await claimOne(listener);
      texts.push(textIn(event));
      expect(await settle(listener, event.claim, { status_code: 200 })).toEqual({ status: 'delivered' });
    }
    expect(texts).toEqual(['one', 'two', 'three']);
    await expect.poll(() => readHead({ direction: 'platform', account: listener.account, phone })).toBeUndefined();
    const attempts = async () => (await historyOf(listener)).map(({ status, attempt }) => [status, attempt]);
    await expect.poll(attempts).toEqual(Array.from({ length: 3 }, () => ['succeeded', 1]));
  });

  test('gets at most the given number of events, each of another user', async () => {
    const listener = await newListener();
    const phones = [newPhone(), newPhone(), newPhone()];
    for (const phone of phones) await write(phone, listener, 'Hi');
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        const { body } = await call('claimDeliveries', { token: listener.token, query: { limit: '2' } });
        expect(body?.length ?? 0).toBeLessThanOrEqual(2);
        for (const { contact } of body ?? []) seen.add(contact.split('@')[0] ?? '');
        return seen.size;
      })
      .toBe(3);
    expect([...seen].sort()).toEqual([...phones].sort());
  });

  test('retries after a failure: shortly after the first request, and then by the schedule, with the same id', async () => {
    const listener = await newListener();
    const phone = newPhone();
    await write(phone, listener, 'Hi');
    const first = await claimOne(listener);
    const failed = { status_code: 503, response: 'Not now', duration_ms: 20 };
    expect(await settle(listener, first.claim, failed)).toMatchObject({ status: 'pending' });

    const second = await claimOne(listener);
    expect([second.event_id, second.attempt]).toEqual([first.event_id, 2]);
    expect(await settle(listener, second.claim, { error: 'timeout' })).toMatchObject({ status: 'pending' });
    const head = await readHead({ direction: 'platform', account: listener.account, phone });
    expect(head).toMatchObject({ attempts: 1, cause: 'timeout', tries: 2 });
    expect(head?.offeredFrom).toBe(head?.retryAt);

    const third = await claimOne(listener);
    expect([third.event_id, third.attempt]).toEqual([first.event_id, 3]);
    expect(await settle(listener, third.claim, { status_code: 200 })).toEqual({ status: 'delivered' });
    const attempts = async () =>
      (await historyOf(listener)).map(({ attempt, status, status_code, error, response }) => [
        ...[attempt, status, status_code ?? error, response],
      ]);
    await expect.poll(attempts).toEqual([
      [3, 'succeeded', 200, undefined],
      [2, 'failed', 'timeout', undefined],
      [1, 'failed', 503, 'Not now'],
    ]);
  });

  test('retries an event that its program refuses for an hour, then logs it as failed, and gets the next one', async () => {
    const listener = await newListener();
    const phone = newPhone();
    await write(phone, listener, 'one');
    await write(phone, listener, 'two');
    const first = await claimOne(listener);
    expect(textIn(first)).toBe('one');
    const refused = { status_code: 400 };
    expect(await settle(listener, first.claim, refused)).toMatchObject({ status: 'pending' });
    const last = await claimOne(listener);
    expect(textIn(last)).toBe('one');
    await passHourOfRefusals(listener, phone);
    expect(await settle(listener, last.claim, refused)).toEqual({ status: 'failed' });
    expect(textIn(await claimOne(listener))).toBe('two');
    const failed = { state: 'reception_failed_http', reason: 'refused' };
    expect((await logsOf(listener)).filter(({ state }) => state !== 'received')).toMatchObject([failed]);
    const attempts = async () =>
      (await historyOf(listener)).map(({ status, status_code, next_attempt }) => [status, status_code, next_attempt]);
    await expect.poll(attempts).toEqual([
      ['failed', 400, undefined],
      ['failed', 400, expect.any(String)],
    ]);
  });

  test('gets no state of a message after a later one', async () => {
    const listener = await newListener();
    const { token } = listener;
    const phone = newPhone();
    const { id } = (await call('sendMessage', { token, body: { to: phone, type: 'text', text: { body: 'Hi' } } })).body;
    const claimed: string[] = [];
    const settleNext = async () => {
      const { body, claim } = await claimOne(listener);
      claimed.push(JSON.parse(body).status.state);
      expect(await settle(listener, claim, { status_code: 200 })).toEqual({ status: 'delivered' });
    };
    await settleNext();
    await applied([state(id, 'read'), state(id, 'delivered_to_user')]);
    await settleNext();
    const conversation = { direction: 'platform', account: listener.account, phone } as const;
    const isLeft = async () => {
      expect(await claimNow(listener)).toEqual([]);
      return (await readHead(conversation)) !== undefined;
    };
    await expect.poll(isLeft).toBe(false);
    expect(claimed).toEqual(['delivered_to_server', 'read']);
    const logged = (await logsOf(listener)).map((entry) => entry.state);
    expect(logged.toSorted()).toEqual(['delivered_to_server', 'delivered_to_user', 'read', 'sent']);
  });

  test('that asks for a pause delays only the conversation', async () => {
    const listener = await newListener();
    const [phone, other] = [newPhone(), newPhone()];
    await write(phone, listener, 'Hi');
    const { claim } = await claimOne(listener);
    const settled = await settle(listener, claim, { status_code: 429, retry_after: '500' });
    expect(settled).toMatchObject({ status: 'pending', next_attempt: expect.any(String) });
    await write(other, listener, 'Hi');
    expect((await claimOne(listener)).contact).toContain(`${other}@`);
  });
});

describe('a claim', () => {
  test('that has run out can settle nothing, and the event is claimed again with the same id', async () => {
    const listener = await newListener();
    const phone = newPhone();
    await write(phone, listener, 'Hi');
    const lost = await claimOne(listener);
    await runOut(listener, phone);
    const body = { claim: lost.claim, status_code: 200 };
    expect((await fail('settleDelivery', { token: listener.token, body })).body).toMatchObject({
      status: 404,
      code: 'claim_not_found',
    });
    const again = await claimOne(listener);
    expect([again.event_id, again.attempt]).toEqual([lost.event_id, 1]);
    // Also while another listener has the event.
    expect((await fail('settleDelivery', { token: listener.token, body })).body.code).toBe('claim_not_found');
    expect(await settle(listener, again.claim, { status_code: 200 })).toEqual({ status: 'delivered' });
    expect(
      (await fail('settleDelivery', { token: listener.token, body: { ...body, claim: again.claim } })).status,
    ).toBe(404);
  });

  test('of another account is rejected like one that does not exist, and stays valid', async () => {
    const [listener, stranger] = [await newListener(), await newListener()];
    await write(newPhone(), listener, 'Hi');
    const { claim } = await claimOne(listener);
    const { trace_id: _, ...foreign } = (
      await fail('settleDelivery', { token: stranger.token, body: { claim, status_code: 200 } })
    ).body;
    const { trace_id: __, ...unknown } = (
      await fail('settleDelivery', { token: stranger.token, body: { claim: 'made up', status_code: 200 } })
    ).body;
    expect(foreign).toEqual(unknown);
    expect(await settle(listener, claim, { status_code: 200 })).toEqual({ status: 'delivered' });
  });

  test('of two listeners at the same time is one claim', async () => {
    const listener = await newListener();
    const phones = Array.from({ length: 6 }, newPhone);
    for (const phone of phones) await write(phone, listener, 'Hi');
    const contacts: string[] = [];
    await expect
      .poll(async () => {
        for (const events of await Promise.all([claimNow(listener), claimNow(listener), claimNow(listener)])) {
          contacts.push(...events.map(({ contact }) => contact.split('@')[0] ?? ''));
        }
        return contacts.length;
      })
      .toBe(phones.length);
    expect(contacts.sort()).toEqual(phones.sort());
  });

  test('of a user who is erased is given back, and the user gets no trace in the outbox', async () => {
    const listener = await newListener();
    const phone = newPhone();
    await applied(updated(phone, {}));
    await write(phone, listener, 'Hi');
    const { claim } = await claimOne(listener);
    await applied(removed(phone));
    await expect.poll(() => readHead({ direction: 'platform', account: listener.account, phone })).toBeUndefined();
    expect((await fail('settleDelivery', { token: listener.token, body: { claim, status_code: 200 } })).status).toBe(
      404,
    );
  });

  test('of an event about the consent of an erased user, who has a pseudonym by then, can be settled', async () => {
    const listener = await newListener();
    const { token } = listener;
    const phone = newPhone();
    await applied(named(phone, 'Alice'));
    const path = { phone_number: phone };
    const body = { reason: 'To know you', data: [{ property: 'first_name' }] };
    const { requestId } = (await call('startUserDataRequest', { token, path, body })).body;
    await applied(answered(requestId, { first_name: 'approved' }));
    const completed = await claimOne(listener);
    expect(await settle(listener, completed.claim, { status_code: 200 })).toEqual({ status: 'delivered' });

    await applied(removed(phone));
    const ended = await claimOne(listener);
    expect(ended.contact).toMatch(/^erased-/);
    expect(JSON.parse(ended.body).user_data).toMatchObject({ id: requestId, status: 'withdrawn' });
    expect(await settle(listener, ended.claim, { status_code: 200 })).toEqual({ status: 'delivered' });
    await expect.poll(() => historyOf(listener)).toHaveLength(1);
  });

  test("of the number's next owner is possible while the erasure of the previous one is not complete", async () => {
    const listener = await newListener();
    const phone = newPhone();
    // No worker completes it, because no index contains it.
    const erasure = { ...erasureKey(phone), pseudonym: newPseudonym(), requested: new Date().toISOString() };
    await putIfAbsent<Key>(erasure);
    await applied(updated(phone, {}));
    await write(phone, listener, 'Hi');
    const { claim, contact } = await claimOne(listener);
    expect(contact).toContain(`${phone}@`);
    expect(await settle(listener, claim, { status_code: 200 })).toEqual({ status: 'delivered' });
    await remove(erasureKey(phone));
  });
});

describe('the mode', () => {
  test('is required to claim events', async () => {
    const { token } = await newCaller('listen');
    expect((await fail('claimDeliveries', { token })).body).toMatchObject({ status: 409, code: 'not_listening' });
  });

  test('ends with the events at the URL, after the claim under way', async () => {
    const listener = await newListener();
    const phone = newPhone();
    const { account, secret } = listener;
    await write(phone, listener, 'one');
    await write(phone, listener, 'two');
    const { claim } = await claimOne(listener);
    await endListening(account);
    expect((await fail('claimDeliveries', { token: listener.token })).body.code).toBe('not_listening');
    expect(await settle(listener, claim, { status_code: 200 })).toEqual({ status: 'delivered' });
    // Without a URL, what is left waits for one.
    const head = () => readHead({ direction: 'platform', account, phone });
    await expect.poll(head).toMatchObject({ state: 'waiting', cause: 'no_platform' });
    const webhook = await DestinationServer.start();
    onTestFinished(() => webhook.close());
    await updateAccount(account, { platform: { name: 'webhook', settings: { url: webhook.url, secret } } });
    await expect.poll(head).toBeUndefined();
    expect(webhook.calls.map(({ body }) => textIn({ body }))).toEqual(['two']);
  });
});
