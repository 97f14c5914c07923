/**
 * Traffic of one account through processes as Lambda starts them: each handles one request at a time, and a request for which
 * no process of its function is idle starts another one.
 */

import { seeded } from '../../../infra/local/seeded.ts';
import { type BucketTable, takeTokens } from '../../../shared/accounts/rate-limit/bucket.ts';
import { Leases } from '../../../shared/accounts/rate-limit/leases.ts';
import type { RequestLimit } from '../../../shared/accounts/request-limit.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { VirtualTime } from '../../support/virtual-time.ts';

const ACCOUNT = 'acme';

/** Milliseconds: a write of the table, a cold start, and what a handler takes besides. */
const WRITE = 5;
const COLD_START = 300;
const HANDLER = { min: 20, max: 40 };

export interface Traffic {
  /** Requests: when each arrives, in milliseconds after the start, and at which function. */
  arrivals: { at: number; name: string }[];
  limit: RequestLimit;
}

export type Terms = ConstructorParameters<typeof Leases>[1];

export interface Outcome {
  requests: number;
  admitted: number;
  /** What one bucket that sees all requests as they arrive would admit. */
  ideal: number;
  writes: number;
  processes: number;
  /** Milliseconds that admitted requests waited for the limit, on average. */
  waited: number;
  /** The most requests by which those admitted were ahead of the limit. */
  excess: number;
}

interface Process {
  isBusy: boolean;
  leases: Leases;
}

/** Sends the traffic through processes with these terms of their leases. */
export const simulate = async ({ arrivals, limit }: Traffic, terms: Terms): Promise<Outcome> => {
  const time = new VirtualTime();
  const memory = new MemoryBuckets();
  const table = slowed(memory, time);
  const random = seeded(1);
  const fleet = new Map<string, Process[]>();
  const admittedAt: number[] = [];
  let waited = 0;
  const start = time.now;

  const processOf = async (name: string): Promise<Process> => {
    const processes = fleet.get(name) ?? [];
    fleet.set(name, processes);
    const idle = processes.find(({ isBusy }) => !isBusy);
    if (idle) return Object.assign(idle, { isBusy: true });
    const process = { isBusy: true, leases: new Leases(table, terms, () => Math.floor(time.now)) };
    processes.push(process);
    await time.sleep(COLD_START);
    return process;
  };

  const handle = async ({ name }: Traffic['arrivals'][number]): Promise<void> => {
    const process = await processOf(name);
    const asked = time.now;
    const admission = await process.leases.admit(ACCOUNT, limit);
    if (admission.isAdmitted) {
      admittedAt.push(time.now);
      waited += time.now - asked;
      await Promise.all([time.sleep(HANDLER.min + random() * (HANDLER.max - HANDLER.min)), admission.renewal]);
    }
    process.isBusy = false;
  };

  const handled: Promise<void>[] = [];
  for (const arrival of arrivals) {
    await time.runUntil(start + arrival.at);
    handled.push(handle(arrival));
  }
  await time.runUntil(time.now + 60_000);
  await Promise.all(handled);
  return {
    requests: arrivals.length,
    admitted: admittedAt.length,
    ideal: await admittedIdeally(
      arrivals.map(({ at }) => start + at),
      limit,
    ),
    writes: memory.writes,
    processes: [...fleet.values()].flat().length,
    waited: waited / admittedAt.length,
    excess: excessOf(admittedAt, limit),
  };
};

/** The same buckets, as far away as a table. */
const slowed = (table: BucketTable, time: VirtualTime): BucketTable => {
  const slow =
    <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await time.sleep(WRITE / 2);
      const result = await call(...given);
      await time.sleep(WRITE / 2);
      return result;
    };
  return { refill: slow(table.refill), spend: slow(table.spend) };
};

const admittedIdeally = async (arrivals: number[], limit: RequestLimit): Promise<number> => {
  const table = new MemoryBuckets();
  let emptyAt: number | undefined;
  let admitted = 0;
  for (const at of arrivals) {
    const taken = await takeTokens(table, ACCOUNT, limit, { wanted: 1, emptyAt, clock: () => Math.floor(at) });
    emptyAt = taken.emptyAt;
    admitted += taken.tokens;
  }
  return admitted;
};

/** How far a bucket without a bottom is below zero at the worst, if it is emptied by these requests. */
const excessOf = (admitted: number[], { rate, burst }: RequestLimit): number => {
  let [level, last, worst] = [burst, admitted[0] ?? 0, 0];
  for (const at of admitted) {
    level = Math.min(burst, level + ((at - last) * rate) / 1_000) - 1;
    last = at;
    worst = Math.max(worst, -level);
  }
  return Math.max(0, Math.round(worst));
};
