/** What the sources of log lines have in common. */

export interface Tailing {
  /** The earliest time of a line, in milliseconds since 1970. */
  since: number;
  /** Whether to wait for new lines. */
  follow: boolean;
  /** Ends the command. */
  signal: AbortSignal;
}
