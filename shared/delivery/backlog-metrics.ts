/** How much waits to go out, and how long: in conversations that are due, and in those that are put off. */

import { now } from '../core/clock.ts';
import { isHeadKey } from '../table/keys.ts';
import { type Due, laterWork } from './scheduled-work.ts';

/** Conversations that are looked at, beside those that are due, to tell how many wait: some 300 read units a minute. */
const COUNTED = 10_000;

export class Backlog {
  /** Conversations in which something waits. */
  waiting = 0;
  /** Seconds that the oldest of it has waited. */
  oldest_s = 0;

  /** Counts conversations. */
  note(heads: Due[]): void {
    this.waiting += heads.length;
    this.oldest_s = Math.max(this.oldest_s, ...heads.map(waitingSince));
  }

  /** Counts those that are not due at `time` yet, unless there are very many, or there is no time left for it. */
  async noteLater(time: string, isLate: () => boolean): Promise<void> {
    for await (const later of laterWork(time)) {
      if (this.waiting >= COUNTED || isLate()) return;
      this.note(later.filter(isHeadKey));
    }
  }
}

const waitingSince = ({ created }: Due): number =>
  created === undefined ? 0 : Math.round((now() - Date.parse(`${created}Z`)) / 1000);
