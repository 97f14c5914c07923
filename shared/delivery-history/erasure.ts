/** Delivery attempts of a user, for erasure and export. */
import { pages, removeAll } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { deliveriesOf, deliverySlotOf } from '../table/people-keys.ts';
import type { AttemptItem } from './attempt-item.ts';
import { deliveryStatuses } from './statuses.ts';

/**
 * The delivery attempts that an account's history has of a user, a page at a time. Reads a sixteenth of the account's
 * history: 0.5 read units for 4 KB.
 */
export async function* attemptsAbout(account: string, phone: string): AsyncGenerator<AttemptItem[]> {
  for (const outcome of deliveryStatuses) {
    yield* pages<AttemptItem>({
      KeyConditionExpression: 'pk = :pk',
      FilterExpression: 'phone = :phone',
      ExpressionAttributeValues: { ':pk': deliveriesOf(account, deliverySlotOf(phone), outcome), ':phone': phone },
    });
  }
}

/**
 * Removes the delivery attempts of a user from an account's history: those about what was accepted by `until`. Costs
 * those of `attemptsAbout`, and 1 write unit for each attempt. Returns their number.
 */
export const removeAttempts = async (account: string, phone: string, until: string): Promise<number> => {
  let removed = 0;
  for await (const items of attemptsAbout(account, phone)) {
    const theirs: Key[] = items.filter(({ created }) => created <= until);
    await removeAll(theirs);
    removed += theirs.length;
  }
  return removed;
};
