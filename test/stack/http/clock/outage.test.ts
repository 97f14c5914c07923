/**
 * An outage of three days, on the clock of a separate stack: the message is attempted at the times of its retries.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { millisecondsOf, serveMovingStack } from '../../support/moving-clock.ts';
import { newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The steps from one retry to the next, in minutes. The last one repeats. */
const STEPS = [1, 2, 10, 30, 60, 120, 240, 360];

test('during an outage of three days, a message is attempted at the times of its retries, and fails at the end', async () => {
  const { app, clock, advance, request } = await serveMovingStack('clock-outage');
  const phone = newPhone();
  app.faultRules.set({ status: 503 });
  const attempts: number[] = [];
  app.changes.watch(() => {
    for (let next = attempts.length; next < app.inbox.sentTo(phone).length; next += 1) attempts.push(clock.now());
  });
  const begin = clock.now();
  const message = { to: phone, type: 'text', text: { body: randomUUID() } };
  const { id } = await request<{ id: string }>('/v1/message', message);
  const stops = await advance(4 * 24 * HOUR);

  const { states } = await request<{ states: { state: string; created: string; reason?: string }[] }>(
    `/v1/message/${id}`,
  );
  expect(states).toMatchObject([{ state: 'sent' }, { state: 'sending_failed', reason: 'unreachable' }]);
  const hours = (millisecondsOf(states.at(-1)?.created ?? '') - begin) / HOUR;
  expect(hours).toBeGreaterThanOrEqual(72);
  // The last step is six hours, and up to a fifth longer.
  expect(hours).toBeLessThan(72 + 7.3);
  // At most two stops for each retry: its time, and the second attempt 1.5 s later.
  const fewest = STEPS.length + (72 - STEPS.reduce((sum, step) => sum + step, 0) / 60) / 7.2;
  expect(stops).toBeGreaterThan(fewest);
  expect(stops).toBeLessThan(60);
});
