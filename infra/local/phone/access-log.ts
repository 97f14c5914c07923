/**
 * Requests to the service, from its hosts' access logs. The logs contain routes instead of paths, which may be secret.
 */
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

  /** The last requests, newest first. */
  get requests(): readonly RequestView[] {
    return this.#requests;
  }

  /** Adds a log line if it belongs to an access log. Returns whether it does. */
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
