/** Responses to the service's calls of a simulator, by its fault rules. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../../../shared/core/clock.ts';
import type { Rule } from './fault-rules.ts';
import { type CallEnd, jsonWith, noContent } from './http.ts';
import type { IncomingCall } from './server.ts';

/** How a call ended: the status of the response, or why there was none. Null while the call is in progress. */
export type Outcome = number | 'dropped' | 'timeout' | null;

/** The present, as an ISO time. */
export const time = (): string => new Date(now()).toISOString();

interface Ruled {
  rule: Rule;
  call: IncomingCall;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
  /** The record of the call: its status is set when the call ends. */
  record: { status: Outcome };
  /** Accepts the call, and returns the normal response. */
  accept: () => Response | Promise<Response>;
}

/** Responds by a rule. A call that gets an error, is dropped or hangs is not accepted, unless the rule has `after`. */
export const respondByRule = async ({ rule, call, closing, record, accept }: Ruled): Promise<CallEnd> => {
  const { status, delay_ms = 0, drop, hang, after } = rule;
  if (delay_ms > 0) await pause(delay_ms, undefined, { signal: closing });
  if (drop || hang) {
    if (after) await accept();
    record.status = drop ? 'dropped' : 'timeout';
    return drop ? 'drop' : 'hang';
  }
  const normal = status === undefined || status < 300 ? await accept() : undefined;
  const response = ruledResponse(rule) ?? normal ?? noContent();
  record.status = call.gone() ? 'timeout' : response.status;
  return response;
};

const ruledResponse = ({ status, retry_after }: Rule): Response | undefined => {
  if (status === undefined) return undefined;
  const response = jsonWith(status, { message: `Status ${status}, by a fault rule.` });
  if (retry_after !== undefined) response.headers.set('retry-after', String(retry_after));
  return response;
};
