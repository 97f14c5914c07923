/** Whether a chat platform works, and which messages wait for it. */

import type { Account } from '../accounts/accounts.ts';
import { destinationNameOf } from '../destinations/destination.ts';
import { endpointNumbers, retryingOnPlatform, waitingForPlatform } from '../outbox/entities.ts';
import { countPending } from '../outbox/entries.ts';
import { listedConversations } from '../outbox/head.ts';
import { findFailure } from './circuit-breaker.ts';
import { findDisabled } from './disabled.ts';

/** Whether a destination works, and its last failure. */
export interface DestinationHealth {
  /** `disabled`: a webhook has returned 410, and gets no more requests until it is set again. */
  status: 'working' | 'failing' | 'disabled';
  /** Since when it fails. */
  failing_since?: string;
  /** The last failure: when it was, why, and the id of the event. */
  last_failure?: string;
  cause?: string;
  last_event?: string;
}

export interface PlatformHealth extends DestinationHealth {
  /** Entries whose delivery failed, or that follow such an entry: messages, states and other notifications. */
  pending_messages: number;
  /** Whether more are pending than were counted. */
  more_pending: boolean;
}

/** Most conversations that are counted, and most entries of each. */
const CONVERSATIONS = 50;
const ENTRIES = 20;

/**
 * The health of an account's platform. 1 read unit for its failures, in an account with endpoints for each of them, and 0.5 for
 * the list; while it fails, 1 for 8 KB of each conversation's entries.
 */
export const healthOf = async ({
  id: account,
  endpoints,
}: Pick<Account, 'id' | 'endpoints'>): Promise<PlatformHealth> => {
  const numbers = endpointNumbers.filter((number) => endpoints !== undefined && number in endpoints);
  const all = await Promise.all(
    (numbers.length === 0 ? [undefined] : numbers).map((endpoint) =>
      healthOfDestination(
        destinationNameOf({ direction: 'platform', account, endpoint }),
        endpoint && endpoints?.[endpoint]?.updated,
      ),
    ),
  );
  const [worst = WORKING] = all.sort((a, b) => GRAVITY.indexOf(a.status) - GRAVITY.indexOf(b.status));
  const listed = await Promise.all([
    listedConversations(retryingOnPlatform(account), CONVERSATIONS),
    ...(worst.status === 'disabled' ? [listedConversations(waitingForPlatform(account), CONVERSATIONS)] : []),
  ]);
  const conversations = listed.flatMap((one) => one.conversations);
  const counts = await Promise.all(conversations.map((one) => countPending(one, ENTRIES)));
  return {
    ...worst,
    pending_messages: counts.reduce((sum, { count }) => sum + count, 0),
    more_pending: listed.some(({ more }) => more) || counts.some(({ more }) => more),
  };
};

const WORKING: DestinationHealth = { status: 'working' };
/** Of several endpoints, the platform has the gravest status. */
const GRAVITY: readonly DestinationHealth['status'][] = ['disabled', 'failing', 'working'];

/**
 * The health of a destination, by its name. 1 read unit.
 *
 * @param version - of its settings: a 410 to a request with others does not count
 */
export const healthOfDestination = async (name: string, version?: string): Promise<DestinationHealth> => {
  const [failing, found] = await Promise.all([findFailure(name), findDisabled(name)]);
  const disabled = version === undefined || found?.version === version ? found : undefined;
  const failure = disabled ? { ...disabled, at: disabled.since } : failing;
  if (failure === undefined) return WORKING;
  return {
    status: disabled ? 'disabled' : 'failing',
    ...(failure.since !== undefined && { failing_since: failure.since }),
    ...(failure.at !== undefined && { last_failure: failure.at }),
    ...(failure.cause !== undefined && { cause: failure.cause }),
    ...(failure.event !== undefined && { last_event: failure.event }),
  };
};
