/** Another instance of the functions: a thread with its own modules and a wrong clock. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** Sends a message on that instance, like an endpoint. Returns its id. */
export type SendOnInstance = (account: string, to: string, body: string) => Promise<string>;

/** Starts an instance with a clock that is `ahead` milliseconds ahead. The instance ends with the test. */
export const startInstance = async (ahead: number): Promise<SendOnInstance> => {
  const worker = new Worker(new URL('./instance-thread.ts', import.meta.url), { workerData: { ahead } });
  onTestFinished(() => void worker.terminate());
  await once(worker, 'message');
  return async (...message) => {
    worker.postMessage(message);
    const [id] = await once(worker, 'message');
    return String(id);
  };
};
