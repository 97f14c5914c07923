/** Predicts a load on AWS from the units of its messages: duration, first limit and cost, with a source of each number. */
import { expandWorkers, readSettings } from '../../infra/settings.ts';
import { ASSUMED } from '../bench/bill.ts';
import { asInstalled, type Deployment, prepared } from '../bench/growth/deployment.ts';
import { measured, present } from '../bench/growth/design.ts';
import { limits } from '../bench/growth/limits.ts';
import { besideFlood } from '../bench/growth/scenarios.ts';
import { type Ceiling, type Result, simulate } from '../bench/growth/simulate.ts';
import type { Way } from '../bench/usage.ts';

/** Requests for single messages, or batches that `expand` accepts. */
const profiles = ['api', 'campaign'] as const;

export interface Plan {
  messages: number;
  accounts: number;
  profile: (typeof profiles)[number];
  /** Messages that are played on the local stack. */
  played: number;
  /** The share of the app network's calls that fail, from 0 to 1. */
  failing: number;
  /** Seconds without progress after which the run fails. */
  timeout: number;
}

/** Reads the options of the command. @throws Error — the message names the option that is wrong */
export const planOf = (given: Record<keyof Plan, string>): Plan => {
  const number = (name: 'messages' | 'accounts' | 'played' | 'timeout', max: number): number => {
    const value = Number(given[name]);
    if (!Number.isInteger(value) || value < 1 || value > max) {
      throw new Error(`--${name} must be a whole number from 1 to ${max.toLocaleString('en-US')}.`);
    }
    return value;
  };
  const profile = profiles.find((known) => known === given.profile);
  if (profile === undefined) throw new Error(`--profile must be one of: ${profiles.join(', ')}.`);
  const failing = Number(given.failing);
  if (!(failing >= 0 && failing <= 1)) throw new Error('--failing must be a number from 0 to 1.');
  const messages = number('messages', 1e9);
  return {
    failing,
    timeout: number('timeout', 600),
    messages,
    accounts: number('accounts', 1_000),
    profile,
    played: Math.min(number('played', 10_000), messages),
  };
};

/** A predicted number, with the place that it comes from. */
export interface Row {
  what: string;
  value: string;
  source: string;
}

export interface Prediction {
  title: string;
  result: Result;
  /** Seconds for which messages are sent, at the full rate. */
  seconds: number;
  first: Ceiling | undefined;
  /** Seconds that messages of others wait longer while one account sends twice what its limits admit: 99th percentile. */
  added: number;
}

/** US dollars for a million messages on the page on costs (performance.md, "Cost"). */
export const COST_PAGE = { api: 43.2, campaign: 31.9 };

/** Messages per second of an account: its pace in campaigns, or its limit of requests. */
const paceOf = ({ profile }: Plan): number => {
  const { campaignRate, accountRate } = readSettings({});
  return profile === 'campaign' ? campaignRate : accountRate;
};

/** Messages per second of all accounts together. */
export const rateOf = (plan: Plan): number => {
  const { accountConcurrency } = readSettings({});
  const sending =
    plan.profile === 'campaign' ? Math.min(plan.accounts, expandWorkers(accountConcurrency)) : plan.accounts;
  return sending * paceOf(plan);
};

/**
 * The units of a run, with times of calls that were made one after the other: on a busy machine, calls wait for its
 * processors. A worker that expands is billed for its time at its pace.
 */
const timed = (way: Way, plan: Plan): Way =>
  new Map(
    [...way].map(([name, use]) => {
      const ms = name === 'expand' && use.invocations > 0 ? paced(plan) / use.invocations : measured.get(name)?.ms;
      return [name, { ...use, ms: ms ?? use.ms }];
    }),
  );

/** Milliseconds of this machine's processor that are billed like the time of a message at the pace of a campaign. */
const paced = (plan: Plan): number => (1_000 / paceOf(plan)) * ASSUMED.processor;

/** The load on a new stack as it is installed, and on one that was prepared for it. */
export const predict = (plan: Plan, way: Way): [Prediction, Prediction] => {
  const rate = rateOf(plan);
  const seconds = Math.max(Math.round(plan.messages / rate), 10);
  const traffic = {
    rate: plan.messages / seconds,
    customers: plan.accounts,
    seconds,
    isCampaign: plan.profile === 'campaign',
  };
  const on = (title: string, deployment: Deployment): Prediction => {
    const result = simulate(deployment, present, traffic, { way: timed(way, plan) });
    const { alone, beside } = besideFlood(deployment, traffic.isCampaign, { way: timed(way, plan) });
    return { title, result, seconds, first: result.ceilings[0], added: beside - alone };
  };
  return [
    on('as installed', { ...asInstalled(), accountRate: Math.max(paceOf(plan), traffic.rate / plan.accounts) }),
    on('prepared', { ...prepared(rate), ...(plan.profile === 'campaign' && { accountRate: paceOf(plan) }) }),
  ];
};

const total = (way: Way, of: 'reads' | 'writes' | 'indexes'): number =>
  [...way.values()].reduce((units, use) => units + use[of], 0);

const SIMULATED = 'simulation of growth: performance.md, "Growth"';

/** The rows of the report. */
export const rowsOf = (plan: Plan, way: Way, predictions: Prediction[]): Row[] => {
  const failures = plan.failing === 0 ? '' : `, ${Math.round(100 * plan.failing)} % of calls failing`;
  const run = `this run of ${plan.played} messages${failures}`;
  const setting = plan.profile === 'campaign' ? 'campaignRate' : 'accountRate';
  return [
    { what: 'messages per second', value: rateOf(plan).toLocaleString('en-US'), source: `setting ${setting}` },
    { what: 'read units of a message', value: total(way, 'reads').toFixed(1), source: run },
    { what: 'write units of a message', value: total(way, 'writes').toFixed(1), source: run },
    { what: 'write units on indexes', value: total(way, 'indexes').toFixed(1), source: run },
    {
      what: 'milliseconds of deliver, one call at a time',
      value: (measured.get('deliver')?.ms ?? 0).toFixed(0),
      source: 'test/bench/growth/design.ts',
    },
    ...predictions.flatMap(({ title, result, first, added }) => {
      const cost = (result.cost * plan.messages) / 1e6;
      const { [plan.profile]: page } = COST_PAGE;
      return [
        { what: `${title}: all delivered after`, value: lasting(result.delivered), source: SIMULATED },
        { what: `${title}: all counted after`, value: lasting(result.finished), source: SIMULATED },
        { what: `${title}: first limit`, value: first?.name ?? 'none', source: sourceOf(first?.name) },
        { what: `${title}: cost`, value: `US$ ${cost.toFixed(2)}`, source: `test/bench/prices.ts, ${run}` },
        {
          what: `${title}: cost, beside the page on costs`,
          value: `${Math.round((100 * result.cost) / page)} %`,
          source: `performance.md, "Cost": US$ ${page} for a million`,
        },
        {
          what: `${title}: added wait beside a flood`,
          value: `${added.toFixed(2)} s`,
          source: SIMULATED,
        },
      ];
    }),
  ];
};

const lasting = (seconds: number | undefined): string => {
  if (seconds === undefined) return 'over a day';
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
};

/** The page or setting that a limit comes from. */
export const sourceOf = (name: string | undefined): string => {
  if (name === undefined) return SIMULATED;
  if (name === 'pace of a campaign') return 'setting campaignRate';
  if (name === 'requests of an account') return 'setting accountRate';
  if (/host$/.test(name)) return 'setting throttleRate';
  if (name === 'requests of API Gateway') return limits.apiRequests.source;
  if (name === 'workers of deliver') return `setting deliverConcurrency; ${limits.queueExecutions.source}`;
  if (name === 'executions of Lambda') return limits.executions.source;
  if (/^workers of count|^a counter/.test(name)) return 'performance.md, "Growth"';
  if (/^(writes of|reads of the table)/.test(name)) return limits.newWrites.source;
  return limits.partitionWrites.source;
};
