/**
 * The webhooks that a business manages itself, over the API of the served stack: events, order, secrets, tests and errors.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { describe, expect, onTestFinished, test } from 'vitest';
import { webhooks as described } from '../../../../infra/openapi/webhooks.ts';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import type { api } from '../../../../shared/api/index.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { applied, removed, state, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { type Call, DestinationServer } from '../../support/destination-server.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const newServer = async (): Promise<DestinationServer> => {
  const server = await DestinationServer.start();
  onTestFinished(() => server.close());
  return server;
};

const newBusiness = async () => {
  const caller = await newCaller('admin', 'bridge', 'messages', 'account');
  const bot = (await findAccount(caller.account))?.bot_number ?? '';
  return { ...caller, bot };
};

type Business = Awaited<ReturnType<typeof newBusiness>>;

type NewWebhook = v.InferInput<typeof api.createWebhook.body.schema>;

const create = async ({ token }: Business, body: NewWebhook) => (await call('createWebhook', { token, body })).body;

const write = (from: string, { bot }: Business, body: string) =>
  applied({ id: randomUUID(), type: 'message.received', data: { from, to: bot, type: 'text', text: { body } } });

const send = async ({ token }: Business, to: string): Promise<string> =>
  (await call('sendMessage', { token, body: { to, type: 'text', text: { body: 'Hello' }, reference: 'order-1' } })).body
    .id;

const textsAt = ({ calls }: DestinationServer): string[] => calls.map(({ json }) => json.data.text.body);

/** The event of a request, whose signature is checked with a secret. */
const verified = ({ body, headers }: Call, secret: string) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as { id: string; type: string; data: object };

const listed = async ({ token }: Business) => (await call('listWebhooks', { token })).body ?? [];

const historyOf = async ({ token }: Business, webhook_id: string) =>
  (await call('listDeliveries', { token, query: { webhook_id } })).body ?? [];

/**
 * Changes a webhook, which makes events due that wait for it, until it has received these texts: the index may not list yet
 * what has begun to wait a moment ago.
 */
const untilReceived = async ({ token }: Business, webhook_id: string, server: DestinationServer, texts: string[]) => {
  const changed = async () => {
    await call('updateWebhook', { token, path: { webhook_id }, body: {} });
    return textsAt(server);
  };
  await expect.poll(changed, { timeout: 60_000, interval: 1_000 }).toEqual(texts);
};

describe('an event', () => {
  test('has id, type, time, number of the bot, and data, as the API description says', async () => {
    const [business, server] = [await newBusiness(), await newServer()];
    const { id, secret } = await create(business, { url: server.url });
    const phone = newPhone();
    await write(phone, business, 'Hi');
    const message = await send(business, phone);
    await applied(state(message, 'delivered_to_user'));
    await applied({ id: randomUUID(), type: 'user.stopped', data: { from: phone, to: business.bot } });
    await call('testWebhook', { token: business.token, path: { webhook_id: id } });

    const types = () => new Set(server.calls.map(({ json }) => json.type));
    await expect.poll(types).toEqual(new Set(['message.received', 'message.state', 'user.stopped', 'webhook.test']));
    for (const made of server.calls) {
      const event = verified(made, secret);
      expect(made.headers['webhook-id']).toBe(event.id);
      const { schema } = Object.entries(described).find(([name]) => name === event.type)?.[1] ?? {};
      expect(schema && v.is(schema, event), made.body).toBe(true);
    }
    const [received] = server.calls.filter(({ json }) => json.type === 'message.received');
    expect(received?.json).toEqual({
      id: expect.any(String),
      type: 'message.received',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      bot_number: business.bot,
      data: {
        message_id: expect.any(String),
        job_id: expect.any(String),
        contact: `${phone}@users.example.com`,
        phone_number: phone,
        type: 'text',
        text: { body: 'Hi' },
      },
    });
    const states = server.calls.filter(({ json }) => json.type === 'message.state').map(({ json }) => json.data);
    expect(states.at(-1)).toMatchObject({ message_id: message, reference: 'order-1', state: 'delivered_to_user' });
  });

  test('has the same bytes in each attempt, also if the number of the bot changes', async () => {
    const [business, server] = [await newBusiness(), await newServer()];
    server.answers = [
      (response) => {
        void updateAccount(business.account, { bot_number: newPhone() }).then(() => response.writeHead(503).end());
      },
      204,
    ];
    await create(business, { url: server.url });
    await write(newPhone(), business, 'Hi');
    await expect.poll(() => server.calls.length).toBe(2);
    const [first, second] = server.calls;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });

  test('is retried no more after "webhook-delivery: abort-message", and the next one follows', async () => {
    const [business, server] = [await newBusiness(), await newServer()];
    server.answers = [{ status: 500, headers: { 'webhook-delivery': 'abort-message' } }, 204];
    const { id } = await create(business, { url: server.url });
    const phone = newPhone();
    for (const body of ['one', 'two']) await write(phone, business, body);
    await expect.poll(() => textsAt(server)).toEqual(['one', 'two']);
    await expect
      .poll(async () => (await historyOf(business, id)).map(({ status, next_attempt }) => [status, next_attempt]))
      .toEqual([
        ['succeeded', undefined],
        ['failed', undefined],
      ]);
  });
});

describe('two webhooks', () => {
  test('receive what they subscribe to, in their order; one that fails delays no other', async () => {
    const [business, all, messages] = [await newBusiness(), await newServer(), await newServer()];
    all.answers = [503];
    const first = await create(business, { url: all.url });
    const second = await create(business, { url: messages.url, types: ['message.received'] });
    const phone = newPhone();
    const sent = await send(business, phone);
    for (const body of ['one', 'two', 'three']) await write(phone, business, body);

    await expect.poll(() => textsAt(messages)).toEqual(['one', 'two', 'three']);
    for (const made of messages.calls) verified(made, second.secret);
    all.answers = [204];
    await call('updateWebhook', { token: business.token, path: { webhook_id: first.id }, body: {} });
    const ids = ({ calls }: DestinationServer) =>
      [...new Set(calls.map(({ headers }) => headers['webhook-id']))].filter((id) =>
        messages.calls.some(({ headers }) => headers['webhook-id'] === id),
      );
    await expect.poll(() => ids(all), { timeout: 50_000 }).toEqual(ids(messages));
    for (const made of all.calls) verified(made, first.secret);
    await expect.poll(() => all.calls.some(({ json }) => json.data.message_id === sent)).toBe(true);
  }, 60_000);

  test('have histories of their own; a replay and a recovery concern one of them', async () => {
    const [business, good, bad] = [await newBusiness(), await newServer(), await newServer()];
    bad.answers = [{ status: 400, headers: { 'webhook-delivery': 'abort-message' } }];
    const { id: goodId } = await create(business, { url: good.url });
    const { id: badId } = await create(business, { url: bad.url });
    await write(newPhone(), business, 'Hi');
    await expect.poll(() => historyOf(business, badId)).toMatchObject([{ status: 'failed', webhook_id: badId }]);
    let delivered = '';
    await expect
      .poll(async () => {
        const history = await historyOf(business, goodId);
        delivered = history[0]?.id ?? '';
        return history;
      })
      .toMatchObject([{ status: 'succeeded', webhook_id: goodId }]);
    const [event] = good.calls.map(({ headers }) => headers['webhook-id']);

    bad.answers = [204];
    const { token } = business;
    const recovered = await call('recoverDeliveries', { token, body: { since: 0, webhook_id: goodId } });
    expect(recovered.body).toEqual({ queued: 0, pending: 0 });
    const all = await call('recoverDeliveries', { token, body: { since: 0 } });
    expect(all.body).toEqual({ queued: 1, pending: 0 });
    await expect.poll(() => bad.calls.length).toBe(2);
    await call('replayDelivery', { token, path: { delivery_id: delivered } });
    await expect.poll(() => good.calls.length).toBe(2);
    const made = [...good.calls, ...bad.calls];
    expect(new Set(made.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([event]));
    expect(new Set(made.map(({ body }) => body)).size).toBe(1);

    await call('deleteWebhook', { token, path: { webhook_id: goodId } });
    const gone = await fail('replayDelivery', { token, path: { delivery_id: delivered } });
    expect([gone.status, gone.body.code]).toEqual([409, 'platform_not_set_up']);
  }, 60_000);
});

describe('a webhook', () => {
  test('that an operator has set is the first one, keeps its version, and can be moved to another', async () => {
    const [business, former, server] = [await newBusiness(), await newServer(), await newServer()];
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await updateAccount(business.account, {
      platform: { name: 'webhook', settings: { url: former.url, secret } },
    });
    const [known] = await listed(business);
    expect(known).toMatchObject({ url: former.url, version: 1, status: 'working' });
    await call('testWebhook', { token: business.token, path: { webhook_id: known?.id ?? '' } });
    await expect.poll(() => former.calls.map(({ json }) => json)).toEqual([{ check: {} }]);

    await create(business, { url: server.url });
    expect((await listed(business)).map(({ id, version }) => [id, version])).toEqual([
      [known?.id, 1],
      [expect.any(String), 2],
    ]);
    const phone = newPhone();
    await write(phone, business, 'Hi');
    await expect.poll(() => former.calls.length).toBe(2);
    expect(former.calls[1]?.json).toEqual({ message: { from: phone, type: 'text', text: { body: 'Hi' } } });
    if (former.calls[1]) verified(former.calls[1], secret);
    await expect.poll(() => textsAt(server)).toEqual(['Hi']);

    await call('deleteWebhook', { token: business.token, path: { webhook_id: known?.id ?? '' } });
    await write(phone, business, 'Again');
    await expect.poll(() => textsAt(server)).toEqual(['Hi', 'Again']);
    expect(former.calls).toHaveLength(2);
  });

  test('receives what has waited for it; after the last one is deleted, events wait again', async () => {
    const [business, server] = [await newBusiness(), await newServer()];
    const [phone, { token }] = [newPhone(), business];
    await write(phone, business, 'early');
    const waits = { direction: 'platform', account: business.account, phone } as const;
    // Only then, the new webhook makes it due, for which its function has a right that no other test uses.
    const isWaiting = async () => (await readHead(waits))?.state === 'waiting';
    await expect.poll(isWaiting).toBe(true);
    const { id } = await create(business, { url: server.url });
    await untilReceived(business, id, server, ['early']);
    expect((await call('readConfiguration', { token })).body.configuration.platform).toMatchObject({
      name: 'webhooks',
      status: 'working',
    });

    await call('deleteWebhook', { token, path: { webhook_id: id } });
    expect((await call('readConfiguration', { token })).body.configuration.platform).toBeNull();
    expect((await call('listWebhooks', { token })).status).toBe(204);
    await write(phone, business, 'late');
    await expect.poll(isWaiting).toBe(true);
    const { id: next } = await create(business, { url: server.url });
    await untilReceived(business, next, server, ['early', 'late']);
  }, 120_000);

  test('that returns 410 gets no more requests until it is changed', async () => {
    const [business, server] = [await newBusiness(), await newServer()];
    server.answers = [410];
    const { id } = await create(business, { url: server.url });
    await write(newPhone(), business, 'Hi');
    await expect
      .poll(() => listed(business))
      .toMatchObject([{ status: 'disabled', cause: 'status_410', last_event: expect.any(String) }]);
    const platform = async () =>
      (await call('readConfiguration', { token: business.token })).body.configuration.platform;
    await expect.poll(platform).toMatchObject({ status: 'disabled', pending_messages: 1 });

    server.answers = [204];
    await untilReceived(business, id, server, ['Hi', 'Hi']);
    await expect.poll(() => listed(business)).toMatchObject([{ status: 'working' }]);
  }, 120_000);

  test('signs with both secrets after a change', async () => {
    const [business, server] = [await newBusiness(), await newServer()];
    const given = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
    const { id, secret } = await create(business, { url: server.url, secret: given });
    expect(secret).toBe(given);
    const path = { webhook_id: id };
    const { secret: newer } = (await call('rotateWebhookSecret', { token: business.token, path })).body;
    await call('testWebhook', { token: business.token, path });
    await expect.poll(() => server.calls.length).toBe(1);
    const [made] = server.calls;
    for (const one of [given, newer]) expect(made && verified(made, one).type).toBe('webhook.test');
    expect(JSON.stringify(await listed(business))).not.toContain('whsec_');
  });

  test('is tested by an event that is in its history, and is about no user', async () => {
    const [business, server, other] = [await newBusiness(), await newServer(), await newServer()];
    const { id } = await create(business, { url: server.url });
    await create(business, { url: other.url });
    const { event_id } = (await call('testWebhook', { token: business.token, path: { webhook_id: id } })).body;
    let history: Awaited<ReturnType<typeof historyOf>> = [];
    await expect
      .poll(async () => {
        history = await historyOf(business, id);
        return history;
      })
      .toMatchObject([{ event_id, type: 'test', status: 'succeeded', webhook_id: id }]);
    expect(history[0]).not.toHaveProperty('contact');
    expect(server.calls[0]?.json).toMatchObject({ id: event_id, type: 'webhook.test', data: { webhook_id: id } });
    expect(other.calls).toEqual([]);
  });

  test('has nothing left of a user who is erased while events wait for it', async () => {
    const [business, server] = [await newBusiness(), await newServer()];
    server.answers = [503];
    await create(business, { url: server.url });
    const phone = newPhone();
    await applied(updated(phone, {}));
    await write(phone, business, 'secret');
    await expect.poll(() => server.calls.length).toBeGreaterThan(0);
    const copies = { direction: 'platform', account: business.account, phone, endpoint: 1 } as const;
    expect((await oldestEntries(copies)).entries).toHaveLength(1);
    await applied(removed(phone));
    await expect.poll(async () => (await oldestEntries(copies)).entries).toEqual([]);
  });
});

describe('an error', () => {
  test('names what to correct: the URL, the types, the secret', async () => {
    const { token } = await newBusiness();
    const wrong = async (body: object) => {
      const found = await fail('createWebhook', { token, body: body as { url: string } });
      return [found.status, found.body.errors?.map((error) => Object.values(error).at(0))];
    };
    expect(await wrong({ url: 'ftp://example.com' })).toEqual([422, ['#/url']]);
    expect(await wrong({ url: 'https://10.0.0.1/' })).toEqual([422, ['#/url']]);
    expect(await wrong({ url: 'https://user@example.com/' })).toEqual([422, ['#/url']]);
    expect(await wrong({ url: 'https://example.com', types: ['message'] })).toEqual([422, ['#/types/0']]);
    expect(await wrong({ url: 'https://example.com', types: [] })).toEqual([422, ['#/types']]);
    expect(await wrong({ url: 'https://example.com', types: ['user.started', 'user.started'] })).toEqual([
      422,
      ['#/types'],
    ]);
    expect(await wrong({ url: 'https://example.com', secret: 'whsec_short' })).toEqual([422, ['#/secret']]);
    expect(await wrong({ url: 'https://example.com', version: 3 })).toEqual([422, ['#/version']]);
  });

  test('says that the URL is taken, or that there are five', async () => {
    const business = await newBusiness();
    const { token } = business;
    const urls = [1, 2, 3, 4, 5].map((number) => `https://example.com/${number}`);
    for (const url of urls) await create(business, { url });
    const full = await fail('createWebhook', { token, body: { url: 'https://example.com/6' } });
    expect([full.status, full.body.code]).toEqual([409, 'webhook_limit_reached']);
    const [first] = await listed(business);
    const taken = await fail('updateWebhook', {
      token,
      path: { webhook_id: first?.id ?? '' },
      body: { url: urls[4] },
    });
    expect([taken.status, taken.body.code]).toEqual([409, 'webhook_exists']);
    expect((await listed(business)).map(({ url }) => url)).toEqual(urls);
  });

  test('is the same for an unknown webhook and that of another account', async () => {
    const [ours, theirs] = [await newBusiness(), await newBusiness()];
    const { id } = await create(theirs, { url: 'https://example.com' });
    await create(ours, { url: 'https://example.com' });
    const { token } = ours;
    for (const webhook_id of [id, randomUUID()]) {
      const path = { webhook_id };
      const found = [
        await fail('updateWebhook', { token, path, body: { url: 'https://example.org' } }),
        await fail('rotateWebhookSecret', { token, path }),
        await fail('testWebhook', { token, path }),
        await fail('deleteWebhook', { token, path }),
      ];
      expect(found.map(({ status, body }) => [status, body.code])).toEqual(found.map(() => [404, 'webhook_not_found']));
    }
    expect(await listed(theirs)).toMatchObject([{ id, url: 'https://example.com' }]);
  });

  test('says that a chat platform receives the events; an operator cannot replace webhooks by accident', async () => {
    const business = await newBusiness();
    const rapidpro = { name: 'rapidpro' as const, settings: { url: 'https://flows.example.com/c/ex/1/receive' } };
    await updateAccount(business.account, { platform: rapidpro });
    const found = await fail('createWebhook', { token: business.token, body: { url: 'https://example.com' } });
    expect([found.status, found.body.code]).toEqual([409, 'platform_in_use']);
    await updateAccount(business.account, { platform: null });
    await create(business, { url: 'https://example.com' });
    await expect(updateAccount(business.account, { platform: rapidpro })).rejects.toThrow(
      'manages its webhooks itself',
    );
    await updateAccount(business.account, { platform: null });
    expect(await listed(business)).toEqual([]);
  });
});
