/**
 * Work that grows with a person or a page, never with the service: units and time of each endpoint and worker on a table with
 * 100,000 and 1,000,000 rows of other accounts and users, compared with one without them, and of the erasure of a
 * person. `BENCH_ROWS` limits the number of rows.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, median, ratios, report } from './report.ts';
import type { Measured, Work } from './stored-rows/measure.ts';

const MOST = Number(process.env.BENCH_ROWS ?? 1_000_000);
const SIZES = [100_000, 1_000_000].filter((size) => size <= Math.max(MOST, 100_000));

const measure = async (rows: number, file: string): Promise<Measured> => {
  const child = fork(new URL('./stored-rows/measure.ts', import.meta.url), [`${rows}`, file]);
  let measured: Measured | undefined;
  child.once('message', (message: Measured) => {
    measured = message;
  });
  // No message follows the disconnection.
  await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  if (measured === undefined) throw new Error(`Nothing was measured with ${rows} rows: see the error above.`);
  return measured;
};

const figuresOf = (base: Measured, { rows, work, erasure }: Measured): Figure[] => {
  const names = Object.keys(base.work);
  const of = (measured: Measured['work'], what: keyof Work): number[] =>
    names.map((name) => measured[name]?.[what] ?? 0);
  const units = ratios(of(work, 'units'), of(base.work, 'units')).map((ratio) => (Number.isNaN(ratio) ? 1 : ratio));
  const more = names.filter((_, index) => (units[index] ?? 1) > 1);
  return [
    {
      what: `with ${rows} rows of others: most units, relative to none`,
      value: Math.max(...units),
      unit: '×',
      goal: { atMost: 1 },
    },
    ...more.map((name) => ({
      what: `${name}: units instead of ${base.work[name]?.units}`,
      value: work[name]?.units ?? 0,
      unit: 'units',
    })),
    {
      what: 'time, relative to none',
      ...median(ratios(of(work, 'ms'), of(base.work, 'ms'))),
      unit: '×',
      goal: { atMost: 1.5 },
    },
    ...erasureOf(erasure),
  ];
};

const erasureOf = ({ seconds, processor }: Measured['erasure']): Figure[] => [
  { what: 'the erasure of a person with 10,000 messages', value: seconds, unit: 's', goal: { atMost: 30 } },
  { what: '  of it, processor time', value: processor, unit: 's' },
];

const folder = await mkdtemp(join(tmpdir(), 'rows-'));
const file = join(folder, 'rows.json');
try {
  const base = await measure(0, file);
  const figures: Figure[] = [
    { what: 'endpoints and workers', value: Object.keys(base.work).length, unit: '' },
    ...erasureOf(base.erasure),
  ];
  for (const size of SIZES) figures.push(...figuresOf(base, await measure(size, file)));
  report('stored rows', figures);
} finally {
  await rm(folder, { recursive: true });
}
