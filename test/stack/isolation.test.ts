/** What one account's trouble means to others. */
import { expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../shared/accounts.ts';
import { call } from './support/client.ts';
import { untilShown, write } from './support/phones.ts';
import { hang, Receiver } from './support/receiver.ts';
import { newCaller, newPhone } from './support/world.ts';

test('a receiver that never answers holds at most 16 workers of its account, and delays nobody else', async () => {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  receiver.answers = [hang];
  const { account } = await newCaller('messages');
  const bot = newPhone();
  const settings = { url: receiver.url, secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
  await updateAccount(account, { bot_number: bot, platform: { name: 'webhook', settings } });
  await Promise.all(Array.from({ length: 40 }, (_, place) => write(newPhone(), bot, `${place}`)));
  await expect.poll(() => receiver.calls.length).toBeGreaterThan(8);

  const { token } = await newCaller('messages');
  const to = newPhone();
  await call('sendMessage', { token, body: { to, type: 'text', text: { body: 'Hello' } } });
  await untilShown(to, 1);
  expect(receiver.most).toBeLessThanOrEqual(16);
  expect(receiver.most).toBeGreaterThan(1);
});
