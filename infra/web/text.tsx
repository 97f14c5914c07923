/** Formats times, numbers and texts. Times are in the reader's zone, with 24 hours. */
import type { ComponentChildren } from 'preact';
import { present } from './clock.ts';

const twoDigits = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const clock = new Intl.DateTimeFormat(undefined, twoDigits);
const exactClock = new Intl.DateTimeFormat(undefined, { ...twoDigits, second: '2-digit' });
const calendar = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const monthly = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const yearly = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

/** A time of the API, which has no zone and is UTC, or one with a zone. */
export const instant = (time: string): Date => new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`);

/** `2026-11-27 08:05:12 UTC` */
const inUtc = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

interface TimeProps {
  at: string;
  /** `clock`: only hours and minutes. `exact`: also seconds. `when`: with the day. Default: `clock`. */
  as?: 'clock' | 'exact' | 'when' | 'date';
}

/** A time, which shows UTC when the pointer is on it. */
export const Time = ({ at, as = 'clock' }: TimeProps) => {
  const time = instant(at);
  const shown = {
    clock: () => clock.format(time),
    exact: () => exactClock.format(time),
    when: () => whenOf(at),
    date: () => dateOf(at),
  };
  return (
    <time dateTime={time.toISOString()} title={inUtc(time)}>
      {shown[as]()}
    </time>
  );
};

/** `Today`, or `Saturday, 21 November`. */
export const dayOf = (time: string): string => {
  const day = calendar.format(instant(time));
  return day === calendar.format(present()) ? 'Today' : day;
};

/** `22 Dec 2026` */
export const dateOf = (time: string): string => yearly.format(instant(time));

/** `today`, or `12 Nov`, or `12 Nov 2025` of another year. */
export const dayOrDate = (time: string): string => {
  const [at, today] = [instant(time), new Date(present())];
  if (dateOf(time) === yearly.format(today)) return 'today';
  return (at.getFullYear() === today.getFullYear() ? monthly : yearly).format(at);
};

/** `today, 10:41`, or `12 Nov, 10:41`. */
export const whenOf = (time: string): string => `${dayOrDate(time)}, ${clock.format(instant(time))}`;

/** `+447700900001` */
export const numberOf = (phone: string): string => `+${phone}`;

/** `first_name` becomes `First name`. */
export const plain = (name: string): string => {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** A text in which URLs are links. */
export const linked = (text: string): ComponentChildren[] =>
  text.split(/(https?:\/\/[^\s<>"]+)/).map((part, index) =>
    index % 2 === 1 ? (
      <Link key={part} to={part}>
        {part}
      </Link>
    ) : (
      part
    ),
  );

export const Link = ({ to, children }: { to: string; children: ComponentChildren }) =>
  /^https?:\/\//.test(to) ? (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );

/** Country codes of one and of two digits (ITU-T E.164); all others have three. */
const SHORT_CODES = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

/** `+44 7700 900001`: the country code, and groups of the other digits. */
export const spacedNumber = (phone: string): string => {
  const code = SHORT_CODES.exec(phone)?.[0] ?? phone.slice(0, 3);
  const rest = phone.slice(code.length);
  const groups = rest.length === 9 ? [2, 3, 4] : rest.length > 9 ? [4, rest.length - 4] : [3, rest.length - 3];
  let at = 0;
  const parts = groups.map((size) => {
    at += size;
    return rest.slice(at - size, at);
  });
  return ['+', code, ' ', parts.filter(Boolean).join(' ')].join('').trimEnd();
};

/** `…900001`: the end of a number. */
export const endOf = (phone: string): string => `…${phone.slice(-6)}`;
