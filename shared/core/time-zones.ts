/** Time zones: the days and the times that their clocks show. */

export const UTC = 'UTC';

/** The clocks of zones. Making one takes as long as reading it a hundred times. */
const clocks = new Map<string, Intl.DateTimeFormat>();
/** Most clocks that are kept: more than there are zones. But each spelling of a name would have its own. */
const MAX_CLOCKS = 1_000;

/** @throws RangeError — there is no such zone */
const clockOf = (zone: string): Intl.DateTimeFormat => {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const clock = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  });
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  clocks.set(zone, clock);
  return clock;
};

const ZONE_NAME = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/;

/** Whether a text is the name of a zone. Offsets like `+02:00` are none: their clocks ignore summer time. */
export const isTimeZone = (name: string): boolean => {
  if (!ZONE_NAME.test(name)) return false;
  try {
    return clockOf(name) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/** The numbers that the clocks of a zone show: month, day, year, hours, minutes, seconds. */
const shownIn = (zone: string, at: number): string[] => clockOf(zone).format(at).split(/\D+/);

/** A time of the day, in milliseconds since midnight. */
export const millisecondsOf = (hours: string, minutes: string, seconds = '0'): number =>
  ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;

/** The time of the day in a zone at `at` (milliseconds since 1970), in milliseconds since midnight as its clocks show it. */
export const timeOfDay = (zone: string, at: number): number => {
  const [, , , hours = '', minutes = '', seconds] = shownIn(zone, at);
  return millisecondsOf(hours, minutes, seconds) + (at % 1_000);
};

/** The day in a zone at `at` (milliseconds since 1970), as `YYYY-MM-DD`. */
export const dayIn = (zone: string, at: number): string => {
  const [month, day, year] = shownIn(zone, at);
  return `${year}-${month}-${day}`;
};
