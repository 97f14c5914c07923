/**
 * An outage of three days, on the clock of a separate stack: the message is attempted at the times of its retries.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { LIFETIME_MS, RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { millisecondsOf, serveMovingStack } from '../../support/moving-clock.ts';
import { newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** How much shorter or longer a step may be. */
const JITTER = 0.2;

const LIFETIME = LIFETIME_MS / HOUR;
/** Hours of the last step, which repeats. */
const LAST = (RETRY_STEPS_MS.at(-1) ?? 0) / HOUR;
/** Retries until the end, if all pauses are this much longer or shorter. */
const retriesAt = (factor: number): number => {
  const all = RETRY_STEPS_MS.reduce((sum, step) => sum + step, 0) / HOUR;
  return RETRY_STEPS_MS.length + (LIFETIME / factor - all) / LAST;
};

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
  const stops = await advance(LIFETIME_MS + 24 * HOUR);

  const { states } = await request<{ states: { state: string; created: string; reason?: string }[] }>(
    `/v1/message/${id}`,
  );
  expect(states).toMatchObject([{ state: 'sent' }, { state: 'sending_failed', reason: 'unreachable' }]);
  const hours = (millisecondsOf(states.at(-1)?.created ?? '') - begin) / HOUR;
  expect(hours).toBeGreaterThanOrEqual(LIFETIME);
  expect(hours).toBeLessThan(LIFETIME + LAST * (1 + JITTER) + 0.1);
  // At most two stops for each retry: its time, and the second attempt 1.5 s later.
  expect(stops).toBeGreaterThan(retriesAt(1 + JITTER) - 1);
  expect(stops).toBeLessThan(2 * (retriesAt(1 - JITTER) + 1));
});
