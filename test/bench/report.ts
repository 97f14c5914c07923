/** What was measured, as a table for people and as data for `all.ts`, where that runs the benchmark. */
import { styleText } from 'node:util';

/** One thing that was measured. */
export interface Figure {
  what: string;
  value: number;
  unit: string;
  /** The quartiles beside a median. */
  quartiles?: readonly [number, number];
  p99?: number;
  goal?: { atMost: number } | { atLeast: number };
}

export interface Report {
  bench: string;
  figures: Figure[];
}

/** Shows what a benchmark found. */
export const report = (bench: string, figures: Figure[]): void => {
  if (process.send) process.send({ bench, figures } satisfies Report);
  else process.stdout.write(`${table([{ bench, figures }])}\n`);
};

/** Says what goes on, while it does. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The value that this share of all is below. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
};

/** The median with its quartiles. */
export const median = (values: readonly number[]): Pick<Figure, 'value' | 'quartiles'> => ({
  value: quantile(values, 0.5),
  quartiles: [quantile(values, 0.25), quantile(values, 0.75)],
});

/** What is a median of times, in milliseconds, with its slowest hundredth. */
export const times = (what: string, values: readonly number[]): Figure => ({
  what: `${what} (${values.length})`,
  value: quantile(values, 0.5),
  p99: quantile(values, 0.99),
  unit: 'ms',
});

/** How many times as much each value is as the one that was measured beside it. */
export const ratios = (values: readonly number[], others: readonly number[]): number[] =>
  values.map((value, place) => value / (others[place] ?? Number.NaN));

export const isMet = ({ value, goal }: Figure): boolean | undefined =>
  goal && ('atMost' in goal ? value <= goal.atMost : value >= goal.atLeast);

/** All figures, a line each. */
export const table = (reports: Report[]): string => {
  const rows = reports.flatMap(({ bench, figures }) => [
    { cells: [bench, '', '', ''], met: undefined },
    ...figures.map((figure) => ({ cells: cellsOf(figure), met: isMet(figure) })),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0)));
  return rows
    .map(({ cells, met }) => {
      const line = cells.map((cell, column) =>
        column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0),
      );
      return met === false ? styleText('red', line.join('  ').trimEnd()) : line.join('  ').trimEnd();
    })
    .join('\n');
};

const cellsOf = (figure: Figure): string[] => {
  const { what, value, unit, quartiles, p99, goal } = figure;
  const spread = quartiles ? `${short(quartiles[0])} to ${short(quartiles[1])}` : p99 ? `p99 ${short(p99)}` : '';
  const wanted = goal && ('atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`);
  return [
    `  ${what}`,
    `${short(value)} ${unit}`,
    spread,
    wanted ? `${wanted}: ${isMet(figure) ? 'met' : 'missed'}` : '',
  ];
};

/** Three digits that count, or all before the point. */
const short = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
