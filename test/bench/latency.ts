/**
 * The latency of messages on the local stack, one by one, and of 50 conversations at the same time; and of users who write to an
 * echo on the simulated RapidPro and receive its replies. Four stacks take turns: with the wake-ups that endpoints send, and
 * with those of `relay` alone, each as fast as this machine, and with the delays of AWS (`infra/local/aws/latency.ts`). Each
 * draws from the same random numbers. Writes the picture of `performance.md`. `BENCH_ROUNDS` sets the rounds.
 */
import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../../infra/local/aws/database/database.ts';
import { LambdaPool } from '../../infra/local/aws/lambda/lambda-pool.ts';
import { Latency } from '../../infra/local/aws/latency.ts';
import { seeded } from '../../infra/local/seeded.ts';
import type { PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import { FrontDoor, newPhone, textTo } from './front-door.ts';
import { drawBudget } from './latency/picture.ts';
import { type Figure, quantile, report, say, times } from './report.ts';
import { openWhole, type Whole } from './whole.ts';

/** Rounds; of a round: messages and round trips one by one; conversations, and messages of each. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 8);
const SINGLES = 25;
const CONVERSATIONS = 50;
const MESSAGES = 4;
/** Users who chat at the same time, and the average of their pauses. */
const USERS = { count: 10, pauseMs: 1_500 };

/** Milliseconds between two looks at a phone. */
const LOOK = { alone: 2, together: 25 };

const SEED = 1;

const PICTURE = fileURLToPath(new URL('../../infra/docs/pictures/latency.svg', import.meta.url));

/** Ids of the workers that send wake-ups. */
const WAKERS = /^(Relay|Deliver|Expand|Sweep)/;

/** A function that finds no queue, unless it is a worker. */
class WithoutWakeUps extends LambdaPool {
  constructor(...[definition, environment, ...rest]: ConstructorParameters<typeof LambdaPool>) {
    const { QUEUE_URL: _, ...others } = environment;
    super(definition, WAKERS.test(definition.id) ? environment : others, ...rest);
  }
}

const shownOn = async ({ simulators }: Whole, phone: string): Promise<PhoneMessage[]> => {
  const response = await fetch(`${simulators.app.phoneUrl}/phones/${phone}/messages`);
  return (await response.json()) as PhoneMessage[];
};

/** Milliseconds from `start` until a phone shows so many messages. */
const shownAfter = async (whole: Whole, phone: string, count: number, start: number, look: number): Promise<number> => {
  for (;;) {
    const shown = await shownOn(whole, phone);
    const last = shown.at(-1);
    if (shown.length >= count && last !== undefined) return Math.max(Date.parse(last.received) - start, 0);
    await pause(look);
  }
};

/** Sends a message, and waits until the phone shows so many. Returns the milliseconds from its acceptance to its delivery. */
const latencyOf = async (whole: Whole, to: string, count: number, look: number): Promise<number> => {
  await new FrontDoor(whole.stack, whole.demo).send('sendMessage', { body: textTo(to) });
  return shownAfter(whole, to, count, Date.now(), look);
};

/** Writes to the echo, and returns the milliseconds until the phone shows so many messages: its reply is the last one. */
const roundTrip = async (whole: Whole, phone: string, count: number): Promise<number> => {
  const { simulators, demo } = whole;
  const start = Date.now();
  const response = await fetch(`${simulators.app.phoneUrl}/phones/${phone}/messages`, {
    method: 'POST',
    body: JSON.stringify({ to: demo.bot_phone_number, text: `Hello ${count}` }),
  });
  if (!response.ok) throw new Error(`The phone was answered ${response.status}: ${await response.text()}`);
  return shownAfter(whole, phone, count, start, LOOK.alone);
};

const oneByOne = async (measure: () => Promise<number>): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < SINGLES; done += 1) found.push(await measure());
  return found;
};

const conversations = async (whole: Whole): Promise<number[]> => {
  const found: number[] = [];
  await Promise.all(
    Array.from({ length: CONVERSATIONS }, async () => {
      const to = newPhone();
      for (let count = 1; count <= MESSAGES; count += 1) {
        found.push(await latencyOf(whole, to, count, LOOK.together));
      }
    }),
  );
  return found;
};

/** Users who each write, receive the reply, and pause before they write again. */
const users = async (whole: Whole): Promise<number[]> => {
  const found: number[] = [];
  await Promise.all(
    Array.from({ length: USERS.count }, async () => {
      const phone = newPhone();
      for (let count = 1; count <= MESSAGES; count += 1) {
        await pause(Math.random() * 2 * USERS.pauseMs);
        found.push(await roundTrip(whole, phone, count));
      }
    }),
  );
  return found;
};

const SINGLE = 'accepted to delivered, one by one';

const kinds = {
  [SINGLE]: (whole: Whole) => oneByOne(() => latencyOf(whole, newPhone(), 1, LOOK.alone)),
  [`accepted to delivered, ${CONVERSATIONS} conversations at the same time`]: conversations,
  'user to RapidPro to user, one by one': (whole: Whole) => oneByOne(() => roundTrip(whole, newPhone(), 1)),
  [`user to RapidPro to user, ${USERS.count} at the same time`]: users,
};

/** The stacks by name, which also names their tables: who wakes conversations, and how fast AWS is. */
const stacks = {
  'relay alone': { functions: WithoutWakeUps },
  'endpoints, too': {},
  'relay alone, delays of AWS': { functions: WithoutWakeUps, latency: new Latency(seeded(SEED)) },
  'endpoints, too, delays of AWS': { latency: new Latency(seeded(SEED)) },
};

// One for all, because the table's client of this process calls one.
const database = await openDatabase(process.env.DYNAMODB_ENDPOINT || undefined);
const opened = new Map<string, Whole>();
try {
  for (const [name, options] of Object.entries(stacks)) {
    const tableName = name.replaceAll(/\W+/g, '-');
    opened.set(name, await openWhole(database.endpoint, {}, { ...options, tableName }));
  }
  const found = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    say(round === 0 ? 'latency: starts the threads of all functions' : `latency: round ${round} of ${ROUNDS}`);
    for (const [kind, measure] of Object.entries(kinds)) {
      for (const [name, whole] of opened) {
        const values = await measure(whole);
        const what = `${kind}: ${name}`;
        say(`  ${what}: ${quantile(values, 0.5).toFixed(0)} ms`);
        if (round > 0) found.set(what, [...(found.get(what) ?? []), ...values]);
      }
    }
  }
  const medianOf = (name: keyof typeof stacks): number => quantile(found.get(`${SINGLE}: ${name}`) ?? [], 0.5);
  const ways = [
    { title: 'woken by relay alone', isRelayed: true, own: medianOf('relay alone') },
    { title: 'woken by the endpoint', isRelayed: false, own: medianOf('endpoints, too') },
  ];
  const all = [medianOf('relay alone, delays of AWS'), medianOf('endpoints, too, delays of AWS')];
  await writeFile(PICTURE, drawBudget(ways.map((way, index) => ({ ...way, all: all[index] ?? 0 }))));
  report(
    'latency',
    [...found].map(([what, values]): Figure => times(what, values)),
  );
} finally {
  for (const whole of opened.values()) await whole.close();
  await database.close();
}
