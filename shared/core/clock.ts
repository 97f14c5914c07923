/** Time and randomness: everything that reads a clock or rolls dice does it here, so that tests can hold both still. */
import { randomBytes, randomInt } from 'node:crypto';
import { validate as isUuid, v4, v5, v7 } from 'uuid';

/** Namespace of ids that are made from an idempotency key. */
const KEYED_IDS = 'a1f1c9b6-6a53-4f0e-9f3a-0d3d0b8f7c11';

/** In microseconds. */
const SECOND = 1_000_000;

let lastMicroseconds = 0;

/** Milliseconds since 1970. */
export const now = (): number => Date.now();

/** Whole seconds since 1970, `seconds` from now: the unit of `expires_at`. */
export const secondsFromNow = (seconds: number): number => Math.floor(now() / 1000) + seconds;

/**
 * The present as the API writes it, UTC with microseconds and no zone (spec §2): `2022-03-28T09:58:09.118000`.
 * A later call of the same process never gives the same text or one that sorts before, unless the clock is set back.
 */
export const timestamp = (): string => {
  const present = now() * 1000;
  const ahead = lastMicroseconds - present;
  lastMicroseconds = ahead >= 0 && ahead < SECOND ? lastMicroseconds + 1 : present;
  const microseconds = String(lastMicroseconds % 1000).padStart(3, '0');
  return new Date(Math.floor(lastMicroseconds / 1000)).toISOString().replace('Z', microseconds);
};

/**
 * Minutes of the delivery schedule, in milliseconds. A minute has fewer of them where the environment says so: so days
 * of waiting can be tried in seconds.
 */
export const minutes = (count: number): number => count * Number(process.env.MINUTE ?? 60_000);

/** A random number from `least` to `most`. */
export const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** A time, given in milliseconds since 1970, as a sort key: fixed width, so that text order is time order. */
export const sortableTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A time, given in milliseconds since 1970, as `timestamp` writes it. */
export const timestampOf = (milliseconds: number): string => sortableTime(milliseconds).replace('Z', '000');

/** Stands for a person who is to be forgotten: random, and nobody's number. */
export const newPseudonym = (): string => `erased-${v4()}`;

/** Whether a text is such a pseudonym. */
export const isPseudonym = (text: string): boolean =>
  text.startsWith('erased-') && isUuid(text.slice('erased-'.length));

/** A new id: lower-case UUID, version 7, so that ids of one kind sort by age. */
export const newId = (): string => v7();

/**
 * A new id that belongs to a time, given as `timestamp` writes it: ids of later microseconds sort after it. A UUID, version
 * 7, with the microseconds in the bits after the milliseconds (RFC 9562, 6.2, method 3).
 */
export const newIdAt = (time: string): string =>
  v7({
    msecs: Date.parse(`${time.slice(0, 23)}Z`),
    seq: Number(time.slice(23)) * 2 ** 20 + randomInt(2 ** 20),
  });

/** A new id that sorts after another one, whatever the clock says. */
export const newIdAfter = (id: string): string => {
  const made = newId();
  // Stryker disable next-line EqualityOperator,MethodExpression: No id is made twice; its number ends at a hyphen.
  return made > id ? made : v7({ msecs: Number.parseInt(id.slice(0, 13).replace('-', ''), 16) + 1 });
};

/** An id that cannot be guessed: 128 random bits, in hexadecimal. */
export const newUnguessableId = (): string => randomBytes(16).toString('hex');

/** The id that belongs to an idempotency key: the same parts give the same id. Parts before the last hold no space. */
export const idFromKey = (account: string, endpoint: string, key: string): string =>
  v5(`${account} ${endpoint} ${key}`, KEYED_IDS);
