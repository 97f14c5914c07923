/**
 * What differs between a deployed function and one on the local stack. The local stack replaces this module by
 * `infra/local/runtime/local-runtime.ts` (`imports` in package.json), so that no setting of a deployed function changes
 * these values.
 */

/** Milliseconds since 1970. */
export const currentTime = (): number => Date.now();

/** How long a duration of the service lasts; both in milliseconds. The local stack shortens it, to test days in seconds. */
export const scaled = (durationMs: number): number => durationMs;

/** Whether URLs of this machine may be called. */
export const allowsLoopback = (): boolean => false;

/** How long the table may take for a response, in milliseconds: a caller waits, and a retry is cheap. */
export const tableTimeoutMs: number = 2_000;
