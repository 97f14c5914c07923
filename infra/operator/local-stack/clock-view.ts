/** The clock of the local stack, as its requests return it. */
export interface ClockView {
  /** The present on the clock, in ISO 8601. */
  time: string;
  /** Seconds by which it is ahead of real time. */
  ahead_s: number;
  /** How many times faster than real time it runs. */
  rate: number;
  /** Whether it is moving ahead to another time. */
  moving: boolean;
  /** At how many times something was due on the last way ahead, and how many real milliseconds it took. */
  last_advance?: { stops: number; ms: number };
}
