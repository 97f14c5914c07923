/** Whether a chat platform works, and which messages wait for it. */

import { destinationNameOf } from '../destinations/destination.ts';
import { retryingOnPlatform, waitingForPlatform } from '../outbox/entities.ts';
import { countPending } from '../outbox/entries.ts';
import { listedConversations } from '../outbox/head.ts';
import { findFailure } from './circuit-breaker.ts';
import { findDisabled } from './disabled.ts';

export interface PlatformHealth {
  /** `disabled`: its webhook has returned 410, and gets no more requests until an operator sets it again. */
  status: 'working' | 'failing' | 'disabled';
  /** Since when it fails. */
  failing_since?: string;
  /** The last failure: when it was, why, and the id of the event. */
  last_failure?: string;
  cause?: string;
  last_event?: string;
  /** Entries whose delivery failed, or that follow such an entry: messages, states and other notifications. */
  pending_messages: number;
  /** Whether more are pending than were counted. */
  more_pending: boolean;
}

/** Most conversations that are counted, and most entries of each. */
const CONVERSATIONS = 50;
const ENTRIES = 20;

/**
 * The health of an account's platform. 1.5 read units for its failures and the list; while the platform fails, 1 for 8 KB of
 * each conversation's entries.
 */
export const healthOf = async (account: string): Promise<PlatformHealth> => {
  const name = destinationNameOf({ direction: 'platform', account });
  const [failing, disabled] = await Promise.all([findFailure(name), findDisabled(name)]);
  const partition = disabled ? waitingForPlatform(account) : retryingOnPlatform(account);
  const { conversations, more } = await listedConversations(partition, CONVERSATIONS);
  const counts = await Promise.all(conversations.map((one) => countPending(one, ENTRIES)));
  const failure = disabled ? { ...disabled, at: disabled.since } : failing;
  return {
    status: statusOf(failing, disabled),
    ...(failure?.since !== undefined && { failing_since: failure.since }),
    ...(failure?.at !== undefined && { last_failure: failure.at }),
    ...(failure?.cause !== undefined && { cause: failure.cause }),
    ...(failure?.event !== undefined && { last_event: failure.event }),
    pending_messages: counts.reduce((sum, { count }) => sum + count, 0),
    more_pending: more || counts.some((one) => one.more),
  };
};

const statusOf = (failing: object | undefined, disabled: object | undefined): PlatformHealth['status'] => {
  if (disabled !== undefined) return 'disabled';
  return failing === undefined ? 'working' : 'failing';
};
