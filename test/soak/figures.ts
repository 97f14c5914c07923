/** The figures of a soak: latencies by phase, and all measurements by tenths of the run. */
import type { Book, Message } from './book.ts';
import type { Measure } from './stack-process.ts';

/** The measurements at one time. */
export interface Sample extends Measure {
  /** Milliseconds since 1970. */
  at: number;
  /** The number of created messages, and of delivered messages. */
  begun: number;
  taken: number;
  /** Memory of the database's process in bytes, if the soak started it. */
  database: number | undefined;
}

/** The number of messages, and quantiles of their latency in milliseconds. */
export interface Spread {
  count: number;
  p50: number;
  p90: number;
  p99: number;
}

/** The quantile of the values: `share` of them are below it. */
const quantile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
};

const median = (values: number[]): number => quantile(values, 0.5);

/** Milliseconds from acceptance to delivery, at least 0. A message can arrive before the sender has the response. */
const latencyOf = ({ accepted = Number.NaN, taken = Number.NaN }: Message): number => Math.max(taken - accepted, 0);

export const spreadOf = (messages: Message[]): Spread => {
  const values = messages.map(latencyOf).filter((value) => !Number.isNaN(value));
  return { count: values.length, p50: median(values), p90: quantile(values, 0.9), p99: quantile(values, 0.99) };
};

export interface Tenth {
  /** Created messages per second. */
  rate: number;
  /** The latency of messages that are not for a failed destination. */
  latency: Spread;
  /** Medians, in bytes. */
  rss: number;
  heap: number;
  threads: number;
  /** The largest heap of the functions' threads, after garbage collection. */
  threadHeap: number;
  database: number | undefined;
}

const TENTHS = 10;

/** Splits the run into ten parts with equal numbers of messages. `healthy` selects the messages for the latency. */
export const tenthsOf = (book: Book, samples: Sample[], healthy: (message: Message) => boolean): Tenth[] => {
  const { messages } = book;
  const edge = (place: number): number => Math.round((place * messages.length) / TENTHS);
  return Array.from({ length: TENTHS }, (_, place) => {
    const part = messages.slice(edge(place), edge(place + 1));
    const [first, last] = [part.at(0)?.begun ?? 0, part.at(-1)?.begun ?? 0];
    const seen = samples.filter(({ at }) => at >= first && at <= last);
    const middle = (of: (sample: Sample) => number | undefined): number =>
      median(seen.map(of).filter((value) => value !== undefined));
    return {
      rate: (part.length * 1_000) / (last - first),
      latency: spreadOf(part.filter(healthy)),
      rss: middle(({ rss }) => rss),
      heap: middle(({ heap }) => heap),
      threads: middle(({ threads }) => threads),
      threadHeap: middle(({ threadHeaps }) => (threadHeaps?.length ? Math.max(...threadHeaps) : undefined)),
      database: middle(({ database }) => database),
    };
  });
};

/** The growth of a measurement per message: the slope of the least-squares line of the second half of the samples. */
export const growthOf = (samples: Sample[], of: (sample: Sample) => number): number => {
  const half = samples.slice(Math.floor(samples.length / 2));
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(half.map(({ begun }) => begun)), mean(half.map(of))];
  const covariance = mean(half.map((sample) => (sample.begun - x) * (of(sample) - y)));
  return covariance / mean(half.map(({ begun }) => (begun - x) ** 2));
};
