/**
 * The cost of rate limits: a counter with one write for each request, leases of ten requests, and the leases of the service,
 * with the same simulated traffic: writes, precision, and waiting.
 */

import { seeded } from '../../infra/local/seeded.ts';
import type { RequestLimit } from '../../shared/accounts/request-limit.ts';
import { listPriceOf } from './prices.ts';
import { simulate, type Terms, type Traffic } from './rate-limit/traffic.ts';
import { type Figure, report, say } from './report.ts';

const limit: RequestLimit = { rate: 100, burst: 200 };

/** What is compared. */
const strategies: Record<string, Terms> = {
  'a counter': { horizon: 0, isEarly: false, pause: 0 },
  'leases of ten': { horizon: 0, min: 10, isEarly: false },
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
  arrivals: Array.from({ length: rate * seconds }, (_, index) => ({
    at: Math.floor(index / rate) * 1_000 + (index % rate),
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

report('Rate limits', await simulated());
