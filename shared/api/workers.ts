/** The functions that serve no endpoint: summaries, timeouts, and accesses to the table. */
import type { TableAccess } from './access-patterns.ts';

/** The steps of `sweep`. Each one is an invocation of its own, each minute: none can take the time of another one. */
export const sweepSteps = ['conversations', 'expansions', 'leftovers', 'backlog'] as const;

export type SweepStep = (typeof sweepSteps)[number];

/** The same for `erase`. */
export const eraseSteps = ['erasures', 'batches', 'consents'] as const;

export type EraseStep = (typeof eraseSteps)[number];

export interface Worker {
  /** One line for the AWS console. */
  summary: string;
  /** In seconds. */
  timeout: number;
  /** Its accesses to the table: its role allows only these. */
  table: readonly TableAccess[];
  /** Set if it hashes personal data: it reads the secret of hashes. */
  hashes?: true;
}

export const workers = {
  authorizer: {
    summary: 'Finds the account of a token, its permissions and its limit',
    timeout: 8,
    table: ['findToken', 'findAccount'],
  },

  relay: {
    summary: 'Sends a wake-up for each new outbox entry and each new batch',
    timeout: 30,
    table: [],
  },

  count: {
    summary: 'Adds new log entries to job counters, and new answers to results',
    timeout: 30,
    table: ['countEntries', 'lookAtClaim', 'countAnswers'],
  },

  expand: {
    summary: 'Turns the recipients of batches into messages, and ends those of cancelled jobs',
    timeout: 30,
    hashes: true,
    table: [
      'findBatch',
      'listPendingBatches',
      'listEndingBatches',
      'listCancelledJobs',
      'findJob',
      'updateJob',
      'listLogsOfJob',
      'findMessages',
      'findChunk',
      'findAccount',
      'checkOptOut',
      'checkErasure',
      'findUser',
      'logAndEnqueue',
      'updateBatch',
      'listChunks',
      'writeChunks',
      'findExpansion',
      'updateExpansion',
    ],
  },

  deliver: {
    summary: 'Delivers the pending entries of a conversation',
    timeout: 60,
    hashes: true,
    table: [
      'findHead',
      'listEntries',
      'checkEntry',
      'checkErasure',
      'checkOptOut',
      'checkSender',
      'findJobs',
      'findUser',
      'findAccount',
      'findPlatform',
      'listStatusReceipts',
      'listStates',
      'findMinInterval',
      'findCircuit',
      'findCircuits',
      'updateCircuit',
      'closeCircuit',
      'updateHead',
      'removeFromOutbox',
      'putLogEntry',
      'settleEntry',
      'settleStatus',
      'settleText',
      'putAttempt',
    ],
  },

  sweep: {
    summary: 'Starts work that is due',
    timeout: 55,
    table: [
      'listDueWork',
      'findPositions',
      'storePositions',
      'listAnswers',
      'removeAnswers',
      'listResults',
      'removeResults',
      'putDeletion',
      'markProfilerDeleted',
      'findCircuit',
      'abandonUpload',
      'removeUpload',
      'listChunks',
      'writeChunks',
    ],
  },

  erase: {
    summary: 'Erases users who were removed, and ends consents that have expired',
    timeout: 55,
    hashes: true,
    table: [
      'listDueErasures',
      'findErasure',
      'postponeErasure',
      'endErasure',
      'findUser',
      'findMessages',
      'findRequests',
      'findHead',
      'listEntries',
      'removeFromOutbox',
      'dropEntry',
      'findAccount',
      'reportStopped',
      'listOfPerson',
      'findAnswer',
      'removeCounted',
      'removeRequests',
      'removeOptOuts',
      'forgetWritten',
      'listLogsOfContact',
      'renameInLog',
      'listConsentReceipts',
      'renameConsentReceipt',
      'listMarked',
      'checkErasure',
      'findUsers',
      'findErasurePass',
      'beginErasurePass',
      'continueErasurePass',
      'endErasurePass',
      'listAllBatches',
      'findBatches',
      'listChunks',
      'findChunk',
      'eraseRecipient',
      'updateBatch',
      'writeChunks',
      'listConsentEnds',
      'findConsents',
      'endConsent',
      'listAttemptsAbout',
      'removeAttempts',
    ],
  },
} as const satisfies Record<string, Worker>;
