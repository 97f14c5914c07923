/**
 * The values that differ between a deployed function and the local stack. The local stack replaces this module by
 * `infra/local/runtime/local-runtime.ts` (`imports` in package.json), so that no setting of a deployed function changes
 * them.
 */

import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds since 1970. */
export const currentTime = (): number => Date.now();

/** Waits for some milliseconds. Not at all, if the time has come since the caller computed them: Node would warn. */
export const pause = (durationMs: number): Promise<void> => wait(Math.max(durationMs, 0));

/** A duration of the service, in milliseconds. The local stack shortens durations, to test days in seconds. */
export const scaled = (durationMs: number): number => durationMs;

/** Whether requests to this machine are allowed. */
export const allowsLoopback = (): boolean => false;

/** Timeout of a DynamoDB call in milliseconds. Short, because a caller waits, and a retry is cheap. */
export const tableTimeoutMs: number = 2_000;
