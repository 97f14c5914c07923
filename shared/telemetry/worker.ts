/** How a function becomes a worker: something that events of AWS call, not people. */
import { describeError, type Fields, log } from './log.ts';
import { traced } from './trace.ts';

/** Of the context that Lambda gives, what workers look at. */
interface Context {
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** What a worker of a queue responds: the messages that it leaves on the queue, so that they come again. */
interface LeftMessages {
  batchItemFailures: { itemIdentifier: string }[];
}

/**
 * What a worker does with an event: how many milliseconds are left for it, and a way to leave a message, by its id, on the
 * queue. Returns what it counted.
 */
type Handle<Event> = (event: Event, remaining: () => number, leave: (message: string) => void) => Promise<Fields>;

/**
 * The Lambda handler of a worker. What it counted goes to the log; an error is logged without its message, which may
 * quote data, and fails the invocation. What has no trace of its own is traced by the invocation's id.
 */
export const worker =
  <Event>(name: string, handle: Handle<Event>) =>
  (event: Event, context: Context): Promise<LeftMessages | undefined> =>
    traced(context.awsRequestId, async () => {
      const batchItemFailures: LeftMessages['batchItemFailures'] = [];
      const leave = (itemIdentifier: string) => void batchItemFailures.push({ itemIdentifier });
      try {
        log('info', name, await handle(event, () => context.getRemainingTimeInMillis(), leave));
        return batchItemFailures.length > 0 ? { batchItemFailures } : undefined;
      } catch (error) {
        log('error', name, describeError(error));
        throw new Error(`${name} failed; its log line says where.`);
      }
    });
