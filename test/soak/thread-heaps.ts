/**
 * Measures the live heap of the functions' threads. Each thread has its own heap and schedules its own garbage
 * collection, so the inspector is used to collect and measure.
 */
import { Session } from 'node:inspector/promises';
import * as v from 'valibot';

const answer = v.object({ id: v.number(), result: v.object({ usedSize: v.optional(v.number()) }) });

/** The heap of each thread of this process in bytes, after garbage collection. */
export const collectedHeaps = async (): Promise<number[]> => {
  const session = new Session();
  session.connect();
  const threads = new Map<string, ((usedSize: number | undefined) => void)[]>();
  const settle = (thread: string, usedSize?: number): void => threads.get(thread)?.shift()?.(usedSize);
  session.on('NodeWorker.attachedToWorker', ({ params }) => void threads.set(params.sessionId, []));
  // A thread may end during a request.
  session.on('NodeWorker.detachedFromWorker', ({ params }) => {
    for (const waiting of threads.get(params.sessionId)?.splice(0) ?? []) waiting(undefined);
    threads.delete(params.sessionId);
  });
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), answer), params.message);
    if (success) settle(params.sessionId, output.result.usedSize);
  });
  const ask = async (thread: string, method: string): Promise<number | undefined> => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const waiting = threads.get(thread);
    if (waiting === undefined) return undefined;
    waiting.push(resolve);
    const message = JSON.stringify({ id: 1, method });
    await session.post('NodeWorker.sendMessageToWorker', { sessionId: thread, message });
    return promise;
  };
  try {
    await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    const heaps: number[] = [];
    // Threads are measured one after the other, because garbage collection pauses a thread.
    for (const thread of [...threads.keys()]) {
      await ask(thread, 'HeapProfiler.collectGarbage');
      const heap = await ask(thread, 'Runtime.getHeapUsage');
      if (heap !== undefined) heaps.push(heap);
    }
    return heaps;
  } finally {
    session.disconnect();
  }
};
