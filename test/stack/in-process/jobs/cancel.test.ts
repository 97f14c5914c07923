/**
 * DELETE /v1/jobs/{job_id}, and messages that are valid for a limited time.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { timestamp } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { jobKey } from '../../../../shared/messaging/entities.ts';
import { jobOf } from '../../../../shared/messaging/jobs/default-jobs.ts';
import { openJob, readJob } from '../../../../shared/messaging/jobs/job.ts';
import { lifetimeFrom, logItem, type Message } from '../../../../shared/outbox/message.ts';
import { putIfAbsent, update } from '../../../../shared/table/client.ts';
import { call, fail } from '../../support/client.ts';
import { addPendingEntries } from '../../support/operator.ts';
import { shownOn, untilShown } from '../../support/phones.ts';
import { type Caller, newCaller, newMedia, newPhone, newPhones } from '../../support/world.ts';

const { bridge_url } = inject('stack');

// For items that this process writes.
beforeAll(() => void vi.stubEnv('MESSAGE_RETENTION', '90'));
afterAll(() => void vi.unstubAllEnvs());

const business = (): Promise<Caller> => newCaller('messages', 'stats');

const greeting = { type: 'text' as const, text: { body: 'Hello' } };

const text = (to: string) => ({ to, ...greeting });

const send = async ({ token }: Caller, job_id: string, to = newPhone()): Promise<string> =>
  (await call('sendMessage', { token, query: { job_id }, body: text(to) })).body.id;

describe('cancelling a job', () => {
  test('returns 204, also when repeated, and a new message of the job 409', async () => {
    const caller = await business();
    const { token } = caller;
    const job_id = randomUUID();
    await send(caller, job_id);
    for (const id of [job_id, job_id.toUpperCase()]) {
      expect(await call('cancelJob', { token, path: { job_id: id } })).toMatchObject({ status: 204 });
    }
    const { status, body } = await fail('sendMessage', { token, query: { job_id }, body: text(newPhone()) });
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'job_cancelled' });
  });

  test('lets the repeat of an accepted message return its id, and another request with its key 422', async () => {
    const caller = await business();
    const { token } = caller;
    const job_id = randomUUID();
    const to = newPhone();
    const request = { token, query: { job_id }, headers: { 'idempotency-key': randomUUID() }, body: text(to) };
    const { id } = (await call('sendMessage', request)).body;
    await call('cancelJob', { token, path: { job_id } });
    expect((await call('sendMessage', request)).body).toEqual({ id });
    expect(await fail('sendMessage', { ...request, body: text(newPhone()) })).toMatchObject({
      body: { code: 'idempotency_key_reused' },
    });
  });

  test('leaves messages that were delivered, and jobs of the same id of other accounts', async () => {
    const [caller, other] = [await business(), await business()];
    const { token } = caller;
    const job_id = randomUUID();
    const to = newPhone();
    const id = await send(caller, job_id, to);
    await send(other, job_id);
    await untilShown(to, 1);
    const statesOf = async () =>
      (await call('readMessage', { token, path: { id } })).body.states.map(({ state }) => state);
    await expect.poll(statesOf).toEqual(['sent', 'delivered_to_server']);
    await call('cancelJob', { token, path: { job_id } });
    expect(await statesOf()).toEqual(['sent', 'delivered_to_server']);
    await send(other, job_id);
  });

  test('returns 404 for a job that does not exist, another account’s, and a text that is not an id', async () => {
    const [caller, other] = [await business(), await business()];
    const job_id = randomUUID();
    await send(other, job_id);
    const paths = [randomUUID(), job_id, '%', 'x'.repeat(300)];
    const bodies = await Promise.all(
      paths.map(async (one) => {
        const { trace_id: _, ...problem } = (await fail('cancelJob', { token: caller.token, path: { job_id: one } }))
          .body;
        return problem;
      }),
    );
    expect(bodies[0]).toMatchObject({ status: 404, code: 'job_not_found' });
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  test('returns 409 for the job of a day, of every source, whether it has messages or not', async () => {
    const { account, token } = await business();
    const days = [1, 0, -1, -80].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
    for (const source of ['api', 'app', 'platform'] as const) {
      for (const day of days) {
        const { status, body } = await fail('cancelJob', { token, path: { job_id: jobOf(account, source, day) } });
        expect({ status, code: body.code }).toEqual({ status: 409, code: 'job_not_cancellable' });
      }
    }
  });
});

describe('while a retry is scheduled for tomorrow', () => {
  /** A message that is pending behind failed attempts, and its conversation. */
  const newPending = async (caller: Caller, job_id: string, limits: { cancellable?: true; valid_until?: string }) => {
    const created = timestamp();
    const [phone, id] = [newPhone(), newId()];
    const message: Message = {
      ...{ id, account: caller.account, phone, job_id, payload_type: 'text' },
      ...lifetimeFrom(created),
    };
    await openJob(caller.account, job_id);
    await putIfAbsent(logItem(message, 'sent', created));
    const content = { type: 'text' as const, text: { body: 'Hello' } };
    await addPendingEntries({ direction: 'app', account: caller.account, phone }, [
      { type: 'message.send', message, content, ...limits },
    ]);
    return { id, phone };
  };

  const untilFailed = ({ token }: Caller, id: string, reason: string) =>
    expect
      .poll(async () =>
        (await call('readMessage', { token, path: { id } })).body.states.map(({ state, reason }) => [state, reason]),
      )
      .toEqual([
        ['sent', undefined],
        ['sending_failed', reason],
      ]);

  test('messages of a cancelled job and expired messages fail, and are not shown', async () => {
    const caller = await business();
    const { token } = caller;
    const job_id = randomUUID();
    const pending = await newPending(caller, job_id, { cancellable: true });
    const expiring = await newPending(caller, randomUUID(), { valid_until: new Date(Date.now() + 500).toISOString() });
    await call('cancelJob', { token, path: { job_id } });
    await untilFailed(caller, pending.id, 'cancelled');
    await untilFailed(caller, expiring.id, 'expired');
    for (const { phone } of [pending, expiring]) expect(await shownOn(phone)).toEqual([]);
  });
});

test('the scheduled batches of a cancelled job fail at once', async () => {
  const { token } = await business();
  const send_at = Math.floor(Date.now() / 1_000) + 86_400;
  const scheduled = (count: number) => newPhones(count).map((to) => ({ ...greeting, to, send_at }));
  const { job_id } = (await call('sendMessages', { token, body: scheduled(2) })).body;
  const { body: added } = await call('sendMessages', { token, query: { job_id }, body: scheduled(1) });
  expect(added.job_id).toBe(job_id);
  const job = async () => (await call('readJob', { token, path: { job_id } })).body;
  // The index of pending batches may be behind.
  await expect.poll(job).toMatchObject({ status: 'scheduled', recipients: 3, pending: 3 });
  await call('cancelJob', { token, path: { job_id } });
  await expect.poll(job).toMatchObject({ status: 'cancelled', expanded: 3, pending: 0, states: { sending_failed: 3 } });
});

test('a job is kept as long as its latest message', async () => {
  const caller = await business();
  const job_id = randomUUID();
  await openJob(caller.account, job_id);
  const Key = jobKey(caller.account, job_id);
  const soon = Math.floor(Date.now() / 1_000) + 3_600;
  const [UpdateExpression, ExpressionAttributeValues] = ['SET expires_at = :soon', { ':soon': soon }];
  await update({ Key, UpdateExpression, ExpressionAttributeValues });
  await send(caller, job_id);
  const days = ((await readJob(caller.account, job_id))?.expires_at ?? 0) - Date.now() / 1_000;
  expect(Math.round(days / 86_400)).toBe(91);
});

describe('valid_for', () => {
  test.each([59, 259_201, 60.5, -60, '60', null, true, 1e300])('%j is not valid', async (valid_for) => {
    const { token } = await business();
    const body = { ...text(newPhone()), valid_for: valid_for as number };
    const { status, body: problem } = await fail('sendMessage', { token, body });
    expect(status).toBe(422);
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(['#/valid_for']);
  });

  test.each([60, 259_200])('%i is valid, and is part of the request with an idempotency key', async (valid_for) => {
    const { token } = await business();
    const request = { token, headers: { 'idempotency-key': randomUUID() }, body: { ...text(newPhone()), valid_for } };
    const { id } = (await call('sendMessage', request)).body;
    expect((await call('sendMessage', request)).body).toEqual({ id });
    for (const other of [valid_for - 1, valid_for + 1, undefined].filter((one) => one !== 59 && one !== 259_201)) {
      const body = { ...request.body, valid_for: other };
      expect(await fail('sendMessage', { ...request, body })).toMatchObject({
        body: { code: 'idempotency_key_reused' },
      });
    }
  });

  test('of a message with media that expire earlier is rejected', async () => {
    const { account, token } = await business();
    // A minute of the served stack takes a few seconds.
    const url = `${bridge_url}/media/${await newMedia(account, 60_000)}`;
    const body = { to: newPhone(), type: 'image', image: { url } } as const;
    const { status, body: problem } = await fail('sendMessage', { token, body: { ...body, valid_for: 259_200 } });
    expect(status).toBe(422);
    expect(problem.errors).toEqual([
      { pointer: '#/image/url', detail: expect.stringMatching(/^expires at \S+, before the message does: /) },
    ]);
    await call('sendMessage', { token, body: { ...body, valid_for: 60 } });
  });
});
