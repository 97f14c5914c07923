/**
 * Replaces `shared/core/runtime.ts` on the local stack and in tests. The time and pauses follow the emulator's clock.
 * MINUTE is the length of the service's minute in milliseconds; ALLOW_LOOPBACK permits calls to this machine;
 * TABLE_TIMEOUT_MS is how long a call may take. Deployed functions contain none of them.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type * as runtime from '../../../shared/core/runtime.ts';
import { ThreadClock } from '../aws/time/thread-clock.ts';

const MINUTE_MS = 60_000;

export const currentTime: typeof runtime.currentTime = () => ThreadClock.current()?.now() ?? Date.now();

export const pause: typeof runtime.pause = (durationMs) =>
  ThreadClock.current()?.sleep(durationMs) ?? wait(Math.max(durationMs, 0));

export const scaled: typeof runtime.scaled = (durationMs) =>
  (durationMs * Number(process.env.MINUTE ?? MINUTE_MS)) / MINUTE_MS;

export const allowsLoopback: typeof runtime.allowsLoopback = () => process.env.ALLOW_LOOPBACK === 'true';

export const tableTimeoutMs: typeof runtime.tableTimeoutMs = Number(process.env.TABLE_TIMEOUT_MS ?? 2_000);
