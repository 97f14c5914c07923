/** The live feed: server-sent events that name the changed views. A page that connects reads all views again. */
import { stream } from 'hono/streaming';
import type { Changes } from '../simulators/changes.ts';
import type { RequestContext } from '../simulators/server.ts';
import type { Part } from './views.ts';

/** After how many milliseconds a page reconnects that has lost the feed. */
const RETRY = 1_000;

/** Responds with a feed of these changes, until the page or the server closes the connection. */
export const feedOf = (c: RequestContext, changes: readonly [Changes, Part][]): Response => {
  c.header('content-type', 'text/event-stream');
  c.header('cache-control', 'no-store');
  return stream(c, async (feed) => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    feed.onAbort(close);
    await feed.write(`retry: ${RETRY}\n\n`);
    const ends = changes.map(([change, part]) =>
      change.watch(() => void feed.write(`event: changed\ndata: ${part}\n\n`)),
    );
    await closed;
    for (const end of ends) end();
  });
};
