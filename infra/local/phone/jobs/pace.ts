/** The pace of jobs: how many messages the app network accepted in each of the last seconds. */
import * as v from 'valibot';
import { positionOf } from '../../../../shared/campaigns/ids.ts';
import { now } from '../../../../shared/core/clock.ts';
import { logOfMessage } from '../../../../shared/stats/message-log.ts';
import type { AppNetwork } from '../../simulators/app-network/app-network.ts';
import type { Rule } from '../../simulators/fault-rules.ts';
import type { PaceCurve } from './views.ts';

const SECONDS = 30;
/** Messages are sent in groups: a mean of some seconds shows the pace. */
const MEAN_OF = 3;

const acceptedBatch = v.object({
  message: v.literal('batch accepted'),
  account: v.string(),
  batch_id: v.string(),
  job_id: v.string(),
});

export type AcceptedBatch = v.InferOutput<typeof acceptedBatch>;

interface Network extends Pick<AppNetwork, 'inbox'> {
  faultRules: Pick<AppNetwork['faultRules'], 'rules'>;
}

export class PaceMeter {
  readonly #network: Network;
  /** The job of each batch, and of each message without a batch. */
  readonly #jobs = new Map<string, string | undefined>();
  /** What disturbed the app network, by second since 1970. */
  readonly #notes = new Map<number, string>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** Adds a log line if it reports an accepted batch. Returns the batch; undefined for another line. */
  add(line: unknown): AcceptedBatch | undefined {
    const { success, output } = v.safeParse(acceptedBatch, line);
    if (!success) return undefined;
    this.#jobs.set(output.batch_id, output.job_id);
    return output;
  }

  /** The pace of a job over the last 30 seconds. The present second is not over, so it is left out. */
  async curveOf(job: string): Promise<PaceCurve> {
    const present = Math.floor(now() / 1_000);
    const begin = present - SECONDS;
    const counts = Array.from({ length: SECONDS }, () => 0);
    for (const { id, at } of this.#network.inbox.acceptedSince(begin * 1_000)) {
      const place = Math.floor(at / 1_000) - begin;
      if (place < SECONDS && (await this.#jobOf(id)) === job) counts[place] = (counts[place] ?? 0) + 1;
    }
    this.#note(present);
    const notes = [...this.#notes].flatMap(([second, note]) => (second >= begin ? [[second - begin, note]] : []));
    return { values: smoothed(counts), notes: Object.fromEntries(notes) };
  }

  async #jobOf(message: string): Promise<string | undefined> {
    const name = positionOf(message)?.batch ?? message;
    // The batches of this stack are known from its log.
    if (!this.#jobs.has(name)) this.#jobs.set(name, (await logOfMessage(message))[0]?.job_id);
    return this.#jobs.get(name);
  }

  #note(second: number): void {
    for (const before of this.#notes.keys()) if (before < second - SECONDS) this.#notes.delete(before);
    const rule = this.#network.faultRules.rules.find(({ phone }) => phone === undefined);
    const note = rule && describe(rule);
    if (note !== undefined) this.#notes.set(second - 1, note);
  }
}

/** What a fault rule does to the app network, in words; undefined if it changes no delivery. */
const describe = ({ status, delay_ms = 0, drop, hang }: Rule): string | undefined => {
  if (drop) return 'App network loses responses';
  if (hang) return 'App network does not respond';
  if (status !== undefined && status >= 300) return `App network returns ${status}`;
  return delay_ms > 0 ? `App network slow, ${delay_ms / 1_000} s a call` : undefined;
};

/** The mean of each second and of those before it. */
const smoothed = (counts: number[]): number[] =>
  counts.map((_, place) => {
    const some = counts.slice(Math.max(place - MEAN_OF + 1, 0), place + 1);
    return Math.round((some.reduce((sum, count) => sum + count, 0) / some.length) * 10) / 10;
  });
