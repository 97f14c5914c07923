/** Times of the reader's zone. */

/** The instant of a local time that an input returns, `2026-11-27T09:00`; undefined if it is incomplete. */
export const instantOf = (local: string): Date | undefined => {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time;
};

/** An instant as the value of an input: `2026-11-27T09:00`. */
export const localOf = (time: number): string => {
  const two = (part: number): string => String(part).padStart(2, '0');
  const at = new Date(time);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

/** The name of the reader's zone: `Africa/Johannesburg`. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `UTC+02:00`, of the reader's zone at an instant. */
export const offsetOf = (time: number): string => {
  const minutes = -new Date(time).getTimezoneOffset();
  const two = (part: number): string => String(part).padStart(2, '0');
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
