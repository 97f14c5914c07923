/** When a delivery begins, when it is retried after a failure, and when it has permanently failed. */
import { between, now, scaled, timestampOf } from '../core/clock.ts';
import { RETRY_DAYS } from '../core/lifetimes.ts';
import { nextOpening } from '../core/sending-hours.ts';
import type { Entry } from '../outbox/event.ts';

/** Milliseconds from one attempt to the next, by the number of failures in a row. The last step repeats. */
export const RETRY_STEPS_MS: readonly number[] = [1, 2, 10, 30, 60, 120, 240, 360].map((minutes) => minutes * 60_000);

/** Milliseconds after which a failed attempt is the last one. */
export const LIFETIME_MS = RETRY_DAYS * 86_400_000;

/** Steps are up to this share longer or shorter, so that retries are spread. */
const JITTER = 0.2;

/**
 * The time of the next attempt, in milliseconds since 1970.
 *
 * @param failures - failures in a row
 * @param retryAfter - the pause that the destination asks for, in milliseconds; at most twice the step counts
 */
export const nextAttempt = (failures: number, retryAfter = 0): number => {
  const step = scaled(RETRY_STEPS_MS[Math.min(failures, RETRY_STEPS_MS.length) - 1] ?? 0);
  return now() + Math.max(step * between(1 - JITTER, 1 + JITTER), Math.min(retryAfter, 2 * step));
};

/** The first moment from `at` on at which an entry may be attempted, by its sending hours. Both in milliseconds since 1970. */
export const permittedFrom = ({ outgoing }: Entry, at: number): number =>
  outgoing.type === 'message.send' && outgoing.message.hours
    ? nextOpening(outgoing.message.hours, outgoing.message.phone, at)
    : at;

/** When an entry could be attempted first, in milliseconds since 1970. */
const beginOf = (entry: Entry): number => permittedFrom(entry, Date.parse(`${entry.created}Z`));

/** Since when an entry is pending and may be attempted, in the form of `timestamp`. */
export const pendingSince = (entry: Entry): string => {
  const begin = beginOf(entry);
  return begin > Date.parse(`${entry.created}Z`) ? timestampOf(begin) : entry.created;
};

/** When an entry has been pending so long that it fails permanently, in milliseconds since 1970. */
export const expiryOf = (entry: Entry): number => beginOf(entry) + scaled(LIFETIME_MS);

/** Whether an entry has been pending so long that it fails permanently. */
export const isExpired = (entry: Entry): boolean => expiryOf(entry) <= now();

/** Milliseconds for which an entry is retried that its destination refuses: it blocks its conversation for this time. */
const REFUSED_MS = 3_600_000;

/** When an entry fails permanently that its destination first refused at `refused`, in milliseconds since 1970. */
export const endOfRefusals = (refused: number): number => refused + scaled(REFUSED_MS);

/** Milliseconds for which a listener may claim an entry for its last attempt. */
const LAST_CLAIM_MS = 600_000;

/**
 * When an entry fails permanently that no listener claims, in milliseconds since 1970: some time after it has expired,
 * and after its last attempt was due at `retryAt` (in the form of `sortableTime`).
 */
export const abandonedAt = (entry: Entry, retryAt: string | undefined): number => {
  return Math.max(expiryOf(entry), retryAt === undefined ? 0 : Date.parse(retryAt)) + scaled(LAST_CLAIM_MS);
};
