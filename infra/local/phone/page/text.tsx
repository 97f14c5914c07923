/** Formats times, numbers and texts. */
import type { ComponentChildren } from 'preact';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exactClock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const calendar = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });

export const Time = ({ at, exact = false }: { at: string; exact?: boolean }) => (
  <time dateTime={at}>{(exact ? exactClock : clock).format(new Date(at))}</time>
);

/** `Today`, or `Saturday, 21 November`. */
export const dayOf = (time: string): string => {
  const day = calendar.format(new Date(time));
  return day === calendar.format(new Date()) ? 'Today' : day;
};

/** `+447700900001` */
export const numberOf = (phone: string): string => `+${phone}`;

/** `first_name` becomes `First name`. */
export const plain = (name: string): string => {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** A text in which URLs are links. */
export const linked = (text: string): ComponentChildren[] =>
  text.split(/(https?:\/\/[^\s<>"]+)/).map((part, place) =>
    place % 2 === 1 ? (
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
