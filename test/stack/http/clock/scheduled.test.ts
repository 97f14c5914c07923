/**
 * A scheduled message, on the clock of a separate stack.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { millisecondsOf, serveMovingStack } from '../../support/moving-clock.ts';
import { newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test('a scheduled message arrives at its time, on the clock of the stack, and not before', async () => {
  const { app, clock, advance, request } = await serveMovingStack('clock-scheduled');
  const phone = newPhone();
  const send_at = Math.floor((clock.now() + 20 * DAY) / 1_000);
  const message = { to: phone, type: 'text', text: { body: randomUUID() }, send_at };
  const { id } = await request<{ id: string }>('/v1/message', message);
  const statesOf = async () =>
    (await request<{ states: { state: string; created: string }[] }>(`/v1/message/${id}`)).states;

  await advance(20 * DAY - HOUR);
  expect(app.inbox.shownOn(phone)).toEqual([]);
  expect(await statesOf()).toEqual([expect.objectContaining({ state: 'scheduled' })]);

  await advance(2 * HOUR);
  expect(app.inbox.shownOn(phone)).toHaveLength(1);
  const delivered = (await statesOf()).find(({ state }) => state === 'delivered_to_server');
  const late = millisecondsOf(delivered?.created ?? '') - send_at * 1_000;
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThan(2 * MINUTE);
});
