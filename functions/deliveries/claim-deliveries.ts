/** POST /v1/deliveries/claim: claims the next events for the caller's webhook, and waits for some if the caller asks for it. */
import { now } from '../../shared/core/clock.ts';
import { waitDeadlines } from '../../shared/core/deadline.ts';
import { endpoint, noContent, ok } from '../../shared/http/endpoint.ts';
import { pollUntil } from '../../shared/http/long-poll.ts';
import { slotOf } from '../../shared/http/wait-slot.ts';
import { listenerOf } from '../../shared/listening/claim.ts';
import { measure } from '../../shared/telemetry/metrics.ts';

export const handler = endpoint('claimDeliveries', async ({ account, query, remaining }) => {
  const start = now();
  const deadlines = waitDeadlines(query.long_poll, remaining());
  const claim = await listenerOf(account);
  const slot = slotOf(account, deadlines.end);
  const isAny = ({ length }: unknown[]): boolean => length > 0;
  const events =
    query.long_poll === 0
      ? await claim(query.limit)
      : await pollUntil(() => claim(query.limit), isAny, deadlines, slot);
  if (slot.outcome === 'taken') {
    const outcome = isAny(events) ? 'answered' : 'pending';
    measure('info', 'long poll', { account, outcome, long_polls: 1, long_poll_ms: now() - start });
  } else if (slot.outcome === 'declined') {
    measure('info', 'long poll declined', { account, long_polls_declined: 1 });
  }
  return isAny(events) ? ok(events) : noContent();
});
