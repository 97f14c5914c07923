/** The process of a `FrozenFunction`: loads a function's bundle, and calls its handler for each message. */
import { pathToFileURL } from 'node:url';

/** A call. `deadline` is in milliseconds since 1970. */
export interface Call {
  requestId: string;
  event: unknown;
  deadline: number;
}

/** The result of a call, or the name of its error. */
export interface Done {
  result?: unknown;
  error?: string;
}

const [bundle = '', exported = ''] = process.argv.slice(2);
const handler = (await import(pathToFileURL(bundle).href))[exported];

process.on('message', async ({ requestId, event, deadline }: Call) => {
  const context = {
    awsRequestId: requestId,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  const done: Done = await handler(event, context).then(
    (result: unknown) => ({ result }),
    (error: unknown) => ({ error: error instanceof Error ? error.name : typeof error }),
  );
  process.send?.(done);
});

// On Lambda too, an exception outside an invocation ends the environment of a function.
process.on('disconnect', () => process.exit());
