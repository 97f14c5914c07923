/** The schema of a time zone. */
import * as v from 'valibot';
import { isTimeZone } from '../core/time-zones.ts';
import { shownAs } from './bounded.ts';

/** Most characters of the name of a time zone. */
export const MAX_ZONE = 64;

export const isZoneName = (value: string): boolean => value.length <= MAX_ZONE && isTimeZone(value);

/** The name of an IANA time zone. */
export const timeZone = v.pipe(
  v.string(),
  shownAs(
    { maxLength: MAX_ZONE },
    v.check<string, string>(isZoneName, 'must be the name of an IANA time zone, as Africa/Johannesburg'),
  ),
);
