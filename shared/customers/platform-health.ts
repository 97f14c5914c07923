/** Whether a chat platform works, and which messages wait for it. */
import { findFailure } from '../delivery/circuit-breaker.ts';
import { entriesOf, retryingOf } from '../messaging/outbox.ts';
import { destinationNameOf } from '../outbound/destination.ts';

export interface PlatformHealth {
  status: 'working' | 'failing';
  /** Since when it fails. Missing for a failure that an earlier release recorded. */
  failing_since?: string;
  /** Entries whose delivery failed, or that follow such an entry: messages, states and other notifications. */
  pending_messages: number;
  /** Whether more are pending than were counted. */
  more_pending: boolean;
}

/** Most conversations that are counted, and most entries of each. */
const CONVERSATIONS = 50;
const ENTRIES = 20;

/**
 * The health of an account's platform. 1 read unit for the circuit and the list; while the platform fails, 1 for 8 KB of
 * each conversation's entries.
 */
export const healthOf = async (account: string): Promise<PlatformHealth> => {
  const [failure, retrying] = await Promise.all([
    findFailure(destinationNameOf({ direction: 'platform', account })),
    retryingOf(account, CONVERSATIONS),
  ]);
  const counts = await Promise.all(retrying.conversations.map((one) => entriesOf(one, ENTRIES)));
  return {
    status: failure === undefined ? 'working' : 'failing',
    ...(failure?.since !== undefined && { failing_since: failure.since }),
    pending_messages: counts.reduce((sum, { count }) => sum + count, 0),
    more_pending: retrying.more || counts.some(({ more }) => more),
  };
};
