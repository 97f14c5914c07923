/** The part of `deliver` for accounts with listeners: it makes no request, but offers the conversation to them. */
import { now } from '../../core/clock.ts';
import type { AttemptResult } from '../../destinations/attempt-result.ts';
import { isOutdated } from '../../outbox/states.ts';
import type { DeliveryContext } from '../attempts/attempt-entry.ts';
import { checkBeforeAttempt } from '../attempts/clearance.ts';
import { conclude, type ProcessedEntry } from '../attempts/conclude.ts';
import { abandonedAt } from '../retry-policy.ts';
import { isClaimed, lookAfterClaim, offer } from './offers.ts';

const SKIPPED: AttemptResult = { status: 'skipped' };

/** Offers a conversation for the sake of its oldest entry, unless no listener needs the entry, or it is too old. */
export const offerEntry = async (context: DeliveryContext): Promise<ProcessedEntry> => {
  const { destination, head, entry } = context;
  if (isClaimed(head)) {
    await lookAfterClaim(head);
    return { result: 'offered', settled: 0, retry_scheduled: 'listening' };
  }
  const clearance = await checkBeforeAttempt(entry);
  if (clearance.status === 'gone') return { result: 'gone', settled: 0 };
  if (clearance.status !== 'clear') throw new Error('Only entries for users are held or withheld.');
  if (destination.buildRequest(entry) === undefined || (await isOutdated(entry))) return conclude(context, SKIPPED);
  const end = abandonedAt(entry, head.retry_at);
  // It has expired, so this settles it.
  if (end <= now()) return conclude(context, { status: 'retry', cause: head.cause ?? NO_LISTENER });
  await offer(head, end);
  return { result: 'offered', settled: 0, retry_scheduled: 'listening' };
};

/** Why an entry failed that no listener has claimed. */
const NO_LISTENER = 'no_listener';
