/**
 * Generated requests to each operation of the API description: valid ones, and ones with every kind of error. They are
 * derived from the description, so the test includes each new endpoint.
 *
 * It sends 4,000 requests, other ones in each run, or `HOSTILE_REQUESTS=200000`. A failed run prints the simplest request
 * with a wrong response, as a shell command, and the `HOSTILE_SEED` that repeats the same requests.
 *
 * @module-tag long
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { changedAssembly, type Resources } from '../../support/changed-assembly.ts';
import { serveOwnStack } from '../../support/own-stack.ts';
import { wholeTable } from '../../support/whole-table.ts';
import { type Operation, operations } from '../hostile/description.ts';
import type { Kind } from '../hostile/kind.ts';
import { intact, kinds } from '../hostile/kinds.ts';
import { violationIn } from '../hostile/promises.ts';
import { wellFormed } from '../hostile/well-formed.ts';
import { type Send, type Sent, sender, toLine } from '../hostile/wire.ts';
import { makeWorld, type World } from '../hostile/world.ts';

const REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? 4_000);
const SEED = Number(process.env.HOSTILE_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** The share of all requests that is sent again, twice, after a rejection. */
const AGAIN = 0.1;
/** The largest body, in bytes, of a request that is sent again. */
const LARGEST_AGAIN = 100_000;
/** Intact requests of an operation, at most, until one succeeds. */
const ATTEMPTS = 200;
/** The operation that never succeeds: no caller has the token of a session, which would work only once. */
const ENDING = 'endSession';
/** Passes over the rejected requests, at most, until all of a pass are rejected. */
const PASSES = 6;
/** Operations that are called at the same time, one request each. With more, the local stack starts more threads. */
const LANES = 4;

/** Removes what invokes functions without a request, so that only requests write to the table. */
const removeTriggers = (resources: Resources): void => {
  for (const [id, { Type }] of Object.entries(resources))
    if (Type === 'AWS::Lambda::EventSourceMapping' || Type === 'AWS::Events::Rule') delete resources[id];
};

/** One kind of input to one operation. */
interface Cell {
  name: string;
  operation: Operation;
  kind: Kind;
  runs: number;
  seed: number;
}

const share = ({ share: given = 1 }: Kind): number => given;

const cellsFor = (requests: number): Cell[] => {
  const pairs = operations.flatMap((operation) =>
    Object.entries(kinds)
      .filter(([, kind]) => kind.applies(operation))
      .map(([name, kind]) => ({ name: `${operation.id}: ${name}`, operation, kind })),
  );
  const whole = pairs.reduce((sum, { kind }) => sum + share(kind), 0);
  const first = requests * (1 - 2 * AGAIN);
  return pairs.map((pair, index) => ({
    ...pair,
    runs: Math.max(1, Math.round((first * share(pair.kind)) / whole)),
    seed: SEED + index,
  }));
};

/** Does `work` for all, several operations at a time, and one after the other within an operation. */
const inLanes = async <One extends { operation: Operation }>(
  all: readonly One[],
  work: (one: One) => Promise<void>,
): Promise<void> => {
  const left = Map.groupBy(all, ({ operation }) => operation.id).values();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const ofOperation of left) for (const one of ofOperation) await work(one);
    }),
  );
};

/** Counts requests, and collects rejected ones. */
class Tally {
  readonly rejected: Sent[] = [];
  /** Ids of the operations with a successful response. */
  readonly succeeded = new Set<string>();
  readonly sent = new Map<string, number>();

  note(cell: Cell, sent: Sent, status: number): void {
    const count = (this.sent.get(cell.name) ?? 0) + 1;
    this.sent.set(cell.name, count);
    if (status < 400) this.succeeded.add(cell.operation.id);
    else if (count <= cell.runs * AGAIN + 1 && (sent.body?.length ?? 0) < LARGEST_AGAIN) this.rejected.push(sent);
  }
}

/** Sends the requests of a cell, and checks each response. Returns the simplest request with a wrong one, if any. */
const tryCell = async (cell: Cell, world: World, send: Send, tally: Tally): Promise<string[]> => {
  const requests = cell.kind.make(wellFormed(cell.operation, world), world);
  const property = fc.asyncProperty(requests, async (sent) => {
    const answer = await send(sent);
    tally.note(cell, sent, answer.status);
    const violation =
      violationIn(sent, answer, world) ??
      (cell.kind.rejected && answer.status < 400 ? 'the request is not rejected' : undefined);
    if (violation !== undefined)
      throw new Error(`${violation}\n${answer.status} ${answer.type}\n${answer.body.slice(0, 2_000)}`);
  });
  const { failed, counterexample, errorInstance } = await fc.check(property, { seed: cell.seed, numRuns: cell.runs });
  if (!failed) return [];
  const [sent] = counterexample ?? [];
  return [`${cell.name}: ${errorInstance}\n${sent && toLine(sent, world.named)}`];
};

/**
 * Sends intact requests of an operation until one succeeds. Requests are random, so a short run may contain none of an
 * operation that can succeed, for example for a property that needs no approval.
 */
const succeeds = async (operation: Operation, world: World, send: Send): Promise<boolean> => {
  // An optional field may be one that the data of the world does not meet; of some, one is needed.
  const fields = ['required only', 'some optional'] as const;
  const requests = fc.oneof(...fields.map((some) => intact.make(wellFormed(operation, world, some), world)));
  for (const sent of fc.sample(requests, { seed: SEED, numRuns: ATTEMPTS }))
    if ((await send(sent)).status < 400) return true;
  return false;
};

/** Sends requests again. Returns those that were rejected again. */
const rejectedAgain = async (rejected: readonly Sent[], send: Send): Promise<Sent[]> => {
  const again: Sent[] = [];
  await inLanes(rejected, async (sent) => {
    if ((await send(sent)).status >= 400) again.push(sent);
  });
  return again;
};

/** Token buckets of rate limits, and daily allowances: they count rejected requests too. */
const COUNTED = ['RATE#', 'ALLOWANCE#'];

/** The items of the table, one per line. */
const readTable = async (): Promise<Set<string>> =>
  new Set((await wholeTable()).filter((line) => !COUNTED.some((prefix) => line.includes(`"pk":{"S":"${prefix}`))));

/**
 * Expects that rejected requests change nothing. A request that was rejected may succeed now, because of another one, and
 * again after a pass in which another one succeeded. So the last pass counts: it accepts none.
 */
const expectNoChange = async (rejected: readonly Sent[], send: Send): Promise<void> => {
  let left = rejected;
  for (let pass = 0; pass < PASSES; pass++) {
    const before = await readTable();
    const again = await rejectedAgain(left, send);
    if (again.length === left.length) {
      const changed = [...before.symmetricDifference(await readTable())].map((line) => JSON.parse(line));
      expect(changed.map(({ pk, sk }) => `${pk.S} ${sk.S}`)).toEqual([]);
      return;
    }
    left = again;
  }
  expect.fail(`In each of ${PASSES} passes over the rejected requests, some were accepted.`);
};

test(`${REQUESTS} hostile requests return documented responses without other accounts' data, and change nothing if rejected`, {
  timeout: 120_000 + REQUESTS * 20,
}, async () => {
  const cells = cellsFor(REQUESTS);
  const assembly = changedAssembly(removeTriggers);
  const own = await serveOwnStack({ name: 'hostile-input', minute: 60_000, assembly, throttles: false });
  const world = await makeWorld(own);
  const { send, close } = sender({ base: own.stack.baseUrl, bridge: own.stack.bridgeUrl });
  onTestFinished(close);

  const tally = new Tally();
  const wrong: string[] = [];
  await inLanes(cells, async (cell) => void wrong.push(...(await tryCell(cell, world, send, tally))));
  expect(wrong.join('\n\n'), `HOSTILE_SEED=${SEED} HOSTILE_REQUESTS=${REQUESTS}`).toBe('');
  // If an operation never succeeds, the world lacks its data.
  const failing = operations.filter(({ id }) => !tally.succeeded.has(id) && id !== ENDING);
  for (const operation of failing)
    expect(await succeeds(operation, world, send), `${operation.id}, HOSTILE_SEED=${SEED}`).toBe(true);
  expect(cells.map(({ name }) => name).filter((name) => !tally.sent.has(name))).toEqual([]);

  await expectNoChange(tally.rejected, send);
});
