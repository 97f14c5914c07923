/** A log line as the feed sends it. */
export interface FedLine {
  /** Identifies the line. A client that has lost the connection continues after it (`?after=`). */
  id: string;
  /** When it arrived, in milliseconds since 1970 on the stack's clock. */
  time: number;
  /** The logical id of the function or host that wrote it. */
  source: string;
  /** The line as it was written. */
  text: string;
  /** For a client that waits for new lines: true if the line is older than the request. */
  kept?: true;
}
