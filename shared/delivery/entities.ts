/** The rows about destinations, and the history of deliveries. */

import { crc32 } from 'node:zlib';
import { type EndpointNumber, endpointNumbers } from '../outbox/entities.ts';
import type { AnyItem, Entity } from '../table/entity.ts';
import { type Key, key } from '../table/keys.ts';

const CIRCUIT = 'CIRCUIT#';
const DISABLED = 'DISABLED';
const MIN_INTERVAL = 'MIN_INTERVAL#';

/** The circuit of a destination. */
export const circuitKey = (destination: string): Key => key(`${CIRCUIT}${destination}`, 'CIRCUIT');

/** The webhook that has asked for no more requests, by the name of the destination: beside its circuit. */
export const disabledKey = (destination: string): Key => key(circuitKey(destination).pk, DISABLED);

/** The time from which a request may follow an equal one, by a hash of their common content. */
export const minIntervalKey = (subject: string): Key => key(`${MIN_INTERVAL}${subject}`, 'MIN_INTERVAL');

const DELIVERIES = 'DELIVERIES#';

const ATTEMPT = 'ATTEMPT#';

/**
 * Number of partitions of an account's delivery attempts of one outcome, by user: whole conversations are recovered in their
 * order. At most 16 workers deliver to a webhook, so no partition gets near 1,000 writes per second.
 */
const DELIVERY_SLOTS = 16;

export const deliverySlots: readonly number[] = Array.from({ length: DELIVERY_SLOTS }, (_, slot) => slot);

/** The partition of a user's delivery attempts, among those of an account. */
export const deliverySlotOf = (phone: string): number => crc32(phone) % DELIVERY_SLOTS;

export type DeliveryOutcome = 'succeeded' | 'failed';

/** A partition of an account's delivery attempts. */
export const deliveriesOf = (account: string, slot: number, outcome: DeliveryOutcome): string =>
  `${DELIVERIES}${account}#${slot}#${outcome}`;

const DELIVERIES_ABOUT = 'DELIVERIES_ABOUT#';

/** The index partition of the delivery attempts about a user, of all accounts. */
export const deliveriesAbout = (phone: string): string => `${DELIVERIES_ABOUT}${phone}`;

/** The account of a delivery attempt, by its key. */
export const accountOfAttempt = ({ pk }: Pick<Key, 'pk'>): string => pk.slice(DELIVERIES.length).split('#', 1)[0] ?? '';

/**
 * The position of an attempt: by the id of its event, which begins with a time; by the number of its endpoint, in an account
 * with endpoints; and by the time of the attempt, whose first digit is 0 until the year 10,889.
 */
const attemptAt = (event: string, place: string): string => `${ATTEMPT}${event}#${place}`;

/** The pattern of such positions. */
export const attemptPosition = `${ATTEMPT}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}#[1-5]?0[0-9a-f]{11}`;

/** The beginning of the sort keys of an event's attempts, in an account with endpoints at one of them. */
export const attemptsOfEvent = (event: string, endpoint: EndpointNumber | undefined): string =>
  attemptAt(event, `${endpoint ?? ''}0`);

/** What identifies a delivery attempt of an account. */
export interface AttemptReference {
  slot: number;
  outcome: DeliveryOutcome;
  /** The id of the event: a UUID, version 7. */
  event: string;
  /** When the attempt began, in milliseconds since 1970. */
  started: number;
  /** The endpoint, in an account with endpoints. */
  endpoint?: EndpointNumber | undefined;
}

/** Digits of a time in milliseconds, in hexadecimal: those of a UUID, version 7. */
const inHexadecimal = (milliseconds = 0): string => milliseconds.toString(16).padStart(12, '0');

/** A delivery attempt. The attempts of an outcome and a slot are sorted by event, oldest first. */
export const attemptKey = (account: string, { slot, outcome, event, ...place }: AttemptReference): Key =>
  key(deliveriesOf(account, slot, outcome), attemptAt(event, placeOf(place)));

/** Where an attempt is among those of its event. */
const placeOf = ({ started, endpoint }: Pick<AttemptReference, 'started' | 'endpoint'>): string =>
  `${endpoint ?? ''}${inHexadecimal(started)}`;

/** Reads the place of an attempt. */
const readPlace = (place: string): Pick<AttemptReference, 'started' | 'endpoint'> => ({
  started: Number.parseInt(place.slice(-12), 16),
  endpoint: endpointNumbers.find((number) => place.slice(0, -12) === String(number)),
});

/** The delivery attempt at a key. */
export const attemptOf = ({ pk, sk }: Key): AttemptReference => {
  const [, , slot, outcome] = pk.split('#');
  const [, event = '', place = ''] = sk.split('#');
  return {
    slot: Number(slot),
    outcome: outcome === 'failed' ? 'failed' : 'succeeded',
    event,
    ...readPlace(place),
  };
};

const OUTCOMES: readonly DeliveryOutcome[] = ['failed', 'succeeded'];

/** The public id of an attempt: with the id of its event. The key of the attempt follows from it. */
export const attemptIdOf = (attempt: Key): string => {
  const { slot, outcome, event, ...place } = attemptOf(attempt);
  return `${event}-${OUTCOMES.indexOf(outcome)}${slot.toString(16)}${placeOf(place)}`;
};

const ATTEMPT_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([01])([0-9a-f])([1-5]?0[0-9a-f]{11})$/;

/** The attempt with a public id; undefined if the text is no such id. */
export const attemptWithId = (id: string): AttemptReference | undefined => {
  const [, event, outcome, slot, place] = ATTEMPT_ID.exec(id.toLowerCase()) ?? [];
  if (event === undefined || slot === undefined || place === undefined) return undefined;
  return {
    event,
    outcome: OUTCOMES[Number(outcome)] ?? 'failed',
    slot: Number.parseInt(slot, 16),
    ...readPlace(place),
  };
};

/** The lowest sort key of an attempt whose event is not older than a time, in milliseconds since 1970. */
export const attemptsFrom = (milliseconds: number): string => {
  const digits = inHexadecimal(Math.floor(milliseconds));
  return `${ATTEMPT}${digits.slice(0, 8)}-${digits.slice(8)}`;
};

/** A text after all sort keys of attempts. */
export const endOfAttempts = `${ATTEMPT}~`;

/** The account in a key of the form `NAME#direction#account`. */
const accountInKey = ({ pk }: AnyItem): string => pk.split('#')[2] ?? '';

const circuit = {
  name: 'circuit',
  pk: CIRCUIT,
  sk: 'CIRCUIT',
  account: accountInKey,
  restore: 'never',
  expires: true,
  person: 'none',
  access: {
    findCircuit: 'GetItem',
    findCircuits: 'BatchGetItem',
    updateCircuit: 'UpdateItem',
    closeCircuit: 'DeleteItem',
  },
} as const satisfies Entity;

const disabled = {
  name: 'disabled webhook',
  pk: CIRCUIT,
  sk: DISABLED,
  account: accountInKey,
  restore: 'never',
  expires: false,
  person: 'none',
  access: {},
} as const satisfies Entity;

const pauseBetweenEqual = {
  name: 'pause between equal calls',
  pk: MIN_INTERVAL,
  sk: 'MIN_INTERVAL',
  restore: 'never',
  expires: true,
  // A keyed hash of number and text, for a minute.
  person: 'none',
  access: { findMinInterval: 'GetItem', putMinInterval: 'PutItem' },
} as const satisfies Entity;

const attempt = {
  name: 'delivery attempt',
  pk: DELIVERIES,
  sk: ATTEMPT,
  account: accountOfAttempt,
  restore: 'missing',
  expires: true,
  person: { erasure: 'removed', phone: (item) => String(item.phone), exported: 'deliveries' },
  access: {
    putAttempt: 'PutItem',
    findAttempt: 'GetItem',
    listAttempts: 'Query',
    markReplayed: 'UpdateItem',
    removeAttempts: 'BatchWriteItem',
    listAttemptsAbout: { index: 'gsi2', partition: DELIVERIES_ABOUT },
  },
} as const satisfies Entity;

export const deliveryEntities = [circuit, disabled, pauseBetweenEqual, attempt] as const;
