/** Changes of opt-outs: a user stops a business, or starts it again. The account's platform is notified. */

import { accountOfBot, findAccount } from '../../accounts/accounts.ts';
import { secondsFromNow, timestamp } from '../../core/clock.ts';
import { DELETION_MEMORY_DAYS } from '../../core/lifetimes.ts';
import { type After, enqueueWrites, transactInOrder } from '../../outbox/entries.ts';
import type { OptOutState, OutboxEvent } from '../../outbox/event.ts';
import { getConsistent } from '../../table/client.ts';
import { ofPerson } from '../../table/keys.ts';
import { updateWrite, type Write } from '../../table/transactions.ts';
import { eventReceiptWrite } from '../../users/event-receipts.ts';
import { lastRemoval } from '../../users/user-removal.ts';
import { optOutKey } from '../entities.ts';
import { isNotified } from '../platform-events.ts';
import type { OptOutItem } from './opt-outs.ts';

/** A change that the app network reports, of the user `from` and the bot `to`. */
interface ReportedChange {
  from: string;
  to: string;
  state: OptOutState;
}

/**
 * Records that a user stopped or started the business of a bot. For `EVENT_MEMORY_DAYS`, a repeat of the event changes
 * nothing.
 *
 * @param at - when the user did so, as `timestamp` writes it. It does not change a newer opt-out, and not that of a user
 * who was removed at that time or later. Default: newer than all known data.
 * @returns whether the bot exists
 */
export const reportOptOut = async (event: string, { from, to, state }: ReportedChange, at?: string) => {
  const account = await accountOfBot(to);
  if (account === undefined) return false;
  await changeOptOut({ event, account, phone: from, state, at });
  return true;
};

interface OptOutChange {
  /** Identifies the change: a repeat has no effect. */
  event: string;
  account: string;
  phone: string;
  state: OptOutState;
  at?: string | undefined;
  /** Set if the user wrote a keyword: that changes nothing of a stop in the app. */
  by?: 'message';
  /** Returns further writes for the same transaction. */
  more?: (after: After) => Write[];
}

/**
 * Changes an opt-out. 3 read units; 4 write units in one transaction, and 4 more if the account's platform is notified.
 *
 * @returns whether the state is another one now
 */
export const changeOptOut = async ({ more = () => [], ...change }: OptOutChange): Promise<boolean> => {
  const { event, account, phone, state, at, by } = change;
  for (;;) {
    const [item, removed, { platform } = {}] = await Promise.all([
      getConsistent<OptOutItem>(optOutKey(account, phone)),
      lastRemoval(phone),
      findAccount(account),
    ]);
    const { updated = '', state: before = 'started' } = item ?? {};
    if (at !== undefined && (updated > at || (removed !== undefined && removed >= at))) return false;
    if (by === 'message' && (state === before || (state === 'started' && item?.by !== 'message'))) return false;
    // Clocks differ: a change without a time is never older than the last one.
    const present = timestamp();
    const isOlder = present < updated;
    const time = at ?? (isOlder ? updated : present);
    const isNew = state !== before;
    const outgoing: OutboxEvent = { type: 'user.state', user: { account, phone }, state, ...(by && { by }) };
    const isReported = isNew && isNotified(platform, state);
    const failed = await transactInOrder((after) => [
      eventReceiptWrite(event),
      optOutWrite({ account, phone, state, time, by }, item),
      ...(isReported ? enqueueWrites({ direction: 'platform', account, phone }, outgoing, after) : []),
      ...more(after),
    ]);
    if (failed.length === 0) return isNew;
    // A repeat. What `more` writes exists only after the change.
    if (failed.some((place) => place !== 1)) return false;
    // The opt-out was changed in the meantime: read again.
  }
};

/** Writes an opt-out, in a transaction that fails if it was changed since `item` was read. */
const optOutWrite = (
  {
    account,
    phone,
    state,
    time,
    by,
  }: { account: string; phone: string; state: OptOutState; time: string; by: 'message' | undefined },
  item: OptOutItem | undefined,
): Write => {
  const { gsi2pk, gsi2sk } = ofPerson(phone, time);
  const stays = state === 'stopped';
  const set = ['#state = :state', 'updated = :time', 'gsi2pk = :person', 'gsi2sk = :sorted'];
  const removed: string[] = [];
  if (stays) removed.push('expires_at');
  else set.push('expires_at = :end');
  if (by === undefined) removed.push('#by');
  else set.push('#by = :by');
  return updateWrite({
    Key: optOutKey(account, phone),
    UpdateExpression: `SET ${set.join(', ')}${removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''}`,
    ConditionExpression:
      item === undefined
        ? 'attribute_not_exists(pk) OR expires_at <= :present'
        : '#state = :before AND updated = :seen AND (attribute_not_exists(expires_at) OR expires_at > :present)',
    ExpressionAttributeNames: { '#state': 'state', '#by': 'by' },
    ExpressionAttributeValues: {
      ':state': state,
      ':time': time,
      ':person': gsi2pk,
      ':sorted': gsi2sk,
      ':present': secondsFromNow(0),
      ...(by && { ':by': by }),
      ...(!stays && { ':end': secondsFromNow(DELETION_MEMORY_DAYS * 86_400) }),
      ...(item !== undefined && { ':before': item.state, ':seen': item.updated }),
    },
  });
};
