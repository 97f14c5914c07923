/**
 * `npm run soak`: sends thousands of messages in both directions through the local stack for minutes. The platform of
 * one account fails and recovers. No message may be lost, duplicated or out of order, and memory must not grow. The
 * report contains the effect on other accounts. No test runs the soak, and it connects only to this machine.
 *
 * Prints errors and exits with 1 if a check fails.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Book, type Phase } from './book.ts';
import { check } from './checks.ts';
import type { Mood } from './destination-servers.ts';
import type { Sample } from './figures.ts';
import { figuresOf, say, show } from './report.ts';
import { rssOf } from './served-stack.ts';
import { settings } from './settings.ts';
import { Traffic } from './traffic.ts';
import { accountAt, openWorld, type World } from './world.ts';

/** When the platform of one account stops responding, closes, and recovers: as a share of all messages. */
const TURNS: { at: number; phase: Phase; mood: Mood }[] = [
  { at: 0.02, phase: 'before', mood: 'well' },
  { at: 0.4, phase: 'silent', mood: 'silent' },
  { at: 0.6, phase: 'gone', mood: 'gone' },
  { at: 0.8, phase: 'after', mood: 'well' },
];
/** Intervals in milliseconds between measurements of memory, and between lines of progress. */
const LOOK = { memory: 10_000, progress: 30_000 };
/** Minutes of the service without an arrival after which the soak stops waiting. A circuit opens for up to ten. */
const PATIENCE = 15;

const stopping = new AbortController();
const stopped = new Error('Stopped.');
process.once('SIGINT', () => stopping.abort(stopped));
const deadline = AbortSignal.timeout(settings.deadline * 60_000);
const signal = AbortSignal.any([deadline, stopping.signal]);

const book = new Book(accountAt(0));

/** Measures until `over` is aborted. */
const watch = async ({ stack, database }: World, over: AbortSignal): Promise<Sample[]> => {
  const samples: Sample[] = [];
  let told = Date.now();
  let collected = -1;
  while (!over.aborted) {
    // Threads collect garbage once in each tenth of the run, because more collections would affect the latencies.
    const tenth = Math.floor((book.messages.length * 10) / settings.messages);
    const seen = await stack.measure({ collect: tenth > collected });
    collected = tenth;
    const pid = database.pid;
    const sample = { ...seen, at: Date.now(), begun: book.messages.length, taken: book.takenCount };
    samples.push({ ...sample, database: pid === undefined ? undefined : rssOf(pid) });
    if (Date.now() - told >= LOOK.progress) {
      told = Date.now();
      say(
        `${sample.begun} begun, ${sample.taken} delivered, ${stack.late} late answers of the database, ${stack.errors.length} errors in the log`,
      );
    }
    await pause(LOOK.memory, undefined, { signal: over }).catch(() => undefined);
  }
  return samples;
};

/** Waits until `isSo` returns true, while `progress` still changes. Returns whether the condition became true. */
const until = async (isSo: () => boolean | Promise<boolean>, progress: () => number): Promise<boolean> => {
  let [last, since] = [progress(), Date.now()];
  while (!(await isSo())) {
    if (progress() !== last) [last, since] = [progress(), Date.now()];
    if (signal.aborted || Date.now() - since > PATIENCE * settings.minute) return false;
    await pause(200, undefined, { signal }).catch(() => undefined);
  }
  return true;
};

const haveAllCome = async (): Promise<void> => {
  await until(
    () => book.takenCount === book.messages.length,
    () => book.takenCount,
  );
};

/** Sends all messages, changes the behaviour of one platform meanwhile, and waits for messages in progress. */
const send = async (traffic: Traffic, { destinations }: World): Promise<void> => {
  const due = [...TURNS];
  const turning: Promise<void>[] = [];
  const reached = (count: number): void => {
    const [next] = due;
    if (next === undefined || count < next.at * settings.messages) return;
    due.shift();
    say(`${count} begun: the platform of ${book.dying} is ${next.mood}`);
    book.enter(next.phase);
    turning.push(destinations.turn(book.dying, next.mood));
  };
  await traffic.run(reached, haveAllCome);
  await Promise.all(turning);
};

/** Descriptions of messages left in queues, after platforms received all statuses or progress stopped. */
const leftInQueues = async ({ stack }: World, shown: number): Promise<string[]> => {
  const states = book.messages.filter(({ direction }) => direction === 'app').length + shown;
  let left: [string, number][] = [];
  const isQuiet = async (): Promise<boolean> => {
    left = Object.entries((await stack.measure({ collect: false })).queues).filter(([, count]) => count > 0);
    return left.length === 0 && book.states.size >= states;
  };
  await until(isQuiet, () => book.states.size);
  return left.map(([queue, count]) => `The queue ${queue} holds ${count} messages.`);
};

const soak = async (): Promise<boolean> => {
  let traffic: Traffic | undefined;
  const world = await openWorld(book, (message) => traffic?.show(message));
  try {
    const { accounts, database, stack } = world;
    traffic = new Traffic(book, { ...settings, ...world, signal });
    say(`${settings.messages} messages, ${settings.conversations} conversations, ${accounts.size} accounts,`);
    say(`at most ${settings.rate} a second, over ${database.name}`);
    const over = new AbortController();
    const watching = watch(world, over.signal).catch((error: Error) => {
      stopping.abort(error);
      return [];
    });
    const wrong: string[] = [];
    await send(traffic, world).catch((error: Error) => {
      stopping.abort(error);
      if (!deadline.aborted) throw error;
      wrong.push('It ended at its deadline.');
    });
    over.abort();
    const samples = await watching;
    wrong.push(...(await leftInQueues(world, traffic.shown.size)));
    wrong.push(...(await check({ ...world, book, shown: traffic.shown })));
    wrong.push(...book.faults, ...stack.errors.map((line) => `Error in the log: ${line}`));
    const figures = figuresOf({ book, samples, failures: traffic.failures, late: stack.late });
    await show(figures, wrong);
    return wrong.length === 0 && figures.memory.flat;
  } finally {
    await world.close();
  }
};

const isWell = await soak().catch((error: unknown) => {
  if (signal.reason !== stopped) throw error;
  say(stopped.message);
  return false;
});
process.exitCode = isWell ? 0 : 1;
