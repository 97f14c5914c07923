/** Ids. All random ids are made here, so that tests can control them. */

import { randomBytes, randomInt } from 'node:crypto';
import { validate as isUuid, v4, v5, v7 } from 'uuid';
import { timestamp } from './clock.ts';
import { keyedHash } from './keyed-hashes.ts';

/** Namespace of ids that are made from a text. */
const MADE_IDS = 'a1f1c9b6-6a53-4f0e-9f3a-0d3d0b8f7c11';

/** Replaces the number of an erased user: random, and not a number. */
export const newPseudonym = (): string => `erased-${v4()}`;

/** Whether a text has the form of a pseudonym. */
export const isPseudonym = (text: string): boolean =>
  text.startsWith('erased-') && isUuid(text.slice('erased-'.length));

/**
 * A new id for a time in the form of `timestamp`: ids of later microseconds sort after it. A UUID, version 7, with the
 * microseconds in the bits after the milliseconds (RFC 9562, 6.2, method 3).
 */
export const newIdAt = (time: string): string =>
  v7({
    msecs: Date.parse(`${time.slice(0, 23)}Z`),
    seq: Number(time.slice(23)) * 2 ** 20 + randomInt(2 ** 20),
  });

/** A new id: lower-case UUID, version 7, so that ids of one kind sort by age. Those of one process increase. */
export const newId = (): string => newIdAt(timestamp());

/** A new id that sorts after the given one, even if the clock is behind. */
export const newIdAfter = (id: string): string => {
  const made = newId();
  return made > id ? made : v7({ msecs: Number.parseInt(id.slice(0, 13).replace('-', ''), 16) + 1 });
};

/** An id that cannot be guessed: 128 random bits, in hexadecimal. */
export const newUnguessableId = (): string => randomBytes(16).toString('hex');

/**
 * The id for an idempotency key, or for other content of a request: the same parts give the same id. The hash is keyed,
 * because customers' keys may contain phone numbers, and ids stay when a user is erased.
 */
export const idFromKey = (account: string, endpoint: string, key: string): string =>
  idOf(account, endpoint, keyedHash('id', account, endpoint, key));

/** The id for a text that is no personal data: the same parts give the same id. `account` and `what` contain no space. */
export const idOf = (account: string, what: string, text: string): string => v5(`${account} ${what} ${text}`, MADE_IDS);

/** Hexadecimal digits of a series: 108 bits. */
export const SERIES_DIGITS = 27;
/** Digits of it before and between the fixed bits of a UUID. */
const FIRST = 12;
const SECOND = 3;
const POSITION_BITS = 14n;
const VARIANT = 0b10n << 62n;

/**
 * The id at a position of a series, from 0 to 16,383: series and position can be read from it. It is a UUID of version 8
 * (RFC 9562, 5.8), whose bits are our own: 108 of the series, and 14 of the position.
 *
 *     ssssssss-ssss-8sss-[10 and 14 bits of s]-[34 bits of s, 14 bits of the position]
 */
export const idInSeries = (series: string, position: number): string => {
  const low = VARIANT | (BigInt(`0x${series.slice(FIRST + SECOND)}`) << POSITION_BITS) | BigInt(position);
  const digits = `${series.slice(0, FIRST)}8${series.slice(FIRST, FIRST + SECOND)}${low.toString(16)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

const OF_SERIES = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The series and the position of an id; undefined for any other id. */
export const positionInSeries = (id: string): { series: string; position: number } | undefined => {
  if (!OF_SERIES.test(id)) return undefined;
  const digits = id.replaceAll('-', '');
  const low = BigInt(`0x${digits.slice(FIRST + 1 + SECOND)}`) ^ VARIANT;
  const rest = (low >> POSITION_BITS).toString(16).padStart(SERIES_DIGITS - FIRST - SECOND, '0');
  return {
    series: `${digits.slice(0, FIRST)}${digits.slice(FIRST + 1, FIRST + 1 + SECOND)}${rest}`,
    position: Number(low & ((1n << POSITION_BITS) - 1n)),
  };
};
