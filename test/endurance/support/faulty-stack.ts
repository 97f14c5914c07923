/** A separate stack with faults in the app network, the workers, the queues and the stream, by the numbers of a seed. */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../../infra/local/aws/database/database.ts';
import type { FaultInjection } from '../../../infra/local/aws/fault-injection.ts';
import { LambdaPool } from '../../../infra/local/aws/lambda/lambda-pool.ts';
import { seeded } from '../../../infra/local/seeded.ts';
import { Meter, noUnits } from '../../bench/meter.ts';
import { serveOwnStack } from '../../stack/support/own-stack.ts';
import type { Caller } from '../../stack/support/world.ts';

/** A third of the calls fail. A share is one of the calls that no earlier rule matched. `after`: after acceptance. */
const FAILING_THIRD = [
  { status: 500, share: 1 / 9 },
  { hang: true, share: 1 / 16 },
  { hang: true, after: true, share: 1 / 15 },
  { drop: true, share: 1 / 14 },
  { drop: true, after: true, share: 1 / 13 },
];

/** How often each fault happened; of kills, by the worker. */
const noFaults = () => ({ Relay: 0, Count: 0, Expand: 0, Deliver: 0, rejected: 0, lost: 0, repeated: 0, batches: 0 });

type Faults = ReturnType<typeof noFaults>;

const faultsOf = (random: () => number, faults: Faults): FaultInjection => ({
  refuseMessage: () => happens(random() < 0.03, 'rejected', faults),
  loseMessage: () => happens(random() < 0.1, 'lost', faults),
  repeatMessage: () => happens(random() < 0.1, 'repeated', faults),
  repeatBatch: ({ size }) => {
    if (!happens(random() <= 0.2, 'batches', faults)) return 'no';
    return random() < 0.5 || size < 2 ? 'whole' : { cutAt: 1 + Math.floor(random() * (size - 1)) };
  },
});

const happens = (does: boolean, name: keyof Faults, faults: Faults): boolean => {
  if (does) faults[name] += 1;
  return does;
};

/**
 * The workers that are killed, and in which share of their invocations: a share of the work, because on a slow machine, kills
 * at intervals would leave no time for it. A campaign has few invocations of `expand`.
 */
const KILLED_SHARES = { Relay: 0.2, Count: 0.2, Expand: 0.5, Deliver: 0.2 };

const KILLED = Object.keys(KILLED_SHARES) as (keyof typeof KILLED_SHARES)[];

/** Milliseconds after which such an invocation is killed, if it has not ended. */
const killAfter = (random: () => number): number => 2_000 ** random();

/** Functions of which one running invocation, the first one, is killed at times. */
const killedFunctions = (random: () => number, isKilling: () => boolean, faults: Faults) =>
  class extends LambdaPool {
    readonly #name: (typeof KILLED)[number] | undefined;

    constructor(...[definition, ...others]: ConstructorParameters<typeof LambdaPool>) {
      super(definition, ...others);
      this.#name = KILLED.find((name) => definition.id.startsWith(`${name}Function`));
    }

    override async invoke(event: unknown): Promise<unknown> {
      const isKilled = this.#name !== undefined && random() < KILLED_SHARES[this.#name];
      const timer = isKilled ? setTimeout(() => this.#crash(), killAfter(random)) : undefined;
      try {
        return await super.invoke(event);
      } finally {
        clearTimeout(timer);
      }
    }

    #crash(): void {
      if (this.#name !== undefined && isKilling()) happens(this.kill(), this.#name, faults);
    }
  };

/** Counts by state. */
export type Counts = Record<string, number>;

/**
 * Serves the stack until the test ends. Prints the seed.
 *
 * @param minute - milliseconds of a minute: with 1,200, an attempt has a time limit of 0.2 s
 */
export const serveFaultyStack = async (name: string, minute: number) => {
  const seed = randomInt(1e9);
  console.info(`seed ${seed}`);
  const random = seeded(seed);
  const faults = noFaults();
  const database = await openDatabase(process.env.DYNAMODB_ENDPOINT || undefined);
  onTestFinished(() => database.close());
  const meter = new Meter(database.endpoint);
  const dynamodbEndpoint = await meter.listen();
  onTestFinished(() => meter.close());
  let isKilling = true;
  const { stack, app } = await serveOwnStack({
    dynamodbEndpoint,
    name,
    minute,
    random,
    faultInjection: faultsOf(random, faults),
    functions: killedFunctions(random, () => isKilling, faults),
    onLine: (source, line) => {
      if (line.includes('"error"') && !line.includes('Runtime.Killed')) process.stderr.write(`${source} ${line}\n`);
    },
  });
  app.faultRules.set(FAILING_THIRD);

  const stats = async (path: string, { token }: Caller): Promise<{ state: string; count: number }[]> => {
    const found: { state: string; count: number }[] = [];
    for (let next: string | undefined = `/v1/stats/${path}`; next !== undefined; ) {
      const response: Response = await fetch(new URL(next, stack.baseUrl), {
        headers: { authorization: `Bearer ${token}` },
      });
      if (response.status !== 204) found.push(...((await response.json()) as { state: string; count: number }[]));
      next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
    return found;
  };

  return {
    /** No worker is killed after this. */
    endKilling: (): void => {
      isKilling = false;
    },
    /** Sends a request as a reliable client does: with an idempotency key, and again after a 5xx. */
    post: async (path: string, { token }: Caller, key: string, body: unknown): Promise<unknown> => {
      for (let left = 10; ; left -= 1) {
        const response = await fetch(`${stack.baseUrl}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
          body: JSON.stringify(body),
        });
        if (response.status === 200) return response.json();
        if (response.status < 500 || left === 0) throw new Error(`POST ${path} returned ${response.status}.`);
        await pause(1_000);
      }
    },
    /** The units of the table since the last call of this method, of all functions. */
    units: () => {
      const total = noUnits();
      const functions = ['sendMessage', 'expand', 'relay', 'deliver', 'count', 'sweep'];
      for (const [caller, { reads, writes, indexes }] of meter.take()) {
        if (!functions.includes(caller)) continue;
        total.reads += reads;
        total.writes += writes;
        total.indexes += indexes;
      }
      return total;
    },
    /** How often workers were killed, and wake-ups and batches of the stream were rejected, lost or repeated. */
    faults: (): Faults => ({ ...faults }),
    /** Calls and messages that the simulated app network received. */
    inbox: app.inbox,
    /** The number of messages on all phones. */
    shown: (): number => app.inbox.phones.reduce((sum, { messages }) => sum + messages, 0),
    /** Log entries of an account. */
    logged: async (caller: Caller): Promise<Counts> => {
      const counts: Counts = {};
      for (const state of ['sent', 'delivered_to_server', 'sending_failed']) {
        const { length } = await stats(`logs?limit=1000&state=${state}`, caller);
        if (length > 0) counts[state] = length;
      }
      return counts;
    },
    /** The counters of an account's jobs. */
    counted: async (caller: Caller): Promise<Counts> => {
      const [today, tomorrow] = [0, 1].map((days) =>
        new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
      );
      const sums: Counts = {};
      for (const { state, count } of await stats(`jobs?start_date=${today}&end_date=${tomorrow}`, caller)) {
        sums[state] = (sums[state] ?? 0) + count;
      }
      return sums;
    },
  };
};
