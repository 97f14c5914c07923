/** The live feed: tells pages which parts have changed (server-sent events). A page that connects reads everything anew. */
import type { Changes } from '../simulators/changes.ts';
import type { Stream } from '../simulators/http.ts';
import type { Part } from './views.ts';

/** How soon a page connects again that has lost the feed, in milliseconds. */
const RETRY = 1_000;

/** A feed of these changes, for one page. */
export const feedOf = (changes: readonly [Changes, Part][]): Stream => ({
  headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  open(write) {
    write(`retry: ${RETRY}\n\n`);
    const ends = changes.map(([change, part]) => change.watch(() => write(`event: changed\ndata: ${part}\n\n`)));
    return () => {
      for (const end of ends) end();
    };
  },
});
