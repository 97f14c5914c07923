/**
 * Every key of the table, and every way in which the service reads or writes it.
 * A key's prefix names its entity, so that a role can be fenced into the prefixes that its function needs.
 */

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export interface Key {
  pk: string;
  sk: string;
}

const key = (pk: string, sk: string): Key => ({ pk, sk });

/** What follows the prefix of a partition key. */
const after = (prefix: string, { pk }: Pick<Key, 'pk'>): string => pk.slice(prefix.length);

/** Who a token belongs to, by the SHA-256 of the token. */
export const tokenKey = (sha256: string): Key => key(`TOKEN#${sha256}`, 'TOKEN');

/** The list of accounts: one row each with id and name. */
export const accountListKey = (account: string): Key => key('ACCOUNTS', `ACCOUNT#${account}`);

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

/** A profiler. Those of an account are one partition, oldest first: their ids sort by age. */
export const profilerKey = (account: string, profiler: string): Key =>
  key(profilersOf(account), `${PROFILER}${profiler}`);

/** The id of the profiler at this key. */
export const profilerIdOf = ({ sk }: Key): string => sk.slice(PROFILER.length);

/** The profilers of an account whose ids sort after one: their partition, and the bounds of their sort keys. */
export const profilersAfter = (account: string, profiler: string | undefined) => ({
  pk: profilersOf(account),
  from: profilerKey(account, profiler === undefined ? '' : `${profiler}~`).sk,
  to: profilerKey(account, '~').sk,
});

/** The profiler that a request with an idempotency key created: in their partition, outside the range of profilers. */
export const profilerOfKey = (account: string, hash: string): Key => key(profilersOf(account), `IDEMPOTENCY#${hash}`);

const ANSWERS = 'ANSWERS#';

/** The partition of a profiler's answers. */
export const answersOf = (profiler: string): string => `${ANSWERS}${profiler}`;

/** A panelist's answer. */
export const answerKey = (profiler: string, phone: string): Key => key(answersOf(profiler), `ANSWER#${phone}`);

/** Whether a key is an answer's. */
export const isAnswerKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(ANSWERS);

/** The id of the profiler that the answer at this key belongs to. */
export const answeredProfilerOf = (answer: Key): string => after(ANSWERS, answer);

const MESSAGE = 'MESSAGE#';
const FIRST_ENTRY = 'MESSAGE';

/** A message, which is its own first log entry. Its further log entries are in the same partition. */
export const messageKey = (message: string): Key => key(`${MESSAGE}${message}`, FIRST_ENTRY);

/** Whether the key of a log entry is that of a message's first one. */
export const isMessageKey = ({ sk }: Key): boolean => sk === FIRST_ENTRY;

/** The id of the message whose log entry is at this key. */
export const messageIdOf = (entry: Key): string => after(MESSAGE, entry);

/** A further log entry of a message: one for each state. */
export const stateKey = (message: string, state: string): Key => key(messageKey(message).pk, `STATE#${state}`);

const OUTBOX = 'OUTBOX#';
const HEAD = 'HEAD';

/** Who exchanges messages in which direction: the key of an outbox consists of these. */
interface ConversationParts {
  direction: 'app' | 'platform';
  account: string;
  phone: string;
}

/** The name of a conversation: what its keys consist of. */
export const conversationName = ({ direction, account, phone }: ConversationParts): string =>
  `${direction}#${account}#${phone}`;

/** The conversation that a key of an outbox belongs to. */
export const conversationOf = (entryOrHead: Pick<Key, 'pk'>): ConversationParts => {
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const [direction, account = '', phone = ''] = after(OUTBOX, entryOrHead).split('#');
  return { direction: direction === 'app' ? 'app' : 'platform', account, phone };
};

/** A pending entry of a conversation. Oldest first: the ids of entries sort by age. */
export const entryKey = (conversation: string, entry: string): Key => key(`${OUTBOX}${conversation}`, `ENTRY#${entry}`);

/** The head of a conversation's outbox: it exists as long as entries are pending. */
export const headKey = (conversation: string): Key => key(`${OUTBOX}${conversation}`, HEAD);

/** Whether a key is that of a head. */
export const isHeadKey = ({ sk }: Key): boolean => sk === HEAD;

/** The circuit of a destination. */
export const circuitKey = (destination: string): Key => key(`CIRCUIT#${destination}`, 'CIRCUIT');

/** How an account's chat platform is reached: address and secrets. */
export const platformKey = (account: string): Key => key(`PLATFORM#${account}`, 'PLATFORM');

/** The secret that authenticates requests of an account's chat platform. */
export const hookKey = (account: string): Key => key(`HOOK#${account}`, 'HOOK');

const STATUS_RECEIPTS = 'TOLD#';

/** The receipt of a state that was reported to an account's chat platform, by the platform's id of the message. */
export const statusReceiptKey = (account: string, id: string, generation: number, state: string): Key =>
  key(`${STATUS_RECEIPTS}${account}#${id}`, `${generation > 0 ? `GENERATION#${generation}#` : ''}STATE#${state}`);

/** When a call may follow an equal one, by a hash of what they have in common. */
export const spacingKey = (subject: string): Key => key(`SPACING#${subject}`, 'SPACING');

const REPEATS = 'REPEATS#';

/** The repeats of a message of an account's chat platform, by the platform's id of the message. */
export const repeatsKey = (account: string, id: string): Key => key(`${REPEATS}${account}#${id}`, 'REPEATS');

/** What a job counter counts: messages of a job and payload type that reached a state on a day (`YYYY-MM-DD`). */
interface Counted {
  day: string;
  job_id: string;
  payload_type: string;
  state: string;
}

const DAY = 'DAY#';

/** The partition of an account's job counters. */
export const jobCountersOf = (account: string): string => `JOBS#${account}`;

/** A job counter. Those of an account are one partition, day by day. */
export const jobCounterKey = (account: string, { day, job_id, payload_type, state }: Counted): Key =>
  key(jobCountersOf(account), `${DAY}${[day, job_id, payload_type, state].join('#')}`);

/** What the counter with this key counts. */
export const countedBy = ({ sk }: Key): Counted => {
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const [day = '', job_id = '', payload_type = '', state = ''] = sk.slice(DAY.length).split('#');
  return { day, job_id, payload_type, state };
};

/** The counters of an account from one day to another, both included: their partition, and the bounds of their sort keys. */
export const jobCounterRange = (account: string, start: string, end: string) => ({
  pk: jobCountersOf(account),
  from: `${DAY}${start}#`,
  to: `${DAY}${end}#~`,
});

const REQUEST = 'REQUEST#';

/** A user data request. */
export const requestKey = (request: string): Key => key(`${REQUEST}${request}`, 'REQUEST');

/** Whether a key is a user data request's. */
export const isRequestKey = ({ pk }: Key): boolean => pk.startsWith(REQUEST);

/** The id of the user data request at this key. */
export const requestIdOf = (request: Key): string => after(REQUEST, request);

/** The partition of the receipts about values that were released of a user. */
export const consentReceiptsOf = (phone: string): string => `GRANTS#${phone}`;

/** A receipt about values that were released of a user. Those about one user are one partition, by time. */
export const consentReceiptKey = (phone: string, { created, request }: { created: string; request: string }): Key =>
  key(consentReceiptsOf(phone), `GRANT#${created}#${request}`);

const ERASURE = 'ERASURE#';

/** The erasure of a user, for as long as it takes. */
export const erasureKey = (phone: string): Key => key(`${ERASURE}${phone}`, 'ERASURE');

/** The phone number of the user that an erasure is about. */
export const phoneOfErasure = (erasure: Key): string => after(ERASURE, erasure);

/** The partition of erasures in the index of due work, by the time at which they continue. */
export const erasurePartition = 'ERASURES';

/** The query for erasures that are due at a time. */
export const dueErasure = (time: string) => ({
  IndexName: 'gsi1' as const,
  KeyConditionExpression: 'gsi1pk = :due AND gsi1sk <= :time',
  ExpressionAttributeValues: { ':due': erasurePartition, ':time': time },
  ProjectionExpression: 'pk, sk',
});

const MEDIA = 'MEDIA#';

/** Media, by the id in their URL. */
export const mediaKey = (media: string): Key => key(`${MEDIA}${media}`, 'MEDIA');

/** The id of the media at this key. */
export const mediaIdOf = (media: Pick<Key, 'pk'>): string => after(MEDIA, media);

/** The index partition of an account's media. */
export const mediaOfAccount = (account: string): string => `MEDIA_OF#${account}`;

/** Index attributes of media: an account's, oldest first. */
export const ofMediaOwner = (account: string, { created, id }: { created: string; id: string }) => ({
  gsi2pk: mediaOfAccount(account),
  gsi2sk: `${created}#${id}`,
});

/** The receipt of an event of the app network, if repeating the event would have an effect. */
export const eventKey = (event: string): Key => key(`EVENT#${event}`, 'EVENT');

/** The receipt of a user's answer to a data request: its repetition succeeds after the request is gone. */
export const answeredEventKey = (event: string): Key => key(eventKey(event).pk, 'ANSWERED');

const REMOVALS = 'REMOVED#';

/** When a user was removed, under a hash of the number: older data does not register the user again. */
export const removalKey = (phone: string): Key =>
  key(`${REMOVALS}${createHash('sha256').update(phone).digest('hex')}`, 'REMOVED');

const LOGS = 'LOGS#';

/** The index partition of all log entries about a contact, over all accounts: erasure finds them by the number alone. */
export const logsOfContact = (phone: string): string => `${LOGS}${phone}`;

/** The partitions of an account's log entries, by index. */
export const logPartitions = {
  gsi1: (account: string, { state }: { state: string }) => `${LOGS}${account}#${state}`,
  gsi2: (_account: string, { phone }: { phone: string }) => logsOfContact(phone),
  gsi3: (account: string, { job_id, state }: { job_id: string; state: string }) =>
    `${LOGS}${account}#${job_id}#${state}`,
};

/** The prefix of an account's log entries among those of a contact. */
export const positionOfAccount = (account: string): string => `${account}#`;

/** The account that a contact's log entry is of, by its sort key there. */
// Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
export const accountAt = (position: string): string => position.split('#', 1)[0] ?? '';

/** Index attributes of a log entry. They sort by time, then message, then state; a contact's by account before. */
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

/** The shards that due work is spread over: an index key takes about a thousand writes a second. */
const DUE_SHARDS = 8;

const DUE = 'DUE#';

export const duePartitions: readonly string[] = Array.from({ length: DUE_SHARDS }, (_, shard) => `${DUE}${shard}`);

/** Index attributes of work that `sweep` picks up at `time`, spread by any id. */
export const dueAt = (id: string, time: string): { gsi1pk: string; gsi1sk: string } => {
  return { gsi1pk: `${DUE}${crc32(id) % DUE_SHARDS}`, gsi1sk: time };
};

const PERSON = 'PERSON#';

/** The index partition of a person's answers and requests. */
export const dataOfPerson = (phone: string): string => `${PERSON}${phone}`;

/** Index attributes of a person's answers and requests, for export and erasure. */
export const ofPerson = (phone: string, time: string): { gsi2pk: string; gsi2sk: string } => ({
  gsi2pk: dataOfPerson(phone),
  gsi2sk: time,
});

/** The partitions of keys that consist of several parts, as rights name them. */
export const anyPartition = {
  statusReceipts: `${STATUS_RECEIPTS}*`,
  repeats: `${REPEATS}*`,
  removals: `${REMOVALS}*`,
  logs: `${LOGS}*`,
  due: `${DUE}*`,
} as const;
