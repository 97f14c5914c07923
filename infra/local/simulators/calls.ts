/** Calls of the service to a simulator: how they are answered, and what is noted of that. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../../../shared/core/clock.ts';
import type { Rule } from './fault-rules.ts';
import { type Answer, jsonWith, noContent } from './http.ts';
import type { IncomingCall } from './server.ts';

/** What a call was answered; nothing, as long as the answer is held back. */
export type Outcome = number | 'dropped' | 'timeout' | null;

/** The present, as simulators note it. */
export const time = (): string => new Date(now()).toISOString();

interface Ruled {
  rule: Rule;
  call: IncomingCall;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
  /** Where the outcome is noted. */
  record: { status: Outcome };
  /** Takes what the call brings, and answers as is normal. */
  take: () => Response | Promise<Response>;
}

/** Answers a call by a rule. What is answered with an error, dropped or hangs is not taken, unless the rule says so. */
export const answerByRule = async ({ rule, call, closing, record, take }: Ruled): Promise<Answer> => {
  const { status, delay_ms = 0, drop, hang, after } = rule;
  if (delay_ms > 0) await pause(delay_ms, undefined, { signal: closing });
  if (drop || hang) {
    if (after) await take();
    record.status = drop ? 'dropped' : 'timeout';
    return drop ? 'drop' : 'hang';
  }
  const normal = status === undefined || status < 300 ? await take() : undefined;
  const response = ruledResponse(rule) ?? normal ?? noContent();
  record.status = call.gone() ? 'timeout' : response.status;
  return response;
};

const ruledResponse = ({ status, retry_after }: Rule): Response | undefined => {
  if (status === undefined) return undefined;
  const response = jsonWith(status, { message: `Told to answer ${status}.` });
  if (retry_after !== undefined) response.headers.set('retry-after', String(retry_after));
  return response;
};
