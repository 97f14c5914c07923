/**
 * Entries whose last attempt is due while their destination's circuit is open. No request is made then, so they fail
 * permanently. After a long outage there may be thousands in a conversation: they are settled together.
 */
import { inParallel } from '../core/parallel.ts';
import type { AttemptResult } from '../destinations/attempt-result.ts';
import type { Destination } from '../destinations/destination.ts';
import type { Entry } from '../outbox/event.ts';
import type { Head } from '../outbox/outbox.ts';
import { attemptsOf } from './attempts/history.ts';
import { keepAttempts } from './history/record.ts';
import { isExpired } from './retry-policy.ts';
import { canSettleTogether, SETTLED_TOGETHER, settledTogether, settleTogether } from './settle.ts';

/** Most entries that are settled from one page, and how many transactions run at the same time. */
export const EXHAUSTED = { page: 4 * SETTLED_TOGETHER, together: 2 } as const;

/** The entries at the beginning of a page that fail without a request, at most `EXHAUSTED.page`. */
export const exhaustedOf = (entries: Entry[], { receiptFor }: Destination): Entry[] => {
  const isExhausted = (entry: Entry): boolean =>
    isExpired(entry) && canSettleTogether(entry) && receiptFor?.(entry) === undefined;
  const end = entries.findIndex((entry) => !isExhausted(entry));
  return entries.slice(0, end === -1 ? EXHAUSTED.page : Math.min(end, EXHAUSTED.page));
};

/**
 * Settles these entries, and records them in the history of a destination that has one. 4 write units for each message
 * to or of a user, 2 for others, and 1 for the history.
 *
 * @returns how many entries this settled
 */
export const settleExhausted = async (
  entries: Entry[],
  result: AttemptResult,
  { destination, head }: { destination: Destination; head: Head },
): Promise<number> => {
  let settled = 0;
  await inParallel(settledTogether(entries), EXHAUSTED.together, async (part) => {
    const attempts = part.flatMap((entry) => attemptsOf({ destination, head, entry, exchanges: [] }, { result }));
    await Promise.all(attempts.map((attempt) => keepAttempts([attempt])));
    const ended = await settleTogether(part, result);
    // Other parts end during the `await`.
    settled += ended;
  });
  return settled;
};
