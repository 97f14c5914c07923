/**
 * Positions in logs: the time of an entry, the end of its message's id, and its state, as a text of 21 characters that sorts by
 * time. A log entry has its position in the keys of three or four indexes, and each index repeats it, so it is short, and has
 * what the index would else have as attributes.
 */
import { timestampOf } from '../core/clock.ts';

/**
 * The states of messages in keys. Stored keys contain the codes, so they never change. Their order is that of states which a
 * message reached in the same microsecond.
 */
const CODES = {
  delivered_to_server: 'a',
  delivered_to_user: 'b',
  delivery_failed: 'c',
  read: 'd',
  received: 'e',
  reception_failed_http: 'f',
  sending_failed: 'g',
  sent: 'h',
} as const;

export type LoggedState = keyof typeof CODES;

/** The code of a state in keys. */
export const stateCode = (state: LoggedState): string => CODES[state];

const STATES = new Map(Object.entries(CODES).map(([state, code]) => [code as string, state as LoggedState]));

/**
 * Numbers have the digits 0 to 9 and a to z, so that texts of equal length have the order of the numbers. Ten digits of a
 * message's id are 51 of its random bits: they keep apart the messages of a microsecond.
 */
const BASE = 36;
const DIGITS = { time: 10, message: 10, uuid: 25 };
/** The last microsecond, in the year 2085: later entries are not found. */
const LAST = BASE ** DIGITS.time - 1;

/** The pattern of positions. */
export const LOG_POSITION = new RegExp(`^[0-9a-z]{${DIGITS.time + DIGITS.message}}[${Object.values(CODES).join('')}]$`);

/** The beginning of the positions of a time, in microseconds since 1970. */
export const timePart = (microseconds: number): string => {
  // A key of a wrong form would hide what it belongs to.
  if (!Number.isInteger(microseconds)) throw new RangeError('A log entry has no time.');
  return Math.min(Math.max(microseconds, 0), LAST).toString(BASE).padStart(DIGITS.time, '0');
};

/** The beginning of the positions of a time in the form of `timestamp`. */
export const timePartOf = (time: string): string =>
  timePart(Date.parse(`${time.slice(0, 23)}Z`) * 1_000 + Number(time.slice(23)));

/** The beginning of the positions some milliseconds before a position. */
export const timePartBefore = (position: string, milliseconds: number): string =>
  timePart(Number.parseInt(position.slice(0, DIGITS.time), BASE) - milliseconds * 1_000);

/** The number of a UUID, with 25 digits. */
export const uuidInKey = (uuid: string): string =>
  BigInt(`0x${uuid.replaceAll('-', '')}`)
    .toString(BASE)
    .padStart(DIGITS.uuid, '0');

/**
 * The position of a log entry.
 *
 * @param created - in the form of `timestamp`
 * @param message - a UUID
 */
export const logPosition = (created: string, message: string, state: LoggedState): string =>
  `${timePartOf(created)}${uuidInKey(message).slice(-DIGITS.message)}${stateCode(state)}`;

/** The time in a position, in the form of `timestamp`. */
export const timeAt = (position: string): string => {
  const microseconds = Number.parseInt(position.slice(0, DIGITS.time), BASE);
  const milliseconds = Math.floor(microseconds / 1_000);
  return `${timestampOf(milliseconds).slice(0, 23)}${String(microseconds % 1_000).padStart(3, '0')}`;
};

/** The state in a position, also if the position follows an account. */
export const stateAt = (position: string): LoggedState => {
  const state = STATES.get(position.slice(-1));
  if (state === undefined) throw new RangeError('A position without a state is none of a log entry.');
  return state;
};
