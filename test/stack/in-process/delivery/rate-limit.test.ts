/**
 * @module-tag long
 *
 * A rate limit of a platform, on a separate stack: delivery uses most of the limit.
 */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { type OwnStack, serveOwnStack } from '../../support/own-stack.ts';
import { newBusiness, newPhone } from '../../support/world.ts';

/** Milliseconds of a minute. It is long because Turn returns the end of its window in whole seconds. */
const MINUTE = 15_000;
const USERS = 15;
const LIMIT = 5;

/** A new account whose number at Turn accepts `limit` calls a minute. */
const openNumber = async ({ turn, demo }: OwnStack, limit: number) => {
  const [channel, token] = [randomUUID(), 'token-of-the-customer'];
  turn.addNumber(channel, { token, bridge_token: demo.token, limit });
  const { bot } = await newBusiness({ name: 'turn', settings: { url: turn.url, channel, token } });
  return {
    write: (body: string) =>
      receiveMessage(randomUUID(), { from: newPhone(), to: bot, type: 'text' as const, text: { body } }),
    received: () => (turn.channels[channel]?.received ?? []).map(({ text }) => text),
  };
};

test('15 messages of as many users to a platform with 5 calls a minute arrive within 4 minutes', async () => {
  vi.stubEnv('MESSAGE_RETENTION', '90');
  onTestFinished(() => void vi.unstubAllEnvs());
  const own = await serveOwnStack({ name: 'rate-limit', minute: MINUTE });
  // Exclude cold starts from the measurement.
  const other = await openNumber(own, 60);
  await other.write('first');
  await expect.poll(other.received).toEqual(['first']);

  const number = await openNumber(own, LIMIT);
  const texts = Array.from({ length: USERS }, (_, index) => `from user ${index}`);
  await Promise.all(texts.map(number.write));
  await expect.poll(() => number.received().length).toBeGreaterThan(0);
  const start = Date.now();
  await expect.poll(() => number.received().toSorted(), { timeout: 5 * MINUTE }).toEqual(texts.toSorted());
  const minutes = (Date.now() - start) / MINUTE;
  // The limit itself takes two. With one probe after each pause, and a wait for the next sweep, it was more than five.
  expect(minutes).toBeLessThan(4);
});
