/** The present on the stack's clock, which differs from the browser's while somebody has moved it. */
import type { ClockView } from '../../../../operator/local-stack/clock-view.ts';

/** The clock when it was read, and the browser's time then. */
let last = { time: 0, at: 0, rate: 1 };

/** Milliseconds since 1970. */
export const present = (): number => last.time + (Date.now() - last.at) * last.rate;

/** Takes the present from what the stack has returned just now. */
export const follow = ({ time, rate }: Pick<ClockView, 'time' | 'rate'>): void => {
  last = { time: Date.parse(time), at: Date.now(), rate };
};
