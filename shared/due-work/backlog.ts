/** The backlog: conversations with pending entries, those that are due and those with a scheduled retry. */

import { now } from '../core/clock.ts';
import { isHeadKey } from '../table/keys.ts';
import type { Due } from './scheduled-work.ts';

/** Most conversations that are counted, and most items that are read beyond the due ones: about 600 read units each minute. */
const COUNTED = 10_000;

export class Backlog {
  /** Conversations with pending entries. */
  waiting = 0;
  /** Age of the oldest pending entry, in seconds. */
  oldest_s = 0;

  /** Counts conversations. */
  note(heads: Due[]): void {
    this.waiting += heads.length;
    // What waits for a listener is not late.
    this.oldest_s = Math.max(this.oldest_s, ...heads.filter(({ state }) => state === undefined).map(waitingSince));
  }

  /** Counts conversations in pages of later work, up to `COUNTED`, and until `isLate` returns true. */
  async noteLater(pages: AsyncIterable<Due[]>, isLate: () => boolean): Promise<void> {
    let read = 0;
    for await (const later of pages) {
      if (this.waiting >= COUNTED || read >= COUNTED || isLate()) return;
      read += later.length;
      this.note(later.filter(isHeadKey));
    }
  }
}

const waitingSince = ({ created }: Due): number =>
  created === undefined ? 0 : Math.round((now() - Date.parse(`${created}Z`)) / 1000);
