/**
 * What the phones of the simulated app network report by themselves: that a message is on the phone. The phones of made-up
 * users, to whom a campaign can be sent, are like real ones: most of them get the message, more than half read it, and
 * both are reported some seconds later. The page does not list them.
 */
import { crc32 } from 'node:zlib';
import { between, now } from '../../../../shared/core/clock.ts';
import type { AppNetwork, StateReport } from './app-network.ts';

/** No country has this code (ITU-T E.164 reserves it), so the numbers belong to nobody. */
const PREFIX = '999';
const DIGITS = 8;

export const isMadeUp = (phone: string): boolean => phone.startsWith(PREFIX) && phone.length === 3 + DIGITS;

/** Of 100 made-up users, how many get a message, and how many read it. */
const SHARES = { delivered_to_user: 97, read: 60 };
/** Milliseconds from the delivery to a report of other users, and of made-up ones. */
const DELAY_MS = 200;
const DELAYS_MS = { delivered_to_user: [200, 1_500], read: [1_500, 5_000] } as const;
/** Most reports of a request, and milliseconds between requests. */
const TOGETHER = 100;
const PAUSE_MS = 500;

export class SimulatedUsers {
  readonly #network: AppNetwork;
  readonly #pending: (StateReport & { at: number })[] = [];
  /** The list of accepted messages, and how many of them are handled. */
  #seen: { list: readonly unknown[]; count: number } = { list: [], count: 0 };
  #timer: NodeJS.Timeout | undefined;

  constructor(network: AppNetwork) {
    this.#network = network;
  }

  /** From now on, phones report what they get. */
  watch(): void {
    this.#network.changes.watch(() => this.#look());
  }

  /** Schedules the reports about messages that the app network has accepted since the last look. */
  #look(): void {
    const { accepted } = this.#network.inbox;
    const from = accepted === this.#seen.list ? this.#seen.count : 0;
    this.#seen = { list: accepted, count: accepted.length };
    for (const { id, phone } of accepted.slice(from)) {
      if (isMadeUp(phone)) this.#schedule(id);
      else this.#pending.push({ id, state: 'delivered_to_user', at: now() + DELAY_MS });
    }
    if (this.#pending.length > 0) this.#reportLater();
  }

  /** Schedules the reports of a made-up user. */
  #schedule(id: string): void {
    // The same messages in every run, so that the counts of a job are explicable.
    const luck = crc32(id) % 100;
    for (const state of ['delivered_to_user', 'read'] as const) {
      const [min, max] = DELAYS_MS[state];
      if (luck < SHARES[state]) this.#pending.push({ id, state, at: now() + between(min, max) });
    }
  }

  #reportLater(): void {
    this.#timer ??= setTimeout(() => {
      void this.#report().finally(() => {
        this.#timer = undefined;
        if (this.#pending.length > 0 && !this.#network.closing.aborted) this.#reportLater();
      });
    }, PAUSE_MS).unref();
  }

  /** Reports what is due. What the service does not accept now is reported again: it logs each state once. */
  async #report(): Promise<void> {
    const due = this.#pending.filter(({ at }) => at <= now()).slice(0, TOGETHER);
    if (due.length === 0) return;
    const reported = await this.#network.reportStates(due.map(({ id, state }) => ({ id, state })));
    if (!reported) return;
    const done = new Set(due);
    this.#pending.splice(0, this.#pending.length, ...this.#pending.filter((report) => !done.has(report)));
  }
}
