/** The table and its three indexes, with the keys that the steps of a message meet. */
import type { Deployment } from './deployment.ts';
import { type Design, DUE_KEYS, STATES, type StepUnits, steps } from './design.ts';
import { limits } from './limits.ts';
import { type Admitted, type Load, Store } from './store.ts';

/** Amounts per second of each step, by customer. */
export type Rates = Record<'accept' | 'deliver' | 'report' | 'count', Float64Array>;

type StoreName = 'table' | 'reads' | 'gsi1' | 'gsi2' | 'gsi3';

type Note = (name: string, part: number) => number;

/** The part of the table's warm write units that each index gets (`infra/constructs/business-table.ts`). */
const INDEX_SHARE = 1 / 3;

/** The states of a step, by their numbers, with the part of the step's amounts that reach each. */
const REACHED = { accept: [0], deliver: [1], report: [2, 3] } as const;

const STEPS = Object.entries(steps) as [keyof typeof REACHED, StepUnits][];

export class Stores {
  readonly #customers: number;
  readonly #shards: number;
  readonly #stores: Record<StoreName, Store>;

  constructor(
    { warmWriteUnits, warmReadUnits, tableQuota }: Deployment,
    { counterShards, indexShards }: Design,
    customers: number,
    random: () => number,
  ) {
    this.#customers = customers;
    this.#shards = indexShards;
    const writes = { perPartition: limits.partitionWrites.value, quota: tableQuota, random };
    const ofIndex = { ...writes, warm: Math.max(warmWriteUnits * INDEX_SHARE, limits.newWrites.value) };
    const logs = customers * STATES * indexShards;
    this.#stores = {
      // The counters of an account are one key, with an item for each state and shard.
      table: new Store({ ...writes, warm: warmWriteUnits, keys: customers, divisible: () => STATES * counterShards }),
      // The accounts, and the circuit of the app network.
      reads: new Store({
        random,
        warm: warmReadUnits,
        quota: tableQuota,
        perPartition: limits.partitionReads.value,
        keys: customers + 1,
      }),
      gsi1: new Store({ ...ofIndex, keys: logs + DUE_KEYS }),
      gsi2: new Store({ ...ofIndex, keys: 0 }),
      gsi3: new Store({ ...ofIndex, keys: logs }),
    };
  }

  /** Shards of the stream: one for each partition of the table. */
  get shards(): number {
    return this.#stores.table.partitions;
  }

  /**
   * Which of these steps the table and the indexes admit. A write that an index throttles fails on the table, too.
   *
   * @param countUnits - write units of a log entry that is counted: 2 for itself, and the rest for counters
   */
  admit(demand: Rates, countUnits: number, note: Note, seconds: number): { done: Rates; byPartition: number[][] } {
    const loads = this.#loadsOf(demand, countUnits);
    const parts = this.#each((store, name) => {
      const admitted = store.admit(loads[name]);
      if (admitted.limit !== undefined) note(this.#nameOf(name, admitted.limit), admitted.min);
      return admitted;
    });
    const done = this.#reduced(demand, parts);
    const consumed = this.#loadsOf(done, countUnits);
    this.#each((store, name) => store.pass(loads[name], unitsOf(consumed[name]), seconds));
    return { done, byPartition: Object.values(parts).map(({ byPartition }) => byPartition) };
  }

  #each<T>(use: (store: Store, name: StoreName) => T): Record<StoreName, T> {
    const { table, reads, gsi1, gsi2, gsi3 } = this.#stores;
    return {
      table: use(table, 'table'),
      reads: use(reads, 'reads'),
      gsi1: use(gsi1, 'gsi1'),
      gsi2: use(gsi2, 'gsi2'),
      gsi3: use(gsi3, 'gsi3'),
    };
  }

  #loadsOf(rates: Rates, countUnits: number): Record<StoreName, Load> {
    const logs = this.#customers * STATES * this.#shards;
    const load = (keys: number): Load => ({ spread: 0, keys: new Float64Array(keys) });
    const loads = {
      table: load(this.#customers),
      reads: load(this.#customers + 1),
      gsi1: load(logs + DUE_KEYS),
      gsi2: load(0),
      gsi3: load(logs),
    };
    let [due, circuit] = [0, 0];
    for (const [step, units] of STEPS) {
      const reached = REACHED[step];
      for (const [customer, rate] of rates[step].entries()) {
        if (rate === 0) continue;
        loads.table.spread += rate * units.table;
        loads.reads.spread += rate * units.reads;
        loads.gsi2.spread += rate * units.contact;
        add(loads.reads.keys, customer, rate * units.accountReads);
        circuit += rate * units.circuitReads;
        due += rate * units.due;
        const perKey = (rate * units.log) / reached.length / this.#shards;
        for (const state of reached) {
          for (let shard = 0; shard < this.#shards; shard += 1) {
            add(loads.gsi1.keys, this.#logKey(customer, state, shard), perKey);
            add(loads.gsi3.keys, this.#logKey(customer, state, shard), perKey);
          }
        }
      }
    }
    loads.reads.keys[this.#customers] = circuit;
    loads.gsi1.keys.fill(due / DUE_KEYS, logs);
    for (const [customer, rate] of rates.count.entries()) {
      loads.table.spread += rate * 2;
      add(loads.table.keys, customer, rate * (countUnits - 2));
    }
    return loads;
  }

  /** The rates that all stores admit. */
  #reduced(demand: Rates, parts: Record<StoreName, Admitted>): Rates {
    const { table, reads, gsi1, gsi2, gsi3 } = parts;
    const logs = this.#customers * STATES * this.#shards;
    const due = mean(gsi1.keys, logs, logs + DUE_KEYS);
    const circuit = reads.keys[this.#customers] ?? 1;
    const ofStep = (step: keyof typeof REACHED, units: StepUnits): Float64Array =>
      demand[step].map((rate, customer) => {
        let ofLogs = 0;
        for (const state of REACHED[step]) {
          const first = this.#logKey(customer, state, 0);
          ofLogs += Math.min(
            mean(gsi1.keys, first, first + this.#shards),
            mean(gsi3.keys, first, first + this.#shards),
          );
        }
        return (
          rate *
          Math.min(
            table.spread,
            gsi2.spread,
            ofLogs / REACHED[step].length,
            units.reads > 0 ? reads.spread : 1,
            units.due > 0 ? due : 1,
            units.accountReads > 0 ? (reads.keys[customer] ?? 1) : 1,
            units.circuitReads > 0 ? circuit : 1,
          )
        );
      });
    return {
      accept: ofStep('accept', steps.accept),
      deliver: ofStep('deliver', steps.deliver),
      report: ofStep('report', steps.report),
      count: demand.count.map((rate, customer) => rate * Math.min(table.spread, table.keys[customer] ?? 1)),
    };
  }

  #logKey(customer: number, state: number, shard: number): number {
    return (customer * STATES + state) * this.#shards + shard;
  }

  /** What a store's limit is about, in words. */
  #nameOf(store: StoreName, limit: NonNullable<Admitted['limit']>): string {
    if (limit === 'store') return store === 'reads' ? 'reads of the table' : `writes of ${store}`;
    if (limit === 'partition') return store === 'reads' ? 'reads of a partition' : `a partition of ${store}`;
    switch (store) {
      case 'table':
        return 'counters of an account';
      case 'reads':
        return limit.key === this.#customers ? 'circuit of the app network' : 'reads of an account';
      case 'gsi1':
        return limit.key < this.#customers * STATES * this.#shards ? 'log of an account' : 'due work';
      default:
        return 'log of a job';
    }
  }
}

const add = (to: Float64Array, key: number, units: number): void => {
  to[key] = (to[key] ?? 0) + units;
};

const mean = (values: Float64Array, from: number, to: number): number => {
  let total = 0;
  for (let index = from; index < to; index += 1) total += values[index] ?? 0;
  return total / (to - from);
};

const unitsOf = ({ spread, keys }: Load): number => keys.reduce((total, units) => total + units, spread);
