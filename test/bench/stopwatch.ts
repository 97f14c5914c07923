/** Times what functions take on the local stack: from when a thread is given a call until it has answered. */
import type { Worker } from 'node:worker_threads';
import type { Call, CallResult } from '../../infra/local/aws/lambda/worker-thread.ts';

/** Milliseconds of calls since they were last taken, by what was called. */
const found = new Map<string, number[]>();

/** What is called, as far as its event tells: a route, or what the records of a worker are about. */
const calledBy = (event: string): string => {
  const { routeKey, identitySource, Records } = JSON.parse(event);
  if (identitySource !== undefined) return 'authorizer';
  if (routeKey !== undefined) return routeKey;
  const [record] = Records ?? [];
  if (record === undefined) return 'schedule';
  if (record.receiptHandle !== undefined) return 'deliver';
  return record.dynamodb.Keys.pk.S.startsWith('OUTBOX#') ? 'relay' : 'count';
};

/** Has every thread that starts from now on timed. */
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
