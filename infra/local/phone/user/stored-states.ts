/** The states of a user's messages, as the service stores them. */
import { logsOfContact, messageIdOf } from '../../../../shared/outbox/entities.ts';
import type { LogItem, State } from '../../../../shared/outbox/message.ts';
import { pages } from '../../../../shared/table/client.ts';

/**
 * The states of all accounts' messages to a user, and from the user, by message id. Reads the table directly: no endpoint
 * has the messages of all accounts.
 */
export const storedStatesOf = async (phone: string): Promise<Map<string, State[]>> => {
  const states = new Map<string, State[]>();
  for await (const items of pages<LogItem>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :contact',
    ExpressionAttributeValues: { ':contact': logsOfContact(phone) },
  })) {
    for (const item of items) states.set(messageIdOf(item), [...(states.get(messageIdOf(item)) ?? []), item.state]);
  }
  return states;
};
