/** Waiting for something to become true, by looking at it again and again, in growing steps. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from './clock.ts';

/** Milliseconds of the first pause, how much longer each next one is, and the longest: 38 looks in 28 s. */
const STEPS = { first: 200, growth: 1.25, longest: 850 };

/** How long it is looked, in milliseconds since 1970. */
interface Ends {
  /** No look begins later. */
  end: number;
  /** When a look is given up that has not ended by then. */
  latest: number;
}

/**
 * Looks again until what it sees is done, or until `end`, and once more then. Whoever waits sees it at most a second after
 * it is done, where a look takes up to 75 ms. Answers what was seen last.
 */
export const lookUntil = async <Seen>(
  first: Seen,
  look: () => Promise<Seen>,
  isDone: (seen: Seen) => boolean,
  { end, latest }: Ends,
): Promise<Seen> => {
  const { promise: tooLate, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, latest - now());
  let seen = first;
  const lookAgain = async (): Promise<void> => {
    seen = await look();
  };
  try {
    for (let step = STEPS.first; !isDone(seen) && now() < end; step = Math.min(step * STEPS.growth, STEPS.longest)) {
      await pause(Math.min(step, end - now()));
      await Promise.race([lookAgain(), tooLate]);
    }
    return seen;
  } finally {
    clearTimeout(timer);
  }
};
