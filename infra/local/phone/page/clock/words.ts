/** The clock of the stack in words. */
import type { ClockView } from '../../../../operator/local-stack/clock-view.ts';
import { isMoved } from './use-clock.ts';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** `3 d 12 h`, `1 h 5 min`, `40 s`: the two largest units. */
const distance = (exact: number): string => {
  const seconds = exact < HOUR_S ? exact : Math.round(exact / MINUTE_S) * MINUTE_S;
  const parts: [number, string][] = [
    [Math.floor(seconds / DAY_S), 'd'],
    [Math.floor(seconds / HOUR_S) % 24, 'h'],
    [Math.floor(seconds / MINUTE_S) % 60, 'min'],
    [seconds % MINUTE_S, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map((part) => part.join(' '))
    .join(' ');
};

/** `Real time`, `Moving ahead …`, `×600`, or `3 d ahead` */
export const stateOf = (view: ClockView): string => {
  if (!isMoved(view)) return 'Real time';
  if (view.moving) return 'Moving ahead …';
  return view.rate === 1 ? `${distance(view.ahead_s)} ahead` : `×${view.rate}`;
};

/** For screen readers; empty at real time. */
export const newsOf = (view: ClockView): string => {
  if (!isMoved(view)) return '';
  if (view.moving) return 'The clock of the stack is moving ahead.';
  return view.rate === 1
    ? `The clock of the stack is ${distance(view.ahead_s)} ahead of real time.`
    : `The clock of the stack runs ${view.rate} times as fast.`;
};

/** What the last way ahead did; empty before the first one. */
export const workOf = ({ last_advance }: ClockView): string => {
  if (last_advance === undefined) return '';
  const { stops, ms } = last_advance;
  if (stops === 0) return 'Nothing was due on the way';
  return `Work was due at ${stops} ${stops === 1 ? 'time' : 'times'}, and took ${(ms / 1_000).toFixed(1)} s`;
};
