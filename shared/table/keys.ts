/**
 * Every key of the table, with the functions that make and parse it.
 * The prefix of a key names the entity, so that a role can be limited to the prefixes that its function needs.
 */

import { crc32 } from 'node:zlib';
import { keyedHash, unkeyedHash } from '../core/keyed-hashes.ts';

export interface Key {
  pk: string;
  sk: string;
}

const key = (pk: string, sk: string): Key => ({ pk, sk });

/** A partition key without its prefix. */
const after = (prefix: string, { pk }: Pick<Key, 'pk'>): string => pk.slice(prefix.length);

/** The account and permissions of a token, by the SHA-256 of the token. */
export const tokenKey = (sha256: string): Key => key(`TOKEN#${sha256}`, 'TOKEN');

/** An entry in the list of accounts, with id and name. */
export const accountListKey = (account: string): Key => key('ACCOUNTS', `ACCOUNT#${account}`);

/** The token bucket of an account. */
export const rateKey = (account: string): Key => key(`RATE#${account}`, 'RATE');

/** An account. Its tokens are in the same partition. */
export const accountKey = (account: string): Key => key(`ACCOUNT#${account}`, 'ACCOUNT');

/** The record of a token: everything except the token. */
export const accountTokenKey = (account: string, token: string): Key => key(accountKey(account).pk, `TOKEN#${token}`);

/** The account that a bot's phone number belongs to. */
export const numberKey = (phone: string): Key => key(`NUMBER#${phone}`, 'NUMBER');

/** A user of the app. */
export const userKey = (phone: string): Key => key(`USER#${phone}`, 'USER');

const PROFILER = 'PROFILER#';

/** The partition of an account's profilers, and of their idempotency keys. */
export const profilersOf = (account: string): string => `PROFILERS#${account}`;

/** A profiler. An account's profilers are in one partition, oldest first: ids sort by age. */
export const profilerKey = (account: string, profiler: string): Key =>
  key(profilersOf(account), `${PROFILER}${profiler}`);

/** The id of the profiler at this key. */
export const profilerIdOf = ({ sk }: Key): string => sk.slice(PROFILER.length);

/** The small item by which answers to a profiler are checked. It is in the same partition. */
export const answerableKey = (account: string, profiler: string): Key =>
  key(profilersOf(account), `ANSWERABLE#${profiler}`);

/** The partition and the range of sort keys of an account's profilers, after a given profiler or from the first one. */
export const profilersAfter = (account: string, profiler: string | undefined) => ({
  pk: profilersOf(account),
  from: profilerKey(account, profiler === undefined ? '' : `${profiler}~`).sk,
  to: profilerKey(account, '~').sk,
});

/** The idempotency key of a created profiler: in the partition of profilers, outside their range of sort keys. */
export const profilerOfKey = (account: string, hash: string): Key => key(profilersOf(account), `IDEMPOTENCY#${hash}`);

const IDEMPOTENCY = 'IDEMPOTENCY#';

/** What the first request with an idempotency key accepted. The key may contain a number, so only its hash is stored. */
export const idempotencyRecordKey = (account: string, endpoint: string, idempotencyKey: string): Key =>
  key(`${IDEMPOTENCY}${account}#${keyedHash('idempotency key', endpoint, idempotencyKey)}`, 'IDEMPOTENCY');

const ANSWERS = 'ANSWERS#';

/** The partition of a profiler's answers. */
export const answersOf = (profiler: string): string => `${ANSWERS}${profiler}`;

/** A panelist's answer. */
export const answerKey = (profiler: string, phone: string): Key => key(answersOf(profiler), `ANSWER#${phone}`);

/** Whether a key is that of an answer. */
export const isAnswerKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(ANSWERS);

/** The id of an answer's profiler, by the key of the answer. */
export const answeredProfilerOf = (answer: Key): string => after(ANSWERS, answer);

const MESSAGE = 'MESSAGE#';
const FIRST_ENTRY = 'MESSAGE';

/** A message, which is also its first log entry. Its further log entries are in the same partition. */
export const messageKey = (message: string): Key => key(`${MESSAGE}${message}`, FIRST_ENTRY);

/** Whether the key of a log entry is that of the message itself. */
export const isMessageKey = ({ sk }: Key): boolean => sk === FIRST_ENTRY;

/** The id of the message, by the key of a log entry. */
export const messageIdOf = (entry: Key): string => after(MESSAGE, entry);

/** A further log entry of a message: one for each state. */
export const stateKey = (message: string, state: string): Key => key(messageKey(message).pk, `STATE#${state}`);

/** The log entry of how sending a message ended. There is one key for all ends, so that a message has one of them. */
export const outcomeKey = (message: string): Key => stateKey(message, 'outcome');

const OUTBOX = 'OUTBOX#';
const HEAD = 'HEAD';

/** A conversation as keys and queues name it: by a keyed hash, so that its user cannot be found without the table. */
export interface NamedConversation {
  direction: 'app' | 'platform' | 'consent';
  account: string;
  user: string;
}

/** A conversation: the direction of the messages, the account, and the user, by number or by the hash. */
export type AnyConversation = NamedConversation | (Omit<NamedConversation, 'user'> & { phone: string });

/** A conversation without the user's number. */
export const named = (conversation: AnyConversation): NamedConversation => {
  const { direction, account } = conversation;
  const user = 'user' in conversation ? conversation.user : keyedHash('user', direction, account, conversation.phone);
  return { direction, account, user };
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
export const entryKey = (conversation: string, entry: string): Key => key(`${OUTBOX}${conversation}`, `ENTRY#${entry}`);

/** Whether a key is that of a pending entry. */
export const isEntryKey = ({ pk, sk }: Key): boolean => pk.startsWith(OUTBOX) && sk !== HEAD;

/** The head of a conversation's outbox, which has the user's number: it exists as long as entries are pending. */
export const headKey = (conversation: string): Key => key(`${OUTBOX}${conversation}`, HEAD);

/** Whether a key is that of a head. */
export const isHeadKey = ({ sk }: Key): boolean => sk === HEAD;

/** The circuit of a destination. */
export const circuitKey = (destination: string): Key => key(`CIRCUIT#${destination}`, 'CIRCUIT');

/** The webhook that has asked for no more requests, by the name of the destination: beside its circuit. */
export const disabledKey = (destination: string): Key => key(circuitKey(destination).pk, 'DISABLED');

/** The URL and the secrets of an account's chat platform. */
export const platformKey = (account: string): Key => key(`PLATFORM#${account}`, 'PLATFORM');

/** The secret that authenticates requests of an account's chat platform. */
export const hookKey = (account: string): Key => key(`HOOK#${account}`, 'HOOK');

const STATUS_RECEIPTS = 'TOLD#';

/** The receipt of a state that an account's chat platform was notified of, by the platform's id of the message. */
export const statusReceiptKey = (account: string, id: string, generation: number, state: string): Key =>
  key(`${STATUS_RECEIPTS}${account}#${id}`, `${generation > 0 ? `GENERATION#${generation}#` : ''}STATE#${state}`);

/** The time from which a request may follow an equal one, by a hash of their common content. */
export const spacingKey = (subject: string): Key => key(`SPACING#${subject}`, 'SPACING');

/** The repeated requests of a message of an account's chat platform: beside its status receipts, so that one query reads both. */
export const repeatsKey = (account: string, id: string): Key => key(statusReceiptKey(account, id, 0, '').pk, 'REPEATS');

/** Whether a key is that of repeated requests. */
export const isRepeatsKey = ({ sk }: Key): boolean => sk === 'REPEATS';

/** The dimensions of a job counter: messages of a job and payload type that reached a state on a day (`YYYY-MM-DD`). */
interface Counted {
  day: string;
  job_id: string;
  payload_type: string;
  state: string;
  /** Set if it counts only messages of batches: `JobItem.recipients` contains them since their acceptance. */
  inBatch?: true;
}

/** What follows the state in the key of a counter of messages of batches. */
const IN_BATCH = '+';

const DAY = 'DAY#';

/** The partition of an account's job counters. */
export const jobCountersOf = (account: string): string => `JOBS#${account}`;

/** A job counter, or one of its shards. An account's counters are in one partition, sorted by day. */
export const jobCounterKey = (account: string, counted: Counted, shard = 0): Key => {
  const { day, job_id, payload_type, state, inBatch } = counted;
  const name = [day, job_id, payload_type, inBatch ? `${state}${IN_BATCH}` : state].join('#');
  return key(jobCountersOf(account), `${DAY}${name}${shard > 0 ? `#${shard}` : ''}`);
};

/** The dimensions of a job counter, by its key or that of a shard. */
export const countedBy = ({ sk }: Key): Counted => {
  const [day = '', job_id = '', payload_type = '', state = ''] = sk.slice(DAY.length).split('#');
  if (!state.endsWith(IN_BATCH)) return { day, job_id, payload_type, state };
  return { day, job_id, payload_type, state: state.slice(0, -IN_BATCH.length), inBatch: true };
};

/**
 * The partition and the range of sort keys of an account's counters, from one day to another. Both days are included.
 */
export const jobCounterRange = (account: string, start: string, end: string) => ({
  pk: jobCountersOf(account),
  from: `${DAY}${start}#`,
  to: `${DAY}${end}#~`,
});

/** The partition and the range of sort keys of the counters of one job and day. */
export const jobCounterRangeOfDay = (account: string, day: string, job_id: string) => ({
  pk: jobCountersOf(account),
  from: `${DAY}${day}#${job_id}#`,
  to: `${DAY}${day}#${job_id}#~`,
});

const REQUEST = 'REQUEST#';

/** A user data request. */
export const requestKey = (request: string): Key => key(`${REQUEST}${request}`, 'REQUEST');

/** Whether a key is that of a user data request. */
export const isRequestKey = ({ pk, sk }: Key): boolean => pk.startsWith(REQUEST) && sk === 'REQUEST';

/** The id of a user data request, by its key or that of its consent. */
export const requestIdOf = (item: Pick<Key, 'pk'>): string => after(REQUEST, item);

const ERASURE = 'ERASURE#';

/** The erasure of a user: the item exists until the erasure is complete. */
export const erasureKey = (phone: string): Key => key(`${ERASURE}${phone}`, 'ERASURE');

/** The user's phone number, by the key of the erasure. */
export const phoneOfErasure = (erasure: Key): string => after(ERASURE, erasure);

/** The partition of erasures in the index of due work, sorted by the time at which they continue. */
export const erasurePartition = 'ERASURES';

/** The partition of erasures that are complete except in pending batches, by the time at which they were so. */
export const markedPartition = 'MARKED';

/** The query for erasures that are due at a time. */
export const dueErasure = (time: string) => ({
  IndexName: 'gsi1' as const,
  KeyConditionExpression: 'gsi1pk = :due AND gsi1sk <= :time',
  ExpressionAttributeValues: { ':due': erasurePartition, ':time': time },
  ProjectionExpression: 'pk, sk',
});

const OPT_OUTS = 'STOP#';

/** Whether a user has stopped an account. */
export const optOutKey = (account: string, phone: string): Key => key(`${OPT_OUTS}${account}#${phone}`, 'STOP');

/** Whether a key is that of an opt-out. */
export const isOptOutKey = ({ pk }: Key): boolean => pk.startsWith(OPT_OUTS);

/** The account of an opt-out, by its key. */
export const accountOfOptOut = (optOut: Key): string => after(OPT_OUTS, optOut).split('#', 1)[0] ?? '';

/** The slots of an account's long polls. */
export const waitsKey = (account: string): Key => key(`WAIT#${account}`, 'WAITS');

/** A group of the slots that all accounts share. No account's id is empty. */
export const sharedWaitsKey = (group: number): Key => key(`${waitsKey('').pk}#${group}`, 'WAITS');

const MEDIA = 'MEDIA#';

/** Media, by the id in their URL. */
export const mediaKey = (media: string): Key => key(`${MEDIA}${media}`, 'MEDIA');

/** The id of media, by their key. */
export const mediaIdOf = (media: Pick<Key, 'pk'>): string => after(MEDIA, media);

/** The index partition of an account's media. */
export const mediaOfAccount = (account: string): string => `MEDIA_OF#${account}`;

/** Index attributes of media: they list an account's media, oldest first. */
export const ofMediaOwner = (account: string, { created, id }: { created: string; id: string }) => ({
  gsi2pk: mediaOfAccount(account),
  gsi2sk: `${created}#${id}`,
});

/** The receipt of an event of the app network, for events whose repeat would have an effect. */
export const eventKey = (event: string): Key => key(`EVENT#${event}`, 'EVENT');

/** The receipt of a user's answer to a data request: with it, a repeat succeeds also after the request has expired. */
export const answeredEventKey = (event: string): Key => key(eventKey(event).pk, 'ANSWERED');

const CONTACTS = 'HASH#';

/** A small item for each user, by the hash of the number in the form of the API: it shows that the number is registered. */
export const contactKey = (hash: string): Key => key(`${CONTACTS}${personHash(hash)}`, 'HASH');

/** The key of the removal of a contact's user. */
export const removalOfContact = ({ pk }: Pick<Key, 'pk'>): Key => removalOf(pk.slice(CONTACTS.length));

const REMOVALS = 'REMOVED#';

/**
 * The hash of a phone number in the form of the API: SHA-256 in upper-case hexadecimal. It is stored nowhere, because it has
 * no key.
 */
export const contactHash = (phone: string): string => unkeyedHash(phone).toUpperCase();

/** The keyed hash of a number, by its hash in the form of the API. */
const personHash = (hash: string): string => keyedHash('number', hash);

/** The time of the removal of a person. */
const removalOf = (person: string): Key => key(`${REMOVALS}${person}`, 'REMOVED');

/** The time of a user's removal, under a keyed hash of the number: older data does not register the user again. */
export const removalKey = (phone: string): Key => removalOf(personHash(contactHash(phone)));

const DELETIONS = 'DELETED#';

/** What a deletion marker is about, besides users, who have `removalKey`. */
export type DeletedKind = 'account' | 'token' | 'profiler' | 'number' | 'platform' | 'media' | 'job' | 'consent';

/** When something was deleted or revoked, under a hash of what it was: a restore of the table leaves it out. */
export const deletionKey = (kind: DeletedKind, identity: string): Key => {
  // All others have ids.
  const hash = kind === 'number' ? keyedHash('deleted', kind, identity) : unkeyedHash(`${kind} ${identity}`);
  return key(`${DELETIONS}${hash}`, 'DELETED');
};

const LOGS = 'LOGS#';

/** The index partition of a contact's log entries, of all accounts: erasure finds them by the number alone. */
export const logsOfContact = (phone: string): string => `${LOGS}${phone}`;

/** The partitions of an account's log entries, by index. */
export const logPartitions = {
  gsi1: (account: string, { state }: { state: string }) => `${LOGS}${account}#${state}`,
  gsi2: (_account: string, { phone }: { phone: string }) => logsOfContact(phone),
  gsi3: (account: string, { job_id, state }: { job_id: string; state: string }) =>
    `${LOGS}${account}#${job_id}#${state}`,
};

/** The prefix of an account's sort keys in the partition of a contact's log entries. */
export const positionOfAccount = (account: string): string => `${account}#`;

/** The account of a contact's log entry, by its sort key in that partition. */
export const accountAt = (position: string): string => position.split('#', 1)[0] ?? '';

/** The pattern of positions in a log: time, message, state. */
export const LOG_POSITION =
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}#[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}#[a-z_]{1,40}$/;

/** Index attributes of a log entry. Sorted by time, message, state; in a contact's partition, by account first. */
export const ofLog = (
  account: string,
  entry: { created: string; message: string; phone: string; job_id: string; state: string },
) => {
  const position = `${entry.created}#${entry.message}#${entry.state}`;
  return {
    gsi1pk: logPartitions.gsi1(account, entry),
    gsi1sk: position,
    gsi2pk: logPartitions.gsi2(account, entry),
    gsi2sk: `${positionOfAccount(account)}${position}`,
    gsi3pk: logPartitions.gsi3(account, entry),
    gsi3sk: position,
  };
};

/**
 * Kinds of due work, and the number of index partitions of each. A partition accepts about 1,000 writes per second, and
 * twenty campaigns at the default pace write 40,000 for conversations. Each other kind takes at most two writes for a
 * request, over all accounts.
 */
const DUE_SHARDS = { conversations: 64, expansions: 8, uploads: 8, profilers: 8, consents: 8 };

export type DueKind = keyof typeof DUE_SHARDS;

const DUE = 'DUE#';
const CONSENT_ENDS = 'CONSENT_ENDS#';

/** Consents have a prefix of their own: only `erase` reads them. */
const duePartition = (kind: DueKind, shard: number): string =>
  kind === 'consents' ? `${CONSENT_ENDS}${shard}` : `${DUE}${kind}#${shard}`;

/** The index partitions of a kind of due work. */
export const duePartitions = (kind: DueKind): string[] =>
  Array.from({ length: DUE_SHARDS[kind] }, (_, shard) => duePartition(kind, shard));

export const allDuePartitions: readonly string[] = (Object.keys(DUE_SHARDS) as DueKind[]).flatMap(duePartitions);

/** The place of an account's work in the index of due work: by account, and then by the time at which it is due. */
interface DuePlace {
  gsi1pk: string;
  gsi1sk: string;
}

/** Index attributes of an account's work that `sweep` picks up at `time`. The id chooses the partition. */
export const dueAt = (
  kind: DueKind,
  { account, id, time }: { account: string; id: string; time: string },
): DuePlace => ({
  gsi1pk: duePartition(kind, crc32(id) % DUE_SHARDS[kind]),
  gsi1sk: dueOrder(account, time),
});

/** The sort key of due work. In a partition, the work of an account is together, the oldest first. */
export const dueOrder = (account: string, time: string): string => `${account}#${time}`;

/** The last sort key of an account's due work. */
export const afterDueOf = (account: string): string => dueOrder(account, '~');

/** The sort key of a conversation's head or entry that is due at `time`. */
export const conversationDueAt = (entryOrHead: Pick<Key, 'pk'>, time: string): string =>
  dueOrder(conversationOf(entryOrHead).account, time);

/** Whose due work this is, and the time at which it is due, in the form of `sortableTime`. */
export const dueOf = ({ gsi1sk }: Pick<DuePlace, 'gsi1sk'>): { account: string; time: string } => {
  const end = gsi1sk.indexOf('#');
  return { account: gsi1sk.slice(0, end), time: gsi1sk.slice(end + 1) };
};

/** Where `sweep` continues with conversations, if its time was over before it had woken all that were due. */
export const sweepPositionsKey = key('SWEEP', 'CONVERSATIONS');

const PERSON = 'PERSON#';

/** The index partition of a person's answers and requests. */
export const dataOfPerson = (phone: string): string => `${PERSON}${phone}`;

/** Index attributes of a person's answers and requests, for export and erasure. */
export const ofPerson = (phone: string, time: string): { gsi2pk: string; gsi2sk: string } => ({
  gsi2pk: dataOfPerson(phone),
  gsi2sk: time,
});

/** Patterns for the partitions of keys that consist of several parts, for access rights. */
export const anyPartition = {
  contacts: `${CONTACTS}*`,
  idempotencyKeys: `${IDEMPOTENCY}*`,
  statusReceipts: `${STATUS_RECEIPTS}*`,
  removals: `${REMOVALS}*`,
  deletions: `${DELETIONS}*`,
  optOuts: `${OPT_OUTS}*`,
  logs: `${LOGS}*`,
  due: `${DUE}*`,
  consentEnds: `${CONSENT_ENDS}*`,
} as const;
