/** Calls of the service to a simulator: how they are answered, and what is noted of that. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../../../shared/core/clock.ts';
import type { Rule } from './fault-rules.ts';
import { type Answer, json, type Reply } from './http.ts';
import type { Request } from './server.ts';

/** What a call was answered; nothing, as long as the answer is held back. */
export type Outcome = number | 'dropped' | 'timeout' | null;

/** The present, as simulators note it. */
export const time = (): string => new Date(now()).toISOString();

interface Told {
  rule: Rule;
  request: Request;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
  /** Where the outcome is noted. */
  call: { status: Outcome };
  /** Takes what the call brings, and answers as is normal. */
  take: () => Reply | Promise<Reply>;
}

/** Answers a call as the rule says. What is answered with an error, dropped or hangs is not taken, unless the rule says so. */
export const answerAsTold = async ({ rule, request, closing, call, take }: Told): Promise<Answer> => {
  const { status, delay_ms = 0, drop, hang, after } = rule;
  if (delay_ms > 0) await pause(delay_ms, undefined, { signal: closing });
  if (drop || hang) {
    if (after) await take();
    call.status = drop ? 'dropped' : 'timeout';
    return drop ? 'drop' : 'hang';
  }
  const normal = status === undefined || status < 300 ? await take() : undefined;
  const reply = toldReply(rule) ?? normal ?? { status: 204 };
  call.status = request.gone() ? 'timeout' : reply.status;
  return reply;
};

const toldReply = ({ status, retry_after }: Rule): Reply | undefined =>
  status === undefined
    ? undefined
    : {
        ...(status === 204 ? { status } : json(status, { message: `Told to answer ${status}.` })),
        ...(retry_after !== undefined && { headers: { 'retry-after': String(retry_after) } }),
      };
