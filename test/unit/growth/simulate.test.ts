/**
 * The simulated service: messages are neither lost nor made, and known cases have known results.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { ASSUMED } from '../../bench/bill.ts';
import { asInstalled, prepared } from '../../bench/growth/deployment.ts';
import { APP_NETWORK_SECONDS, countersOf, countWrites, measured, present, steps } from '../../bench/growth/design.ts';
import { drawCeilings } from '../../bench/growth/picture.ts';
import { behind, besideFlood, firstCeiling, run, variants } from '../../bench/growth/scenarios.ts';
import { shareOut, simulate } from '../../bench/growth/simulate.ts';

const named = (title: string) => {
  const found = variants.find((variant) => variant.title === title);
  if (found === undefined) throw new Error(`There is no variant "${title}".`);
  return found;
};

test.each([
  [10, 1],
  [1_000, 1],
  [3_000, 50],
])('%i messages a second of %i customers are in exactly one place, at any time', (rate, customers) => {
  let [worst, max, checks] = [0, 0, 0];
  for (const deployment of [asInstalled(), prepared(rate)]) {
    simulate(
      deployment,
      present,
      { rate, customers, seconds: 60 },
      {
        check: ({ lost, byPartition: [table = [], reads = [], ...indexes] }) => {
          worst = Math.max(worst, lost / (rate * 60));
          max = Math.max(max, ...table, ...reads.map((units) => units / 3), ...indexes.flat());
          checks += 1;
        },
      },
    );
  }
  expect(checks).toBeGreaterThan(50);
  expect(worst).toBeLessThan(1e-9);
  expect(max).toBeLessThanOrEqual(1_000 + 1e-6);
});

test('a campaign has the pace of its customers, and no limit of requests but for reports', () => {
  const names = (isCampaign: boolean) =>
    simulate({ ...prepared(2_000), accountRate: 500, throttleRate: 500 }, present, {
      rate: 2_000,
      customers: 4,
      seconds: 60,
      isCampaign,
    }).ceilings.map(({ name }) => name);
  expect(names(false)).toContain('requests of the API host');
  expect(names(true)).not.toContain('requests of the API host');
  expect(names(true)).toContain('requests of the bridge host');
  const { ceilings } = simulate(prepared(2_000), present, { rate: 2_000, customers: 4, seconds: 60, isCampaign: true });
  expect(ceilings.map(({ name }) => name)).not.toContain('pace of a campaign');
});

test('few messages meet no limit, and cost what the units of a batch say', () => {
  const { ceilings, finished, writes, indexes } = simulate(prepared(100), present, {
    rate: 100,
    customers: 1,
    seconds: 300,
  });
  expect(ceilings).toEqual([]);
  // Each of four places takes a step of ten seconds.
  expect(finished).toBeLessThanOrEqual(340);
  expect(indexes).toBe(14);
  // 400 log entries a second for 16 workers: 25 in a batch, of which four counters get about six each.
  const [entries, counters] = [25, countersOf(25, 4)];
  expect(counters).toBeCloseTo(4, 1);
  expect(writes).toBeCloseTo(11 + (4 * countWrites(entries, counters)) / entries, 0);
});

test('one message after the other is counted alone: 27 write units, as the benchmark of units measures', () => {
  const { writes } = simulate(prepared(1), present, { rate: 1, customers: 100, seconds: 300 });
  expect(writes).toBeCloseTo(27, 0);
});

test('the units of the steps are those that were measured', () => {
  const units = ({ table, log, due, contact, reads, accountReads, circuitReads }: (typeof steps)['accept']) => ({
    writes: table,
    // The log is in two indexes.
    indexes: 2 * log + due + contact,
    reads: reads + accountReads + circuitReads,
  });
  const found = (name: string, times = 1) => {
    const { writes = 0, indexes = 0, reads = 0 } = measured.get(name) ?? {};
    return { writes: writes / times, indexes: indexes / times, reads: reads / times };
  };
  expect(units(steps.accept)).toEqual(found('sendMessage'));
  expect(units(steps.deliver)).toEqual(found('deliver'));
  expect(units(steps.report)).toEqual(found('receiveAppEvents', 2));
});

test('workers of deliver handle as many messages as their time allows', () => {
  const workers = 50;
  const deployment = { ...prepared(1_000), deliverConcurrency: workers };
  const { rate, ceilings } = simulate(deployment, present, { rate: 1_000, customers: 100, seconds: 600 });
  const { deliver } = present.batches;
  const seconds = APP_NETWORK_SECONDS + (deliver * (measured.get('deliver')?.ms ?? 0)) / ASSUMED.processor / 1_000;
  // The first seconds have no full batches.
  expect(rate / ((workers * deliver) / seconds)).toBeCloseTo(1, 1);
  expect(ceilings.map(({ name }) => name)).toContain('workers of deliver');
});

test("a customer's log accepts 1,000 messages a second for each state, and more with more keys", () => {
  const acceptedWith = (indexShards: number) => {
    const { ceilings, samples } = simulate(
      prepared(20_000),
      { ...present, indexShards },
      {
        rate: 1_500,
        customers: 1,
        seconds: 60,
      },
    );
    return { names: ceilings.map(({ name }) => name), accepted: samples.find(({ at }) => at === 60)?.accepted ?? 0 };
  };
  const [one, four] = [acceptedWith(1), acceptedWith(4)];
  expect(one.names).toContain('log of an account');
  expect(one.accepted).toBeLessThanOrEqual(60_000);
  expect(one.accepted).toBeGreaterThan(50_000);
  expect(four.names).not.toContain('log of an account');
  expect(four.accepted).toBeGreaterThan(80_000);
});

test('workers share what they can do: nobody gets more than needed, and the rest is divided', () => {
  expect([...shareOut(Float64Array.of(1, 5, 100), 30, 50)]).toEqual([1, 5, 24]);
  expect([...shareOut(Float64Array.of(100, 100), 30, 10)]).toEqual([10, 10]);
  expect([...shareOut(Float64Array.of(3, 4), 30, 10)]).toEqual([3, 4]);
});

test.each([
  ['as installed', asInstalled()],
  ['prepared', prepared(1_000)],
])('one customer at twice its limit adds a quarter of a second to the wait of others: %s', (_, deployment) => {
  for (const isCampaign of [false, true]) {
    const { alone, beside } = besideFlood(deployment, isCampaign);
    // A step.
    expect(alone).toBe(0.25);
    expect(beside - alone).toBeLessThanOrEqual(0.25);
  }
});

test('a campaign finds the throughput that the table has, and its messages are in exactly one place', () => {
  let worst = 0;
  const { rate, ceilings } = simulate(
    { ...asInstalled(), accountRate: 500 },
    present,
    { rate: 20, customers: 20, seconds: 120, flood: { rate: 1_000, isCampaign: true } },
    {
      check: ({ lost }) => {
        worst = Math.max(worst, lost);
      },
    },
  );
  // 4,000 write units of the table, of which a message takes 20 and more.
  expect(rate).toBeGreaterThan(60);
  expect(rate).toBeLessThan(200);
  expect(worst).toBeLessThan(1e-3);
  expect(ceilings.map(({ name }) => name)).toContain('a partition of table');
});

test('with one item per counter, counting is behind long after the last message was delivered', () => {
  const [sharded, single] = [run(named('Prepared'), 1, 1_000), run(named('One item per counter'), 1, 1_000)];
  expect(behind(single)).toBeGreaterThan(1.5 * (behind(sharded) ?? Number.POSITIVE_INFINITY));
});

test('the picture has a cell for each rate and number of customers, with the delay and the first limit', () => {
  const cell = run(named('As installed'), 10, 1_000);
  const picture = drawCeilings([cell]);
  expect(picture).toContain('As installed');
  expect(picture).toContain(`>${Math.round((behind(cell) ?? 0) / 60)} min</text>`);
  expect(firstCeiling(cell)?.name).toBe('requests of the API host');
  expect(picture).toContain('>API host</text>');
});
