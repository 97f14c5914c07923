/**
 * Replaces `shared/core/runtime.ts` on the local stack and in tests. MINUTE is the number of milliseconds that a minute of
 * the service lasts; ALLOW_LOOPBACK permits calls of this machine. Deployed functions contain neither.
 */
import type * as runtime from '../../../shared/core/runtime.ts';

const MINUTE_MS = 60_000;

export const currentTime: typeof runtime.currentTime = () => Date.now();

export const scaled: typeof runtime.scaled = (durationMs) =>
  (durationMs * Number(process.env.MINUTE ?? MINUTE_MS)) / MINUTE_MS;

export const allowsLoopback: typeof runtime.allowsLoopback = () => process.env.ALLOW_LOOPBACK === 'true';
