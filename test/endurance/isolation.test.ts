/** The effect of one account's slow destination on other accounts. */
import { expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { DestinationServer, hang } from '../stack/support/destination-server.ts';
import { serveOwnStack } from '../stack/support/own-stack.ts';
import { newCaller, newPhone } from '../stack/support/world.ts';

/** Milliseconds of a minute. An attempt takes 7 s, in which the maximum number of workers starts. */
const MINUTE = 42_000;

test('a destination that never responds occupies at most 16 workers, and delays no other account', async () => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  destination.answers = [hang];
  const { stack, app } = await serveOwnStack({ name: 'isolation', minute: MINUTE });
  const { account } = await newCaller('messages');
  const bot = newPhone();
  const settings = { url: destination.url, secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
  await updateAccount(account, { bot_number: bot, platform: { name: 'webhook', settings } });

  const write = (index: number) =>
    fetch(`${app.phoneUrl}/phones/${newPhone()}/messages`, {
      method: 'POST',
      body: JSON.stringify({ to: bot, text: `${index}` }),
    });
  await Promise.all(Array.from({ length: 60 }, (_, index) => write(index)));
  await expect.poll(() => destination.max).toBeGreaterThan(8);

  const { token } = await newCaller('messages');
  const to = newPhone();
  await fetch(`${stack.baseUrl}/v1/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, type: 'text', text: { body: 'Hello' } }),
  });
  await expect.poll(() => app.inbox.shownOn(to).length).toBe(1);
  // When an attempt is repeated, the first attempts are over, and every possible worker has started.
  const ids = () => destination.calls.map(({ headers }) => headers['webhook-id']);
  await expect.poll(() => new Set(ids()).size < ids().length).toBe(true);
  expect(destination.max).toBeLessThanOrEqual(16);
  expect(destination.max).toBeGreaterThan(1);
});
