/** Runs inside a worker thread: loads a function's bundle as Lambda's runtime does, and calls its handler. */
import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

/** A call; events and results travel as JSON, as they do to Lambda. */
export interface Call {
  requestId: string;
  event: string;
  /** Milliseconds since 1970. */
  deadline: number;
}

export type Outcome = { result: string } | { error: string };

export interface Answer {
  requestId: string;
  outcome: Outcome;
}

export interface ThreadData {
  bundle: string;
  export: string;
}

const data = workerData as ThreadData;
const loaded = await import(pathToFileURL(data.bundle).href);
// For the next thread. A function in Lambda does not find this variable.
flushCompileCache();
delete process.env.NODE_COMPILE_CACHE;
const handler = loaded[data.export];

parentPort?.on('message', async ({ requestId, event, deadline }: Call) => {
  const answer: Answer = { requestId, outcome: await outcomeOf(requestId, event, deadline) };
  parentPort?.postMessage(answer);
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
