/**
 * Sending hours, on the clock of a separate stack: an outage that ends at night, and the change to summer time in that night.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { advanceTo } from '../../../../infra/local/clock/advance.ts';
import { serveMovingStack } from '../../support/moving-clock.ts';
import { newPhone } from '../../support/world.ts';

const BERLIN = { between: ['08:00', '20:00'], time_zone: 'Europe/Berlin' };

/** What the clocks in Berlin show at a time, as `2027-03-28 08:00`. */
const inBerlin = (time: string): string =>
  new Date(time).toLocaleString('sv-SE', { timeZone: BERLIN.time_zone, dateStyle: 'short', timeStyle: 'short' });

test('an outage from 17:00 to 02:00 delivers nothing outside the hours, across the change to summer time', async () => {
  const { app, moving, request } = await serveMovingStack('clock-hours');
  const until = (time: string) => advanceTo(Date.parse(time), moving);
  const [users, many] = [Array.from({ length: 4 }, newPhone), Array.from({ length: 4 }, newPhone)];
  const send = (to: string | string[], more: object = BERLIN) =>
    request<{ id: string }>('/v1/message', { to, type: 'text', text: { body: randomUUID() }, ...more });
  const shownTo = (phone = ''): string[] => app.inbox.shownOn(phone).map(({ data }) => data.id);
  /** When the app network was called with messages, failing calls included. */
  const calls = (): string[] =>
    app.inbox.calls.filter(({ type }) => type === 'message.send').map(({ time }) => inBerlin(time));

  // 17:00 in Berlin, on the day before the change.
  await until('2027-03-27T16:00:00Z');
  app.faultRules.set({ status: 503 });
  for (const phone of users) await send(phone);
  await send(many);
  // 19:59
  await until('2027-03-27T18:59:00Z');
  const { id } = await send(users[0] ?? '');
  // 02:00, when it becomes 03:00.
  await until('2027-03-28T01:00:00Z');
  app.faultRules.set({});
  const failed = calls();
  // Messages were retried: an attempt is two calls.
  expect(failed.length).toBeGreaterThan(2 * (users.length + many.length));
  expect(await request(`/v1/message/${id}`)).toMatchObject({ waits_until: '2027-03-28T06:00:00.000000' });

  // 07:58: only an urgent message is sent.
  await until('2027-03-28T05:58:00Z');
  expect(calls()).toEqual(failed);
  const urgent = await send(users[0] ?? '', { ...BERLIN, urgent: true });
  await until('2027-03-28T05:59:59Z');
  expect(shownTo(users[0])).toEqual([urgent.id]);

  // 08:10
  await until('2027-03-28T06:10:00Z');
  expect(shownTo(users[0])).toEqual([urgent.id, expect.any(String), id]);
  for (const phone of [...users.slice(1), ...many]) expect(shownTo(phone)).toHaveLength(1);
  const outside = calls().filter((time) => time.slice(11) < '08:00' || time.slice(11) >= '20:00');
  expect(outside).toEqual(['2027-03-28 07:58']);
}, 240_000);
