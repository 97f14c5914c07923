/** What is checked before each attempt to deliver an entry: what may have happened since the entry was accepted. */
import type { Account } from '../accounts/accounts.ts';
import type { Entry, Outgoing } from '../messaging/events.ts';
import { getManyConsistent } from '../table/client.ts';
import { accountKey, conversationOf, erasureKey } from '../table/keys.ts';
import type { ErasureItem } from '../user-data/erased-identity.ts';
import { dropErased, dropOutdatedStop } from '../user-data/erasure-outbox.ts';

/**
 * Whether an entry may be delivered at this moment, and as what. An entry that is gone was settled by somebody else, or
 * belongs to a user who is being erased: it is no longer in the outbox, and its state is logged. An entry that is withheld
 * must not go out, and fails with the cause.
 */
export type Clearance =
  | { status: 'clear'; entry: Entry }
  | { status: 'gone' }
  | { status: 'withheld'; cause: 'bot_number_released' };

/**
 * Checks an entry, in one call. 2 read units, 3 for a message to a user; while its user is being erased, those of
 * `dropErased` as well.
 */
export const checkBeforeAttempt = async ({ pk, sk, outgoing }: Entry): Promise<Clearance> => {
  const { account, phone } = conversationOf({ pk });
  const [entry, erasure, sender] = await getManyConsistent<[Entry, ErasureItem, Account?]>(
    outgoing.type === 'message.send'
      ? [{ pk, sk }, erasureKey(phone), accountKey(account)]
      : [{ pk, sk }, erasureKey(phone)],
  );
  if (entry === undefined) return { status: 'gone' };
  if (erasure !== undefined && (await dropErased(entry, erasure))) return { status: 'gone' };
  if (await dropOutdatedStop(entry)) return { status: 'gone' };
  return entry.outgoing.type === 'message.send'
    ? fromPresentNumber(entry, entry.outgoing, sender)
    : { status: 'clear', entry };
};

/**
 * A message goes out under the number that its account's bot has now: the one that it had when the message was accepted may
 * belong to another account since. A message of a bot that has lost its number is withheld. An account that had no bot then,
 * and has none now, sends without a number.
 */
const fromPresentNumber = (
  entry: Entry,
  { from, ...outgoing }: Extract<Outgoing, { type: 'message.send' }>,
  sender: Account | undefined,
): Clearance => {
  const number = sender?.bot_number;
  if (number === undefined && from !== undefined) return { status: 'withheld', cause: 'bot_number_released' };
  return {
    status: 'clear',
    entry: { ...entry, outgoing: { ...outgoing, ...(number !== undefined && { from: number }) } },
  };
};
