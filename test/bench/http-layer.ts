/**
 * The cost of the HTTP layer for a warm request, compared with a handler without a framework, with Hono, and with the
 * router of Powertools. They alternate in one process, and the figures are ratios of processor time. `BENCH_ROUNDS` sets
 * the rounds.
 *
 * No garbage collection is forced: V8 drops optimized code whose object shapes a full one finds unused, so requests after it
 * would mostly pay for compiling again. `all.ts` runs this file without helper threads of the garbage collector, whose time
 * differs much from run to run.
 */
import type { HttpEvent } from '../../shared/http/event.ts';
import { handler as bare } from './http-layer/bare.ts';
import { type Case, cases } from './http-layer/cases.ts';
import { checkEqual, context, logging } from './http-layer/equality.ts';
import { handler as hono } from './http-layer/hono.ts';
import { handler as ours } from './http-layer/ours.ts';
import { handler as powertools } from './http-layer/powertools.ts';
import type { Handler } from './http-layer/work.ts';
import { type Figure, median, ratios, report, say } from './report.ts';

process.env.BASE_URL = 'https://api.example.com';

const discard = (): void => undefined;

const contestants = { bare, ours, hono, powertools };
type Name = keyof typeof contestants;
const names = Object.keys(contestants) as Name[];

/** Rounds, rounds before them that are not counted, turns of each contestant in a round, and requests in a turn. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 40);
const WARM_UP = 15;
const TURNS = 10;
const REQUESTS = 200;

/**
 * The processor time of some requests in microseconds, of all threads: garbage collection is part of the cost. Other work
 * on the machine does not count. Events are parsed before the measurement, as on Lambda.
 */
const microseconds = async (handler: Handler, event: string): Promise<number> => {
  const events = Array.from({ length: REQUESTS }, (): HttpEvent => JSON.parse(event));
  const start = process.cpuUsage();
  for (const one of events) await handler(one, { ...context });
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/** The mean time of a request in a round, by contestant. In each turn, another one is the first. */
const timeRound = async (event: string): Promise<Record<Name, number>> => {
  const times: Record<Name, number> = { bare: 0, ours: 0, hono: 0, powertools: 0 };
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const index of names.keys()) {
      const name = names[(index + turn) % names.length] ?? 'bare';
      times[name] += (await microseconds(contestants[name], event)) / REQUESTS / TURNS;
    }
  }
  return times;
};

/** Measures all contestants. */
const timeAll = async ({ event }: Case, found: Record<Name, number[]>): Promise<void> => {
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const times = await timeRound(event);
    if (round >= 0) for (const name of names) found[name].push(times[name]);
  }
};

const figures: Figure[] = [];
for (const [title, one] of Object.entries<Case>(cases)) {
  say(`HTTP layer: ${title}`);
  await checkEqual(contestants, one);
  const found: Record<Name, number[]> = { bare: [], ours: [], hono: [], powertools: [] };
  await logging(discard, () => timeAll(one, found));
  const beside = (name: Name, other: Name) => median(ratios(found[name], found[other]));
  figures.push(
    { what: `${title}: ours`, unit: 'µs', ...median(found.ours) },
    { what: 'times a bare handler', unit: '×', ...beside('ours', 'bare'), goal: { atMost: 2 } },
    { what: 'times quicker than Hono', unit: '×', ...beside('hono', 'ours'), goal: { atLeast: one.goals.hono } },
    {
      what: "times quicker than Powertools' router",
      unit: '×',
      ...beside('powertools', 'ours'),
      goal: { atLeast: one.goals.powertools },
    },
  );
}
report('HTTP layer, warm', figures);
