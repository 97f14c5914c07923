/**
 * An erasure during the delivery of a conversation, on the clock of a separate stack: messages, log entries, counters.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { listJobs } from '../../../../shared/stats/job-counters.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { serveMovingStack } from '../../support/moving-clock.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

/** The number or the pseudonym in the log entry of a message. */
const contactOf = async (id: string): Promise<string | undefined> => (await messageHistory(id))?.phone;

const statesOf = async (id: string): Promise<string[]> =>
  ((await messageHistory(id))?.states ?? []).map(({ state }) => state);

test('an erasure ends the delivery of pending messages, and the next owner of the number receives only their own', async () => {
  vi.stubEnv('MESSAGE_RETENTION', '90');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { stack, app, advance } = await serveMovingStack('erasure-story');
  const platform = await DestinationServer.start();
  onTestFinished(() => platform.close());
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  await updateAccount(account, { platform: { name: 'webhook', settings: { url: platform.url, secret: SECRET } } });
  const { token } = await issueToken(account, { label: 'test', permissions: ['messages'] });
  const phone = newPhone();
  const post = async (message: object): Promise<unknown> => {
    const response = await fetch(`${stack.baseUrl}/v1/message`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify(message),
    });
    return response.json();
  };
  const text = (body: string) => ({ type: 'text', text: { body } });
  const send = async (body: string): Promise<string> =>
    v.parse(v.object({ id: v.string() }), await post({ to: phone, ...text(body) })).id;
  const shown = async (): Promise<string[]> => {
    const messages = await (await fetch(`${app.phoneUrl}/phones/${phone}/messages`)).json();
    return v.parse(v.array(v.object({ data: v.object({ id: v.string() }) })), messages).map(({ data }) => data.id);
  };

  await registerUser({ phone_number: phone, panelist: false });
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify([{ phone, delay_ms: 600 }]) });
  const [first, second, third] = [await send('one'), await send('two'), await send('three')];
  await expect.poll(shown).toContain(first);
  await expect.poll(() => statesOf(first)).toEqual(['sent', 'delivered_to_server']);
  await eraseUser(phone);

  expect(await statesOf(third)).toEqual(['sent', 'sending_failed']);
  await expect.poll(() => statesOf(second)).toHaveLength(2);
  const [posted, ...others] = (await shown()).filter((id) => id !== first);
  // The second message may have been in an attempt when the erasure began.
  expect([undefined, second]).toContain(posted);
  expect(others).toEqual([]);
  for (const id of [first, second, third]) expect(await statesOf(id)).toHaveLength(2);
  const today = timestamp().slice(0, 10);
  const counted = async (state: string) =>
    (await listJobs(account, today, today)).find((job) => job.state === state)?.count ?? 0;
  await expect.poll(async () => (await counted('delivered_to_server')) + (await counted('sending_failed'))).toBe(3);
  expect(await counted('sent')).toBe(3);

  await registerUser({ phone_number: phone, panelist: false });
  platform.calls.length = 0;
  const own = await send('for the next owner');
  await expect.poll(shown).toContain(own);
  await expect.poll(() => platform.calls.map(({ json }) => json.status.id)).toEqual([own]);
  // A batch waits for its expansion, which looks at the erasure again.
  await post({ to: [phone, newPhone()], priority: 'low', ...text('to many') });
  // The phone may show the second message later, if the erasure began during its attempt.
  const owned = async () => (await shown()).filter((id) => id !== first && id !== second);
  await expect.poll(owned).toEqual([own, expect.any(String)]);
  expect(await owned()).not.toContain(third);
  // The erasure has not ended, so all of this happened during it.
  expect(await getConsistent(erasureKey(phone))).toBeDefined();

  await advance(5 * MINUTE);
  expect(await getConsistent(erasureKey(phone))).toBeUndefined();
  for (const id of [first, second, third]) expect(await contactOf(id)).toMatch(/^erased-/);
  for (const id of await owned()) expect(await contactOf(id)).toBe(phone);
});
