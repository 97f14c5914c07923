/** The states of a user's messages, as the service stores them. */
import { logsOfContact, messageIdOf } from '../../../../shared/outbox/entities.ts';
import { stateAt } from '../../../../shared/outbox/log-positions.ts';
import type { State } from '../../../../shared/outbox/message.ts';
import { pages } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';

/**
 * The states of all accounts' messages to a user, and from the user, by message id. Reads the table directly: no endpoint
 * has the messages of all accounts.
 */
export const storedStatesOf = async (phone: string): Promise<Map<string, State[]>> => {
  const states = new Map<string, State[]>();
  for await (const items of pages<Key & { gsi2sk: string }>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact',
    ExpressionAttributeValues: { ':contact': logsOfContact(phone) },
  })) {
    for (const item of items) {
      const message = messageIdOf(item);
      states.set(message, [...(states.get(message) ?? []), stateAt(item.gsi2sk)]);
    }
  }
  return states;
};
