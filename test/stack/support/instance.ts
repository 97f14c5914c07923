/** Another instance of the functions: a thread with modules of its own, whose clock is off. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** Sends a message there, as an endpoint does. Answers its id. */
export type SendThere = (account: string, to: string, body: string) => Promise<string>;

/** Starts an instance whose clock is so many milliseconds ahead; it ends with the test. */
export const startInstance = async (ahead: number): Promise<SendThere> => {
  const worker = new Worker(new URL('./instance-thread.ts', import.meta.url), { workerData: { ahead } });
  onTestFinished(() => void worker.terminate());
  await once(worker, 'message');
  return async (...message) => {
    worker.postMessage(message);
    const [id] = await once(worker, 'message');
    return String(id);
  };
};
