/**
 * Every key of the table, and every way in which the service reads or writes it.
 * A key's prefix names its entity, so that a role can be fenced into the prefixes that its function needs.
 */

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

/** A profiler; an account's profilers are one partition. */
export const profilerKey = (account: string, profiler: string): Key =>
  key(`PROFILERS#${account}`, `PROFILER#${profiler}`);

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

/** Whether a receiver is being left alone because it fails. */
export const circuitKey = (receiver: string): Key => key(`CIRCUIT#${receiver}`, 'CIRCUIT');

/** How an account's chat platform is reached: address and secrets. */
export const platformKey = (account: string): Key => key(`PLATFORM#${account}`, 'PLATFORM');

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
  const [, day = '', job_id = '', payload_type = '', state = ''] = sk.split('#');
  return { day, job_id, payload_type, state };
};

/** The counters of an account from one day to another, both included: their partition, and the bounds of their sort keys. */
export const jobCounterRange = (account: string, start: string, end: string) => ({
  pk: `JOBS#${account}`,
  from: `DAY#${start}#`,
  to: `DAY#${end}#~`,
});

/** That an event of the app network was taken, for those whose repetition would not be harmless by itself. */
export const eventKey = (event: string): Key => key(`EVENT#${event}`, 'EVENT');

/** Which index lists log entries of an account by what, and its partition for one of them. */
export const logPartitions = {
  gsi1: (account: string, { state }: { state: string }) => `LOGS#${account}#${state}`,
  gsi2: (account: string, { phone }: { phone: string }) => `LOGS#${account}#${phone}`,
  gsi3: (account: string, { job_id, state }: { job_id: string; state: string }) => `LOGS#${account}#${job_id}#${state}`,
};

/** Index attributes of a log entry. They sort by time, then message, then state. */
export const ofLog = (
  account: string,
  entry: { created: string; message: string; phone: string; job_id: string; state: string },
) => {
  const position = `${entry.created}#${entry.message}#${entry.state}`;
  return {
    gsi1pk: logPartitions.gsi1(account, entry),
    gsi1sk: position,
    gsi2pk: logPartitions.gsi2(account, entry),
    gsi2sk: position,
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

/** What a log entry says (spec §2), and when it ends. */
const LOG_ENTRY = ['created', 'phone', 'state', 'job_id', 'expires_at'];

/** The table's indexes: sparse, shared by several entities, holding only what their readers return. */
export const indexes = {
  /** Logs of an account by state; due work, `created` telling since when it waits. */
  gsi1: { holds: LOG_ENTRY },
  /** Logs of one contact; a person's answers and requests. */
  gsi2: { holds: LOG_ENTRY },
  /** Logs of one job. */
  gsi3: { holds: LOG_ENTRY },
};

type IndexName = keyof typeof indexes;

/** One way of touching the table: what a role must allow for it. */
export interface AccessPattern {
  action: 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem' | 'Query';
  /** The partition keys it touches, with `*` for what varies. */
  partitions: string;
  /** The index it reads, instead of the table. */
  index?: IndexName;
}

const profilers = profilerKey('*', '').pk;
const answers = answerKey('*', '').pk;
const messages = messageKey('*').pk;
const outbox = headKey('*').pk;
const circuits = circuitKey('*').pk;
const jobs = jobCounterRange('*', '', '').pk;

/** The access patterns of the functions, by name. The operator's command works with the operator's own rights. */
export const accessPatterns = {
  findToken: { action: 'GetItem', partitions: tokenKey('*').pk },
  findUser: { action: 'GetItem', partitions: userKey('*').pk },
  putProfiler: { action: 'PutItem', partitions: profilers },
  findProfiler: { action: 'GetItem', partitions: profilers },
  listProfilers: { action: 'Query', partitions: profilers },
  buryProfiler: { action: 'UpdateItem', partitions: profilers },
  putAnswer: { action: 'PutItem', partitions: answers },
  listAnswers: { action: 'Query', partitions: answers },
  removeAnswers: { action: 'BatchWriteItem', partitions: answers },
  findAccount: { action: 'GetItem', partitions: accountKey('*').pk },
  findBot: { action: 'GetItem', partitions: numberKey('*').pk },
  updateUser: { action: 'UpdateItem', partitions: userKey('*').pk },
  removeUser: { action: 'DeleteItem', partitions: userKey('*').pk },
  putEventReceipt: { action: 'PutItem', partitions: eventKey('*').pk },
  putLogEntry: { action: 'PutItem', partitions: messages },
  findMessage: { action: 'GetItem', partitions: messages },
  markCounted: { action: 'UpdateItem', partitions: messages },
  putEntry: { action: 'PutItem', partitions: outbox },
  listEntries: { action: 'Query', partitions: outbox },
  removeFromOutbox: { action: 'DeleteItem', partitions: outbox },
  findHead: { action: 'GetItem', partitions: outbox },
  updateHead: { action: 'UpdateItem', partitions: outbox },
  findCircuit: { action: 'GetItem', partitions: circuits },
  updateCircuit: { action: 'UpdateItem', partitions: circuits },
  closeCircuit: { action: 'DeleteItem', partitions: circuits },
  findPlatform: { action: 'GetItem', partitions: platformKey('*').pk },
  addToJob: { action: 'UpdateItem', partitions: jobs },
  listJobs: { action: 'Query', partitions: jobs },
  listLogsByState: { action: 'Query', partitions: 'LOGS#*', index: 'gsi1' },
  listLogsOfContact: { action: 'Query', partitions: 'LOGS#*', index: 'gsi2' },
  listLogsOfJob: { action: 'Query', partitions: 'LOGS#*', index: 'gsi3' },
  listDueWork: { action: 'Query', partitions: 'DUE#*', index: 'gsi1' },
} as const satisfies Record<string, AccessPattern>;

export type AccessPatternName = keyof typeof accessPatterns;
