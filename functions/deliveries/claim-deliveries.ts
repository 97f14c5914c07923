/** POST /v1/deliveries/claim: claims the next events for the caller's webhook, and waits for some if the caller asks for it. */
import { deliveries as api } from '../../shared/api/areas/deliveries.ts';
import { now } from '../../shared/core/clock.ts';
import { waitDeadlines } from '../../shared/core/deadline.ts';
import { listenerOf } from '../../shared/delivery/listeners/claim.ts';
import { endpoint, noContent, ok } from '../../shared/http/endpoint.ts';
import { pollUntil } from '../../shared/http/long-poll.ts';
import { measureWait, slotOf } from '../../shared/http/wait-slot.ts';

export const handler = endpoint(api.claimDeliveries, async ({ account, query, remaining }) => {
  const start = now();
  const deadlines = waitDeadlines(query.long_poll, remaining());
  const claim = await listenerOf(account);
  const slot = slotOf(account, deadlines.end);
  const isAny = ({ length }: unknown[]): boolean => length > 0;
  const events =
    query.long_poll === 0
      ? await claim(query.limit)
      : await pollUntil(() => claim(query.limit), isAny, deadlines, slot);
  measureWait(slot, { account }, { start, isAnswered: isAny(events) });
  return isAny(events) ? ok(events) : noContent();
});
