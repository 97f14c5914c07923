/**
 * Ids of batches and of their messages. The id of a message contains the batch and the message's position in it, so that
 * expanding a batch again makes the same messages, and a message is found before it exists.
 */
import { randomBytes } from 'node:crypto';
import { now } from '../core/clock.ts';
import { idInSeries, positionInSeries, SERIES_DIGITS } from '../core/ids.ts';

/** A new id: 27 hexadecimal digits. Ids sort by age. */
export const newBatchId = (): string =>
  `${now().toString(16).padStart(12, '0')}${randomBytes(8).toString('hex')}`.slice(0, SERIES_DIGITS);

/** The id of the message at a position of a batch, which has at most 10,000. */
export const messageIdAt = idInSeries;

/** The batch and the position that a message's id contains; undefined for the id of any other message. */
export const positionOf = (message: string): { batch: string; position: number } | undefined => {
  const found = positionInSeries(message);
  return found && { batch: found.series, position: found.position };
};
