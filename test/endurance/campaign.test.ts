/**
 * A campaign with faults in the app network, the workers, the queues and the stream. `npm run soak:campaign` runs it with
 * 10,000 recipients.
 */
import { expect, test } from 'vitest';
import { newCaller } from '../stack/support/world.ts';
import { serveFaultyStack } from './support/faulty-stack.ts';

const RECIPIENTS = Number(process.env.SOAK_RECIPIENTS ?? 300);
/** Milliseconds until all messages are on the phones, at least. */
const TIMEOUT_MS = Math.max(RECIPIENTS * 900, 600_000);

/** Different numbers: as many random ones might contain a duplicate. */
const to = Array.from({ length: RECIPIENTS }, (_, index) => `4477${10_000_000 + index * 7}`);

const seconds = (since: number): number => Math.round((Date.now() - since) / 1_000);

test(`${RECIPIENTS} recipients of one request get the message once each and are counted once, with faults in every part`, {
  timeout: TIMEOUT_MS + 300_000,
}, async () => {
  const stack = await serveFaultyStack('campaign', 2_500);
  const { post, inbox, shown, logged, counted, endKilling } = stack;
  const caller = await newCaller('messages', 'stats');
  stack.units();
  const start = Date.now();
  const sent = await post('/v1/message', caller, 'campaign', { to, type: 'text', text: { body: 'Hello' } });
  expect(sent).toMatchObject({ messages: RECIPIENTS });
  const accepted = seconds(start);

  await expect.poll(shown, { timeout: TIMEOUT_MS, interval: 2_000 }).toBe(RECIPIENTS);
  const delivered = seconds(start);
  for (const phone of to) expect(inbox.shownOn(phone)).toHaveLength(1);
  const { calls } = inbox;
  const failed = calls.filter(({ status }) => status !== 204).length;
  expect(failed).toBeGreaterThan(0);
  expect(new Set(calls.map(({ webhook_id }) => webhook_id)).size).toBe(RECIPIENTS);
  endKilling();
  expect(Object.entries(stack.faults()).filter(([, times]) => times === 0)).toEqual([]);
  const expected = { sent: RECIPIENTS, delivered_to_server: RECIPIENTS };
  await expect.poll(() => logged(caller), { timeout: 120_000, interval: 2_000 }).toEqual(expected);
  await expect.poll(() => counted(caller), { timeout: 120_000, interval: 2_000 }).toEqual(expected);
  const { reads, writes, indexes } = stack.units();
  const unitsOfEach = { reads: reads / RECIPIENTS, writes: writes / RECIPIENTS, indexes: indexes / RECIPIENTS };
  // Entry and head of each message take four, its log entry and its delivery two each.
  expect(unitsOfEach.writes).toBeGreaterThan(8);
  const figures = { recipients: RECIPIENTS, accepted, delivered, counted: seconds(start), calls: calls.length, failed };
  console.info(JSON.stringify({ ...figures, unitsOfEach, ...stack.faults() }));
});
