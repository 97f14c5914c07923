/** Times as people read them: in the time zone of this machine, or in UTC with `--utc`. JSON has UTC. */

let isUtc = false;

/** Shows all times of this process in UTC, or in the zone of the machine. */
export const showTimesInUtc = (utc: boolean): void => {
  isUtc = utc;
};

/** Characters of an ISO time up to the day, the minute and the second. */
const LENGTHS = { day: 10, minute: 16, second: 19 };

/**
 * A time in words: `2027-01-31`, `2027-01-31 12:00 UTC` or `2027-01-31 14:00:00 +02:00`.
 *
 * @param time - an ISO time in UTC, with or without `Z`
 */
export const timeInWords = (time: string, precision: keyof typeof LENGTHS): string => {
  const date = new Date(`${time.slice(0, LENGTHS.second)}Z`);
  const minutes = isUtc ? 0 : -date.getTimezoneOffset();
  const shifted = new Date(date.getTime() + minutes * 60_000).toISOString();
  const words = shifted.slice(0, LENGTHS[precision]).replace('T', ' ');
  return precision === 'day' ? words : `${words} ${zoneOf(minutes)}`;
};

const zoneOf = (minutes: number): string => {
  if (minutes === 0) return 'UTC';
  const two = (number: number) => String(number).padStart(2, '0');
  const part = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(part / 60))}:${two(part % 60)}`;
};

/**
 * A time of the clock to the millisecond, without its zone: `14:00:05.118`, after the day if that is not `today`.
 *
 * @param time - milliseconds since 1970
 */
export const clockTime = (time: number, today: number): string => {
  const [day, clock] = dayAndClock(time);
  return day === dayAndClock(today)[0] ? clock : `${day} ${clock}`;
};

const dayAndClock = (time: number): [day: string, clock: string] => {
  const minutes = isUtc ? 0 : -new Date(time).getTimezoneOffset();
  const shifted = new Date(time + minutes * 60_000).toISOString();
  return [shifted.slice(0, 10), shifted.slice(11, 23)];
};
