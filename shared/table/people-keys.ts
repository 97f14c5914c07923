/** The keys by which users of the app are found, those of consents, and those of what customers see of their own accounts. */
import { crc32 } from 'node:zlib';
import { type Key, platformKey, requestKey } from './keys.ts';

const key = (pk: string, sk: string): Key => ({ pk, sk });

/** The number of a user, by the app network's id of the user. */
export const appUserKey = (id: string): Key => key(`APPUSER#${id}`, 'APPUSER');

/** The index partition of conversations with an account's platform whose delivery failed and is retried. */
export const retryingOnPlatform = (account: string): string => `RETRYING#${account}`;

/** The index partition of an account's conversations that wait for a chat platform or a webhook to be set. */
export const waitingForPlatform = (account: string): string => `WAITING#${account}`;

/** The index partition of conversations whose oldest entry a listener of the account may claim, by the time from which. */
export const offeredTo = (account: string): string => `LISTEN#${account}`;

const ALLOWANCE = 'ALLOWANCE#';

/** How much of a daily allowance an account has used on a day (`YYYY-MM-DD`, UTC). */
export const allowanceKey = (account: string, what: string, day: string): Key =>
  key(`${ALLOWANCE}${account}`, `${what}#${day}`);

/** The pattern for the partitions of allowances, for access rights. */
export const anyAllowance = `${ALLOWANCE}*`;

/** The partition of a user's consent receipts. */
export const consentReceiptsOf = (phone: string): string => `GRANTS#${phone}`;

/** A receipt of consent that was given or has ended. A user's receipts are in one partition, sorted by time. */
export const consentReceiptKey = (
  phone: string,
  { created, request, event }: { created: string; request: string; event?: string },
): Key => key(consentReceiptsOf(phone), `GRANT#${created}#${request}${event === undefined ? '' : `#${event}`}`);

/** The range of sort keys of a user's receipts up to a time. */
export const consentReceiptRange = (until: string) => ({ from: 'GRANT#', to: `GRANT#${until}~` });

const CONSENT = 'CONSENT#';

/**
 * What a user data request released: in the partition of the request, which it outlives. `created` is the time of the
 * request: an id may be used again after its request has expired.
 */
export const consentKey = (request: string, created: string): Key =>
  key(requestKey(request).pk, `${CONSENT}${created}`);

/** Whether a key is that of a consent. */
export const isConsentKey = ({ sk }: Key): boolean => sk.startsWith(CONSENT);

/** The index partition of consents whose deletion the business has not acknowledged, the oldest first. */
export const acknowledgements = 'ACKNOWLEDGEMENTS';

/** The webhook of an account that is notified when consent ends: in the partition of its platform. */
export const consentWebhookKey = (account: string): Key => key(platformKey(account).pk, 'CONSENT_WEBHOOK');

/** The name of this webhook in the marker of its deletion, which is of the kind `platform`. */
export const consentWebhookName = (account: string): string => `${account}#consent`;

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

/** The index partition of the delivery attempts about a user, of all accounts. */
export const deliveriesAbout = (phone: string): string => `DELIVERIES_ABOUT#${phone}`;

/** The account of a delivery attempt, by its key. */
export const accountOfAttempt = ({ pk }: Pick<Key, 'pk'>): string => pk.slice(DELIVERIES.length).split('#', 1)[0] ?? '';

/** The position of an attempt: by the id of its event, which begins with a time, and by the time of the attempt. */
const attemptAt = (event: string, started: string): string => `${ATTEMPT}${event}#${started}`;

/** The pattern of such positions. */
export const attemptPosition = `${ATTEMPT}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}#[0-9a-f]{12}`;

/** The beginning of the sort keys of an event's attempts. */
export const attemptsOfEvent = (event: string): string => attemptAt(event, '');

/** What identifies a delivery attempt of an account. */
export interface AttemptReference {
  slot: number;
  outcome: DeliveryOutcome;
  /** The id of the event: a UUID, version 7. */
  event: string;
  /** When the attempt began, in milliseconds since 1970. */
  started: number;
}

/** Digits of a time in milliseconds, in hexadecimal: those of a UUID, version 7. */
const inHexadecimal = (milliseconds = 0): string => milliseconds.toString(16).padStart(12, '0');

/** A delivery attempt. The attempts of an outcome and a slot are sorted by event, oldest first. */
export const attemptKey = (account: string, { slot, outcome, event, started }: AttemptReference): Key =>
  key(deliveriesOf(account, slot, outcome), attemptAt(event, inHexadecimal(started)));

/** The delivery attempt at a key. */
export const attemptOf = ({ pk, sk }: Key): AttemptReference => {
  const [, , slot, outcome] = pk.split('#');
  const [, event = '', started = ''] = sk.split('#');
  return {
    slot: Number(slot),
    outcome: outcome === 'failed' ? 'failed' : 'succeeded',
    event,
    started: Number.parseInt(started, 16),
  };
};

const OUTCOMES: readonly DeliveryOutcome[] = ['failed', 'succeeded'];

/** The public id of an attempt: with the id of its event. The key of the attempt follows from it. */
export const attemptIdOf = (attempt: Key): string => {
  const { slot, outcome, event, started } = attemptOf(attempt);
  return `${event}-${OUTCOMES.indexOf(outcome)}${slot.toString(16)}${inHexadecimal(started)}`;
};

const ATTEMPT_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([01])([0-9a-f])([0-9a-f]{12})$/;

/** The attempt with a public id; undefined if the text is no such id. */
export const attemptWithId = (id: string): AttemptReference | undefined => {
  const [, event, outcome, slot, started] = ATTEMPT_ID.exec(id.toLowerCase()) ?? [];
  if (event === undefined || slot === undefined || started === undefined) return undefined;
  return {
    event,
    outcome: OUTCOMES[Number(outcome)] ?? 'failed',
    slot: Number.parseInt(slot, 16),
    started: Number.parseInt(started, 16),
  };
};

/** The lowest sort key of an attempt whose event is not older than a time, in milliseconds since 1970. */
export const attemptsFrom = (milliseconds: number): string => {
  const digits = inHexadecimal(Math.floor(milliseconds));
  return `${ATTEMPT}${digits.slice(0, 8)}-${digits.slice(8)}`;
};

/** A text after all sort keys of attempts. */
export const endOfAttempts = `${ATTEMPT}~`;

/** The pattern for the partitions of delivery attempts, for access rights. */
export const anyDeliveries = `${DELIVERIES}*`;
