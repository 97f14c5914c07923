/**
 * Failures that a test can inject. The emulator calls a function at each occasion, and its result decides whether the
 * failure happens. If the function is missing, the failure never happens.
 */
export interface FaultInjection {
  /** Whether a queue rejects a message with an error. */
  refuseMessage?(message: QueuedMessage): boolean;
  /** Whether a queue loses a message that it has accepted. Its deduplication id stays in use. */
  loseMessage?(message: QueuedMessage): boolean;
  /** Whether a queue delivers a deleted message again, once, after the messages that are in its group by then. */
  repeatMessage?(message: QueuedMessage): boolean;
  /** Whether, and how, a function receives the records again that it has just handled. */
  repeatBatch?(batch: HandledBatch): Repetition;
}

export interface QueuedMessage {
  /** Logical id of the queue. */
  queue: string;
  /** Undefined in a standard queue. */
  group: string | undefined;
  body: string;
}

interface HandledBatch {
  /** Logical id of the function. */
  function: string;
  /** The number of records. */
  size: number;
}

/**
 * Whether a batch is repeated: no; in one call; or in two calls, of which the second begins with the record at `cutAt`.
 *
 * @internal Tests use it, too.
 */
export type Repetition = 'no' | 'whole' | { cutAt: number };
