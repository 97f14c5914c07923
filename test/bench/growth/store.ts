/**
 * A table or an index with its partitions. Loads are rates of units: one that is spread over all partitions, and those of
 * single keys, each of which is in one partition.
 *
 * DynamoDB splits a partition with traffic near its limit ("split for heat"). It divides a key, too, unless that does not
 * help, as for one item, or items that are written in their order. Source:
 * https://aws.amazon.com/blogs/database/part-2-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/
 * Bursts beyond the limits are left out: AWS does not guarantee them.
 */
import { assumed, limits } from './limits.ts';

/** Demanded units in a second. */
export interface Load {
  spread: number;
  /** By the number of the key. */
  keys: Float64Array;
}

/** The parts of a demand that a store admits. */
export interface Admitted {
  spread: number;
  keys: Float64Array;
  /** Units that each partition handles. */
  byPartition: number[];
  /** The lowest part, and what it is about: all of the store, one partition, or nearly only one key of it. */
  min: number;
  limit: 'store' | 'partition' | { key: number } | undefined;
}

interface Part {
  key: number;
  /** The part of the key's load, up to 1. */
  part: number;
}

interface Partition {
  /** The part of the spread load. */
  share: number;
  parts: Part[];
  /** Seconds for which it has been hot. */
  hotFor: number;
}

interface StoreProps {
  /** Units per second that the store handles at first, and its quota. */
  warm: number;
  quota: number;
  /** Units per second of a partition. */
  perPartition: number;
  /** The number of keys, and into how many parts each can be divided. */
  keys: number;
  divisible?: (key: number) => number;
  random: () => number;
}

export class Store {
  readonly #props: StoreProps;
  #partitions: Partition[];
  /** The peaks of periods of traffic, the oldest first. */
  readonly #peaks: { at: number; units: number }[] = [];
  #grown: number;
  #time = 0;

  constructor(props: StoreProps) {
    this.#props = props;
    this.#grown = props.warm;
    const count = Math.max(Math.ceil(props.warm / props.perPartition), 1);
    this.#partitions = Array.from({ length: count }, () => ({ share: 1 / count, parts: [], hotFor: 0 }));
    for (let key = 0; key < props.keys; key += 1) {
      this.#partitions[Math.floor(props.random() * count)]?.parts.push({ key, part: 1 });
    }
  }

  get partitions(): number {
    return this.#partitions.length;
  }

  /** Units per second that the store handles now, if they are spread evenly. */
  get allowed(): number {
    return Math.min(this.#grown, this.#props.quota);
  }

  /** Which part of a demand the store admits: no partition exceeds its limit. */
  admit(load: Load): Admitted {
    const total = load.spread + load.keys.reduce((sum, units) => sum + units, 0);
    const ofStore = total > this.allowed ? this.allowed / total : 1;
    const keys = new Float64Array(this.#props.keys);
    const admitted: Admitted = { spread: 0, keys, byPartition: [], min: 1, limit: undefined };
    for (const partition of this.#partitions) {
      const units = loadOf(partition, load);
      const factor = Math.min(this.#props.perPartition / Math.max(units, 1e-9), ofStore);
      admitted.byPartition.push(units * factor);
      admitted.spread += partition.share * factor;
      for (const { key, part: ofKey } of partition.parts) {
        keys[key] = (keys[key] ?? 0) + ofKey * factor;
      }
      if (factor < admitted.min) {
        admitted.min = factor;
        admitted.limit = factor === ofStore ? 'store' : (mainKeyOf(partition, load) ?? 'partition');
      }
    }
    return admitted;
  }

  /** Lets time pass: partitions that are hot are split, and the store grows with its peaks. Takes what was consumed. */
  pass(demand: Load, consumed: number, seconds: number): void {
    this.#time += seconds;
    this.#grow(consumed);
    for (const partition of [...this.#partitions]) {
      const isHot = loadOf(partition, demand) >= assumed.hot * this.#props.perPartition;
      partition.hotFor = isHot ? partition.hotFor + seconds : 0;
      if (partition.hotFor >= assumed.splitAfter) this.#split(partition, demand);
    }
  }

  /** Units may be twice those of any time that is at least 30 minutes ago. */
  #grow(units: number): void {
    const last = this.#peaks.at(-1);
    if (last === undefined || units > last.units) this.#peaks.push({ at: this.#time, units });
    for (
      let [first] = this.#peaks;
      first !== undefined && first.at <= this.#time - limits.growthTime.value;
      [first] = this.#peaks
    ) {
      this.#grown = Math.max(this.#grown, limits.growth.value * first.units);
      this.#peaks.shift();
    }
    const needed = Math.ceil(this.allowed / this.#props.perPartition);
    while (this.#partitions.length < needed) {
      const [largest] = this.#partitions.toSorted((a, b) => b.share - a.share);
      if (largest === undefined) return;
      this.#split(largest, { spread: 1, keys: new Float64Array(this.#props.keys) });
    }
  }

  /** Divides a partition into two with about the same load. One item alone cannot be divided. */
  #split(partition: Partition, load: Load): void {
    partition.hotFor = 0;
    const weigh = ({ key, part }: Part): number => part * (load.keys[key] ?? 0);
    const max = (key: number): number => this.#props.divisible?.(key) ?? 1;
    const parts = partition.parts
      .flatMap((part) =>
        part.part > 1.5 / max(part.key)
          ? [
              { ...part, part: part.part / 2 },
              { ...part, part: part.part / 2 },
            ]
          : [part],
      )
      .toSorted((a, b) => weigh(b) - weigh(a));
    if (parts.length < 2 && partition.share === 0) return;
    const halves: { weight: number; parts: Part[] }[] = [
      { weight: 0, parts: [] },
      { weight: 0, parts: [] },
    ];
    for (const part of parts) {
      const [lighter] = halves.toSorted((a, b) => a.weight - b.weight || a.parts.length - b.parts.length);
      lighter?.parts.push(part);
      if (lighter) lighter.weight += weigh(part);
    }
    const [a = { weight: 0, parts: [] }, b = a] = halves;
    const spread = partition.share * load.spread;
    const toA = spread > 0 ? Math.min(Math.max((spread + b.weight - a.weight) / 2, 0), spread) / spread : 0.5;
    this.#partitions = this.#partitions.flatMap((each) =>
      each === partition
        ? [
            { share: partition.share * toA, parts: a.parts, hotFor: 0 },
            { share: partition.share * (1 - toA), parts: b.parts, hotFor: 0 },
          ]
        : [each],
    );
  }
}

const loadOf = ({ share, parts }: Partition, { spread, keys }: Load): number =>
  parts.reduce((total, { key, part }) => total + part * (keys[key] ?? 0), share * spread);

/** The key that has nearly all of a partition's load, if one has. */
const mainKeyOf = (partition: Partition, load: Load): { key: number } | undefined => {
  const found = partition.parts.find(({ key, part }) => part * (load.keys[key] ?? 0) > 0.8 * loadOf(partition, load));
  return found && { key: found.key };
};
