/** The clock of the stack, and a function that sets it. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ClockView } from '../../../../operator/local-stack/clock-view.ts';
import { follow } from '../../../../web/clock.ts';
import { describeError, submit } from '../data/api.ts';
import { useView } from '../data/live.ts';

/** A request to the clock: how far to go, the time to go to, how fast to run, or back to real time. */
export type Change = { advance: string } | { set: string } | { run: number } | { real: true };

export interface StackClock {
  /** Undefined until it is read. */
  view: ClockView | undefined;
  /** Returns why the clock was not set; undefined if it was. */
  change: (change: Change) => Promise<string | undefined>;
}

/** Milliseconds between two looks while the clock is moving. */
const LOOK_MS = 500;

export const useClock = (version: number): StackClock => {
  const [looks, setLooks] = useState(0);
  const view = useView<ClockView>('/clock', version && version + looks);
  // Before the rest of the page, which shows times.
  useMemo(() => view && follow(view.time, view.rate), [view]);
  useEffect(() => {
    if (!view?.moving) return;
    const timer = setInterval(() => setLooks((before) => before + 1), LOOK_MS);
    return () => clearInterval(timer);
  }, [view?.moving]);
  return { view, change: (change) => submit('POST', '/clock', change).then(() => undefined, describeError) };
};

/** Whether the clock has not real time. */
export const isMoved = ({ ahead_s, rate, moving }: ClockView): boolean => ahead_s !== 0 || rate !== 1 || moving;
