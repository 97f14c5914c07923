/**
 * What the functions' threads really need: a thread has a heap of its own, collects it when it finds it large enough, and
 * tells nobody. The inspector reaches them all.
 */
import { Session } from 'node:inspector/promises';
import * as v from 'valibot';

const answer = v.object({ id: v.number(), result: v.object({ usedSize: v.optional(v.number()) }) });

/** Bytes that each thread of this process holds after everything has been collected that nobody needs any more. */
export const collectedHeaps = async (): Promise<number[]> => {
  const session = new Session();
  session.connect();
  const threads = new Map<string, ((usedSize: number | undefined) => void)[]>();
  const settle = (thread: string, usedSize?: number): void => threads.get(thread)?.shift()?.(usedSize);
  session.on('NodeWorker.attachedToWorker', ({ params }) => void threads.set(params.sessionId, []));
  // One may end while it is asked.
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
    // One after the other: a thread stands still while it collects.
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
