/**
 * @module-tag long
 *
 * An erasure during the delivery of a conversation, on a separate stack: sent messages, log entries and counters.
 */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../infra/operator/queries/message-history.ts';
import { issueToken } from '../../../infra/operator/queries/tokens-admin.ts';
import { registerUser } from '../../../infra/operator/queries/users-admin.ts';
import { timestamp } from '../../../shared/core/clock.ts';
import { listJobs } from '../../../shared/stats/job-counters.ts';
import { getConsistent } from '../../../shared/table/client.ts';
import { erasureKey } from '../../../shared/table/keys.ts';
import { eraseUser } from '../../../shared/user-data/erasure.ts';
import { DestinationServer } from '../support/destination-server.ts';
import { serveOwnStack } from '../support/own-stack.ts';
import { newAccountId, newPhone } from '../support/world.ts';

/** The length of a minute in this stack, in milliseconds. An attempt may take two seconds. */
const MINUTE = 12_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

const statesOf = async (id: string): Promise<string[]> =>
  ((await messageHistory(id))?.states ?? []).map(({ state }) => state);

test('an erasure ends the delivery of pending messages, and the next owner of the number receives only their own', async () => {
  vi.stubEnv('MINUTE', String(MINUTE));
  vi.stubEnv('MESSAGE_RETENTION', '90');
  onTestFinished(() => void vi.unstubAllEnvs());
  const lines: string[] = [];
  const { stack, app } = await serveOwnStack({
    name: 'erasure-story',
    minute: MINUTE,
    onLine: (_, line) => void lines.push(line),
  });
  const platform = await DestinationServer.start();
  onTestFinished(() => platform.close());
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  await updateAccount(account, { platform: { name: 'webhook', settings: { url: platform.url, secret: SECRET } } });
  const { token } = await issueToken(account, { label: 'test', permissions: ['messages'] });
  const phone = newPhone();
  const send = async (body: string): Promise<string> => {
    const response = await fetch(`${stack.baseUrl}/v1/message`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ to: phone, type: 'text', text: { body } }),
    });
    return v.parse(v.object({ id: v.string() }), await response.json()).id;
  };
  const shown = async (): Promise<string[]> => {
    const messages = await (await fetch(`${app.phoneUrl}/phones/${phone}/messages`)).json();
    return v.parse(v.array(v.object({ data: v.object({ id: v.string() }) })), messages).map(({ data }) => data.id);
  };
  const workersDone = () => lines.filter((line) => line.includes('"message":"deliver"')).length;

  await registerUser({ phone_number: phone, panelist: false });
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify([{ phone, delay_ms: 600 }]) });
  const [first, second, third] = [await send('one'), await send('two'), await send('three')];
  await expect.poll(shown).toContain(first);
  await expect.poll(() => statesOf(first)).toEqual(['sent', 'delivered_to_server']);
  await eraseUser(phone);
  const done = workersDone();

  expect(await statesOf(third)).toEqual(['sent', 'sending_failed']);
  await expect.poll(workersDone).toBeGreaterThan(done);
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
  expect(await shown()).not.toContain(third);
  // The erasure has not ended, so all of this happened during it.
  expect(await getConsistent(erasureKey(phone))).toBeDefined();
});
