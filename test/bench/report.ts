/** Reports measurements: as a table on stdout, or as data to `all.ts` if it runs the benchmark. */
import { styleText } from 'node:util';

/** One measured value. */
export interface Figure {
  what: string;
  value: number;
  unit: string;
  /** The quartiles, if `value` is a median. */
  quartiles?: readonly [number, number];
  p99?: number;
  goal?: { atMost: number } | { atLeast: number };
}

export interface Report {
  bench: string;
  figures: Figure[];
}

/** Reports the figures of a benchmark. */
export const report = (bench: string, figures: Figure[]): void => {
  if (process.send) process.send({ bench, figures } satisfies Report);
  else process.stdout.write(`${table([{ bench, figures }])}\n`);
};

/** Prints a line of progress on stderr. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The quantile of the values: `share` of them are below it. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
};

/** The median with its quartiles. */
export const median = (values: readonly number[]): Pick<Figure, 'value' | 'quartiles'> => ({
  value: quantile(values, 0.5),
  quartiles: [quantile(values, 0.25), quantile(values, 0.75)],
});

/** The median and the 99th percentile of times in milliseconds. */
export const times = (what: string, values: readonly number[]): Figure => ({
  what: `${what} (${values.length})`,
  value: quantile(values, 0.5),
  p99: quantile(values, 0.99),
  unit: 'ms',
});

/** The ratio of each value to the value that was measured next to it. */
export const ratios = (values: readonly number[], others: readonly number[]): number[] =>
  values.map((value, index) => value / (others[index] ?? Number.NaN));

export const isMet = ({ value, goal }: Figure): boolean | undefined =>
  goal && ('atMost' in goal ? value <= goal.atMost : value >= goal.atLeast);

/** A table with one line for each figure. */
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

/** Three significant digits, or all digits before the decimal point. */
const short = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
