/** An entry for which no request can be built. */
import { expect } from 'vitest';
import { oldestEntries } from '../../../shared/outbox/entries.ts';
import type { Conversation, Entry } from '../../../shared/outbox/event.ts';
import { update } from '../../../shared/table/client.ts';

/** Removes the content of a conversation's oldest entry. Returns the entry as it was. */
export const breakOldestEntry = async (conversation: Conversation): Promise<Entry> => {
  const [entry] = (await oldestEntries(conversation)).entries;
  if (entry === undefined) throw new Error('No entry is pending.');
  const isBroken = await update({
    Key: { pk: entry.pk, sk: entry.sk },
    UpdateExpression: 'REMOVE outgoing.content',
    // Without it, DynamoDB rejects the change of an item that does not exist.
    ConditionExpression: 'attribute_exists(pk)',
  });
  expect(isBroken).toBe(true);
  return entry;
};
