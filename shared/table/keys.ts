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

/** Who a token belongs to, by the SHA-256 of the token. */
export const tokenKey = (sha256: string): Key => key(`TOKEN#${sha256}`, 'TOKEN');

/** The list of accounts: one row each with id and name. */
export const accountListKey = (account: string): Key => key('ACCOUNTS', `ACCOUNT#${account}`);

/** An account; its tokens stand beside it. */
export const accountKey = (account: string): Key => key(`ACCOUNT#${account}`, 'ACCOUNT');

/** What people may know of a token: everything but the token. */
export const accountTokenKey = (account: string, token: string): Key => key(accountKey(account).pk, `TOKEN#${token}`);

/** The account that a bot's phone number belongs to. */
export const numberKey = (phone: string): Key => key(`NUMBER#${phone}`, 'NUMBER');

/** A user of the app. */
export const userKey = (phone: string): Key => key(`USER#${phone}`, 'USER');

/** A profiler; an account's profilers are one partition, oldest first: their ids sort by age. */
export const profilerKey = (account: string, profiler: string): Key =>
  key(`PROFILERS#${account}`, `PROFILER#${profiler}`);

/** The profilers of an account whose ids sort after one: their partition, and the bounds of their sort keys. */
export const profilersAfter = (account: string, profiler: string | undefined) => ({
  // Stryker disable next-line StringLiteral: The key has no such part, or the part is not used here.
  pk: profilerKey(account, '').pk,
  from: profilerKey(account, profiler === undefined ? '' : `${profiler}~`).sk,
  to: profilerKey(account, '~').sk,
});

/** Which profiler an idempotency key made: beside the profilers, and not among them. */
export const profilerOfKey = (account: string, hash: string): Key => key(`PROFILERS#${account}`, `IDEMPOTENCY#${hash}`);

/** A panelist's answer; a profiler's answers are one partition. */
export const answerKey = (profiler: string, phone: string): Key => key(`ANSWERS#${profiler}`, `ANSWER#${phone}`);

/** A message, which is its own first log entry; its further log entries stand beside it. */
export const messageKey = (message: string): Key => key(`MESSAGE#${message}`, 'MESSAGE');

/** A further log entry of a message: one for each state. */
export const stateKey = (message: string, state: string): Key => key(messageKey(message).pk, `STATE#${state}`);

/** What waits to go out in a conversation, oldest first: entries' ids sort by age. */
export const entryKey = (conversation: string, entry: string): Key => key(`OUTBOX#${conversation}`, `ENTRY#${entry}`);

/** The head of a conversation's outbox: there as long as anything waits. */
export const headKey = (conversation: string): Key => key(`OUTBOX#${conversation}`, 'HEAD');

/** The circuit of a destination. */
export const circuitKey = (destination: string): Key => key(`CIRCUIT#${destination}`, 'CIRCUIT');

/** How an account's chat platform is reached: address and secrets. */
export const platformKey = (account: string): Key => key(`PLATFORM#${account}`, 'PLATFORM');

/** What tells whether a request of an account's chat platform is its own. */
export const hookKey = (account: string): Key => key(`HOOK#${account}`, 'HOOK');

/** That an account's chat platform was told of a state of what it knows by an id of its own, in a generation of that. */
export const statusReceiptKey = (account: string, id: string, generation: number, state: string): Key =>
  key(`TOLD#${account}#${id}`, `${generation > 0 ? `GENERATION#${generation}#` : ''}STATE#${state}`);

/** Until when a call has to wait because an equal one was made, by a hash of what they have in common. */
export const spacingKey = (subject: string): Key => key(`SPACING#${subject}`, 'SPACING');

/** What is known of a message of an account's chat platform, by the platform's id, that came again. */
export const repeatsKey = (account: string, id: string): Key => key(`REPEATS#${account}#${id}`, 'REPEATS');

/** What a job counter counts: messages of a job and payload type that reached a state on a day (`YYYY-MM-DD`). */
interface Counted {
  day: string;
  job_id: string;
  payload_type: string;
  state: string;
}

/** A job counter; an account's counters are one partition, day by day. */
export const jobCounterKey = (account: string, { day, job_id, payload_type, state }: Counted): Key =>
  key(`JOBS#${account}`, `DAY#${[day, job_id, payload_type, state].join('#')}`);

/** What the counter with this key counts. */
export const countedBy = ({ sk }: Key): Counted => {
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const [, day = '', job_id = '', payload_type = '', state = ''] = sk.split('#');
  return { day, job_id, payload_type, state };
};

/** The counters of an account from one day to another, both included: their partition, and the bounds of their sort keys. */
export const jobCounterRange = (account: string, start: string, end: string) => ({
  pk: `JOBS#${account}`,
  from: `DAY#${start}#`,
  to: `DAY#${end}#~`,
});

/** A user data request. */
export const requestKey = (request: string): Key => key(`REQUEST#${request}`, 'REQUEST');

/** A receipt about values that were released of a user; the receipts about one are one partition, by time. */
export const consentReceiptKey = (phone: string, { created, request }: { created: string; request: string }): Key =>
  key(`GRANTS#${phone}`, `GRANT#${created}#${request}`);

/** That a user is being erased, for as long as that takes. */
export const erasureKey = (phone: string): Key => key(`ERASURE#${phone}`, 'ERASURE');

/** The user that an erasure is of. */
export const phoneOfErasure = ({ pk }: Key): string => pk.slice(erasureKey('').pk.length);

/** The partition of the index of due work that erasures stand in, by the time at which they go on. */
export const erasurePartition = 'ERASURES';

/** The query for erasures that are due at a time. */
export const dueErasure = (time: string) => ({
  IndexName: 'gsi1' as const,
  KeyConditionExpression: 'gsi1pk = :due AND gsi1sk <= :time',
  ExpressionAttributeValues: { ':due': erasurePartition, ':time': time },
  ProjectionExpression: 'pk, sk',
});

/** Media, by the id in their address. */
export const mediaKey = (media: string): Key => key(`MEDIA#${media}`, 'MEDIA');

/** The media that a key is of. */
export const mediaOf = ({ pk }: Key): string => pk.slice(mediaKey('').pk.length);

/** Index attributes of media: an account's, oldest first. */
export const ofMediaOwner = (account: string, { created, id }: { created: string; id: string }) => ({
  gsi2pk: `MEDIA_OF#${account}`,
  gsi2sk: `${created}#${id}`,
});

/** That an event of the app network was taken, for those whose repetition would not be harmless by itself. */
export const eventKey = (event: string): Key => key(`EVENT#${event}`, 'EVENT');

/** That an answer which the app network reported was recorded: its repetition succeeds after its request is gone. */
export const answeredEventKey = (event: string): Key => key(eventKey(event).pk, 'ANSWERED');

/** When a user was removed, without the number: what was known before registers nobody. */
export const removalKey = (phone: string): Key =>
  key(`REMOVED#${createHash('sha256').update(phone).digest('hex')}`, 'REMOVED');

/** Which index lists log entries of an account by what, and its partition for one of them. */
export const logPartitions = {
  gsi1: (account: string, { state }: { state: string }) => `LOGS#${account}#${state}`,
  /** Of all accounts: whoever is forgotten is found by the number alone. */
  gsi2: (_account: string, { phone }: { phone: string }) => `LOGS#${phone}`,
  gsi3: (account: string, { job_id, state }: { job_id: string; state: string }) => `LOGS#${account}#${job_id}#${state}`,
};

/** What stands before the position of an account's log entry among those of a contact. */
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

export const duePartitions: readonly string[] = Array.from({ length: DUE_SHARDS }, (_, shard) => `DUE#${shard}`);

/** Index attributes of work that `sweep` picks up at `time`, spread by any id. */
export const dueAt = (id: string, time: string): { gsi1pk: string; gsi1sk: string } => {
  return { gsi1pk: `DUE#${crc32(id) % DUE_SHARDS}`, gsi1sk: time };
};

/** Index attributes of what is kept about a person, for export and erasure. */
export const ofPerson = (phone: string, time: string): { gsi2pk: string; gsi2sk: string } => ({
  gsi2pk: `PERSON#${phone}`,
  gsi2sk: time,
});
