/** The whole pipeline with faults in the app network, the workers, the queues and the stream. */
import { expect, test } from 'vitest';
import { type Caller, newCaller, newPhone } from '../stack/support/world.ts';
import { serveFaultyStack } from './support/faulty-stack.ts';

const ACCOUNTS = 4;
const CONVERSATIONS = 20;
const MESSAGES = 300;

const text = (body: string) => ({ type: 'text', text: { body } });

test('300 messages in 20 conversations arrive in order and are counted once, with faults in every part', async () => {
  const { post, inbox, shown, logged, counted, endKilling, faults } = await serveFaultyStack('faults', 1_200);
  const callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => newCaller('messages', 'stats')));
  const conversations = Array.from({ length: CONVERSATIONS }, (_, index) => ({
    caller: callers[index % ACCOUNTS] as Caller,
    phone: newPhone(),
  }));
  const each = MESSAGES / CONVERSATIONS;
  await Promise.all(
    conversations.map(async ({ caller, phone }) => {
      for (let index = 0; index < each; index += 1) {
        await post('/v1/message', caller, `${phone} ${index}`, { to: phone, ...text(`${index}`) });
      }
    }),
  );

  await expect.poll(shown, { timeout: 420_000, interval: 250 }).toBe(MESSAGES);
  for (const { phone } of conversations) {
    const messages = inbox.shownOn(phone);
    expect(messages.map(({ data }) => 'text' in data && (data.text as { body: string }).body)).toEqual(
      Array.from({ length: each }, (_, index) => `${index}`),
    );
    // Each message has one id, however often it was delivered.
    expect(new Set(messages.map(({ data }) => data.id)).size).toBe(each);
  }
  const { calls } = inbox;
  expect(calls.some(({ status }) => status !== 204)).toBe(true);
  expect(new Set(calls.map(({ webhook_id }) => webhook_id)).size).toBe(MESSAGES);
  endKilling();
  // Only campaigns are expanded.
  expect(Object.entries(faults()).filter(([name, times]) => times === 0 && name !== 'Expand')).toEqual([]);
  console.info(JSON.stringify(faults()));

  for (const caller of callers) {
    const expected = { sent: MESSAGES / ACCOUNTS, delivered_to_server: MESSAGES / ACCOUNTS };
    // The last states are logged by the successor of a killed worker.
    await expect.poll(() => logged(caller), { timeout: 90_000 }).toEqual(expected);
    await expect.poll(() => counted(caller), { timeout: 90_000 }).toEqual(expected);
  }
}, 780_000);
