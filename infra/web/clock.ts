/** The present on the service's clock, which differs from the browser's: by seconds, or by days on a local stack. */

/** The clock when it was read, and the browser's time then. */
let last = { time: 0, at: 0, rate: 1 };

/** Milliseconds since 1970. */
export const present = (): number => last.time + (Date.now() - last.at) * last.rate;

/** Takes the present from what the service has returned just now. `rate` is above 1 while a local stack's clock is fast. */
export const follow = (time: string, rate = 1): void => {
  last = { time: Date.parse(time), at: Date.now(), rate };
};
