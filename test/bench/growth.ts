/**
 * How far the service grows on AWS: simulated rates of messages and numbers of customers, as it is and with three changes of
 * its design. Where it is throttled first, how long the last message takes, what a message costs. Writes the pictures of
 * `performance.md`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawBacklog, drawCeilings } from './growth/picture.ts';
import { behind, type Cell, CUSTOMERS, firstCeiling, RATES, run, SECONDS, variants } from './growth/scenarios.ts';
import { type Figure, report, say } from './report.ts';

const PICTURES = fileURLToPath(new URL('../../infra/docs/pictures/', import.meta.url));

const cells: Cell[] = variants.flatMap((variant) => {
  say(`Growth: ${variant.title}`);
  return CUSTOMERS.flatMap((customers) => RATES.map((rate) => run(variant, customers, rate)));
});

const figuresOf = (cell: Cell): Figure[] => {
  const { variant, customers, sent, rate, delivered, cost } = cell;
  const first = firstCeiling(cell);
  const of = `${variant}, ${customers} customers, ${sent}/s`;
  return [
    { what: `${of}: delivered meanwhile${first ? `; first limit: ${first.name}` : ''}`, value: rate, unit: '/s' },
    { what: '  until the last is delivered', value: (delivered ?? Number.POSITIVE_INFINITY) - SECONDS, unit: 's' },
    { what: '  until all are counted', value: behind(cell) ?? Number.POSITIVE_INFINITY, unit: 's' },
    { what: '  a million messages', value: cost, unit: 'US$' },
  ];
};

const backlog = cells.filter(
  ({ variant, customers, sent }) =>
    customers === 1 &&
    sent === 1_000 &&
    ['Prepared', 'One wake-up for a call', 'Eight keys per log', 'Eight keys, larger batches'].includes(variant),
);
await writeFile(join(PICTURES, 'growth.svg'), drawCeilings(cells));
await writeFile(
  join(PICTURES, 'growth-backlog.svg'),
  drawBacklog('Messages that wait: one customer sends 1,000 a second for ten minutes', backlog),
);
report('growth, simulated', cells.flatMap(figuresOf));
