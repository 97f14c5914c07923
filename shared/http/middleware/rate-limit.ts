import { type Admission, Leases } from '../../accounts/rate-limit/leases.ts';
import { Problem } from '../../core/problems.ts';
import { traced } from '../../telemetry/trace.ts';
import type { HttpEvent, HttpMiddleware } from '../event.ts';
import { identityOf } from './authorize.ts';

/** Of this process, for all its requests. */
const ofThisProcess = /* @__PURE__ */ new Leases();

/** The name of the policy in the header fields. */
const POLICY = '"account"';

/**
 * Rejects requests over the limit of the account, before anything else is done with them. All responses have the RateLimit
 * header fields (draft-ietf-httpapi-ratelimit-headers-11). The policy is a bucket of `q` requests that fills within `w`
 * seconds; `r` of them are left for the next second.
 *
 * @throws rate_limited, or the problem that the endpoint prefers
 */
export const rateLimit = (
  code: 'rate_limited' | 'unavailable' = 'rate_limited',
  leases: Leases = ofThisProcess,
): HttpMiddleware => {
  const rateLimitBefore: HttpMiddleware['before'] = async ({ event, internal }) => {
    const caller = limitedCallerOf(event);
    if (caller === undefined) return;
    const admission = await traced(event.requestContext.requestId, () => leases.admit(caller.account, caller));
    internal.admission = admission;
    if (admission.isAdmitted) return;
    throw new Problem(code, 'Your account has sent too many requests. Retry after the seconds in Retry-After.', {
      retryAfter: secondsOf(admission.wait),
    });
  };

  const rateLimitAfter: HttpMiddleware['after'] = async ({ event, response, internal: { admission } }) => {
    const caller = limitedCallerOf(event);
    if (admission === undefined || caller === undefined) return;
    // Lambda freezes the process after the response.
    if (admission.isAdmitted) await admission.renewal;
    Object.assign(response?.headers ?? {}, headerFields(caller, admission));
  };

  return { before: rateLimitBefore, after: rateLimitAfter, onError: rateLimitAfter };
};

const limitedCallerOf = (event: HttpEvent) => {
  const { account, rate, burst } = identityOf(event) ?? {};
  return account === undefined || rate === undefined || burst === undefined ? undefined : { account, rate, burst };
};

/** Whole seconds, at least one: until then, a client that has no limit of its own should send nothing. */
const secondsOf = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1_000));

/** None, if the limit could not be applied. */
const headerFields = (limit: { rate: number; burst: number }, admission: Admission): Record<string, string> => {
  const { left, seconds } = admission.isAdmitted
    ? { left: admission.left, seconds: 1 }
    : { left: 0, seconds: secondsOf(admission.wait) };
  if (left === undefined) return {};
  return {
    'ratelimit-policy': `${POLICY};q=${limit.burst};w=${Math.ceil(limit.burst / limit.rate)}`,
    ratelimit: `${POLICY};r=${left};t=${seconds}`,
  };
};
