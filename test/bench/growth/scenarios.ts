/**
 * What the simulation compares: deployments and designs, each at several rates and numbers of customers; and customers alone,
 * and beside one that floods.
 */
import { readSettings } from '../../../infra/settings.ts';
import type { Way } from '../usage.ts';
import { asInstalled, type Deployment, prepared } from './deployment.ts';
import { type Design, measured, present } from './design.ts';
import { type Ceiling, type Result, simulate } from './simulate.ts';

export const RATES = [10, 100, 1_000, 3_000, 10_000];
export const CUSTOMERS = [1, 10, 100, 1_000];

/** Seconds for which messages are sent. */
export const SECONDS = 600;

export interface Variant {
  title: string;
  deployment: (rate: number) => Deployment;
  design: Design;
}

/** As before the decision for larger batches, and with still larger ones for the stream. */
const single = { ...present, batches: { ...present.batches, deliver: 1 } };
const larger = { ...present, batches: { ...present.batches, relay: 1_000 }, countWindow: 10 };

export const variants: Variant[] = [
  { title: 'As installed', deployment: asInstalled, design: present },
  {
    title: 'Prepared, but not for reads',
    deployment: (rate) => ({ ...prepared(rate), warmReadUnits: asInstalled().warmReadUnits }),
    design: present,
  },
  { title: 'Prepared', deployment: prepared, design: present },
  { title: 'One wake-up for a call', deployment: prepared, design: single },
  { title: 'One item per counter', deployment: prepared, design: { ...present, counterShards: 1 } },
  { title: 'Eight keys per log', deployment: prepared, design: { ...present, indexShards: 8 } },
  { title: 'Larger batches of the stream', deployment: prepared, design: larger },
  { title: 'Eight keys, larger batches', deployment: prepared, design: { ...larger, indexShards: 8 } },
];

/** Before campaigns yielded to the other traffic of the table. */
export const unyielding: Design = { ...present, yieldsToThrottling: false };

/** A simulated deployment at a rate. */
export interface Cell extends Result {
  variant: string;
  customers: number;
  sent: number;
}

export const run = ({ title, deployment, design }: Variant, customers: number, rate: number): Cell => ({
  ...simulate(deployment(rate), design, { rate, customers, seconds: SECONDS }),
  variant: title,
  customers,
  sent: rate,
});

/** Seconds from the last message that was sent until all were delivered, reported and counted. */
export const behind = ({ finished }: Result): number | undefined =>
  finished === undefined ? undefined : finished - SECONDS;

/** The first limit that was met for more than a moment. */
export const firstCeiling = ({ ceilings }: Result): Ceiling | undefined =>
  ceilings.find(({ seconds }) => seconds >= 60);

/** Customers of whom one floods, messages per second of each other one, and seconds for which they send. */
const OTHERS = { customers: 20, each: 1, seconds: 120 };

/**
 * How long messages of nineteen customers wait, in seconds (99th percentile): while all twenty send the same, and while one
 * sends twice what its limits admit, by requests or in a campaign. Each step of the simulation is a quarter of a second.
 */
export const besideFlood = (
  deployment: Deployment,
  isCampaign: boolean,
  { way = measured, design = present }: { way?: Way; design?: Design } = {},
): { alone: number; beside: number } => {
  const { customers, each, seconds } = OTHERS;
  const { campaignRate, accountRate } = readSettings({});
  const most = isCampaign ? campaignRate : accountRate;
  const traffic = { rate: customers * each, customers, seconds };
  const wait = (flood: { rate: number; isCampaign: boolean }): number =>
    simulate({ ...deployment, accountRate: most }, design, { ...traffic, flood }, { way }).wait ?? 0;
  return { alone: wait({ rate: each, isCampaign: false }), beside: wait({ rate: 2 * most, isCampaign }) };
};
