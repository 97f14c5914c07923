/** Asynchronous invocations: Lambda keeps the event, and repeats it if the function fails. */
import { setTimeout as pause } from 'node:timers/promises';
import type { AsynchronousLimits } from '../template/definitions.ts';

interface AsynchronousInvocation extends AsynchronousLimits {
  /** Invokes the function with the event. Rejects if the function fails. */
  invoke: () => Promise<unknown>;
  /** Milliseconds that count as a minute. */
  minute: number;
  /** Ends the repetitions. */
  signal: AbortSignal;
}

/**
 * Invokes a function as Lambda does for an asynchronous event. After a failure, Lambda waits for one minute, and then for
 * two. Never rejects: nobody waits for the result.
 */
export const invokeAsynchronously = async ({
  invoke,
  retries,
  oldest,
  minute,
  signal,
}: AsynchronousInvocation): Promise<void> => {
  const start = Date.now();
  const latest = start + (oldest / 60_000) * minute;
  for (let failures = 0; ; ) {
    const hasSucceeded = await invoke().then(
      () => true,
      () => false,
    );
    failures += 1;
    const wait = failures * minute;
    if (hasSucceeded || failures > retries || Date.now() + wait > latest) return;
    await pause(wait, undefined, { ref: false, signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
};
