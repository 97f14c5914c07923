/** Sending hours: between which times of the day messages may be sent, in one time zone or in those of their users. */
import { millisecondsOf, timeOfDay, UTC } from './time-zones.ts';
import { zonesByPrefix } from './zones.ts';

/** The hours of a message. */
export interface SendingHours {
  /** From the first time of the day until the second one, as `HH:MM`. If the second one is earlier, it is on the next day. */
  between: [string, string];
  /** The name of an IANA time zone, or `recipient` for the zone of the user's country. */
  time_zone: string;
  /** The zone for users of whom `recipient` tells no zone, or several whose hours never overlap. */
  otherwise?: string;
}

/** In place of a zone: that of the user's country. */
export const RECIPIENT = 'recipient';

const DAY_MS = 86_400_000;

/** The remainder of a division by a day, never negative. */
const inDay = (milliseconds: number): number => ((milliseconds % DAY_MS) + DAY_MS) % DAY_MS;

const boundsOf = ({ between }: Pick<SendingHours, 'between'>): [number, number] => {
  const [from, to] = between.map((time) => millisecondsOf(time.slice(0, 2), time.slice(3)));
  return [from ?? 0, to ?? 0];
};

/** Bounds in milliseconds since midnight, which may contain midnight. */
const isWithin = ([from, to]: [number, number], time: number): boolean =>
  from < to ? time >= from && time < to : time >= from || time < to;

/** By how much the clocks of a zone differ from UTC, without whole days. */
const offsetOf = (zone: string, at: number): number => inDay(timeOfDay(zone, at) - at);

/** The first moment of another offset, after `from` and until `to`, at which the offset is another one. */
const changeOf = (zone: string, from: number, to: number): number => {
  const before = offsetOf(zone, from);
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetOf(zone, middle) === before) same = middle;
    else other = middle;
  }
  return other;
};

/**
 * When the hours of a zone begin: the first moment from `at` on at which its clocks show a time within the bounds. If they skip
 * the beginning, in the night before summer time, the hours begin after the gap. If they show it twice, so do the hours.
 */
const openingIn = (zone: string, bounds: [number, number], at: number): number => {
  const time = timeOfDay(zone, at);
  if (isWithin(bounds, time)) return at;
  const next = at + inDay(bounds[0] - time);
  if (offsetOf(zone, next) === offsetOf(zone, at)) return next;
  return openingIn(zone, bounds, changeOf(zone, at, next));
};

/** Milliseconds after which zones whose hours did not overlap are taken to have none in common. */
const LOOK_AHEAD_MS = 2 * DAY_MS;

/** The first moment from `at` on within the hours of all these zones; undefined if they have none in common. */
const commonOpening = (all: readonly string[], bounds: [number, number], at: number): number | undefined => {
  if (all.length === 0) return undefined;
  for (let present = at; present <= at + LOOK_AHEAD_MS; ) {
    const next = Math.max(...all.map((zone) => openingIn(zone, bounds, present)));
    if (next === present) return present;
    present = next;
  }
  return undefined;
};

/** The zones of the table, read when they are needed first: most functions need none. */
let zones: Map<string, string[]> | undefined;

const readZones = (): Map<string, string[]> =>
  new Map(
    zonesByPrefix.split('\n').map((line): [string, string[]] => {
      const [prefix = '', ...names] = line.split(' ');
      let area = '';
      return [
        prefix,
        names.map((name) => {
          const whole = name.startsWith('/') ? area + name : name;
          area = whole.slice(0, whole.indexOf('/'));
          return whole;
        }),
      ];
    }),
  );

/** Most digits by which a number's zones are found. */
const MAX_PREFIX = 5;

/** The first digits of a number by which its zones are found; none if the country is not known. */
export const prefixOf = (phone: string): string => {
  zones ??= readZones();
  for (let length = MAX_PREFIX; length > 0; length -= 1) {
    const prefix = phone.slice(0, length);
    if (zones.has(prefix)) return prefix;
  }
  return '';
};

/** The zones of the country of a number, or of its prefix; none if the country is not known. */
export const zonesOf = (phone: string): readonly string[] => {
  const prefix = prefixOf(phone);
  return zones?.get(prefix) ?? [];
};

/**
 * The first moment from `at` on within the sending hours of a message to a user: `at` itself, if it is within them. With
 * `recipient`, a country with several zones has the hours that all of them share.
 *
 * @param phone - the user's number, or its prefix
 * @param at - in milliseconds since 1970, as the result
 */
export const nextOpening = (hours: SendingHours, phone: string, at: number): number => {
  const bounds = boundsOf(hours);
  const { time_zone, otherwise } = hours;
  if (time_zone !== RECIPIENT) return openingIn(time_zone, bounds, at);
  const own = zonesOf(phone);
  return commonOpening(own, bounds, at) ?? openingIn(otherwise ?? own[0] ?? UTC, bounds, at);
};

/** Whether it is known when the hours of a message to this user begin, in their zone or in those of the user. */
export const hasOpening = (hours: SendingHours, phone: string, at: number): boolean =>
  hours.time_zone !== RECIPIENT ||
  hours.otherwise !== undefined ||
  commonOpening(zonesOf(phone), boundsOf(hours), at) !== undefined;

/** Most windows of hours that work is divided among. */
const MAX_WINDOWS = 366;

/**
 * When work ends that goes on only within the hours of one zone; undefined if it takes more than 366 days.
 *
 * @param at - when it begins, in milliseconds since 1970, as the result
 * @param left - how many milliseconds of work there are
 */
export const endWithin = (hours: SendingHours, at: number, left: number): number | undefined => {
  const [from, to] = boundsOf(hours);
  for (let window = 0, present = at, more = left; window < MAX_WINDOWS; window += 1) {
    const opening = openingIn(hours.time_zone, [from, to], present);
    const closing = openingIn(hours.time_zone, [to, from], opening);
    if (more <= closing - opening) return opening + more;
    more -= closing - opening;
    present = closing;
  }
  return undefined;
};
