/** When a failed delivery is retried, and when it has permanently failed. */
import { between, now, scaled } from '../core/clock.ts';
import type { Entry } from '../messaging/events.ts';

/** Milliseconds from one attempt to the next, by how many failed in a row; after the last the last one again. */
const STEPS_MS = [1, 2, 10, 30, 60, 120, 240, 360].map((minutes) => minutes * 60_000);

/** Milliseconds after which an attempt that fails is the last one: 3 days. */
const LIFETIME_MS = 3 * 86_400_000;

/** Steps are this much longer or shorter, so that not all come at once. */
const JITTER = 0.2;

/**
 * When to try again after so many failures in a row, in milliseconds since 1970; a destination that says when (in
 * milliseconds from now) is obeyed up to twice the step.
 */
export const nextAttempt = (failures: number, retryAfter = 0): number => {
  const step = scaled(STEPS_MS[Math.min(failures, STEPS_MS.length) - 1] ?? 0);
  return now() + Math.max(step * between(1 - JITTER, 1 + JITTER), Math.min(retryAfter, 2 * step));
};

/** Whether an entry has been pending so long that it fails permanently. */
export const isExpired = ({ created }: Entry): boolean => Date.parse(`${created}Z`) + scaled(LIFETIME_MS) <= now();
