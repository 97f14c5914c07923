/** When a failed delivery is retried, and when it has permanently failed. */
import { between, now, scaled } from '../core/clock.ts';
import type { Entry } from '../messaging/events.ts';

/** Milliseconds from one attempt to the next, by the number of failures in a row. The last step repeats. */
const STEPS_MS = [1, 2, 10, 30, 60, 120, 240, 360].map((minutes) => minutes * 60_000);

/** Milliseconds after which a failed attempt is the last one: 3 days. */
const LIFETIME_MS = 3 * 86_400_000;

/** Steps are up to this share longer or shorter, so that retries are spread. */
const JITTER = 0.2;

/**
 * The time of the next attempt, in milliseconds since 1970.
 *
 * @param failures - failures in a row
 * @param retryAfter - the pause that the destination asks for, in milliseconds; at most twice the step counts
 */
export const nextAttempt = (failures: number, retryAfter = 0): number => {
  const step = scaled(STEPS_MS[Math.min(failures, STEPS_MS.length) - 1] ?? 0);
  return now() + Math.max(step * between(1 - JITTER, 1 + JITTER), Math.min(retryAfter, 2 * step));
};

/** Whether an entry has been pending so long that it fails permanently. */
export const isExpired = ({ created }: Entry): boolean => Date.parse(`${created}Z`) + scaled(LIFETIME_MS) <= now();

/** Milliseconds for which a listener may claim an entry for its last attempt. */
const LAST_CLAIM_MS = 600_000;

/**
 * When an entry fails permanently that no listener claims, in milliseconds since 1970: some time after it has expired,
 * and after its last attempt was due at `retryAt` (in the form of `sortableTime`).
 */
export const abandonedAt = ({ created }: Entry, retryAt: string | undefined): number => {
  const expired = Date.parse(`${created}Z`) + scaled(LIFETIME_MS);
  return Math.max(expired, retryAt === undefined ? 0 : Date.parse(retryAt)) + scaled(LAST_CLAIM_MS);
};
