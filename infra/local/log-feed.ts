/**
 * The log lines of the local stack for other programs: `GET /log` at the URL of the phone's page. It responds with the
 * last lines, and then each new one as it arrives, as JSON objects separated by newlines.
 */
import { randomUUID } from 'node:crypto';
import { stream } from 'hono/streaming';
import { now } from '../../shared/core/clock.ts';
import type { FedLine } from '../operator/local-stack/fed-line.ts';
import { newRoutes, type RequestContext, type Routes } from './simulators/server.ts';

/** How many lines are kept, and how many are sent at once. */
const MOST = { kept: 10_000, sent: 500 };

export class LogFeed {
  /** Distinguishes the lines of this stack from those of an earlier one. */
  readonly #stack = randomUUID();
  readonly #lines: FedLine[] = [];
  /** The number of the first kept line. */
  #first = 0;
  #next = Promise.withResolvers<void>();

  /** Adds a line of the stack. */
  add(source: string, text: string): void {
    const id = `${this.#stack}/${this.#first + this.#lines.length}`;
    this.#lines.push({ id, time: now(), source, text });
    if (this.#lines.length > MOST.kept * 2) this.#first += this.#lines.splice(0, MOST.kept).length;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** The routes of the feed. */
  get routes(): Routes {
    const routes = newRoutes();
    routes.get('/log', (c) => this.#respond(c));
    return routes;
  }

  /** `?after=` names the last line that the client has; `?follow=false` ends the response after the kept lines. */
  #respond(c: RequestContext): Response {
    const follows = c.req.query('follow') !== 'false';
    let place = this.#placeAfter(c.req.query('after') ?? '');
    const firstNew = this.#first + this.#lines.length;
    c.header('content-type', 'application/x-ndjson');
    c.header('cache-control', 'no-store');
    return stream(c, async (feed) => {
      const closed = new Promise<void>((resolve) => feed.onAbort(resolve));
      while (!feed.aborted) {
        const next = this.#next.promise;
        const first = Math.max(place - this.#first, 0);
        const lines = this.#lines
          .slice(first, first + MOST.sent)
          .map((line, index) => (follows && this.#first + first + index < firstNew ? { ...line, kept: true } : line));
        place = this.#first + first + lines.length;
        if (lines.length > 0) await feed.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
        else if (follows) await Promise.race([next, closed]);
        else return;
      }
    });
  }

  /** The number of the line after this one; of the first kept line, if the client has none of this stack. */
  #placeAfter(id: string): number {
    const [stack, number] = id.split('/');
    return stack === this.#stack ? Number(number) + 1 : this.#first;
  }
}
