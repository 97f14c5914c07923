/**
 * A simulation of the service on AWS, second by second: messages are accepted, delivered, reported and counted as fast as
 * partitions, workers and quotas allow. Messages are amounts by customer. What is not admitted waits: at the clients, in the
 * queue, at the app network, or in the stream.
 */
import { seeded } from '../../../infra/local/seeded.ts';
import { leastRate, nextRate, Throttling } from '../../../shared/campaigns/pace.ts';
import { ASSUMED, billOf, perMillion } from '../bill.ts';
import { quantile } from '../report.ts';
import type { Way } from '../usage.ts';
import { type Deployment, parallelOf } from './deployment.ts';
import {
  APP_NETWORK_SECONDS,
  COUNT_SECONDS,
  countersOf,
  countWrites,
  type Design,
  GROUPS,
  measured,
  ONE_ITEM_RATE,
  REPORTS,
  STATES,
} from './design.ts';
import { limits } from './limits.ts';
import { type Rates, Stores } from './stores.ts';

export interface Traffic {
  /** Messages per second, of all customers together, each the same. */
  rate: number;
  customers: number;
  seconds: number;
  /** Messages of batches, which `expand` accepts at the pace of a customer. Default: a request for each message. */
  isCampaign?: boolean;
  /** What the first customer sends instead of its part of `rate`. */
  flood?: { rate: number; isCampaign: boolean };
}

/** A limit that was met. */
export interface Ceiling {
  name: string;
  /** When it was first met, in seconds, and for how many seconds in all. */
  at: number;
  seconds: number;
  /** The lowest part of the demand that it admitted. */
  min: number;
}

/** Messages at a time. */
interface Sample {
  at: number;
  accepted: number;
  delivered: number;
  counted: number;
}

export interface Result {
  /** In the order in which they were met. */
  ceilings: Ceiling[];
  messages: number;
  /** Seconds until all were delivered, and until all states were reported and counted. Undefined after a day. */
  delivered: number | undefined;
  finished: number | undefined;
  /** Messages delivered per second while messages were sent. */
  rate: number;
  /** US dollars for a million messages, and the write units of a message on the table and the indexes. */
  cost: number;
  writes: number;
  indexes: number;
  samples: Sample[];
  /** Seconds from the sending of a message to its delivery, for customers besides one that floods: the 99th percentile. */
  wait: number | undefined;
}

const DAY = 86_400;

/** Seconds between two looks of a campaign at the queue and the table (`shared/campaigns/pace.ts`). */
const LOOK = 0.25;

/** Seconds of a step: short while the pace of a campaign changes, a limit is met, or the partitions change. */
const stepAt = (time: number, seconds: number, { isPaced, isLimited }: { isPaced: boolean; isLimited: boolean }) => {
  if (isPaced) return LOOK;
  if (time < 30) return 1;
  return isLimited && time < seconds ? 2 : 10;
};

/** Limits that were met, by name. */
class Ceilings {
  readonly #met = new Map<string, Ceiling>();

  /** Notes the part of a demand that a limit admits. Returns it. */
  note(name: string, part: number, at: number, seconds: number): number {
    if (part > 0.999) return Math.min(part, 1);
    const met = this.#met.get(name) ?? { name, at, seconds: 0, min: 1 };
    this.#met.set(name, { ...met, seconds: met.seconds + seconds, min: Math.min(met.min, part) });
    return part;
  }

  /** The first one first; of those that were met at once, the one that admits least. */
  get all(): Ceiling[] {
    return [...this.#met.values()].toSorted((a, b) => a.at - b.at || a.min - b.min);
  }
}

/** Seconds of an invocation on Lambda, by what this machine needed. */
const secondsOf = (way: Way, name: string): number => (way.get(name)?.ms ?? 0) / ASSUMED.processor / 1_000;

const sum = (values: Float64Array): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

/** Divides what workers can do among those who have work: each gets the same, up to its limit. */
export const shareOut = (wanted: Float64Array, capacity: number, max: number): Float64Array => {
  const all = sum(wanted);
  if (all <= capacity && wanted.every((want) => want <= max)) return wanted.slice();
  const given = new Float64Array(wanted.length);
  let left = capacity;
  const byWant = [...wanted.keys()].toSorted((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  for (const [index, customer] of byWant.entries()) {
    const share = Math.min(wanted[customer] ?? 0, max, left / (byWant.length - index));
    given[customer] = share;
    left -= share;
  }
  return given;
};

/** The pace of each customer's campaign, as its worker of `expand` finds it. */
class Paces {
  readonly #limits: { max: number; longest: number };
  readonly #random: () => number;
  readonly #yields: boolean;
  /** Messages since the last look, and those of them that were throttled. */
  readonly #admitted: Float64Array;
  readonly #throttled: Float64Array;
  readonly #throttling: Throttling[];
  readonly rates: Float64Array;

  constructor(
    customers: number,
    { accountRate, deliverConcurrency }: Deployment,
    { yieldsToThrottling }: Design,
    random: () => number,
  ) {
    this.#yields = yieldsToThrottling;
    this.#limits = { max: accountRate, longest: deliverConcurrency / 8 };
    this.#random = random;
    this.#admitted = new Float64Array(customers);
    this.#throttled = new Float64Array(customers);
    this.#throttling = Array.from({ length: customers }, () => new Throttling());
    this.rates = new Float64Array(customers).fill(leastRate(this.#limits));
  }

  /**
   * After a step.
   *
   * @param wanted - messages per second that each worker wanted to accept, and `done` that it accepted
   * @param queued - wake-ups that found no worker
   */
  pass(wanted: Float64Array, done: Float64Array, queued: number): void {
    for (const [customer, rate] of this.rates.entries()) {
      const messages = (wanted[customer] ?? 0) * LOOK;
      if (messages === 0) continue;
      const rejected = 1 - ((done[customer] ?? 0) * LOOK) / messages;
      const admitted = (this.#admitted[customer] ?? 0) + messages;
      const throttled = (this.#throttled[customer] ?? 0) + (this.#yields ? this.#drawn(messages, rejected) : 0);
      // A worker looks before a message, a quarter of a second after the last look at least.
      const isLook = admitted >= 1;
      this.#admitted[customer] = isLook ? 0 : admitted;
      this.#throttled[customer] = isLook ? 0 : throttled;
      if (!isLook) continue;
      const isThrottled = this.#throttling[customer]?.isHigh(admitted, throttled) ?? false;
      this.rates[customer] = nextRate(rate, { queued, isThrottled }, this.#limits);
    }
  }

  /** How many of some messages are throttled, if each has this probability. */
  #drawn(messages: number, probability: number): number {
    if (probability <= 0) return 0;
    let count = 0;
    for (let left = messages; left > this.#random(); left -= 1) count += this.#random() < probability ? 1 : 0;
    return count;
  }
}

/** How long messages wait: a customer's message is delivered when as many are delivered as had been sent with it. */
class Waits {
  readonly #steps: { time: number; sent: number; waiting: Float64Array }[] = [];

  /**
   * After a step.
   *
   * @param sent - messages that each customer has sent so far, and how many of them are `waiting`, by customer
   */
  note(time: number, sent: number, waiting: Float64Array): void {
    this.#steps.push({ time, sent, waiting });
  }

  /** The 99th percentile in seconds, of all customers' messages that were sent within so many seconds. */
  p99(seconds: number): number {
    const found: number[] = [];
    for (let customer = 0; customer < (this.#steps[0]?.waiting.length ?? 0); customer += 1) {
      let end = 0;
      for (const { time, sent } of this.#steps) {
        if (time > seconds) break;
        for (; end < this.#steps.length; end += 1) {
          const then = this.#steps[end];
          if (then && then.sent - (then.waiting[customer] ?? 0) >= sent * (1 - 1e-9)) break;
        }
        found.push((this.#steps[end]?.time ?? Number.POSITIVE_INFINITY) - time);
      }
    }
    return quantile(found, 0.99);
  }
}

/** Messages of each customer in each place. Their sum is the number of messages that were sent. */
class Places {
  readonly clients: Float64Array;
  readonly queued: Float64Array;
  /** States that the app network has not reported yet, and log entries that are not counted yet. */
  readonly unreported: Float64Array;
  readonly uncounted: Float64Array;
  sent = 0;
  accepted = 0;
  delivered = 0;
  reported = 0;
  counted = 0;

  constructor(customers: number) {
    this.clients = new Float64Array(customers);
    this.queued = new Float64Array(customers);
    this.unreported = new Float64Array(customers);
    this.uncounted = new Float64Array(customers);
  }

  /** How far the sums differ, in messages: a message is in exactly one place. */
  get lost(): number {
    return Math.max(
      Math.abs(this.sent - sum(this.clients) - this.accepted),
      Math.abs(this.accepted - sum(this.queued) - this.delivered),
      Math.abs(REPORTS * this.delivered - sum(this.unreported) - this.reported),
      Math.abs(this.accepted + this.delivered + this.reported - sum(this.uncounted) - this.counted),
    );
  }
}

export const simulate = (
  deployment: Deployment,
  design: Design,
  traffic: Traffic,
  {
    way = measured,
    seed = 1,
    check,
  }: { way?: Way; seed?: number; check?: (state: { lost: number; byPartition: number[][] }) => void } = {},
): Result => {
  const { customers, rate, seconds, isCampaign = false, flood } = traffic;
  const rates = new Float64Array(customers).fill(rate / customers);
  if (flood) rates[0] = flood.rate;
  const isPaced = rates.some((_, customer) => isOfCampaign(customer));
  function isOfCampaign(customer: number): boolean {
    return customer === 0 && flood ? flood.isCampaign : isCampaign;
  }
  const sending = flood ? sum(rates) : rate;
  const stores = new Stores(deployment, design, customers, seeded(seed));
  const paces = new Paces(customers, deployment, design, seeded(seed));
  const waits = new Waits();
  const places = new Places(customers);
  const ceilings = new Ceilings();
  const samples: Sample[] = [];
  const total = sending * seconds;
  const invocations = { relay: 0, deliver: 0, count: 0 };
  let countedWrites = 0;
  let executions = limits.executions.value;
  let atEnd = 0;
  let delivered: number | undefined;
  let time = 0;
  let isLimited = false;
  let recent: number[] = [];
  const isOver = (done: number, of: number): boolean => done > of * (1 - 1e-6) - 1e-6;

  const deliverSeconds = APP_NETWORK_SECONDS + design.batches.deliver * secondsOf(way, 'deliver');
  const parallel = parallelOf(deployment.accountConcurrency);

  while (time < DAY) {
    const step = stepAt(time, seconds, {
      isPaced: flood !== undefined || (isPaced && (time < seconds || sum(places.clients) > 0)),
      isLimited,
    });
    // What came in a longer step is not a burst, in all places that it passes through.
    recent = [step, ...recent].slice(0, 5);
    const period = Math.max(...recent);
    isLimited = false;
    const note = (name: string, part: number): number => {
      isLimited ||= part < 1;
      return ceilings.note(name, part, time, step);
    };
    const demandOf = (waiting: Float64Array, maxOf: (customer: number) => number): Float64Array =>
      waiting.map((amount, customer) => Math.min(amount / period, maxOf(customer)));

    if (time < seconds) {
      for (let customer = 0; customer < customers; customer += 1) {
        places.clients[customer] = (places.clients[customer] ?? 0) + (rates[customer] ?? 0) * step;
      }
      places.sent += sending * step;
    }

    // Clients and the app network repeat what was rejected, at most at their rate.
    const accept = demandOf(places.clients, (customer) =>
      isOfCampaign(customer) ? (paces.rates[customer] ?? 0) : 2 * (rates[customer] ?? 0),
    );
    const report = demandOf(places.unreported, (customer) => 2 * REPORTS * (rates[customer] ?? 0));
    for (const [customer, amount] of accept.entries()) {
      const isAtMost = paces.rates[customer] === deployment.accountRate;
      if (!isOfCampaign(customer)) note('requests of an account', part(deployment.accountRate, amount));
      else if (isAtMost) note('pace of a campaign', part(amount, (places.clients[customer] ?? 0) / period));
    }
    cap(accept, deployment.accountRate);
    const requested = (): number => sum(accept.filter((_, customer) => !isOfCampaign(customer)));
    const limitRequests = (factor: number): void => {
      for (const customer of accept.keys()) {
        if (!isOfCampaign(customer)) accept[customer] = (accept[customer] ?? 0) * factor;
      }
    };
    limitRequests(note('requests of the API host', part(deployment.throttleRate, requested())));
    limit(report, note('requests of the bridge host', part(deployment.throttleRate, sum(report))));
    const ofGateway = note('requests of API Gateway', part(deployment.apiQuota, sum(report) + requested()));
    limitRequests(ofGateway);
    limit(report, ofGateway);

    // Executions: requests, and what is left of them for the workers.
    executions = Math.min(executions + limits.executionsPerSecond.value * step, deployment.accountConcurrency);
    const shards = stores.shards;
    // A worker of `expand` handles the batches of one customer.
    const campaigns = rates.filter((_, customer) => isOfCampaign(customer)).length;
    const accepting = campaigns + requested() * secondsOf(way, 'sendMessage');
    const busy = accepting + sum(report) * secondsOf(way, 'receiveAppEvents');
    const workers = Math.min(deployment.deliverConcurrency, limits.queueExecutions.value);
    const ofLambda = note('executions of Lambda', part(executions, busy + Math.min(workers, sum(places.queued))));
    limit(accept, ofLambda);
    limit(report, ofLambda);
    const perWorker = design.batches.deliver / deliverSeconds;
    const wanted = demandOf(places.queued, () => Number.POSITIVE_INFINITY);
    const deliver = shareOut(
      wanted,
      Math.min(workers * ofLambda * perWorker, limits.queueCalls.value),
      GROUPS * perWorker,
    );
    if (sum(wanted) > 0) note('workers of deliver', part(sum(deliver), sum(wanted)));
    // Lambda takes a wake-up as soon as it arrives, so only wake-ups that wait form batches.
    const wakeUps = sum(deliver) < sum(wanted) ? design.batches.deliver : 1;

    const counters = customers * STATES;
    const counting = shards * parallel;
    const entries = Math.max(
      Math.min(design.batches.count, (sum(places.uncounted) / period / counting) * design.countWindow),
      1,
    );
    const inBatch = Math.min(countersOf(entries, counters), entries);
    const count = demandOf(places.uncounted, () =>
      design.counterShards > 1 ? Number.POSITIVE_INFINITY : ONE_ITEM_RATE,
    );
    if (design.counterShards === 1) {
      note('a counter', part(ONE_ITEM_RATE * period, Math.max(...places.uncounted)));
    }
    limit(count, note('workers of count', part((counting * design.batches.count) / COUNT_SECONDS, sum(count))));

    const { done, byPartition } = stores.admit(
      { accept, deliver, report, count },
      countWrites(entries, inBatch) / entries,
      note,
      step,
    );
    // Wake-ups that found no worker in this step.
    if (isPaced) paces.pass(accept, done.accept, sum(places.queued) - sum(done.deliver) * step);
    move(places, done, step);
    invocations.relay += (sum(done.accept) * step) / batchOf(design.batches.relay, sum(done.accept) / counting);
    invocations.deliver += (sum(done.deliver) * step) / wakeUps;
    invocations.count += (sum(done.count) * step) / entries;
    countedWrites += (sum(done.count) * step * countWrites(entries, inBatch)) / entries;
    check?.({ lost: places.lost, byPartition });

    time += step;
    if (flood) {
      const waiting = places.clients.map((amount, customer) => amount + (places.queued[customer] ?? 0)).subarray(1);
      waits.note(time, (rate / customers) * Math.min(time, seconds), waiting);
    }
    if (time <= seconds) atEnd = places.delivered;
    if (isOver(places.delivered, total)) delivered ??= time;
    if (time % 10 === 0) {
      const { accepted, counted } = places;
      samples.push({ at: time, accepted, delivered: places.delivered, counted: counted / STATES });
    }
    if (time >= seconds && isOver(places.counted, STATES * total)) break;
  }

  const perMessage = (units: number): number => units / Math.max(places.delivered, 1);
  const used: Way = new Map(way);
  for (const [name, calls] of Object.entries(invocations)) {
    const known = way.get(name);
    if (known) used.set(name, { ...known, invocations: perMessage(calls) });
  }
  const delivering = used.get('deliver');
  // A message takes the same time in a batch.
  if (delivering) used.set('deliver', { ...delivering, ms: (way.get('deliver')?.ms ?? 0) / delivering.invocations });
  const counted = used.get('count');
  if (counted) used.set('count', { ...counted, writes: perMessage(countedWrites) });
  const all = [...used.values()];
  return {
    ceilings: ceilings.all,
    messages: total,
    delivered,
    finished: time < DAY ? time : undefined,
    rate: atEnd / seconds,
    cost: perMillion(billOf(used)),
    writes: all.reduce((units, { writes }) => units + writes, 0),
    indexes: all.reduce((units, each) => units + each.indexes, 0),
    samples,
    wait: flood ? waits.p99(seconds) : undefined,
  };
};

const move = (places: Places, { accept, deliver, report, count }: Rates, step: number): void => {
  const take = (from: Float64Array, rates: Float64Array, to: [Float64Array, number][]): number => {
    let taken = 0;
    for (const [customer, rate] of rates.entries()) {
      const amount = Math.min(rate * step, from[customer] ?? 0);
      from[customer] = (from[customer] ?? 0) - amount;
      for (const [index, times] of to) index[customer] = (index[customer] ?? 0) + times * amount;
      taken += amount;
    }
    return taken;
  };
  // In this order, nothing passes through two places in one step.
  places.counted += take(places.uncounted, count, []);
  places.reported += take(places.unreported, report, [[places.uncounted, 1]]);
  const settled = take(places.queued, deliver, [
    [places.unreported, REPORTS],
    [places.uncounted, 1],
  ]);
  places.delivered += settled;
  places.accepted += take(places.clients, accept, [
    [places.queued, 1],
    [places.uncounted, 1],
  ]);
};

const part = (capacity: number, demand: number): number => (demand > capacity ? capacity / demand : 1);

const limit = (rates: Float64Array, factor: number): void => {
  if (factor < 1) for (const [customer, rate] of rates.entries()) rates[customer] = rate * factor;
};

const cap = (rates: Float64Array, max: number): void => {
  for (const [customer, rate] of rates.entries()) rates[customer] = Math.min(rate, max);
};

/** Records of a batch that Lambda takes of a shard at its polls, without a window. */
const batchOf = (max: number, perSecond: number): number =>
  Math.min(Math.max(perSecond / limits.streamPolls.value, 1), max);
