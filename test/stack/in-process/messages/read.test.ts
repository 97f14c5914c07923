/**
 * GET /v1/message/{id}: the states of a message.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { type LogItem, logItem, reasonCodes, states } from '../../../../shared/outbox/message.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { call, fail } from '../../support/client.ts';
import { putAll } from '../../support/many-items.ts';
import { report, untilShown, write } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const UNKNOWN = '01a1fb03-12ca-717f-b32e-2aa3133ef832';

const send = async ({ token }: Caller, to: string) =>
  (await call('sendMessage', { token, body: { to, type: 'text', text: { body: 'Hello' } } })).body;

const read = async ({ token }: Caller, id: string) => (await call('readMessage', { token, path: { id } })).body;

describe('GET /v1/message/{id}', () => {
  test('shows each state of a message once it is reached, oldest first, with the contact and the job of the logs', async () => {
    const caller = await newCaller('messages', 'stats');
    const to = newPhone();
    const { id } = await send(caller, to);
    expect((await read(caller, id)).states[0]).toEqual({ state: 'sent', created: expect.any(String) });
    await untilShown(to, 1);
    const reached = async () => (await read(caller, id.toUpperCase())).states.map(({ state }) => state);
    await expect.poll(reached).toEqual(['sent', 'delivered_to_server']);
    await report(id, 'read');
    await expect.poll(reached).toEqual(['sent', 'delivered_to_server', 'read']);

    const logs = (await call('listLogs', { token: caller.token, query: { contact: to } })).body ?? [];
    const { states: shown, ...message } = await read(caller, id);
    expect(logs.toReversed()).toEqual(shown.map((state) => ({ ...message, ...state })));
  });

  test('shows a message from a user', async () => {
    const caller = await newCaller('messages', 'stats');
    const [bot, user] = [newPhone(), newPhone()];
    await updateAccount(caller.account, { bot_number: bot });
    await write(user, bot, 'Hi');
    const logs = async () => (await call('listLogs', { token: caller.token })).body ?? [];
    await expect.poll(async () => (await logs()).length).toBe(1);
    const [entry] = await logs();
    expect(await read(caller, entry?.id ?? '')).toMatchObject({
      contact: `${user}@users.example.com`,
      payload_type: 'text',
      states: [{ state: 'received', created: entry?.created }],
    });
  });

  test('shows the reason of a failure, and leaves out the words of the app network', async () => {
    const caller = await newCaller('messages');
    const [reason_code] = reasonCodes;
    const message = { id: UNKNOWN.replace('01a1', '02b2'), account: caller.account, phone: newPhone() };
    const items = ['sent', 'delivery_failed'].map((state): LogItem => {
      const known = states.find((one) => one === state) ?? 'sent';
      const item = logItem({ ...message, job_id: UNKNOWN, payload_type: 'text', ...lifetime }, known, timestamp());
      return known === 'sent' ? item : { ...item, reason_code, reason: 'No space on the phone' };
    });
    await putAll(items);
    expect((await read(caller, message.id)).states).toEqual([
      { state: 'sent', created: items[0]?.created },
      { state: 'delivery_failed', created: items[1]?.created, reason: reason_code },
    ]);
  });

  test("returns the same bytes of a 404 for another account's, expired, unknown and malformed ids", async () => {
    const [owner, other] = await Promise.all([newCaller('messages'), newCaller('messages')]);
    const { id } = await send(owner, newPhone());
    const expired = UNKNOWN.replace('01a1', '03c3');
    const gone = { id: expired, account: other.account, phone: newPhone(), job_id: UNKNOWN, payload_type: 'text' };
    await putAll([logItem({ ...gone, ...lifetime, expires_at: 1 }, 'sent', timestamp())]);
    const bytesOf = async (one: string) => {
      const { status, body } = await fail('readMessage', { token: other.token, path: { id: one } });
      const { trace_id: _, ...rest } = body;
      return JSON.stringify([status, rest]);
    };
    const unknown = await bytesOf(UNKNOWN);
    expect(unknown).toContain('"message_not_found"');
    for (const one of [id, expired, 'x', 'x'.repeat(3_000), '%00']) expect(await bytesOf(one), one).toBe(unknown);
    expect(await read(owner, id)).toMatchObject({ id });
  });
});
