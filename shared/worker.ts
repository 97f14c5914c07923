/** How a function becomes a worker: something that events of AWS call, not people. */
import { describeError, type Fields, log } from './log.ts';
import { traced } from './trace.ts';

/** Of the context that Lambda gives, what workers look at. */
interface Context {
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/**
 * The Lambda handler of a worker. What it counted goes to the log; an error is logged without its message, which may
 * quote data, and fails the invocation. What has no trace of its own is traced by the invocation's id.
 */
export const worker =
  <Event>(name: string, handle: (event: Event, remaining: () => number) => Promise<Fields>) =>
  (event: Event, context: Context): Promise<void> =>
    traced(context.awsRequestId, async () => {
      try {
        log('info', name, await handle(event, () => context.getRemainingTimeInMillis()));
      } catch (error) {
        log('error', name, describeError(error));
        throw new Error(`${name} failed; its log line says where.`);
      }
    });
