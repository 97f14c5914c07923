/** The periods of statistics: days of the reader's time zone, by the service's clock. */
import { dayIn, isTimeZone, UTC } from '../../../shared/core/time-zones.ts';
import { present } from '../../web/clock.ts';

/** Browsers may name a zone that is none, as `Etc/Unknown`. */
const zone = (): string => {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isTimeZone(own) ? own : UTC;
};

const DAY_MS = 86_400_000;

/** The query of the counts of the last so many days, with today. */
export const lastDays = (days: number): { start_date: string; end_date: string; time_zone: string } => {
  const time_zone = zone();
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
