/**
 * Every key of the table, and every way in which the service reads or writes it.
 * A key's prefix names its entity, so that a role can be fenced into the prefixes that its function needs.
 */

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

/** The shards that due work is spread over: an index key takes about a thousand writes a second. */
const DUE_SHARDS = 8;

export const duePartitions: readonly string[] = Array.from({ length: DUE_SHARDS }, (_, shard) => `DUE#${shard}`);

/** Index attributes of work that `sweep` picks up at `time`, spread by any id. */
export const dueAt = (id: string, time: string): { gsi1pk: string; gsi1sk: string } => {
  const shard = Number.parseInt(id.slice(-2), 16) % DUE_SHARDS;
  return { gsi1pk: `DUE#${shard}`, gsi1sk: time };
};

/** Index attributes of what is kept about a person, for export and erasure. */
export const ofPerson = (phone: string, time: string): { gsi2pk: string; gsi2sk: string } => ({
  gsi2pk: `PERSON#${phone}`,
  gsi2sk: time,
});

/** What a log entry says (spec §2), and when it ends. */
const LOG_ENTRY = ['created', 'contact', 'state', 'job_id', 'expires_at'];

/** The table's indexes: sparse, shared by several entities, holding only what their readers return. */
export const indexes = {
  /** Logs of an account by state; due work. */
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
  listDueWork: { action: 'Query', partitions: 'DUE#*', index: 'gsi1' },
} as const satisfies Record<string, AccessPattern>;

export type AccessPatternName = keyof typeof accessPatterns;
