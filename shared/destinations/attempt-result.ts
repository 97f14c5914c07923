/** The result of an attempt to deliver an entry, by the destination's response. */
import type { OutboundResponse } from './http/request.ts';
import { retryAfterIn } from './http/retry-after.ts';

/** Why an entry must not be delivered. */
export type WithheldCause = 'bot_number_released' | 'no_platform' | EarlyEnd;

/** Why a message ends that the business or the user does not want any more: no destination has failed. */
export type EarlyEnd = 'cancelled' | 'expired' | 'opted_out';

/**
 * - `delivered`: the destination accepted the entry.
 * - `skipped`: the destination does not need the entry; nothing was sent.
 * - `rejected`: permanent; a retry would fail, too.
 * - `retry`: temporary; `retryAfter` is the pause that the destination asks for, in milliseconds. `isRefusal`: the destination
 *   works and rejects this entry, which is retried for an hour only.
 * - `rate_limited`: the destination works, and asks for no requests for `wait` milliseconds.
 * - `disabled`: the destination wants no more requests; its entries wait until an operator sets it again.
 * - `held`: the account is suspended; nothing was sent, and the entry stays pending.
 * - `withheld`: the entry must not be delivered; nothing was sent.
 * - `internal_error`: our own code failed to build the request; this does not concern the destination's circuit.
 */
export type AttemptResult =
  | { status: 'delivered' }
  | { status: 'skipped' }
  | { status: 'rejected'; cause: string }
  | { status: 'retry'; cause: string; retryAfter?: number; isRefusal?: true }
  | { status: 'rate_limited'; cause: string; wait: number }
  | { status: 'disabled'; cause: string }
  | { status: 'held'; cause: 'account_suspended' }
  | { status: 'withheld'; cause: WithheldCause }
  | { status: 'internal_error'; cause: string };

/** 4xx statuses that ask for a retry. */
const RETRYABLE = new Set([408, 425, 429]);

/**
 * The result by HTTP's rules. Redirects are not followed: the entry is retried until the URL is corrected. A 429 with
 * `Retry-After` is a rate limit; without, it is a failure like others.
 */
export const interpretByStatus = (response: OutboundResponse): AttemptResult => {
  const { status } = response;
  const wait = status === 429 ? retryAfterIn(response) : undefined;
  if (wait !== undefined) return { status: 'rate_limited', cause: causeOf(response), wait };
  if (status >= 200 && status < 300) return { status: 'delivered' };
  if (status >= 400 && status < 500 && !RETRYABLE.has(status)) return { status: 'rejected', cause: causeOf(response) };
  return retryResult(response);
};

/** A retry, after the pause of `Retry-After` if the response has one. */
export const retryResult = (response: OutboundResponse): AttemptResult => {
  const retryAfter = retryAfterIn(response);
  return { status: 'retry', cause: causeOf(response), ...(retryAfter !== undefined && { retryAfter }) };
};

/** The cause of a failure as the log may contain it. */
export const causeOf = ({ status }: OutboundResponse): string => `status_${status}`;
