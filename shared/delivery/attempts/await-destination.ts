/** The part of `deliver` for entries without a destination: they wait until one is set, for `RETRY_DAYS`. */
import { awaitDestination } from '../../messaging/outbox.ts';
import type { WithheldCause } from '../../outbound/attempt-result.ts';
import { expiryOf, isExpired } from '../retry-policy.ts';
import type { DeliveryContext } from './attempt-entry.ts';
import { checkBeforeAttempt } from './clearance.ts';
import { conclude, type ProcessedEntry } from './conclude.ts';

const NO_PLATFORM: WithheldCause = 'no_platform';

/** Has a conversation wait for the sake of its oldest entry, or ends an entry that has waited for `RETRY_DAYS`. */
export const waitForDestination = async (context: DeliveryContext): Promise<ProcessedEntry> => {
  const { destination, head, entry } = context;
  const clearance = await checkBeforeAttempt(entry);
  if (clearance.status === 'gone') return { result: 'gone', settled: 0 };
  if (isExpired(entry)) return conclude(context, { status: 'withheld', cause: NO_PLATFORM });
  const cause = destination.disabledBy ?? NO_PLATFORM;
  await awaitDestination(head, { end: expiryOf(entry), since: entry.created, cause });
  return { result: 'waiting', settled: 0, retry_scheduled: cause };
};
