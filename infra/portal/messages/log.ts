/** Messages, by the entries of the log. */
import type { BodyFrom } from '../client.ts';

export type LogEntry = NonNullable<BodyFrom<'listLogs'>>[number];

/** How far a message has got: a later state implies the earlier ones, in whatever order the reports arrived. */
export const order = [
  'sent',
  'delivered_to_server',
  'delivered_to_user',
  'read',
  'sending_failed',
  'delivery_failed',
  'received',
  'reception_failed_http',
];

/** The furthest of the states that a message has reached. */
export const furthestOf = (states: { state: string }[]): string =>
  states.map(({ state }) => state).reduce((a, b) => (order.indexOf(b) > order.indexOf(a) ? b : a), 'scheduled');

/**
 * A row for each message: its entry of the furthest state, at the place of its newest entry. The list is newest first,
 * so whatever a message reached after an entry precedes it: what further pages add to a message is older.
 */
export const messagesIn = (entries: LogEntry[]): LogEntry[] => {
  const found = new Map<string, LogEntry>();
  for (const entry of entries) {
    const before = found.get(entry.id);
    if (before === undefined || order.indexOf(entry.state) > order.indexOf(before.state)) found.set(entry.id, entry);
  }
  return [...found.values()];
};

export const isFromPerson = (state: string): boolean => state === 'received' || state === 'reception_failed_http';

export const isFailure = (state: string): boolean => /failed/.test(state);

/** The number or the pseudonym of a contact. */
export const personIn = (contact: string): string => contact.split('@')[0] ?? contact;

export const isErased = (contact: string): boolean => contact.startsWith('erased-');
