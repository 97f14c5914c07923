/** The backlog: conversations with pending entries, those that are due and those with a scheduled retry. */

import { now } from '../core/clock.ts';
import { isHeadKey } from '../table/keys.ts';
import { type Due, laterWork } from './scheduled-work.ts';

/** Conversations that are counted besides those that are due: some 300 read units a minute. */
const COUNTED = 10_000;

export class Backlog {
  /** Conversations with pending entries. */
  waiting = 0;
  /** Age of the oldest pending entry, in seconds. */
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
