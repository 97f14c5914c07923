/** Runs inside a worker thread: loads a function's bundle as Lambda's runtime does, and calls its handler. */
import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { ThreadClock } from '../time/thread-clock.ts';

/** A call. Events and results are JSON, as in Lambda. */
export interface Call {
  requestId: string;
  event: string;
  /** Milliseconds since 1970. */
  deadline: number;
}

export type Outcome = { result: string } | { error: string };

export interface CallResult {
  requestId: string;
  outcome: Outcome;
}

export interface ThreadData {
  bundle: string;
  export: string;
  /** The memory of the emulator's clock. */
  clock: SharedArrayBuffer;
}

const data = workerData as ThreadData;
new ThreadClock(data.clock).use();
const loaded = await import(pathToFileURL(data.bundle).href);
// Saves the compiled bundle for the next thread. Functions must not see this variable, which Lambda does not set.
flushCompileCache();
delete process.env.NODE_COMPILE_CACHE;
const handler = loaded[data.export];

parentPort?.on('message', async ({ requestId, event, deadline }: Call) => {
  const result: CallResult = { requestId, outcome: await outcomeOf(requestId, event, deadline) };
  parentPort?.postMessage(result);
});

const outcomeOf = async (awsRequestId: string, event: string, deadline: number): Promise<Outcome> => {
  const context = {
    awsRequestId,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  try {
    return { result: JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null' };
  } catch (error) {
    return { error: error instanceof Error ? error.name : typeof error };
  }
};
