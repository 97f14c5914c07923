/** The tables of the benchmarks. */
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { type Figure, table } from '../bench/report.ts';

const figure = (what: string, value: number, more: Partial<Figure> = {}): Figure => ({
  what,
  value,
  unit: 'ms',
  ...more,
});

test('the table names each figure with its value, spread and goal, and says which goals are missed', () => {
  const rows = table([
    {
      bench: 'latency',
      figures: [
        figure('one by one', 27, { quartiles: [25, 31], goal: { atMost: 30 } }),
        figure('logs', 9, { unit: 's', p99: 11, goal: { atMost: 5 } }),
      ],
    },
  ]);
  const lines = stripVTControlCharacters(rows).split('\n');
  expect(lines.map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))).toEqual([
    'latency',
    'one by one | 27 ms | 25 to 31 | at most 30: met',
    'logs | 9 s | p99 11 | at most 5: missed',
  ]);
});
