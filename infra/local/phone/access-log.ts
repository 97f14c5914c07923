/** Requests to the service, as its hosts' access logs tell them: they hold routes, never paths, which may be secrets. */
import * as v from 'valibot';
import { MOST } from './traffic.ts';
import type { RequestView } from './views.ts';

const numeral = v.pipe(v.string(), v.transform(Number), v.number());

const entry = v.object({
  trace_id: v.string(),
  time: numeral,
  route: v.string(),
  status: numeral,
  account: v.string(),
  ms: numeral,
});

export class AccessLog {
  #requests: RequestView[] = [];

  /** The last ones, newest first. */
  get requests(): readonly RequestView[] {
    return this.#requests;
  }

  /** Notes a line of the log, if it is one of an access log. Answers whether it is. */
  add(line: unknown): boolean {
    const { success, output } = v.safeParse(entry, line);
    if (!success) return false;
    const { trace_id, time, account, ...rest } = output;
    const request = {
      id: trace_id,
      time: new Date(time).toISOString(),
      account: account === '-' ? null : account,
      ...rest,
    };
    this.#requests = [request, ...this.#requests].slice(0, MOST);
    return true;
  }
}
