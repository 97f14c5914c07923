/** The tables of the benchmarks. */
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { beside, type Figure, table } from '../bench/report.ts';

const figure = (what: string, value: number, more: Partial<Figure> = {}): Figure => ({
  what,
  value,
  unit: 'ms',
  ...more,
});

const report = (...figures: Figure[]) => ({ bench: 'latency', figures });

test('a figure has the value of the earlier version beside it, and one that is new has none', () => {
  const found = beside(report(figure('one by one', 27), figure('new', 1)), report(figure('one by one', 31)));
  expect(found.figures.map(({ before }) => before)).toEqual([31, undefined]);
  expect(beside(report(figure('one by one', 27)), undefined).figures[0]).not.toHaveProperty('before');
});

test('parts with one name count below the figure before them, in both versions', () => {
  const now = report(figure('single sends', 46), figure('  table', 25), figure('campaigns', 37), figure('  table', 20));
  const earlier = report(figure('campaigns', 47), figure('  table', 30));
  expect(beside(now, earlier).figures.map(({ before }) => before)).toEqual([undefined, undefined, 47, 30]);
});

test('the table names each figure with its value, spread, earlier value and goal, and says which goals are missed', () => {
  const rows = table([
    report(
      figure('one by one', 27, { quartiles: [25, 31], before: 30, goal: { atMost: 30 } }),
      figure('logs', 9, { unit: 's', p99: 11, goal: { atMost: 5 } }),
    ),
  ]);
  const lines = stripVTControlCharacters(rows).split('\n');
  expect(lines.map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))).toEqual([
    'latency',
    'one by one | 27 ms | 25 to 31 | before: 30 | at most 30: met',
    'logs | 9 s | p99 11 | at most 5: missed',
  ]);
});
