/** Copies of events for the endpoints of an account. */
import { findAccount } from '../accounts/accounts.ts';
import { type Endpoint, isSubscribed } from '../destinations/endpoint-settings.ts';
import { dequeueWrite, enqueue, transactInOrder } from '../outbox/entries.ts';
import { type Entry, eventIdOf, subjectOf } from '../outbox/event.ts';
import { preflight } from './attempt.ts';

/**
 * Copies an entry for each endpoint of its account that subscribes to it; then the entry leaves the outbox, in the same
 * transaction. 3 read units; 2 write units, and 4 for each copy.
 *
 * @param phone - the user's number, in the name of the conversations
 */
export const copyToEndpoints = async (
  entry: Entry,
  phone: string,
  endpoints: readonly Endpoint[],
): Promise<'settled' | 'gone'> => {
  if ((await preflight(entry)).status === 'gone') return 'gone';
  const { outgoing, replay, created } = entry;
  const { account } = subjectOf(outgoing);
  const { bot_number: bot = null } = (await findAccount(account)) ?? {};
  const event = eventIdOf(entry);
  const failed = await transactInOrder((after) => [
    dequeueWrite(entry),
    ...endpoints
      .filter((endpoint) => isSubscribed(endpoint, outgoing))
      .flatMap(({ id, number }) => {
        const copy = { endpoint: id, event, bot };
        const draft = { outgoing, created, copy, ...(replay && { replay }) };
        return enqueue({ direction: 'platform', account, phone, endpoint: number }, [draft], after).writes;
      }),
  ]);
  return failed.length === 0 ? 'settled' : 'gone';
};
