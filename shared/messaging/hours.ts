/** Which sending hours a message has, by its request and the default of its account. */
import type { Account } from '../accounts/accounts.ts';
import { now } from '../core/clock.ts';
import { invalidRequest, type ValidationError } from '../core/problems.ts';
import { hasOpening, RECIPIENT, type SendingHours, zonesOf } from '../core/sending-hours.ts';
import { hasWritten } from './replies.ts';

/** What a request says of the sending hours of a message. What is missing is the account's default. */
export interface HoursGiven {
  between?: [string, string] | undefined;
  time_zone?: string | undefined;
  /** Whether it is sent at any time. Default: if it is a reply. */
  urgent?: boolean | undefined;
}

type Sender = Pick<Account, 'sending_hours'> | undefined;

/** A recipient, and the position of the number in the request: a JSON pointer. */
export interface HoursRecipient {
  phone: string;
  pointer: string;
}

/** A message in a request: its position as a JSON pointer, and its recipients. */
interface HoursOf {
  at: string;
  to: HoursRecipient[];
}

/** Which recipients have known hours, by the hours and their zones. One request may name the same ones many times. */
type Known = Map<string, boolean>;

/**
 * The sending hours of a message that is no reply, none if it is sent at any time. It is invalid if one of both fields is given
 * without a default of the other, or if a recipient has no known hours.
 */
export const findHours = (
  sender: Sender,
  { between, time_zone, urgent }: HoursGiven,
  { at, to }: HoursOf,
  known: Known = new Map(),
): { hours?: SendingHours; errors: ValidationError[] } => {
  const usual = sender?.sending_hours;
  const from = between ?? usual?.between;
  const zone = time_zone ?? usual?.time_zone;
  if (from === undefined && zone === undefined) return { errors: [] };
  if (from === undefined || zone === undefined) {
    const pointer = `${at}/${from === undefined ? 'between' : 'time_zone'}`;
    return { errors: [{ pointer, detail: 'is required, because your account has no default of sending hours' }] };
  }
  if (urgent) return { errors: [] };
  const hours = withOtherZone({ between: from, time_zone: zone }, usual);
  return { hours, errors: withoutHours(hours, to, known) };
};

/**
 * As `findHours`.
 *
 * @throws invalid_request — as there
 */
export const hoursFor = (sender: Sender, given: HoursGiven, of: HoursOf): SendingHours | undefined => {
  const { hours, errors } = findHours(sender, given, of);
  if (errors.length > 0) throw invalidRequest(errors);
  return hours;
};

/** The account's zone counts for users whose own hours are not known. */
const withOtherZone = (hours: SendingHours, usual: SendingHours | undefined): SendingHours =>
  hours.time_zone === RECIPIENT && usual !== undefined && usual.time_zone !== RECIPIENT
    ? { ...hours, otherwise: usual.time_zone }
    : hours;

const withoutHours = (hours: SendingHours, to: HoursRecipient[], known: Known): ValidationError[] => {
  if (hours.time_zone !== RECIPIENT || hours.otherwise !== undefined) return [];
  return to.flatMap(({ phone, pointer }) => {
    const name = `${hours.between} ${zonesOf(phone)}`;
    const isKnown = known.get(name) ?? hasOpening(hours, phone, now());
    known.set(name, isKnown);
    return isKnown
      ? []
      : [{ pointer, detail: 'is of a country with no time zone, or with several that share no such hours' }];
  });
};

/**
 * The sending hours of a single message, as `hoursFor`. A reply has none, unless the request says otherwise. 1 read unit, if
 * there are hours.
 */
export const hoursOfSingle = async (
  account: string,
  sender: Sender,
  given: HoursGiven,
  { phone, pointer }: HoursRecipient,
): Promise<SendingHours | undefined> => {
  const hours = hoursFor(sender, given, { at: '#', to: [{ phone, pointer }] });
  const isReply = hours !== undefined && given.urgent === undefined && (await hasWritten(account, phone));
  return isReply ? undefined : hours;
};

/**
 * The sending hours of a message of an account's chat platform: the account's default, unless it is a reply. 1 read unit, if
 * the account has a default. Messages to users without known hours have those of the first zone of their country, or of UTC,
 * because a platform cannot choose other hours.
 */
export const hoursFromPlatform = async (
  account: string,
  sender: Sender,
  phone: string,
): Promise<SendingHours | undefined> => {
  const hours = sender?.sending_hours;
  return hours === undefined || (await hasWritten(account, phone)) ? undefined : hours;
};
