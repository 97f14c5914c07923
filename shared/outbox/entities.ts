/** The rows about messages, and the pending entries of conversations. */

import { keyedHash } from '../core/keyed-hashes.ts';
import type { Entity } from '../table/entity.ts';
import { after, type Key, key } from '../table/keys.ts';
import { type LoggedState, logPosition, stateCode, uuidInKey } from './log-positions.ts';

const MESSAGE = 'MESSAGE#';

const FIRST_ENTRY = 'MESSAGE';
const STATE = 'STATE#';

/** A message, which is also its first log entry. Its further log entries are in the same partition. */
export const messageKey = (message: string): Key => key(`${MESSAGE}${message}`, FIRST_ENTRY);

/** Whether the key of a log entry is that of the message itself. */
export const isMessageKey = ({ sk }: Key): boolean => sk === FIRST_ENTRY;

/** The id of the message, by the key of a log entry. */
export const messageIdOf = (entry: Key): string => after(MESSAGE, entry);

/** A further log entry of a message: one for each state. */
export const stateKey = (message: string, state: string): Key => key(messageKey(message).pk, `${STATE}${state}`);

/** The log entry of how sending a message ended. There is one key for all ends, so that a message has one of them. */
export const outcomeKey = (message: string): Key => stateKey(message, 'outcome');

const OUTBOX = 'OUTBOX#';

const HEAD = 'HEAD';
const ENTRY = 'ENTRY#';

/** A conversation as keys and queues name it: by a keyed hash, so that its user cannot be found without the table. */
export interface NamedConversation {
  direction: 'app' | 'platform' | 'consent';
  account: string;
  user: string;
}

/** The endpoints of an account have numbers. After one is deleted, another one may get its number. */
export const endpointNumbers = [1, 2, 3, 4, 5] as const;

export type EndpointNumber = (typeof endpointNumbers)[number];

/** A conversation: the direction of the messages, the account, and the user, by number or by the hash. */
export type AnyConversation =
  | NamedConversation
  | (Omit<NamedConversation, 'user'> & {
      phone: string;
      hours?: true | undefined;
      reports?: true | undefined;
      endpoint?: EndpointNumber | undefined;
    });

/** Follows the hash in the name of a conversation of messages with sending hours: they wait in an outbox of their own. */
const WITH_HOURS = 'hours';
/** Follows the hash in the name of a conversation of reports that are sent with pauses. */
const REPORTS = 'reports';

/** Whether a conversation has the reports that are sent with pauses. */
export const hasReports = ({ user }: NamedConversation): boolean => user.endsWith(`.${REPORTS}`);

/** The user in a conversation, by the hash alone. */
export const userOf = (conversation: AnyConversation): string => named(conversation).user.split('.', 1)[0] ?? '';

/** The endpoint whose copies a conversation has; undefined for other conversations. */
export const endpointOf = ({
  endpoint,
  user = '',
}: {
  endpoint?: EndpointNumber | undefined;
  user?: string;
}): EndpointNumber | undefined => endpoint ?? endpointNumbers.find((number) => user.endsWith(`.${number}`));

/** What sets a conversation apart from others of its user, as in `Conversation`. */
export const apartOf = (
  conversation: NamedConversation,
): { hours?: true; reports?: true; endpoint?: EndpointNumber } => {
  const endpoint = endpointOf(conversation);
  return {
    ...(conversation.user.endsWith(`.${WITH_HOURS}`) && { hours: true }),
    ...(hasReports(conversation) && { reports: true }),
    ...(endpoint !== undefined && { endpoint }),
  };
};

/** A conversation without the user's number. */
export const named = (conversation: AnyConversation): NamedConversation => {
  const { direction, account } = conversation;
  if ('user' in conversation) return { direction, account, user: conversation.user };
  const hash = keyedHash('user', direction, account, conversation.phone);
  const { hours, reports, endpoint } = conversation;
  const name = (hours && WITH_HOURS) ?? (reports && REPORTS) ?? endpoint;
  return { direction, account, user: name === undefined ? hash : `${hash}.${name}` };
};

/** The name of a conversation, in the keys of its items. */
export const conversationName = (conversation: AnyConversation): string => {
  const { direction, account, user } = named(conversation);
  return `${direction}#${account}#${user}`;
};

/** The conversation that a key of an outbox belongs to. */
export const conversationOf = (entryOrHead: Pick<Key, 'pk'>): NamedConversation => {
  const [direction, account = '', user = ''] = after(OUTBOX, entryOrHead).split('#');
  return { direction: direction === 'app' || direction === 'consent' ? direction : 'platform', account, user };
};

/** A pending entry of a conversation. Oldest first: ids of entries sort by age. */
export const entryKey = (conversation: string, entry: string): Key =>
  key(`${OUTBOX}${conversation}`, `${ENTRY}${entry}`);

/** Whether a key is that of a pending entry. */
export const isEntryKey = ({ pk, sk }: Key): boolean => pk.startsWith(OUTBOX) && sk !== HEAD;

/** The head of a conversation's outbox, which has the user's number: it exists as long as entries are pending. */
export const headKey = (conversation: string): Key => key(`${OUTBOX}${conversation}`, HEAD);

/** Whether a key is that of a head. */
export const isHeadKey = ({ sk }: Key): boolean => sk === HEAD;

const LOGS = 'LOGS#';
const LOGS_WITH = 'LOGS_WITH#';

/** The index partition of a contact's log entries, of all accounts: erasure finds them by the number alone. */
export const logsOfContact = (phone: string): string => `${LOGS}${phone}`;

/** The partitions of an account's log entries, by index. */
export const logPartitions = {
  gsi1: (account: string, { state }: { state: LoggedState }) => `${LOGS}${account}#${stateCode(state)}`,
  gsi2: (_account: string, { phone }: { phone: string }) => logsOfContact(phone),
  gsi3: (account: string, { job_id, state }: { job_id: string; state: LoggedState }) =>
    `${LOGS}${account}#${uuidInKey(job_id)}#${stateCode(state)}`,
  gsi4: (account: string, { reference }: { reference: string }) => `${LOGS_WITH}${account}#${reference}`,
};

/** The prefix of an account's sort keys in the partition of a contact's log entries. */
export const positionOfAccount = (account: string): string => `${account}#`;

/** The account of a contact's log entry, by its sort key in that partition. */
export const accountAt = (position: string): string => position.split('#', 1)[0] ?? '';

/** Index attributes of a log entry. Sorted by time, then by message and state; in a contact's partition, by account first. */
export const ofLog = (
  account: string,
  entry: { created: string; message: string; phone: string; job_id: string; state: LoggedState; reference?: string },
) => {
  const position = logPosition(entry.created, entry.message, entry.state);
  return {
    gsi1pk: logPartitions.gsi1(account, entry),
    gsi1sk: position,
    gsi2pk: logPartitions.gsi2(account, entry),
    gsi2sk: `${positionOfAccount(account)}${position}`,
    gsi3pk: logPartitions.gsi3(account, entry),
    gsi3sk: position,
    ...(entry.reference !== undefined && {
      gsi4pk: logPartitions.gsi4(account, { reference: entry.reference }),
      gsi4sk: position,
    }),
  };
};

const RETRYING = 'RETRYING#';
const WAITING = 'WAITING#';
const OFFERED = 'OFFERED#';

/** The index partition of conversations with an account's platform whose delivery failed and is retried. */
export const retryingOnPlatform = (account: string): string => `${RETRYING}${account}`;

/** The index partition of an account's conversations that wait for a chat platform or a webhook to be set. */
export const waitingForPlatform = (account: string): string => `${WAITING}${account}`;

/** The index partition of conversations whose oldest entry a listener of the account may claim, by the time from which. */
export const offeredTo = (account: string): string => `${OFFERED}${account}`;

/** Log entries are in the partitions of three indexes, besides those of their messages. */
const message = {
  name: 'message',
  pk: MESSAGE,
  sk: FIRST_ENTRY,
  account: (item) => String(item.account),
  restore: 'missing',
  expires: true,
  person: { erasure: 'renamed', phone: (item) => String(item.phone), exported: 'log' },
  access: {
    putLogEntry: 'PutItem',
    findMessage: 'GetItem',
    findMessages: 'BatchGetItem',
    markCounted: 'UpdateItem',
    checkOutcome: 'ConditionCheckItem',
    listStates: 'Query',
    renameInLog: 'UpdateItem',
    listLogsByState: { index: 'gsi1', partition: LOGS },
    listLogsOfContact: { index: 'gsi2', partition: LOGS },
    listLogsOfJob: { index: 'gsi3', partition: LOGS },
    listLogsWithReference: { index: 'gsi4', partition: LOGS_WITH },
  },
} as const satisfies Entity;

const state = {
  name: 'state of a message',
  pk: MESSAGE,
  sk: STATE,
  account: (item) => String(item.account),
  restore: 'missing',
  expires: true,
  person: { erasure: 'renamed', phone: (item) => String(item.phone), exported: 'log' },
  access: {},
} as const satisfies Entity;

/** The number in an entry's event. Changes of an account concern no user. */
const phoneIn = ({ message, user, request }: Record<string, { phone: string } | undefined>): string =>
  (message ?? user ?? request)?.phone ?? '';

const entry = {
  name: 'outbox entry',
  pk: OUTBOX,
  sk: ENTRY,
  account: (item) => conversationOf(item).account,
  restore: 'outbox',
  expires: false,
  person: { erasure: 'removed', phone: ({ outgoing }) => phoneIn(Object(outgoing)), exported: 'waiting' },
  access: {
    putEntry: 'PutItem',
    listEntries: 'Query',
    removeFromOutbox: 'DeleteItem',
    checkEntry: 'BatchGetItem',
    findEntry: 'GetItem',
  },
} as const satisfies Entity;

const head = {
  name: 'head of an outbox',
  pk: OUTBOX,
  sk: HEAD,
  account: (item) => conversationOf(item).account,
  restore: 'never',
  expires: false,
  person: { erasure: 'removed', exported: { not: 'its entries are exported' } },
  access: {
    findHead: 'GetItem',
    updateHead: 'UpdateItem',
    listOffers: { index: 'gsi3', partition: OFFERED },
    listWaiting: { index: 'gsi2', partition: WAITING },
    listRetrying: { index: 'gsi2', partition: RETRYING },
  },
} as const satisfies Entity;

export const outboxEntities = [message, state, entry, head] as const;
