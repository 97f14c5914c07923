/** How a function becomes a worker: something that events of AWS call, not people. */
import { describeError, log } from './log.ts';

/**
 * The Lambda handler of a worker. What it counted goes to the log; an error is logged without its message, which may
 * quote data, and fails the invocation.
 */
export const worker =
  <Event, Result extends Record<string, string | number>>(
    name: string,
    handle: (event: Event, remaining: () => number) => Promise<Result>,
  ) =>
  async (event: Event, context: { getRemainingTimeInMillis(): number }): Promise<void> => {
    try {
      log('info', name, await handle(event, () => context.getRemainingTimeInMillis()));
    } catch (error) {
      log('error', name, describeError(error));
      throw new Error(`${name} failed; its log line says where.`);
    }
  };
