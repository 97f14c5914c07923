/**
 * The same scenario on a clock that jumps, and on one that passes every moment: the logs must be the same. Here, the
 * outage takes most of an hour; `npm run soak:clock` lets it take three days, in twenty minutes.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import type { Outcome } from '../../../../infra/local/simulators/calls.ts';
import { RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { type MovingStack, millisecondsOf, serveMovingStack } from '../../support/moving-clock.ts';
import { newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** How much shorter or longer a step may be. */
const JITTER = 0.2;
const isFull = process.env.OUTAGE === '3d';
/** Attempts that fail until one succeeds. After 15, it is within the three days, whatever the jitter. */
const FAILED = isFull ? 15 : 4;
/** When the other user's message is due: while the first user's waits for its retry. */
const SCHEDULED = 25 * MINUTE;
/** Later than the last step, with its jitter. A message fails at its first attempt after three days. */
const END = isFull ? 81 * HOUR : 90 * MINUTE;
/** How much faster than real time the other clock runs. */
const RATE = isFull ? 600 : 120;

interface Story {
  /** The states of each message, with their reasons. */
  states: string[][];
  /** The status of each call of the app network, for each message. */
  calls: Outcome[][];
  /** Milliseconds from each attempt of the first message to the next one. */
  steps: number[];
}

const newStack = (name: string): Promise<MovingStack> =>
  serveMovingStack(`clock-comparison-${name}`, {
    // The same for all tests, because the table's client of this process reads it once.
    dynamodbEndpoint: inject('stack').dynamodb_endpoint,
  });

/** The states of a message, with their reasons. */
type StatesOf = (id: string) => Promise<string[]>;

/**
 * Sends the messages, lets the time pass, and tells what happened.
 *
 * @param failed - attempts that fail until one succeeds; undefined if all fail
 */
const storyOf = async (
  { app, clock, request }: MovingStack,
  failed: number | undefined,
  pass: (ids: string[], statesOf: StatesOf) => Promise<unknown>,
): Promise<Story> => {
  const phones = [newPhone(), newPhone()];
  // Each attempt is two calls.
  app.faultRules.set({ status: 503, phone: phones[0], ...(failed !== undefined && { times: failed * 2 }) });
  const ids: string[] = [];
  for (const [index, to] of phones.entries()) {
    const send_at = Math.ceil((clock.now() + SCHEDULED) / 1_000);
    const message = { to, type: 'text', text: { body: randomUUID() }, ...(index === 1 && { send_at }) };
    ids.push((await request<{ id: string }>('/v1/message', message)).id);
  }
  const statesOf = async (id: string): Promise<string[]> => {
    const { states } = await request<{ states: { state: string; reason?: string }[] }>(`/v1/message/${id}`);
    return states.map(({ state, reason }) => `${state} ${reason ?? ''}`.trim());
  };
  await pass(ids, statesOf);
  app.faultRules.clear();
  const calls = phones.map((phone) => app.inbox.calls.filter((call) => call.phone === phone));
  const times = (calls[0] ?? []).map(({ time }) => millisecondsOf(time));
  // The second call of an attempt follows the first one.
  const attempts = times.filter((_, index) => index % 2 === 0);
  return {
    states: await Promise.all(ids.map(statesOf)),
    calls: calls.map((some) => some.map(({ status }) => status)),
    steps: attempts.slice(1).map((time, index) => time - (attempts[index] ?? 0)),
  };
};

const hasEnded = (states: string[]): boolean =>
  states.some((state) => /^(delivered_to_server|sending_failed)/.test(state));

/** The same story on both clocks. */
const compare = async (moving: MovingStack, failed?: number): Promise<{ jumped: Story; ran: Story }> => {
  const { clock, advance } = moving;
  const jumped = await storyOf(moving, failed, () => advance(END));
  const ran = await storyOf(moving, failed, async (ids, statesOf) => {
    clock.run(RATE);
    const areEnded = async () => (await Promise.all(ids.map(statesOf))).map(hasEnded);
    await expect.poll(areEnded, { timeout: 1_800_000, interval: 500 }).toEqual([true, true]);
    // Some more, in which nothing else may happen.
    const end = clock.now() + 10 * MINUTE;
    await expect.poll(() => clock.now(), { timeout: 60_000 }).toBeGreaterThan(end);
    clock.run(1);
  });
  expect(ran.states).toEqual(jumped.states);
  for (const { steps } of [jumped, ran]) {
    for (const [index, step] of steps.entries()) expect(step).toBeGreaterThanOrEqual(stepAt(index) * (1 - JITTER));
  }
  // On the clock that jumps, an attempt waits for the next whole minute only, and not for other work.
  for (const [index, step] of jumped.steps.entries())
    expect(step).toBeLessThan(stepAt(index) * (1 + JITTER) + 2 * MINUTE);
  return { jumped, ran };
};

const stepAt = (index: number): number => RETRY_STEPS_MS[Math.min(index, RETRY_STEPS_MS.length - 1)] ?? 0;

test('a clock that jumps and one that runs have the same log of states and attempts', {
  timeout: 2_400_000,
}, async () => {
  const { jumped, ran } = await compare(await newStack('retried'), FAILED);
  expect(jumped.states).toEqual(Array(2).fill(expect.arrayContaining(['sent', 'delivered_to_server'])));
  expect(jumped.calls).toEqual([[...Array(FAILED * 2).fill(503), 204], [204]]);
  expect(ran.calls).toEqual(jumped.calls);
  expect([jumped.steps.length, ran.steps.length]).toEqual([FAILED, FAILED]);
});

if (isFull)
  test('so they have if an outage lasts until the message fails', { timeout: 2_400_000 }, async () => {
    const { jumped, ran } = await compare(await newStack('failed'));
    expect(jumped.states[0]).toEqual(expect.arrayContaining(['sent', expect.stringMatching(/^sending_failed /)]));
    for (const { calls, steps } of [jumped, ran]) {
      expect(calls.map((some) => [...new Set(some)])).toEqual([[503], [204]]);
      // From the number with the longest steps to that with the shortest.
      expect(steps.length).toBeGreaterThanOrEqual(15);
      expect(steps.length).toBeLessThanOrEqual(22);
    }
  });
