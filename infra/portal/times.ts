/** Days and times of the reader's zone, by the service's clock. */
import { dayIn, isTimeZone, UTC } from '../../shared/core/time-zones.ts';
import { present } from '../web/clock.ts';

/** The name of the reader's zone: `Africa/Johannesburg`. UTC if the browser names a zone that is none, as `Etc/Unknown`. */
export const ownZone = (): string => {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isTimeZone(own) ? own : UTC;
};

const DAY_MS = 86_400_000;

/** The query of the counts of the last so many days, with today. */
export const lastDays = (days: number): { start_date: string; end_date: string; time_zone: string } => {
  const time_zone = ownZone();
  return {
    start_date: dayIn(time_zone, present() - (days - 1) * DAY_MS),
    end_date: dayIn(time_zone, present()),
    time_zone,
  };
};

/** The beginning of today, for filters of the log. */
export const startOfToday = (): string => {
  const day = new Date(present());
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
};

/** The instant of a local time that an input returns, `2026-11-27T09:00`; undefined if it is incomplete. */
export const instantOf = (local: string): Date | undefined => {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time;
};

/** `2026-11-27T10:05` becomes `2026-11-27T08:05:00.000Z`; undefined if it is no time. */
export const fromLocal = (local: string): string | undefined => instantOf(local)?.toISOString();

const two = (part: number): string => String(part).padStart(2, '0');

/** An instant as the value of an input, to the minute: `2026-11-27T09:00`. Empty if it is no time. */
export const toLocal = (time: string | number | undefined): string => {
  const at = new Date(time ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

/** `UTC+02:00`, of the reader's zone at an instant. */
export const offsetOf = (time: number): string => {
  const minutes = -new Date(time).getTimezoneOffset();
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
};

/** `17 s`, `4 min`, `2 h`: the time until an end; empty if it is over. */
export const timeLeft = (end: Date, now: number): string => {
  const seconds = Math.ceil((end.getTime() - now) / 1_000);
  if (seconds <= 0) return '';
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
};
