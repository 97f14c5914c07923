/** The simulated table: what its partitions admit, how they are split, and how an on-demand table grows. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seeded } from '../../../infra/local/seeded.ts';
import { Store } from '../../bench/growth/store.ts';

const QUOTA = 40_000;

const storeOf = (keys: number, more: Partial<ConstructorParameters<typeof Store>[0]> = {}): Store =>
  new Store({ warm: 4_000, quota: QUOTA, perPartition: 1_000, keys, random: seeded(1), ...more });

const loadOf = (spread: number, ...keys: number[]) => ({ spread, keys: Float64Array.from(keys) });

/** Lets a load continue for some seconds. */
const run = (store: Store, load: ReturnType<typeof loadOf>, seconds: number): void => {
  for (let second = 0; second < seconds; second += 10) {
    const { byPartition } = store.admit(load);
    store.pass(
      load,
      byPartition.reduce((total, units) => total + units, 0),
      10,
    );
  }
};

test('no partition exceeds its limit, and the store never exceeds what it handles', () => {
  const units = fc.double({ min: 0, max: 30_000, noNaN: true });
  fc.assert(
    fc.property(fc.integer(), units, fc.array(units, { minLength: 1, maxLength: 40 }), (seed, spread, keys) => {
      const store = storeOf(keys.length, { random: seeded(seed) });
      const load = loadOf(spread, ...keys);
      for (let round = 0; round < 40; round += 1) {
        const { byPartition } = store.admit(load);
        const total = byPartition.reduce((sum, one) => sum + one, 0);
        expect(Math.max(...byPartition)).toBeLessThanOrEqual(1_000 + 1e-6);
        expect(total).toBeLessThanOrEqual(store.allowed + 1e-6);
        store.pass(load, total, 100);
      }
    }),
    { numRuns: 50 },
  );
});

describe('a new table, by hand', () => {
  test('has four partitions of 1,000 units, and admits 4,000 of 6,000 that are spread', () => {
    const store = storeOf(0);
    expect(store.partitions).toBe(4);
    const { spread, byPartition, limit } = store.admit(loadOf(6_000));
    expect(spread).toBeCloseTo(2 / 3);
    expect(byPartition).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(limit).toBe('store');
  });

  test('handles twice its peak after 30 minutes, not earlier, and never more than the quota', () => {
    const store = storeOf(0);
    const load = loadOf(100_000);
    run(store, load, 1_800);
    expect(store.allowed).toBe(4_000);
    run(store, load, 20);
    expect(store.allowed).toBe(8_000);
    run(store, load, 1_820);
    expect(store.allowed).toBe(16_000);
    run(store, load, 4 * 1_820);
    expect(store.allowed).toBe(QUOTA);
    expect(store.partitions).toBeGreaterThanOrEqual(40);
  });

  test('admits 1,000 of 2,000 units of a key whose items are written in their order, also after splits', () => {
    const store = storeOf(1);
    const load = loadOf(0, 2_000);
    expect(store.admit(load).keys[0]).toBeCloseTo(0.5);
    run(store, load, 3_600);
    const { keys, limit } = store.admit(load);
    expect(keys[0]).toBeCloseTo(0.5);
    expect(limit).toEqual({ key: 0 });
  });

  test('splits a partition that is hot for five minutes: a key then has one of its own', () => {
    const store = storeOf(1);
    // The partition of the key has 900 units of it, and 500 of the spread load.
    const load = loadOf(2_000, 900);
    expect(store.admit(load).keys[0]).toBeCloseTo(1_000 / 1_400);
    run(store, load, 290);
    expect(store.partitions).toBe(4);
    run(store, load, 20);
    expect(store.partitions).toBe(5);
    expect(store.admit(load).keys[0]).toBe(1);
  });

  test('divides a key whose items are spread, as often as it has items', () => {
    const store = storeOf(1, { divisible: () => 4 });
    const load = loadOf(0, 8_000);
    run(store, load, 7_200);
    expect(store.allowed).toBeGreaterThanOrEqual(8_000);
    expect(store.admit(load).keys[0]).toBeCloseTo(0.5);
  });
});
