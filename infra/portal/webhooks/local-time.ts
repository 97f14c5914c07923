/** Times in `datetime-local` inputs, which have no zone: that of the reader. */

const two = (part: number): string => String(part).padStart(2, '0');

/** `2026-11-27T08:05:00Z` becomes `2026-11-27T10:05`. Empty if it is no time. */
export const toLocal = (time: string | number | undefined): string => {
  const at = new Date(time ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

/** `2026-11-27T10:05` becomes `2026-11-27T08:05:00.000Z`; undefined if it is no time. */
export const fromLocal = (value: string): string | undefined => {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
};
