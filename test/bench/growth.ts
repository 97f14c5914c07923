/**
 * How far the service grows on AWS: simulated rates of messages and numbers of customers, as it is and with three changes of
 * its design. Where it is throttled first, how long the last message takes, what a message costs. How long other customers wait
 * beside one that floods. Writes the pictures of `performance.md`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../../infra/settings.ts';
import { asInstalled, prepared } from './growth/deployment.ts';
import { type Design, present } from './growth/design.ts';
import { drawBacklog, drawCeilings } from './growth/picture.ts';
import {
  behind,
  besideFlood,
  type Cell,
  CUSTOMERS,
  firstCeiling,
  RATES,
  run,
  SECONDS,
  unyielding,
  variants,
} from './growth/scenarios.ts';
import { simulate } from './growth/simulate.ts';
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
/** Seconds from the acceptance of a single message to its delivery, 99th percentile: `npm run bench -- latency`. */
const USUAL_P99 = 0.6;

const floods = [
  { title: 'as installed', deployment: asInstalled() },
  { title: 'prepared for 1,000 messages a second', deployment: prepared(1_000) },
].flatMap(({ title, deployment }) =>
  [false, true].flatMap((isCampaign): Figure[] => {
    const { alone, beside } = besideFlood(deployment, isCampaign);
    const before = besideFlood(deployment, isCampaign, { design: unyielding });
    const of = `${title}: 19 customers beside one with ${isCampaign ? 'a campaign' : 'requests'} at twice its limit`;
    return [
      { what: `${of}: added wait, 99th percentile`, value: beside - alone, unit: 's' },
      { what: '  if campaigns did not yield to throttling', value: before.beside - before.alone, unit: 's' },
      {
        what: '  ratio of the 99th percentiles, acceptance to delivery',
        value: (USUAL_P99 + beside - alone) / USUAL_P99,
        unit: '×',
        goal: { atMost: 1.5 },
      },
    ];
  }),
);

/** A million messages of twenty campaigns, as fast as their pace admits. */
const campaigns = [
  { title: 'as installed', deployment: asInstalled() },
  { title: 'prepared for 10,000 messages a second', deployment: prepared(10_000) },
].flatMap(({ title, deployment }): Figure[] => {
  const accountRate = readSettings({}).campaignRate;
  const minutes = (design: Design): number => {
    const traffic = { rate: 10_000, customers: 20, seconds: 100, isCampaign: true };
    return (simulate({ ...deployment, accountRate }, design, traffic).delivered ?? Number.POSITIVE_INFINITY) / 60;
  };
  return [
    {
      what: `${title}: a million messages in 20 campaigns, until the last is delivered`,
      value: minutes(present),
      unit: 'min',
    },
    { what: '  if campaigns did not yield to throttling', value: minutes(unyielding), unit: 'min' },
  ];
});

report('growth, simulated', [...cells.flatMap(figuresOf), ...floods, ...campaigns]);
