/**
 * Replaces `shared/core/runtime.ts` on the local stack and in tests. MINUTE is the length of the service's minute in
 * milliseconds; ALLOW_LOOPBACK permits calls to this machine; TABLE_TIMEOUT_MS is the patience with a slow database.
 * Deployed functions contain none of them.
 */
import type * as runtime from '../../../shared/core/runtime.ts';

const MINUTE_MS = 60_000;

export const currentTime: typeof runtime.currentTime = () => Date.now();

export const scaled: typeof runtime.scaled = (durationMs) =>
  (durationMs * Number(process.env.MINUTE ?? MINUTE_MS)) / MINUTE_MS;

export const allowsLoopback: typeof runtime.allowsLoopback = () => process.env.ALLOW_LOOPBACK === 'true';

export const tableTimeoutMs: typeof runtime.tableTimeoutMs = Number(process.env.TABLE_TIMEOUT_MS ?? 2_000);
