/** Every access of functions to the table. The role of a function allows only the patterns that the function names. */

import {
  anyBatch,
  anyJob,
  anyPendingBatches,
  cancelledJobsOf,
  chunksOf,
  endingBatchesOf,
  erasurePassKey,
  expansionKey,
  pendingBatchesOf,
  resultsOf,
  uploadKey,
} from './batch-keys.ts';
import {
  accountKey,
  accountListKey,
  answersOf,
  anyPartition,
  circuitKey,
  dataOfPerson,
  erasureKey,
  erasurePartition,
  eventKey,
  headKey,
  hookKey,
  jobCountersOf,
  markedPartition,
  mediaKey,
  messageKey,
  numberKey,
  platformKey,
  profilersOf,
  rateKey,
  requestKey,
  spacingKey,
  sweepPositionsKey,
  tokenKey,
  userKey,
  waitsKey,
} from './keys.ts';
import {
  anyAllowance,
  anyDeliveries,
  appUserKey,
  consentReceiptsOf,
  deliveriesAbout,
  offeredTo,
  retryingOnPlatform,
  waitingForPlatform,
} from './people-keys.ts';

/** Attributes of log entries that lists and reports need. No text of a customer or user is in an index. */
const LOG_ENTRY = ['created', 'phone', 'state', 'job_id', 'payload_type', 'reason_code', 'expires_at'];

interface Index {
  /** The prefix of its key attributes. An index that replaces another one uses the same prefix. */
  keys: string;
  /** The attributes that it contains, besides all keys. */
  holds: string[];
}

/**
 * The table's indexes. They are sparse, several entities share them, and they contain only the attributes that readers
 * need. A deployed index cannot be changed: `test/infra/pinned.test.ts` compares them with the deployed ones.
 */
export const indexes = {
  /** An account's log entries by state; due work, where `created` is the time of its beginning. */
  gsi1: { keys: 'gsi1', holds: LOG_ENTRY },
  /**
   * A contact's log entries; a person's answers and requests; an account's media; its conversations that are retried, or wait
   * for a platform.
   */
  gsi2: { keys: 'gsi2', holds: LOG_ENTRY },
  /** A job's log entries; conversations that are offered to listeners. */
  gsi3: { keys: 'gsi3', holds: LOG_ENTRY },
} satisfies Record<string, Index>;

type IndexName = keyof typeof indexes;

/** One kind of access to the table, in terms of IAM. */
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
  /** The partition keys, with `*` for their variable parts. */
  partitions: string;
  /** The index that is read, instead of the table. */
  index?: IndexName;
}

const profilers = profilersOf('*');
const answers = answersOf('*');
const results = resultsOf('*');
const messages = messageKey('*').pk;
const outbox = headKey('*').pk;
const circuits = circuitKey('*').pk;
const jobCounters = jobCountersOf('*');
const chunks = chunksOf('*');
const uploads = uploadKey('*').pk;
const requests = requestKey('*').pk;
const consentReceipts = consentReceiptsOf('*');
const erasures = erasureKey('*').pk;
const media = mediaKey('*').pk;
const appUsers = appUserKey('*').pk;
const { contacts, idempotencyKeys, statusReceipts, removals, deletions, logs, due, consentEnds, optOuts } =
  anyPartition;

/** The access patterns of the functions, by name. Operator commands use the operator's own rights. */
export const accessPatterns = {
  /** Both writes of a token bucket. */
  takeTokens: { action: 'UpdateItem', partitions: rateKey('*').pk },
  findToken: { action: 'GetItem', partitions: tokenKey('*').pk },
  findUser: { action: 'GetItem', partitions: userKey('*').pk },
  putProfiler: { action: 'PutItem', partitions: profilers },
  /** Also the small item by which answers are checked. */
  findProfiler: { action: 'GetItem', partitions: profilers },
  listProfilers: { action: 'Query', partitions: profilers },
  markProfilerDeleted: { action: 'UpdateItem', partitions: profilers },
  removeAnswerable: { action: 'DeleteItem', partitions: profilers },
  putAnswer: { action: 'PutItem', partitions: answers },
  listAnswers: { action: 'Query', partitions: answers },
  findAnswer: { action: 'GetItem', partitions: answers },
  markAnswer: { action: 'UpdateItem', partitions: answers },
  removeAnswer: { action: 'DeleteItem', partitions: answers },
  addToResults: { action: 'UpdateItem', partitions: results },
  listResults: { action: 'Query', partitions: results },
  removeResults: { action: 'BatchWriteItem', partitions: results },
  findUsers: { action: 'BatchGetItem', partitions: userKey('*').pk },
  removeAnswers: { action: 'BatchWriteItem', partitions: answers },
  updateAccount: { action: 'UpdateItem', partitions: accountKey('*').pk },
  putAccountName: { action: 'PutItem', partitions: accountListKey('*').pk },
  findAccount: { action: 'GetItem', partitions: accountKey('*').pk },
  beginErasure: { action: 'UpdateItem', partitions: erasures },
  findBot: { action: 'GetItem', partitions: numberKey('*').pk },
  updateUser: { action: 'UpdateItem', partitions: userKey('*').pk },
  removeUser: { action: 'DeleteItem', partitions: userKey('*').pk },
  checkUser: { action: 'ConditionCheckItem', partitions: userKey('*').pk },
  findContacts: { action: 'BatchGetItem', partitions: contacts },
  putContact: { action: 'PutItem', partitions: contacts },
  removeContact: { action: 'DeleteItem', partitions: contacts },
  findAppUser: { action: 'GetItem', partitions: appUsers },
  putAppUser: { action: 'PutItem', partitions: appUsers },
  removeAppUser: { action: 'DeleteItem', partitions: appUsers },
  findAllowance: { action: 'GetItem', partitions: anyAllowance },
  chargeAllowance: { action: 'UpdateItem', partitions: anyAllowance },
  putRequest: { action: 'PutItem', partitions: requests },
  findRequest: { action: 'GetItem', partitions: requests },
  findRequests: { action: 'BatchGetItem', partitions: requests },
  findConsents: { action: 'Query', partitions: requests },
  putConsent: { action: 'PutItem', partitions: requests },
  removeValues: { action: 'UpdateItem', partitions: requests },
  answerRequest: { action: 'UpdateItem', partitions: requests },
  findOptOut: { action: 'GetItem', partitions: optOuts },
  checkOptOut: { action: 'BatchGetItem', partitions: optOuts },
  updateOptOut: { action: 'UpdateItem', partitions: optOuts },
  removeOptOuts: { action: 'BatchWriteItem', partitions: optOuts },
  updateWaits: { action: 'UpdateItem', partitions: waitsKey('*').pk },
  putConsentReceipt: { action: 'PutItem', partitions: consentReceipts },
  putEventReceipt: { action: 'PutItem', partitions: eventKey('*').pk },
  findEventReceipt: { action: 'GetItem', partitions: eventKey('*').pk },
  putRemoval: { action: 'PutItem', partitions: removals },
  findRemoval: { action: 'GetItem', partitions: removals },
  checkRemoval: { action: 'ConditionCheckItem', partitions: removals },
  putDeletion: { action: 'PutItem', partitions: deletions },
  findIdempotencyKey: { action: 'GetItem', partitions: idempotencyKeys },
  putIdempotencyKey: { action: 'PutItem', partitions: idempotencyKeys },
  putMedia: { action: 'PutItem', partitions: media },
  removeMedia: { action: 'DeleteItem', partitions: media },
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
  putAttempt: { action: 'PutItem', partitions: anyDeliveries },
  findAttempt: { action: 'GetItem', partitions: anyDeliveries },
  listAttemptsAbout: { action: 'Query', partitions: deliveriesAbout('*'), index: 'gsi2' },
  listAttempts: { action: 'Query', partitions: anyDeliveries },
  markReplayed: { action: 'UpdateItem', partitions: anyDeliveries },
  removeAttempts: { action: 'BatchWriteItem', partitions: anyDeliveries },
  listOffers: { action: 'Query', partitions: offeredTo('*'), index: 'gsi3' },
  listWaiting: { action: 'Query', partitions: waitingForPlatform('*'), index: 'gsi2' },
  listRetrying: { action: 'Query', partitions: retryingOnPlatform('*'), index: 'gsi2' },
  findHead: { action: 'GetItem', partitions: outbox },
  findEntry: { action: 'GetItem', partitions: outbox },
  updateHead: { action: 'UpdateItem', partitions: outbox },
  findCircuit: { action: 'GetItem', partitions: circuits },
  findCircuits: { action: 'BatchGetItem', partitions: circuits },
  updateCircuit: { action: 'UpdateItem', partitions: circuits },
  closeCircuit: { action: 'DeleteItem', partitions: circuits },
  findPlatform: { action: 'GetItem', partitions: platformKey('*').pk },
  findHook: { action: 'GetItem', partitions: hookKey('*').pk },
  listStatusReceipts: { action: 'Query', partitions: statusReceipts },
  putStatusReceipt: { action: 'PutItem', partitions: statusReceipts },
  findSpacing: { action: 'GetItem', partitions: spacingKey('*').pk },
  putSpacing: { action: 'PutItem', partitions: spacingKey('*').pk },
  updateRepeats: { action: 'UpdateItem', partitions: statusReceipts },
  checkOutcome: { action: 'ConditionCheckItem', partitions: messages },
  listStates: { action: 'Query', partitions: messages },
  addToJob: { action: 'UpdateItem', partitions: jobCounters },
  listJobs: { action: 'Query', partitions: jobCounters },
  findJob: { action: 'GetItem', partitions: anyJob },
  putJob: { action: 'PutItem', partitions: anyJob },
  updateJob: { action: 'UpdateItem', partitions: anyJob },
  checkJob: { action: 'BatchGetItem', partitions: anyJob },
  listLogsByState: { action: 'Query', partitions: logs, index: 'gsi1' },
  listLogsOfContact: { action: 'Query', partitions: logs, index: 'gsi2' },
  listLogsOfJob: { action: 'Query', partitions: logs, index: 'gsi3' },
  listDueErasures: { action: 'Query', partitions: erasurePartition, index: 'gsi1' },
  listMarked: { action: 'Query', partitions: markedPartition, index: 'gsi1' },
  findErasure: { action: 'GetItem', partitions: erasures },
  postponeErasure: { action: 'UpdateItem', partitions: erasures },
  endErasure: { action: 'DeleteItem', partitions: erasures },
  listOfPerson: { action: 'Query', partitions: dataOfPerson('*'), index: 'gsi2' },
  removeRequests: { action: 'BatchWriteItem', partitions: requests },
  renameInLog: { action: 'UpdateItem', partitions: messages },
  listConsentReceipts: { action: 'Query', partitions: consentReceipts },
  removeConsentReceipt: { action: 'DeleteItem', partitions: consentReceipts },
  putUpload: { action: 'PutItem', partitions: uploads },
  removeUpload: { action: 'DeleteItem', partitions: uploads },
  abandonUpload: { action: 'UpdateItem', partitions: uploads },
  writeChunks: { action: 'BatchWriteItem', partitions: chunks },
  findChunk: { action: 'GetItem', partitions: chunks },
  listChunks: { action: 'Query', partitions: chunks },
  updateChunk: { action: 'UpdateItem', partitions: chunks },
  putBatch: { action: 'PutItem', partitions: anyBatch },
  findBatch: { action: 'GetItem', partitions: anyBatch },
  updateBatch: { action: 'UpdateItem', partitions: anyBatch },
  listPendingBatches: { action: 'Query', partitions: pendingBatchesOf('*'), index: 'gsi3' },
  listCancelledJobs: { action: 'Query', partitions: cancelledJobsOf('*'), index: 'gsi3' },
  listEndingBatches: { action: 'Query', partitions: endingBatchesOf('*'), index: 'gsi3' },
  listAllBatches: { action: 'Query', partitions: anyPendingBatches, index: 'gsi2' },
  findBatches: { action: 'BatchGetItem', partitions: anyBatch },
  findErasurePass: { action: 'GetItem', partitions: erasurePassKey.pk },
  beginErasurePass: { action: 'PutItem', partitions: erasurePassKey.pk },
  continueErasurePass: { action: 'UpdateItem', partitions: erasurePassKey.pk },
  endErasurePass: { action: 'DeleteItem', partitions: erasurePassKey.pk },
  findExpansion: { action: 'GetItem', partitions: expansionKey('*').pk },
  updateExpansion: { action: 'UpdateItem', partitions: expansionKey('*').pk },
  findPositions: { action: 'GetItem', partitions: sweepPositionsKey.pk },
  storePositions: { action: 'UpdateItem', partitions: sweepPositionsKey.pk },
  listConsentEnds: { action: 'Query', partitions: consentEnds, index: 'gsi1' },
  listDueWork: { action: 'Query', partitions: due, index: 'gsi1' },
} as const satisfies Record<string, AccessPattern>;

export type AccessPatternName = keyof typeof accessPatterns;

/**
 * The transactions of the functions: each lists all access patterns that its writes may use. A role allows these, and
 * further actions that IAM may require: `infra/constructs/function/table-rights.ts`.
 */
export const transactions = {
  /** A message reaches a state: its log entry, and the entry to deliver. */
  logAndEnqueue: ['putLogEntry', 'putEntry', 'updateHead'],
  /** A message of the API is accepted, with its idempotency key if it has one. */
  acceptMessage: ['putLogEntry', 'putEntry', 'updateHead', 'putIdempotencyKey'],
  /** A repeated request is accepted, and its message has reached no state to report. */
  noteRepeat: ['updateRepeats', 'checkOutcome'],
  /** The same, and the state that its message has reached is reported again. */
  reportAgain: ['updateRepeats', 'putEntry', 'updateHead'],
  /** A chat platform's message that is sent again: an equal part or a Resend. */
  logAndEnqueueAgain: ['putLogEntry', 'putEntry', 'updateHead', 'updateRepeats'],
  /** Messages to a few users are accepted, all or none. */
  acceptMessages: ['putLogEntry', 'putEntry', 'updateHead', 'putJob', 'updateJob', 'putIdempotencyKey'],
  /** A profiler is deleted, so that a restore of the table does not bring it back. */
  deleteProfiler: ['markProfilerDeleted', 'removeAnswerable', 'putDeletion'],
  /** A batch of messages is accepted: its chunks are written already. */
  acceptBatch: ['putBatch', 'removeUpload', 'putJob', 'updateJob', 'putIdempotencyKey'],
  /** A job is cancelled, so that a restore of the table does not open it again. */
  cancelJob: ['updateJob', 'putDeletion'],
  /** An erased recipient is removed from a batch, and logged as failed. */
  eraseRecipient: ['updateChunk', 'updateBatch', 'putLogEntry'],
  /** Users see another name of a business. */
  renameAccount: ['updateAccount', 'putAccountName', 'putEntry', 'updateHead'],
  /** Users see another avatar of a business. */
  changeAvatar: ['updateAccount', 'putMedia', 'removeMedia', 'putDeletion', 'putEntry', 'updateHead'],
  askUser: ['putRequest', 'putEntry', 'updateHead', 'putIdempotencyKey'],
  /** A user data request with properties that are granted at once. */
  grantAtOnce: [
    'putRequest',
    'checkUser',
    'putConsent',
    'putConsentReceipt',
    'putEntry',
    'updateHead',
    'putIdempotencyKey',
  ],
  recordAnswers: ['answerRequest', 'checkUser', 'putConsent', 'putConsentReceipt', 'putEntry', 'updateHead'],
  /** Consent ends: our copy of the values is removed, and the business is notified. */
  endConsent: ['putConsent', 'removeValues', 'putConsentReceipt', 'putEntry', 'updateHead'],
  /** The same, and a restore of the table does not bring the values back. */
  withdrawConsent: ['putConsent', 'removeValues', 'putConsentReceipt', 'putDeletion', 'putEntry', 'updateHead'],
  acknowledgeDeletion: ['putConsent', 'putConsentReceipt'],
  changeUser: ['putEventReceipt', 'updateUser', 'checkRemoval', 'putContact', 'putAppUser', 'removeAppUser'],
  forgetUser: [
    'putEventReceipt',
    'removeUser',
    'updateUser',
    'putRemoval',
    'beginErasure',
    'putContact',
    'removeContact',
    'removeAppUser',
  ],
  /** A user stops or starts a business, whose platform is notified. */
  recordOptOut: ['putEventReceipt', 'updateOptOut', 'putEntry', 'updateHead'],
  /** An entry leaves its outbox with the state that its message reached. */
  settleEntry: ['removeFromOutbox', 'putLogEntry', 'putEntry', 'updateHead'],
  settleStatus: ['removeFromOutbox', 'putStatusReceipt'],
  /** An event that a listener has claimed leaves its outbox; a message that the listener rejects is logged. */
  settleClaimed: ['removeFromOutbox', 'putLogEntry'],
  /** Events are sent again. */
  replayEvents: ['markReplayed', 'putEntry', 'updateHead'],
  settleText: ['removeFromOutbox', 'putSpacing'],
  countEntries: ['markCounted', 'addToJob'],
  countAnswers: ['markAnswer', 'addToResults'],
  /** An erased user's answer is removed, also from the results. */
  removeCounted: ['removeAnswer', 'addToResults'],
  /** An erased user's entry is dropped from its outbox. */
  dropEntry: ['removeFromOutbox', 'putLogEntry'],
  reportStopped: ['putEventReceipt', 'putEntry', 'updateHead'],
  renameConsentReceipt: ['putConsentReceipt', 'removeConsentReceipt'],
} as const satisfies Record<string, readonly AccessPatternName[]>;

export type TransactionName = keyof typeof transactions;

/** An access to the table: one access pattern, or several in one transaction. */
export type TableAccess = AccessPatternName | TransactionName;
