/** Deliveries on the served stack: from a user's message to the webhook, the history, replays and the erasure. */
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { attemptKey, attemptWithId } from '../../../../shared/delivery/entities.ts';
import { getConsistent, putAll } from '../../../../shared/table/client.ts';
import { applied, removed, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { type Answer, DestinationServer } from '../../support/destination-server.ts';
import { failedAttempt } from '../../support/failed-attempt.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

/** An account with a bot and a webhook, and a user. */
const newWorld = async (answers: Answer[] = [200]) => {
  const webhook = await DestinationServer.start();
  webhook.answers = answers;
  onTestFinished(() => webhook.close());
  const caller = await newCaller('bridge');
  const [bot, phone] = [newPhone(), newPhone()];
  const settings = { url: webhook.url, secret: `whsec_${'A'.repeat(32)}` };
  await updateAccount(caller.account, { bot_number: bot, platform: { name: 'webhook', settings } });
  return { ...caller, bot, phone, webhook };
};

const write = (from: string, to: string, body: string) =>
  applied({ id: randomUUID(), type: 'message.received', data: { from, to, type: 'text', text: { body } } });

const listed = async ({ token }: Pick<Caller, 'token'>) => (await call('listDeliveries', { token })).body ?? [];

/** Waits until the history has so many attempts. Returns them: a later list may be stale. */
const untilListed = async (world: Pick<Caller, 'token'>, attempts: number) => {
  let found: Awaited<ReturnType<typeof listed>> = [];
  const look = async (): Promise<number> => {
    found = await listed(world);
    return found.length;
  };
  await expect.poll(look).toBe(attempts);
  return found;
};

const SINCE = () => Math.floor(Date.now() / 1_000) - 600;

describe('the history', () => {
  test('contains what the webhook returned, and a replay sends the event again with its id', async () => {
    const world = await newWorld([{ status: 404, body: '{"error":"no such path"}' }, 200]);
    const { token, bot, phone, webhook } = world;
    await write(phone, bot, 'Hi');
    const [, failed] = await untilListed(world, 2);
    expect(failed).toMatchObject({
      type: 'message',
      contact: expect.stringContaining(`${phone}@`),
      url: webhook.url,
      attempt: 1,
      status: 'failed',
      status_code: 404,
      response: '{"error":"no such path"}',
    });
    const path = { delivery_id: failed?.id ?? '' };
    expect((await call('readDelivery', { token, path })).body).toEqual(failed);

    const { event_id = '' } = failed ?? {};
    expect((await call('replayDelivery', { token, path })).body).toEqual({ event_id, status: 'queued' });
    const [newest] = await untilListed(world, 3);
    expect(newest).toMatchObject({ event_id, status: 'succeeded', status_code: 200 });
    expect(webhook.calls.map(({ headers }) => headers['webhook-id'])).toEqual([event_id, event_id, event_id]);
    const query = { status: 'failed' } as const;
    await expect.poll(async () => (await call('listDeliveries', { token, query })).body).toEqual([failed]);
  });

  test('is paginated, and its cursors belong to one account and filter', { tags: 'long' }, async () => {
    const world = await newWorld();
    const { token, bot } = world;
    for (const body of ['one', 'two', 'three']) await write(newPhone(), bot, body);
    const whole = await untilListed(world, 3);
    // A list may be stale.
    const shown = async (query: { limit: string; cursor?: string }) => {
      const { body, headers } = await call('listDeliveries', { token, query });
      return { ids: (body ?? []).map(({ id }) => id), link: headers.get('link') ?? '' };
    };
    const ids = whole.map(({ id }) => id);
    let link = '';
    const first = async () => {
      const page = await shown({ limit: '2' });
      link = page.link;
      return page;
    };
    // A stale list may have no next page yet.
    await expect.poll(first).toEqual({ ids: ids.slice(0, 2), link: expect.stringContaining('rel="next"') });
    const cursor = new URL(/<(.*)>; rel="next"/.exec(link)?.[1] ?? '', 'http://x').searchParams.get('cursor');
    const query = { limit: '2', cursor: cursor ?? '' };
    await expect.poll(async () => (await shown(query)).ids).toEqual(ids.slice(2));
    expect(await fail('listDeliveries', { token, query: { ...query, status: 'failed' } })).toMatchObject({
      status: 422,
    });
    const other = await newWorld();
    expect(await fail('listDeliveries', { token: other.token, query })).toMatchObject({ status: 422 });
  });

  test('of an account without a webhook is empty, and nothing can be sent again', async () => {
    const { token } = await newCaller('bridge');
    expect((await call('listDeliveries', { token })).status).toBe(204);
    const { body } = await fail('recoverDeliveries', { token, body: { since: SINCE() } });
    expect(body).toMatchObject({ status: 409, code: 'platform_not_set_up' });
  });

  test('ends with the user', { tags: 'long' }, async () => {
    const world = await newWorld();
    const { token, bot, phone } = world;
    await applied(updated(phone, {}));
    await write(phone, bot, 'Hi');
    const [failed] = await untilListed(world, 1);
    await applied(removed(phone));
    const attempt = attemptWithId(failed?.id ?? '');
    if (attempt === undefined) throw new Error('There is no attempt.');
    // A list may be stale.
    const look = () => getConsistent(attemptKey(world.account, attempt));
    await expect.poll(look).toBeUndefined();
    const { body } = await fail('replayDelivery', { token, path: { delivery_id: failed?.id ?? '' } });
    expect(body).toMatchObject({ status: 404, code: 'delivery_not_found' });
  });
});

describe('a recovery', () => {
  test('sends what has failed since a time once, in the order of the events', async () => {
    const world = await newWorld();
    const { token, account, phone, webhook } = world;
    await putAll(
      ['one', 'two', 'three'].map((text) => failedAttempt({ direction: 'platform', account, phone }, newId(), text)),
    );
    const body = { since: SINCE() };
    expect((await call('recoverDeliveries', { token, body })).body).toEqual({ queued: 3, pending: 0 });
    expect((await call('recoverDeliveries', { token, body })).body).toMatchObject({ queued: 0 });
    await untilListed(world, 6);
    const texts = webhook.calls.map(({ json }) => json.message.text.body);
    expect(texts).toEqual(['one', 'two', 'three']);
  });

  test('needs a time', async () => {
    const { token } = await newCaller('bridge');
    for (const since of [undefined, 'yesterday', -1, {}]) {
      const { status } = await fail('recoverDeliveries', { token, body: { since } as { since: number } });
      expect(status).toBe(422);
    }
  });
});

test("another account's delivery returns the same 404 as one that does not exist", async () => {
  const [world, other] = [await newWorld(), await newWorld()];
  await write(world.phone, world.bot, 'Hi');
  const [{ id } = { id: '' }] = await untilListed(world, 1);
  for (const name of ['readDelivery', 'replayDelivery'] as const) {
    const found = await Promise.all(
      [id, `${newId()}-0f019a9f5e2c18`, newId(), 'x'].map(async (delivery_id) => {
        const { body } = await fail(name, { token: other.token, path: { delivery_id } });
        const { trace_id: _, ...problem } = body;
        return problem;
      }),
    );
    expect(found[0]).toMatchObject({ status: 404, code: 'delivery_not_found' });
    for (const problem of found) expect(problem).toEqual(found[0]);
  }
  expect(world.webhook.calls).toHaveLength(1);
});
