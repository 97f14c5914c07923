/**
 * A process that invokes a handler many times, one invocation after the other, and measures its memory. Arguments:
 * module, export, event as JSON, and the invocations after which to measure. Sends the measures to its parent process.
 */
import { pathToFileURL } from 'node:url';

/** The memory and resources of the process after garbage collection. */
export interface Measure {
  invocations: number;
  /** Bytes on the heap and outside of it. */
  bytes: number;
  /** The number of timers, sockets and other active resources. */
  resources: number;
}

/** The remaining time of an invocation, in milliseconds. Workers process only one page of work in this time. */
const REMAINING_MS = 5_000;

const [module = '', exported = '', event = '{}', ...counts] = process.argv.slice(2);
const handler = (await import(pathToFileURL(module).href))[exported];
const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => REMAINING_MS };
// Functions write log lines, which this process discards.
process.stdout.write = () => true;

const measure = async (invocations: number): Promise<Measure> => {
  for (const _ of [1, 2]) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return { invocations, bytes: heapUsed + external, resources: process.getActiveResourcesInfo().length };
};

const measures: Measure[] = [];
let done = 0;
for (const count of counts.map(Number)) {
  for (; done < count; done += 1) await handler(JSON.parse(event), context);
  measures.push(await measure(done));
}
process.send?.(measures);
process.disconnect?.();
