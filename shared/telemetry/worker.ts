/** Workers: functions that a stream, a queue or a schedule invokes. */
import { describeError, type Fields, log } from './log.ts';
import { traced } from './trace.ts';

/** The part of Lambda's context that workers use. */
interface Context {
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** The response of a worker of a queue: the messages that stay on the queue, and are received again. */
interface LeftMessages {
  batchItemFailures: { itemIdentifier: string }[];
}

/**
 * Handles an event. `remaining` returns the milliseconds that are left. `leave` keeps a message on the queue, by its
 * id. Returns counts for the log.
 */
type Handle<Event> = (event: Event, remaining: () => number, leave: (message: string) => void) => Promise<Fields>;

/**
 * The Lambda handler of a worker. It logs the counts. An error is logged without its message, which may quote data, and
 * fails the invocation. Work without a trace of its own gets the invocation's id.
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
