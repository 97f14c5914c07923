/** Deadlines of a long poll: the response must be sent before the timeout of the function. */
import { now } from './clock.ts';

/** Milliseconds that are reserved for the last read, and for sending the response. */
const RESERVE_MS = { read: 400, response: 100 };

/** When a wait ends, in milliseconds since 1970. */
export interface WaitDeadlines {
  /** No read begins later, except the last one. */
  end: number;
  /** A read that has not returned by then is abandoned. */
  latest: number;
}

/**
 * The deadlines of a wait that begins now.
 *
 * @param seconds - how long the caller waits
 * @param remainingMs - the time that the function has left
 */
export const waitDeadlines = (seconds: number, remainingMs: number): WaitDeadlines => {
  const start = now();
  const latest = start + remainingMs - RESERVE_MS.response;
  return { end: Math.min(start + seconds * 1_000, latest - RESERVE_MS.read), latest };
};
