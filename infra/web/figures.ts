/** Formats numbers and durations. */

/** `12,500` */
export const figure = (count: number): string => count.toLocaleString('en');

/** `12 people`, `1 person` */
export const counted = (count: number, one: string, several: string): string =>
  `${figure(count)} ${count === 1 ? one : several}`;

/** `83 %`; `–` without a whole. Only nothing is `0 %`, and only all of it `100 %`. */
export const percent = (part: number, whole: number): string => {
  if (whole === 0) return '–';
  const rounded = Math.round((part / whole) * 100);
  if (rounded === 0 && part > 0) return '< 1 %';
  return rounded === 100 && part < whole ? '> 99 %' : `${rounded} %`;
};

/** The value below which this share of the values is, in percent; 0 without values. */
export const percentile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor((sorted.length * share) / 100), sorted.length - 1)] ?? 0;
};

export const median = (values: number[]): number => percentile(values, 50);

/** `57 ms`, `5.9 s`, `1 min 4 s`, `2 h 5 min` */
export const milliseconds = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
};

/** `1:48`, `2:05:00`; `0:00` for a time that is over. */
export const countdown = (ms: number): string => {
  const seconds = Math.max(Math.ceil(ms / 1_000), 0);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (part: number) => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
};
