/** Measures the time of function calls on the local stack: from the message to the thread until its response. */
import type { Worker } from 'node:worker_threads';
import type { Call, CallResult } from '../../infra/local/aws/lambda/worker-thread.ts';

/** Times in milliseconds since the last `takeTimes`, by function. */
const found = new Map<string, number[]>();

/** The called function, derived from its event: a route, the name of a worker, or the step of a scheduled one. */
const calledBy = (event: string): string => {
  const { routeKey, identitySource, Records, step } = JSON.parse(event);
  if (identitySource !== undefined) return 'authorizer';
  if (routeKey !== undefined) return routeKey;
  const [record] = Records ?? [];
  if (record === undefined) return step;
  if (record.receiptHandle !== undefined) return 'direction' in JSON.parse(record.body) ? 'deliver' : 'expand';
  return record.dynamodb.Keys.pk.S.startsWith('OUTBOX#') ? 'relay' : 'count';
};

/** Measures every thread that starts from now on. */
export const startStopwatch = (): void => {
  process.on('worker', (worker: Worker) => {
    const post = worker.postMessage.bind(worker);
    const calls = new Map<string, { name: string; at: number }>();
    worker.postMessage = (call: Call) => {
      calls.set(call.requestId, { name: calledBy(call.event), at: performance.now() });
      post(call);
    };
    worker.on('message', ({ requestId }: CallResult) => {
      const call = calls.get(requestId);
      if (call === undefined) return;
      calls.delete(requestId);
      found.set(call.name, [...(found.get(call.name) ?? []), performance.now() - call.at]);
    });
  });
};

export const takeTimes = (): Map<string, number[]> => {
  const taken = new Map(found);
  found.clear();
  return taken;
};
