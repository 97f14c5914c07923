/**
 * The prediction of a load: from measured units to duration, first limit and cost, each with a source.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { measured, present } from '../../bench/growth/design.ts';
import { limits } from '../../bench/growth/limits.ts';
import { COST_PAGE, type Plan, planOf, predict, rateOf, rowsOf, sourceOf } from '../../rehearse/predict.ts';

const usual = { failing: 0, timeout: 60 };

const api: Plan = { messages: 60_000, accounts: 2, profile: 'api', played: 100, ...usual };

/** A message of a campaign, as the benchmark of costs has it: `expand` writes what a request writes for one. */
const expanded = new Map([
  ...measured,
  ['sendMessage', { calls: 0, reads: 0, writes: 0.04, indexes: 0, invocations: 0.0001, ms: 200 }],
  ['expand', { calls: 0, reads: 0.58, writes: 6.04, indexes: 4, invocations: 0.001, ms: 4_000 }],
]);

test('the rate is the pace of all accounts that send at once', () => {
  expect(rateOf(api)).toBe(200);
  expect(rateOf({ ...api, profile: 'campaign', accounts: 3 })).toBe(1_500);
  // Twenty workers expand, each the batches of one account.
  expect(rateOf({ ...api, profile: 'campaign', accounts: 1_000 })).toBe(10_000);
});

test('messages that are sent one by one cost what the page on costs says, less what batches of `count` save', () => {
  const [, { result }] = predict({ ...api, messages: 600, accounts: 60 }, measured);
  expect(result.cost / COST_PAGE.api).toBeGreaterThan(0.85);
  expect(result.cost / COST_PAGE.api).toBeLessThan(1.05);
});

test('a campaign costs what the page on costs says, and what batches of `count` that are not full cost more', () => {
  const [, { result }] = predict({ messages: 1e6, accounts: 20, profile: 'campaign', played: 400, ...usual }, expanded);
  expect(result.cost / COST_PAGE.campaign).toBeGreaterThan(0.9);
  expect(result.cost / COST_PAGE.campaign).toBeLessThan(1.15);
});

test('a stack that is prepared is not slower than one as it is installed', () => {
  const [installed, prepared] = predict({ ...api, accounts: 4 }, measured);
  expect(installed.first).toBeDefined();
  expect(prepared.result.delivered).toBeLessThan(installed.result.delivered ?? 0);
});

test('each number has a source, and each limit the page or setting that it comes from', () => {
  const plan: Plan = { messages: 1e5, accounts: 5, profile: 'campaign', played: 400, ...usual };
  const rows = rowsOf(plan, expanded, predict(plan, expanded));
  expect(rows.map(({ what }) => what)).toContain('as installed: first limit');
  expect(rows.filter(({ source }) => source === '')).toEqual([]);
  expect(sourceOf('writes of table')).toBe(limits.newWrites.source);
  expect(sourceOf('log of an account')).toBe(limits.partitionWrites.source);
  expect(sourceOf('requests of the bridge host')).toBe('setting throttleRate');
  expect(present.indexShards).toBe(1);
  const failing = rowsOf({ ...plan, failing: 0.33 }, expanded, predict(plan, expanded));
  expect(failing.map(({ source }) => source)).toContain('this run of 400 messages, 33 % of calls failing');
});

describe('options', () => {
  const given = { messages: '1e6', accounts: '20', profile: 'campaign', played: '400', failing: '0', timeout: '60' };

  test('are numbers in any notation, and no more messages are played than there are', () => {
    expect(planOf(given)).toEqual({ messages: 1_000_000, accounts: 20, profile: 'campaign', played: 400, ...usual });
    expect(planOf({ ...given, messages: '50' }).played).toBe(50);
  });

  test.each([
    [{ messages: 'many' }, '--messages must be a whole number from 1 to 1,000,000,000.'],
    [{ accounts: '0' }, '--accounts must be a whole number from 1 to 1,000.'],
    [{ played: '1.5' }, '--played must be a whole number from 1 to 10,000.'],
    [{ failing: '1.1' }, '--failing must be a number from 0 to 1.'],
    [{ failing: 'half' }, '--failing must be a number from 0 to 1.'],
    [{ timeout: '0' }, '--timeout must be a whole number from 1 to 600.'],
    [{ profile: 'party' }, '--profile must be one of: api, campaign.'],
  ])('%o is rejected', (wrong, message) => {
    expect(() => planOf({ ...given, ...wrong })).toThrow(message);
  });
});
