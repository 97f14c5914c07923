/**
 * The same scenario on a clock that jumps, and on one that passes every moment: the logs must be the same.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../infra/local/simulators/calls.ts';
import { type MovingStack, millisecondsOf, serveMovingStack } from '../support/moving-clock.ts';
import { newPhone } from '../support/world.ts';

const MINUTE = 60_000;
/** Calls that fail: two for each of five attempts. */
const FAILURES = 10;
/** The steps of the retries until the first attempt that succeeds, and how much shorter or longer they may be. */
const STEPS = [1, 2, 10, 30, 60].map((minutes) => minutes * MINUTE);
const JITTER = 0.2;
/** When the other user's message is due: while the first user's waits for its retry. */
const SCHEDULED = 25 * MINUTE;
/** Later than the last step, with its jitter. */
const END = 3 * 60 * MINUTE;
/** How much faster than real time the other clock runs. */
const RATE = 120;

interface Story {
  /** The states of each message, with their reasons. */
  states: string[][];
  /** The status of each call of the app network, for each message. */
  calls: Outcome[][];
  /** Milliseconds from each attempt of the first message to the next one. */
  steps: number[];
}

/** Sends the messages, lets the time pass, and tells what happened. */
const storyOf = async (moving: MovingStack, pass: (phones: string[]) => Promise<unknown>): Promise<Story> => {
  const { app, clock, request } = moving;
  const phones = [newPhone(), newPhone()];
  app.faultRules.set({ status: 503, phone: phones[0], times: FAILURES });
  const ids: string[] = [];
  for (const [place, to] of phones.entries()) {
    const send_at = Math.ceil((clock.now() + SCHEDULED) / 1_000);
    const message = { to, type: 'text', text: { body: randomUUID() }, ...(place === 1 && { send_at }) };
    ids.push((await request<{ id: string }>('/v1/message', message)).id);
  }
  await pass(phones);
  const messages = await Promise.all(
    ids.map((id) => request<{ states: { state: string; reason?: string }[] }>(`/v1/message/${id}`)),
  );
  const calls = phones.map((phone) => app.inbox.calls.filter((call) => call.phone === phone));
  const times = (calls[0] ?? []).map(({ time }) => millisecondsOf(time));
  // The second call of an attempt follows the first one.
  const attempts = times.filter((_, place) => place % 2 === 0);
  return {
    states: messages.map(({ states }) => states.map(({ state, reason }) => `${state} ${reason ?? ''}`.trim())),
    calls: calls.map((some) => some.map(({ status }) => status)),
    steps: attempts.slice(1).map((time, place) => time - (attempts[place] ?? 0)),
  };
};

test('a clock that jumps and one that runs have the same log of states and attempts', async () => {
  const moving = await serveMovingStack('clock-comparison');
  const { app, clock, advance } = moving;
  const jumped = await storyOf(moving, () => advance(END));
  const ran = await storyOf(moving, async (phones) => {
    clock.run(RATE);
    // Until each message is on its phone, and some more, in which nothing else may happen.
    await expect
      .poll(() => phones.map((phone) => app.inbox.shownOn(phone).length), { timeout: 600_000 })
      .toEqual([1, 1]);
    const end = clock.now() + 10 * MINUTE;
    await expect.poll(() => clock.now(), { timeout: 60_000 }).toBeGreaterThan(end);
    clock.run(1);
  });

  expect(jumped.states).toEqual(Array(2).fill(expect.arrayContaining(['sent', 'delivered_to_server'])));
  expect(jumped.calls).toEqual([[...Array(FAILURES).fill(503), 204], [204]]);
  expect({ states: ran.states, calls: ran.calls }).toEqual({ states: jumped.states, calls: jumped.calls });
  for (const { steps } of [jumped, ran]) {
    expect(steps).toHaveLength(STEPS.length);
    for (const [place, step] of STEPS.entries()) expect(steps[place]).toBeGreaterThanOrEqual(step * (1 - JITTER));
  }
  // On the clock that jumps, an attempt waits for the next whole minute only, and not for other work.
  for (const [place, step] of STEPS.entries())
    expect(jumped.steps[place]).toBeLessThan(step * (1 + JITTER) + 2 * MINUTE);
}, 900_000);
