/**
 * How long AWS takes from a write or a message to the call of a function. The emulator takes a few milliseconds, unless it is
 * asked to be as slow.
 *
 * - Event sources: "Serverless Messaging: Latency Compared" (bitesizedserverless.com), 1,024 messages to each service one
 *   after another, September 2022, eu-west-1, from before the sender's call until the function runs. The stream's times fit
 *   Lambda's guide, by which it polls a shard four times a second ("Using Lambda with Amazon DynamoDB"). Times above the
 *   99th percentile were not published: the model has none.
 * - Cold starts: "Lambda Cold Starts Benchmark" (github.com/adriantanasa, November 2023), 100 starts of a bundle of 256 KB with
 *   nodejs20.x, 256 MB and x86, us-east-1: minimum, average, 90th percentile and maximum.
 */

type Point = readonly [quantile: number, ms: number];

/** Milliseconds at some quantiles. */
type Quantiles = readonly [Point, ...Point[]];

/** From a write until a function reads its record of the stream. */
const STREAM: Quantiles = [
  [0.1, 118],
  [0.5, 213],
  [0.9, 341],
  [0.99, 552],
];
/** From sending a message to a FIFO queue until a function receives it. */
const FIFO_QUEUE: Quantiles = [
  [0.1, 21.9],
  [0.5, 28.1],
  [0.9, 61.2],
  [0.99, 645],
];
/** Of a function's environment. With 280 ms at the 80th percentile, the average is the published one. */
const COLD_START: Quantiles = [
  [0, 132],
  [0.8, 280],
  [0.9, 643],
  [1, 913],
];

/** Interpolates between the quantiles. Outside of them, the next one counts. */
const valueAt = ([first, ...others]: Quantiles, share: number): number => {
  let [quantile, ms] = first;
  for (const [nextQuantile, nextMs] of others) {
    if (share < nextQuantile) return ms + (Math.max(share - quantile, 0) / (nextQuantile - quantile)) * (nextMs - ms);
    [quantile, ms] = [nextQuantile, nextMs];
  }
  return ms;
};

/** The medians, in milliseconds. @internal A benchmark uses them, too. */
export const medians = { stream: valueAt(STREAM, 0.5), queue: valueAt(FIFO_QUEUE, 0.5) };

/** Draws times, in milliseconds. */
export class Latency {
  readonly #random: () => number;

  /** @param random - returns a number from 0 to below 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  stream(): number {
    return valueAt(STREAM, this.#random());
  }

  queue(): number {
    return valueAt(FIFO_QUEUE, this.#random());
  }

  coldStart(): number {
    return valueAt(COLD_START, this.#random());
  }
}
