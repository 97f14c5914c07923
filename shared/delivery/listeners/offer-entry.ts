/** The part of `deliver` for accounts with listeners: it makes no request, but offers the conversation to them. */
import { now } from '../../core/clock.ts';
import { awaitClaimEnd, isClaimed, offer } from '../../outbox/head.ts';
import { isOutdated } from '../../outbox/states.ts';
import { applyResult, type Outcome } from '../apply-result.ts';
import { type AttemptContext, preflight } from '../attempt.ts';
import { abandonedAt } from '../retry-policy.ts';

/** Offers a conversation for the sake of its oldest entry, unless no listener needs the entry, or it is too old. */
export const offerEntry = async (context: AttemptContext): Promise<Outcome | { type: 'offered' }> => {
  const { destination, circuit, head, entry } = context;
  if (isClaimed(head)) {
    await awaitClaimEnd(head);
    return { type: 'offered' };
  }
  const found = await preflight(entry);
  if (found.status === 'gone') return { type: 'gone', circuit };
  if (found.status !== 'clear') throw new Error('Only entries for users are held or withheld.');
  if (destination.buildRequest(entry) === undefined || (await isOutdated(entry))) {
    return applyResult(context, { status: 'skipped' });
  }
  const end = abandonedAt(entry, head.retryAt);
  // It has expired, so this settles it.
  if (end <= now()) return applyResult(context, { status: 'retry', cause: head.cause ?? NO_LISTENER });
  await offer(head, end);
  return { type: 'offered' };
};

/** Why an entry failed that no listener has claimed. */
const NO_LISTENER = 'no_listener';
