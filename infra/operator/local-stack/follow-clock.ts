/** Programs beside the local stack use its clock, so that what they write has the stack's time. */
import { Clock } from '../../local/aws/time/clock.ts';
import type { ClockView } from './clock-view.ts';

/** Milliseconds to wait for the local stack. */
const TIMEOUT_MS = 2_000;

/** Sets the clock of this process to that of a local stack. Without the page of the phone, the clock is real. */
export const followClock = async (phoneUrl: string): Promise<void> => {
  const view = await fetch(`${phoneUrl}/clock`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    .then((response) => (response.ok ? (response.json() as Promise<ClockView>) : undefined))
    .catch(() => undefined);
  if (view === undefined || (view.ahead_s === 0 && view.rate === 1)) return;
  const clock = new Clock();
  clock.set(Date.parse(view.time));
  clock.run(view.rate);
  clock.use();
};
