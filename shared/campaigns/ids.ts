/**
 * Ids of batches and of their messages. The id of a message contains the batch and the message's position in it, so that
 * expanding a batch again makes the same messages, and a message is found before it exists.
 *
 * It is a UUID of version 8 (RFC 9562, 5.8), whose bits are our own: 108 of the batch, and 14 of the position.
 *
 *     bbbbbbbb-bbbb-8bbb-[10 and 14 bits of b]-[34 bits of b, 14 bits of the position]
 */
import { randomBytes } from 'node:crypto';
import { now } from '../core/clock.ts';

/** Hexadecimal digits of a batch's id: 108 bits. */
const DIGITS = 27;
/** Digits of it before and between the fixed bits of a UUID. */
const FIRST = 12;
const SECOND = 3;
/** Bits of a position: a batch has at most 10,000 messages. */
const POSITION = 14n;
const VARIANT = 0b10n << 62n;

/** A new id: 27 hexadecimal digits. Ids sort by age. */
export const newBatchId = (): string =>
  `${now().toString(16).padStart(FIRST, '0')}${randomBytes(8).toString('hex')}`.slice(0, DIGITS);

/** The id of the message at a position of a batch. */
export const messageIdAt = (batch: string, position: number): string => {
  const low = VARIANT | (BigInt(`0x${batch.slice(FIRST + SECOND)}`) << POSITION) | BigInt(position);
  const digits = `${batch.slice(0, FIRST)}8${batch.slice(FIRST, FIRST + SECOND)}${low.toString(16)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

const OF_BATCH = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The batch and the position that a message's id contains; undefined for the id of any other message. */
export const positionOf = (message: string): { batch: string; position: number } | undefined => {
  if (!OF_BATCH.test(message)) return undefined;
  const digits = message.replaceAll('-', '');
  const low = BigInt(`0x${digits.slice(FIRST + 1 + SECOND)}`) ^ VARIANT;
  const rest = (low >> POSITION).toString(16).padStart(DIGITS - FIRST - SECOND, '0');
  return {
    batch: `${digits.slice(0, FIRST)}${digits.slice(FIRST + 1, FIRST + 1 + SECOND)}${rest}`,
    position: Number(low & ((1n << POSITION) - 1n)),
  };
};
