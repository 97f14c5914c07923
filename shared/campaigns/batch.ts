/** Batches: one request with many messages. Their recipients are stored in chunks, and become messages one by one. */

import type { SendingHours } from '../core/sending-hours.ts';
import type { Content } from '../outbox/event.ts';
import type { Key } from '../table/keys.ts';
import type { chunkKey, ofPendingBatch } from './entities.ts';

/** Batches of an account with a higher priority are expanded first. */
export const priorities = ['high', 'medium', 'low'] as const;

export type Priority = (typeof priorities)[number];

/**
 * What a message contains, when it must not be delivered any more, in the form of `sortableTime`, and between which times of
 * the day it may be sent.
 */
export type BatchContent = Content & {
  quick_replies?: string[] | undefined;
  reference?: string | undefined;
  valid_until?: string | undefined;
  hours?: SendingHours | undefined;
};

export interface Batch {
  /** 27 hexadecimal digits. */
  id: string;
  account: string;
  job_id: string;
  priority: Priority;
  /** The content of all messages; none, if the chunks contain one for each message. */
  content?: BatchContent;
  /** The hours of all messages, if they have the same ones in one zone: it is expanded within them. */
  hours?: SendingHours;
  /** The number of messages. */
  recipients: number;
  /** The partition of the chunks, and the first position of each. */
  upload: string;
  chunks: number[];
  /** When it was accepted. */
  created: string;
  /** When its expansion begins, or continues within its hours, in the form of `sortableTime`. */
  due: string;
}

/** A batch in the table. While it is pending, it is in the indexes. */
export interface BatchItem extends Batch, Key, Partial<ReturnType<typeof ofPendingBatch>> {
  /** When `sweep` wakes its expansion; missing if it is completely expanded. */
  gsi1pk?: string;
  gsi1sk?: string;
  /** When it was completely expanded. */
  expanded?: string;
  /** How often its present step has failed one after the other, and the position of that step. */
  failed?: { times: number; done: number };
  /** When a step that has failed is repeated, in the form of `sortableTime`. */
  retry_at?: string;
  /** Its trace. */
  trace_id?: string | undefined;
  expires_at: number;
}

/** A part of a batch: at most 250 messages and 300 KB. */
export interface Chunk extends ReturnType<typeof chunkKey> {
  account: string;
  /** When the request was accepted, or a little earlier. */
  created: string;
  position: number;
  /** The number of each message; empty for a recipient who was erased. */
  to: string[];
  /** The content of each message, if they differ. */
  contents?: BatchContent[];
  expires_at: number;
}

/** How far a batch has been expanded. */
export interface Progress {
  /** The messages before this position exist. */
  done: number;
  /** Positions of messages that were logged as failed before their turn: their user was erased, or their time is over. */
  ended?: Set<number>;
  /** When the next message ends that does not exist yet, if one does: the position in the index of ending batches. */
  gsi3sk?: string;
}

/** The highest of the priorities of several messages; the default, if none has one. */
export const highestOf = (given: (Priority | undefined)[]): Priority | undefined =>
  priorities.find((priority) => given.includes(priority));
