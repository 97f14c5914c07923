/** Schemas of sending hours. Apart from the others: few functions need them. */
import * as v from 'valibot';
import { RECIPIENT } from '../core/sending-hours.ts';
import { listOf, shownAs } from './bounded.ts';
import { isZoneName, MAX_ZONE } from './time-zone.ts';

const TIME_OF_DAY = '^([01]\\d|2[0-3]):[0-5]\\d$';

const timeOfDay = v.pipe(
  v.string(),
  shownAs(
    { pattern: TIME_OF_DAY },
    v.regex<string, string>(new RegExp(TIME_OF_DAY), 'must be a time of the day from 00:00 to 23:59'),
  ),
);

/** From which time of the day until which one, as `HH:MM`. If the second one is earlier, it is on the next day. */
const betweenTimes = v.pipe(
  listOf(timeOfDay, { min: 2, max: 2, of: 'times' }),
  v.check<string[], string>(([from, to]) => from !== to, 'must be two different times'),
  v.transform(([from = '', to = '']): [string, string] => [from, to]),
);

/** The times of `betweenTimes`. An empty list is as none: generated clients of Java send one for a list that is not set. */
export const betweenTimesIfAny = v.pipe(
  listOf(timeOfDay, { max: 2, of: 'times' }),
  v.check<string[], string>(({ length }) => length !== 1, 'must hold 2 times'),
  v.check<string[], string>(([from, to]) => from === undefined || from !== to, 'must be two different times'),
  v.transform(([from = '', to]): [string, string] | undefined => (to === undefined ? undefined : [from, to])),
);

/** The name of an IANA time zone, or `recipient`. */
export const hoursZone = v.pipe(
  v.string(),
  shownAs(
    { maxLength: MAX_ZONE },
    v.check<string, string>(
      (value) => value === RECIPIENT || isZoneName(value),
      'must be the name of an IANA time zone, as Africa/Johannesburg, or recipient',
    ),
  ),
);

/** The sending hours of an account. */
export const sendingHours = v.object({ between: betweenTimes, time_zone: hoursZone });
