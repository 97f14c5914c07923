/** The functions that no endpoint is served by: what each does, how long it may take, and its rights in the table. */
import type { TableAccess } from '../table/access-patterns.ts';

interface Worker {
  /** One line for the AWS console. */
  summary: string;
  /** Seconds that an invocation may take. */
  timeout: number;
  /** Ways in which it touches the table: its role allows these and no others. */
  table: readonly TableAccess[];
}

export const workers = {
  authorizer: {
    summary: 'Finds the account and the permissions of a token',
    timeout: 8,
    table: ['findToken'],
  },

  relay: {
    summary: 'Sends a wake-up for each new outbox entry',
    timeout: 30,
    table: [],
  },

  count: {
    summary: 'Adds new log entries to job counters',
    timeout: 30,
    table: ['countEntries'],
  },

  deliver: {
    summary: 'Delivers the pending entries of a conversation',
    timeout: 60,
    table: [
      'findHead',
      'listEntries',
      'checkEntry',
      'checkErasure',
      'checkSender',
      'findUser',
      'findPlatform',
      'listStatusReceipts',
      'findSpacing',
      'findCircuit',
      'updateCircuit',
      'closeCircuit',
      'updateHead',
      'removeFromOutbox',
      'settleEntry',
      'settleStatus',
      'settleText',
    ],
  },

  sweep: {
    summary: 'Starts work that is due',
    timeout: 55,
    table: ['listDueWork', 'listAnswers', 'removeAnswers', 'buryProfiler', 'findCircuit'],
  },

  erase: {
    summary: 'Erases users who were removed',
    timeout: 55,
    table: [
      'listDueErasures',
      'findErasure',
      'putOffErasure',
      'endErasure',
      'findUser',
      'findRequest',
      'findHead',
      'listEntries',
      'removeFromOutbox',
      'dropEntry',
      'findAccount',
      'reportStopped',
      'listOfPerson',
      'removeAnswers',
      'removeRequests',
      'listLogsOfContact',
      'renameInLog',
      'listConsentReceipts',
      'renameConsentReceipt',
    ],
  },
} as const satisfies Record<string, Worker>;
