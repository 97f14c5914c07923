/**
 * Listeners: programs that claim the events of an account's webhook, send them to a program of their own, and settle
 * them by its responses. `outbox/head.ts` has the picture.
 */
import { timestampOf } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { Problem } from '../../core/problems.ts';
import type { Destination } from '../../destinations/destination.ts';
import { consentWebhookOf, platformOf } from '../../destinations/registry.ts';
import { erasureKey } from '../../messaging/entities.ts';
import type { ErasureItem } from '../../messaging/erased-identity.ts';
import { isOfErased } from '../../messaging/erasure-outbox.ts';
import { contactOf } from '../../messaging/jids.ts';
import type { NamedConversation } from '../../outbox/entities.ts';
import { oldestEntries } from '../../outbox/entries.ts';
import { eventIdOf, subjectOf } from '../../outbox/event.ts';
import { type ClaimedHead, claimOffer, offeredConversations, release, triesBefore } from '../../outbox/head.ts';
import { isOutdated } from '../../outbox/states.ts';
import { getConsistent } from '../../table/client.ts';
import { typeOf } from '../history/deliveries.ts';
import type { EventType } from '../history/statuses.ts';
import { encodeClaim } from './claims.ts';

/** A claimed event: the request for the listener's program, signed as for a webhook. */
interface ClaimedEvent {
  claim: string;
  claimed_until: string;
  event_id: string;
  type: EventType;
  contact: string;
  /** The number of the attempt: 1 for the first request. */
  attempt: number;
  headers: Record<string, string>;
  body: string;
}

/** Claims the next events of an account. */
type Claiming = (limit: number) => Promise<ClaimedEvent[]>;

/**
 * Reads the settings by which the events of an account are signed. 1 read unit, or 2 for an account with its own webhook
 * for consent.
 *
 * @returns a function that claims events: at most one of each conversation. 0.5 read units; for each event, 2 read units,
 *   1 more while a user with its number is erased, 1 write unit, and 2 on an index
 * @throws not_listening — no operator has directed the account's events to listeners
 */
export const listenerOf = async (account: string): Promise<Claiming> => {
  const platform = await platformOf(account);
  if (!platform.isPull) throw notListening();
  const consent = await consentWebhookOf(account);
  return async (limit) => {
    const due = await offeredConversations(account, limit);
    const mine = due.filter(({ direction }) => direction === 'platform' || consent.isPull);
    const claimed = await Promise.all(
      mine.map((one) => claimOldest(one, one.direction === 'consent' ? consent : platform)),
    );
    return claimed.filter((event) => event !== undefined);
  };
};

const claimOldest = async (
  conversation: NamedConversation,
  { buildRequest }: Destination,
): Promise<ClaimedEvent | undefined> => {
  const head = await claimOffer(conversation, newId());
  if (head === undefined) return undefined;
  const event = await requestOf(head, buildRequest);
  if (event === undefined) await release(head, 'deliver');
  return event;
};

/** The request for the oldest entry; undefined if there is none, or `deliver` has to look at it first. */
const requestOf = async (
  head: ClaimedHead,
  buildRequest: Destination['buildRequest'],
): Promise<ClaimedEvent | undefined> => {
  const { direction, user } = head.conversation;
  const [{ entries }, erasure] = await Promise.all([
    oldestEntries(head.conversation, 1),
    getConsistent<ErasureItem>(erasureKey(head.phone)),
  ]);
  const [entry] = entries;
  if (entry === undefined || (erasure !== undefined && (await isOfErased(entry, erasure)))) return undefined;
  if (await isOutdated(entry)) return undefined;
  const request = buildRequest(entry);
  return (
    request && {
      claim: encodeClaim({ direction, user, entry: entry.id, id: head.claim }),
      claimed_until: timestampOf(Date.parse(head.claimedUntil)),
      event_id: eventIdOf(entry),
      type: typeOf(entry.outgoing.type),
      contact: contactOf(subjectOf(entry.outgoing).phone),
      attempt: triesBefore(head, entry) + 1,
      headers: request.headers,
      body: request.body,
    }
  );
};

const notListening = (): Problem =>
  new Problem(
    'not_listening',
    'The events of your account are not delivered to listeners. An operator changes this with "operator listen".',
  );
