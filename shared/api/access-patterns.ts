/** Every access of functions to the table, by the declarations of rows. The role of a function allows only those it names. */
import { accountEntities } from '../accounts/entities.ts';
import { campaignEntities } from '../campaigns/entities.ts';
import { deliveryEntities } from '../delivery/entities.ts';
import { dueWorkEntities } from '../due-work/entities.ts';
import { mediaEntities } from '../media/entities.ts';
import { messagingEntities } from '../messaging/entities.ts';
import { outboxEntities } from '../outbox/entities.ts';
import { profilerEntities } from '../profilers/entities.ts';
import { statsEntities } from '../stats/entities.ts';
import { tableEntities } from '../table/entities.ts';
import type { Action, Entity, IndexName } from '../table/entity.ts';
import { userDataEntities } from '../user-data/entities.ts';
import { userEntities } from '../users/entities.ts';

const declared = [
  ...tableEntities,
  ...userEntities,
  ...mediaEntities,
  ...outboxEntities,
  ...accountEntities,
  ...messagingEntities,
  ...deliveryEntities,
  ...campaignEntities,
  ...statsEntities,
  ...profilerEntities,
  ...userDataEntities,
  ...dueWorkEntities,
] as const;

/** All kinds of rows. */
export const entities: readonly Entity[] = declared;

/** One kind of access to the table, in terms of IAM. */
export interface AccessPattern {
  action: Action;
  /** The partition keys, with `*` for their variable parts. */
  partitions: string;
  /** The index that is read, instead of the table. */
  index?: IndexName;
}

type NamesIn<E> = E extends { access: infer Accesses } ? keyof Accesses & string : never;

export type AccessPatternName = NamesIn<(typeof declared)[number]>;

const partitionsOf = (pk: string): string => (pk.endsWith('#') ? `${pk}*` : pk);

/** The access patterns of the functions, by name. Operator commands use the operator's own rights. */
export const accessPatterns = Object.fromEntries(
  entities.flatMap(({ pk, access }) =>
    Object.entries(access).map(([name, given]): [string, AccessPattern] => [
      name,
      typeof given === 'string'
        ? { action: given, partitions: partitionsOf(pk) }
        : { action: 'Query', partitions: partitionsOf(given.partition), index: given.index },
    ]),
  ),
) as Record<AccessPatternName, AccessPattern>;

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
  renameAccount: ['updateAccount', 'putAccountName', 'putEntry', 'updateHead', 'putChange'],
  /** Users see another avatar of a business. */
  changeAvatar: ['updateAccount', 'putMedia', 'removeMedia', 'putDeletion', 'putEntry', 'updateHead', 'putChange'],
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
  recordOptOut: ['putEventReceipt', 'updateOptOut', 'putLogEntry', 'putEntry', 'updateHead'],
  /** An entry leaves its outbox with the state that its message reached. */
  settleEntry: ['removeFromOutbox', 'putLogEntry', 'putEntry', 'updateHead'],
  settleStatus: ['removeFromOutbox', 'putStatusReceipt'],
  /** An event that a listener has claimed leaves its outbox; a message that the listener rejects is logged. */
  settleClaimed: ['removeFromOutbox', 'putLogEntry'],
  /** A token is created by a business. */
  createToken: ['putToken', 'putTokenRecord', 'putChange'],
  /** A code of the portal becomes a token. */
  createSession: ['usePortalCode', 'putToken', 'putTokenRecord', 'checkAccount', 'putChange'],
  rotateToken: ['putToken', 'limitToken', 'putTokenRecord', 'changeTokenRecord', 'putDeletion', 'putChange'],
  revokeToken: ['limitToken', 'changeTokenRecord', 'putDeletion', 'putChange'],
  /** An account's endpoints are changed. */
  setEndpoints: ['updateAccount', 'putPlatform', 'putDeletion', 'putChange'],
  /** An endpoint is sent a test. */
  enqueueTest: ['putEntry', 'updateHead'],
  /** Events are sent again. */
  replayEvents: ['markReplayed', 'putEntry', 'updateHead'],
  settleText: ['removeFromOutbox', 'putMinInterval'],
  countEntries: ['markCounted', 'endClaim', 'addToJob'],
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
