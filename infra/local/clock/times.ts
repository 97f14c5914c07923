/** Durations and times of the local stack's clock, as people write them. */

const UNITS = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 };

/** The forms, in words. */
export const DURATION_FORM = 'a duration, such as 3d, 90m or 1d12h';
export const TIME_FORM = 'a time with its zone, such as 2027-01-31T09:00Z';

const DURATION = /^(\d+[wdhms])+$/;

/** The milliseconds of a duration such as `3d`, `90m` or `1d12h`; undefined if it is not one. */
export const durationOf = (text: string): number | undefined => {
  if (!DURATION.test(text)) return undefined;
  const seconds = [...text.matchAll(/(\d+)([wdhms])/g)].map(
    ([, count, unit]) => Number(count) * UNITS[unit as keyof typeof UNITS],
  );
  return 1_000 * seconds.reduce((sum, one) => sum + one, 0);
};

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** The milliseconds since 1970 of an ISO time with its zone, such as `2027-01-31T09:00Z`; undefined if it is not one. */
export const timeOf = (text: string): number | undefined => {
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
};
