/**
 * The cost of rate limits: a counter with one write for each request, leases of ten requests, and the leases of the service.
 * First the same simulated traffic with each: writes, precision, and waiting. Then the time of a request on the local
 * database, in turns.
 */
import type { Context } from 'aws-lambda';
import { bucketTable } from '../../shared/accounts/rate-limit/bucket.ts';
import { Leases } from '../../shared/accounts/rate-limit/leases.ts';
import type { RequestLimit } from '../../shared/accounts/request-limit.ts';
import { api } from '../../shared/api/index.ts';
import { ok, serve } from '../../shared/http/endpoint.ts';
import type { HttpEvent } from '../../shared/http/event.ts';
import { rateLimit } from '../../shared/http/middleware/rate-limit.ts';
import { createProfiler, readProfiler } from '../../shared/profilers/profilers.ts';
import { seeded } from '../support/seeded.ts';
import { openParts } from './parts.ts';
import { listPriceOf } from './prices.ts';
import { simulate, type Terms, type Traffic } from './rate-limit/traffic.ts';
import { type Figure, median, report, say } from './report.ts';

const limit: RequestLimit = { rate: 100, burst: 200 };

/** What is compared. */
const strategies: Record<string, Terms> = {
  'a counter': { horizon: 0, isEarly: false, pause: 0 },
  'leases of ten': { horizon: 0, least: 10, isEarly: false },
  'our leases': {},
};

/** Requests at random times: so many a second on average, for some seconds, spread over some functions. */
const steady = (rate: number, { functions, seconds }: { functions: number; seconds: number }): Traffic => {
  const random = seeded(rate);
  const arrivals: Traffic['arrivals'] = [];
  for (let at = 0; at < seconds * 1_000; at += (-Math.log(1 - random()) / rate) * 1_000) {
    arrivals.push({ at, name: `function ${Math.floor(random() * functions)}` });
  }
  return { arrivals, limit };
};

const atOnce = (requests: number): Traffic => ({
  arrivals: Array.from({ length: requests }, () => ({ at: 0, name: 'function' })),
  limit,
});

/** Each second begins with its requests. */
const inBursts = (rate: number, seconds: number): Traffic => ({
  arrivals: Array.from({ length: rate * seconds }, (_, place) => ({
    at: Math.floor(place / rate) * 1_000 + (place % rate),
    name: 'function',
  })),
  limit,
});

const traffics: Record<string, Traffic> = {
  'a request in 5 s': steady(0.2, { functions: 1, seconds: 1_000 }),
  '20 a second': steady(20, { functions: 1, seconds: 20 }),
  '20 a second at 20 functions': steady(20, { functions: 20, seconds: 20 }),
  '90 a second at 6 functions': steady(90, { functions: 6, seconds: 20 }),
  '90 at the beginning of each second': inBursts(90, 20),
  '300 a second at 6 functions': steady(300, { functions: 6, seconds: 20 }),
  '150 cold starts at once': atOnce(150),
  '400 cold starts at once': atOnce(400),
};

const simulated = async (): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [what, traffic] of Object.entries(traffics)) {
    for (const [strategy, terms] of Object.entries(strategies)) {
      say(`Rate limits: ${what}, ${strategy}`);
      const { requests, admitted, ideal, writes, waited, excess, processes } = await simulate(traffic, terms);
      const of = `${what}, ${strategy}`;
      figures.push(
        { what: `${of} (${processes} processes): writes a request`, value: writes / requests, unit: 'units' },
        {
          what: 'price of a million requests',
          value: (writes / requests) * listPriceOf('writeUnit') * 1e6,
          unit: 'US$',
        },
        { what: 'admitted, of what one bucket would admit', value: (100 * admitted) / ideal, unit: '%' },
        { what: 'most requests ahead of the limit', value: excess, unit: 'requests' },
        { what: 'mean wait for the limit', value: waited, unit: 'ms' },
      );
    }
  }
  return figures;
};

const ROUNDS = 40;
const REQUESTS = 25;

const context = { getRemainingTimeInMillis: () => 10_000 } as Context;

/** Milliseconds between requests, as the limit sees them: a busy process, and one that is quiet. */
const [BUSY, QUIET] = [20, 3_000];

const measured = async (): Promise<Figure[]> => {
  const parts = await openParts('rate-limit');
  try {
    const { id } = await createProfiler('acme', { question: 'Well?', options: ['yes', 'no'] });
    const eventFor = (account: string) =>
      ({
        routeKey: 'GET /v1/research_profiler/{id}',
        headers: {},
        pathParameters: { id },
        requestContext: {
          requestId: 'bench',
          http: { method: 'GET' },
          authorizer: { lambda: { account, token: 'token', permissions: ['profilers'], ...limit } },
        },
      }) as unknown as HttpEvent;
    const contestant = (account: string, between: number, terms?: Terms) => {
      let time = Date.now();
      const leases = terms && new Leases(bucketTable, terms, () => (time += between));
      const handle = async () => ok(await readProfiler('acme', id));
      const handler = serve(api.readProfiler, handle, leases ? rateLimit('rate_limited', leases) : []);
      return async (): Promise<number> => {
        const start = performance.now();
        for (let request = 0; request < REQUESTS; request += 1) await handler(eventFor(account), context);
        return (performance.now() - start) / REQUESTS;
      };
    };
    const contestants = {
      'no limit': contestant('none', 0),
      'a counter': contestant('counter', QUIET, strategies['a counter']),
      'our leases, quiet process': contestant('quiet', QUIET, strategies['our leases']),
      'our leases, busy process': contestant('busy', BUSY, strategies['our leases']),
    };
    const found = new Map<string, number[]>();
    const { write } = process.stdout;
    process.stdout.write = () => true;
    for (let round = -5; round < ROUNDS; round += 1) {
      for (const [name, run] of Object.entries(contestants)) {
        const time = await run();
        if (round >= 0) found.set(name, [...(found.get(name) ?? []), time]);
      }
    }
    process.stdout.write = write;
    const none = found.get('no limit') ?? [];
    return [...found].flatMap(([name, values]) => [
      { what: `read a profiler, ${name}`, unit: 'ms', ...median(values) },
      ...(name === 'no limit'
        ? []
        : [
            {
              what: 'more than without a limit',
              unit: 'ms',
              ...median(values.map((value, at) => value - (none[at] ?? 0))),
            },
          ]),
    ]);
  } finally {
    await parts.close();
  }
};

report('Rate limits', [...(await simulated()), ...(await measured())]);
