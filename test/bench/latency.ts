/**
 * The latency of messages on the local stack, from the response of the API to the call of the app network: one message after
 * the other, and of 50 conversations at the same time. `BENCH_ROUNDS` sets the rounds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import { FrontDoor, newPhone } from './front-door.ts';
import { say, times } from './report.ts';
import { demo, measure, simulators, stack } from './support.ts';
import { textTo } from './typical-requests.ts';

/** Rounds; messages one by one; conversations, and messages of each. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 8);
const SINGLES = 25;
const CONVERSATIONS = 50;
const MESSAGES = 4;

/** Milliseconds between two looks at a phone. */
const LOOK = { alone: 2, together: 25 };

const door = new FrontDoor(stack, demo);

/** Sends a message, and waits until the phone shows so many. Returns the milliseconds from its acceptance to its delivery. */
const latencyOf = async (to: string, count: number, look: number): Promise<number> => {
  await door.send('sendMessage', { body: textTo(to) });
  const accepted = Date.now();
  for (;;) {
    const response = await fetch(`${simulators.app.phoneUrl}/phones/${to}/messages`);
    const shown = (await response.json()) as PhoneMessage[];
    const last = shown.at(-1);
    if (shown.length >= count && last !== undefined) return Math.max(Date.parse(last.received) - accepted, 0);
    await pause(look);
  }
};

const oneByOne = async (): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < SINGLES; done += 1) found.push(await latencyOf(newPhone(), 1, LOOK.alone));
  return found;
};

const conversations = async (): Promise<number[]> => {
  const found: number[] = [];
  await Promise.all(
    Array.from({ length: CONVERSATIONS }, async () => {
      const to = newPhone();
      for (let count = 1; count <= MESSAGES; count += 1) found.push(await latencyOf(to, count, LOOK.together));
    }),
  );
  return found;
};

await measure('latency', async () => {
  // Starts the threads of all functions.
  await oneByOne();
  await conversations();
  const [singles, together]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    say(`latency: round ${round + 1} of ${ROUNDS}`);
    singles.push(...(await oneByOne()));
    together.push(...(await conversations()));
  }
  return [
    times('accepted to delivered, one by one', singles),
    times(`accepted to delivered, ${CONVERSATIONS} conversations at the same time`, together),
  ];
});
