/**
 * What a test may have go wrong. Each function is asked on every occasion whether it shall, so that a test answers by a
 * random of its own; without the function it never does.
 */
export interface FaultInjection {
  /** A queue is about to take a message: whether it fails to, and says so. */
  refuseMessage?(message: QueuedMessage): boolean;
  /** A queue has taken a message and said so: whether it loses it. Its deduplication id stays taken. */
  loseMessage?(message: QueuedMessage): boolean;
  /** A message was deleted: whether it comes again once, after those that are in its group by then. */
  repeatMessage?(message: QueuedMessage): boolean;
  /** A function has handled records of the stream: whether it gets them again before those that follow, and how. */
  repeatBatch?(batch: HandledBatch): Repetition;
}

export interface QueuedMessage {
  /** Logical id of the queue. */
  queue: string;
  /** Nothing in a standard queue. */
  group: string | undefined;
  body: string;
}

interface HandledBatch {
  /** Logical id of the function. */
  function: string;
  /** How many records it had. */
  size: number;
}

/**
 * Not at all, as it was, or in two calls of which the second begins with the record at this place.
 *
 * @internal Tests use it, too.
 */
export type Repetition = 'no' | 'whole' | { cutAt: number };
