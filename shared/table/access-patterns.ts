/** Every way in which functions read or write the table. A role allows the patterns of its function, and no others. */
import {
  accountKey,
  answersOf,
  anyPartition,
  circuitKey,
  consentReceiptsOf,
  dataOfPerson,
  erasureKey,
  erasurePartition,
  eventKey,
  headKey,
  hookKey,
  jobCountersOf,
  mediaKey,
  messageKey,
  numberKey,
  platformKey,
  profilersOf,
  requestKey,
  spacingKey,
  tokenKey,
  userKey,
} from './keys.ts';

/** What lists and reports read of a log entry (spec §2), and when it ends. No text of somebody else's is in an index. */
const LOG_ENTRY = ['created', 'phone', 'state', 'job_id', 'payload_type', 'reason_code', 'expires_at'];

interface Index {
  /** The beginning of the names of its key attributes. An index that takes another one's place has the same. */
  keys: string;
  /** What it contains of an item, beside all keys. */
  holds: string[];
}

/**
 * The table's indexes: sparse, shared by several entities, holding only what their readers return. A deployed index cannot
 * be changed: `test/infra/pinned.test.ts` compares them with what is deployed.
 */
export const indexes = {
  /** Logs of an account by state; due work, `created` is when it began. */
  gsi1: { keys: 'gsi1', holds: LOG_ENTRY },
  /** Logs of one contact; a person's answers and requests; an account's media. */
  gsi2: { keys: 'gsi2', holds: LOG_ENTRY },
  /** Logs of one job. */
  gsi3: { keys: 'gsi3', holds: LOG_ENTRY },
} satisfies Record<string, Index>;

type IndexName = keyof typeof indexes;

/** One way of touching the table: what a role must allow for it. */
export interface AccessPattern {
  action:
    | 'GetItem'
    | 'BatchGetItem'
    | 'PutItem'
    | 'UpdateItem'
    | 'DeleteItem'
    | 'BatchWriteItem'
    | 'ConditionCheckItem'
    | 'Query';
  /** The partition keys it touches, with `*` for what varies. */
  partitions: string;
  /** The index it reads, instead of the table. */
  index?: IndexName;
}

const profilers = profilersOf('*');
const answers = answersOf('*');
const messages = messageKey('*').pk;
const outbox = headKey('*').pk;
const circuits = circuitKey('*').pk;
const jobs = jobCountersOf('*');
const requests = requestKey('*').pk;
const consentReceipts = consentReceiptsOf('*');
const erasures = erasureKey('*').pk;
const media = mediaKey('*').pk;
const { statusReceipts, repeats, removals, logs, due } = anyPartition;

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
  beginErasure: { action: 'UpdateItem', partitions: erasures },
  findBot: { action: 'GetItem', partitions: numberKey('*').pk },
  updateUser: { action: 'UpdateItem', partitions: userKey('*').pk },
  removeUser: { action: 'DeleteItem', partitions: userKey('*').pk },
  checkUser: { action: 'ConditionCheckItem', partitions: userKey('*').pk },
  putRequest: { action: 'PutItem', partitions: requests },
  findRequest: { action: 'GetItem', partitions: requests },
  findRequests: { action: 'BatchGetItem', partitions: requests },
  answerRequest: { action: 'UpdateItem', partitions: requests },
  putConsentReceipt: { action: 'PutItem', partitions: consentReceipts },
  putEventReceipt: { action: 'PutItem', partitions: eventKey('*').pk },
  findEventReceipt: { action: 'GetItem', partitions: eventKey('*').pk },
  putRemoval: { action: 'PutItem', partitions: removals },
  findRemoval: { action: 'GetItem', partitions: removals },
  checkRemoval: { action: 'ConditionCheckItem', partitions: removals },
  putMedia: { action: 'PutItem', partitions: media },
  findMedia: { action: 'GetItem', partitions: media },
  putLogEntry: { action: 'PutItem', partitions: messages },
  findMessage: { action: 'GetItem', partitions: messages },
  findMessages: { action: 'BatchGetItem', partitions: messages },
  markCounted: { action: 'UpdateItem', partitions: messages },
  putEntry: { action: 'PutItem', partitions: outbox },
  listEntries: { action: 'Query', partitions: outbox },
  removeFromOutbox: { action: 'DeleteItem', partitions: outbox },
  checkEntry: { action: 'BatchGetItem', partitions: outbox },
  checkSender: { action: 'BatchGetItem', partitions: accountKey('*').pk },
  checkErasure: { action: 'BatchGetItem', partitions: erasures },
  findHead: { action: 'GetItem', partitions: outbox },
  updateHead: { action: 'UpdateItem', partitions: outbox },
  findCircuit: { action: 'GetItem', partitions: circuits },
  updateCircuit: { action: 'UpdateItem', partitions: circuits },
  closeCircuit: { action: 'DeleteItem', partitions: circuits },
  findPlatform: { action: 'GetItem', partitions: platformKey('*').pk },
  findHook: { action: 'GetItem', partitions: hookKey('*').pk },
  listStatusReceipts: { action: 'Query', partitions: statusReceipts },
  putStatusReceipt: { action: 'PutItem', partitions: statusReceipts },
  findSpacing: { action: 'GetItem', partitions: spacingKey('*').pk },
  putSpacing: { action: 'PutItem', partitions: spacingKey('*').pk },
  findRepeats: { action: 'GetItem', partitions: repeats },
  updateRepeats: { action: 'UpdateItem', partitions: repeats },
  listStates: { action: 'Query', partitions: messages },
  addToJob: { action: 'UpdateItem', partitions: jobs },
  listJobs: { action: 'Query', partitions: jobs },
  listLogsByState: { action: 'Query', partitions: logs, index: 'gsi1' },
  listLogsOfContact: { action: 'Query', partitions: logs, index: 'gsi2' },
  listLogsOfJob: { action: 'Query', partitions: logs, index: 'gsi3' },
  listDueErasures: { action: 'Query', partitions: erasurePartition, index: 'gsi1' },
  findErasure: { action: 'GetItem', partitions: erasures },
  putOffErasure: { action: 'UpdateItem', partitions: erasures },
  endErasure: { action: 'DeleteItem', partitions: erasures },
  listOfPerson: { action: 'Query', partitions: dataOfPerson('*'), index: 'gsi2' },
  removeRequests: { action: 'BatchWriteItem', partitions: requests },
  renameInLog: { action: 'UpdateItem', partitions: messages },
  listConsentReceipts: { action: 'Query', partitions: consentReceipts },
  removeConsentReceipt: { action: 'DeleteItem', partitions: consentReceipts },
  listDueWork: { action: 'Query', partitions: due, index: 'gsi1' },
} as const satisfies Record<string, AccessPattern>;

export type AccessPatternName = keyof typeof accessPatterns;

/**
 * The transactions of the functions: for each, all the access patterns that its writes may have. A role allows those, and
 * what IAM may require besides: `infra/constructs/function/table-rights.ts`.
 */
export const transactions = {
  /** A message reaches a state: the log entry, and what is to be delivered because of it. */
  logAndEnqueue: ['putLogEntry', 'putEntry', 'updateHead'],
  /** A chat platform's message that is sent once more. */
  logAndEnqueueAgain: ['putLogEntry', 'putEntry', 'updateHead', 'updateRepeats'],
  askUser: ['putRequest', 'putEntry', 'updateHead'],
  /** A request of which something is granted at once. */
  grantAtOnce: ['putRequest', 'checkUser', 'putConsentReceipt', 'putEntry', 'updateHead'],
  recordAnswers: ['answerRequest', 'checkUser', 'putConsentReceipt', 'putEntry', 'updateHead'],
  changeUser: ['putEventReceipt', 'updateUser', 'checkRemoval'],
  forgetUser: ['putEventReceipt', 'removeUser', 'updateUser', 'putRemoval', 'beginErasure'],
  /** An entry leaves its outbox with the state that its message reached. */
  settleEntry: ['removeFromOutbox', 'putLogEntry', 'putEntry', 'updateHead'],
  settleStatus: ['removeFromOutbox', 'putStatusReceipt'],
  settleText: ['removeFromOutbox', 'putSpacing'],
  countEntries: ['markCounted', 'addToJob'],
  /** An erased user's entry leaves its outbox. */
  dropEntry: ['removeFromOutbox', 'putLogEntry'],
  reportStopped: ['putEventReceipt', 'putEntry', 'updateHead'],
  renameConsentReceipt: ['putConsentReceipt', 'removeConsentReceipt'],
} as const satisfies Record<string, readonly AccessPatternName[]>;

export type TransactionName = keyof typeof transactions;

/** A way in which a function touches the table: one access pattern, or several in one transaction. */
export type TableAccess = AccessPatternName | TransactionName;
