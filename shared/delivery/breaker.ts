/** The circuit breaker of a conversation's destination. */
import { destinationNameOf } from '../outbound/destination.ts';
import type { AnyConversation } from '../table/keys.ts';
import { AppNetworkBreaker } from './app-network-breaker.ts';
import { acquire, type Breaker, recordFailure, recordSuccess, setPause } from './circuit-breaker.ts';

/** The breaker for one wake-up of a conversation. */
export const breakerOf = (conversation: AnyConversation): Breaker =>
  conversation.direction === 'app' ? new AppNetworkBreaker(conversation) : ownBreaker(destinationNameOf(conversation));

/** A customer's server has one circuit: any three failures in a row open it. */
const ownBreaker = (name: string): Breaker => ({
  acquire: () => acquire(name),
  recordFailure: (circuit) => recordFailure(name, circuit),
  recordSuccess: (circuit) => recordSuccess(name, circuit),
  // It works, so this is no failure.
  pause: async (circuit, until) => {
    await recordSuccess(name, circuit);
    await setPause(name, until);
  },
});
