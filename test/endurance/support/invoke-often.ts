/**
 * A process that invokes a handler many times, one invocation after the other, and measures what it holds. Arguments: the
 * module, the export, the event as JSON, and after how many invocations to measure. Prints the measures as JSON.
 */
import { pathToFileURL } from 'node:url';

/** What the process holds after garbage collection. */
export interface Measure {
  invocations: number;
  /** Bytes of the heap, and beside it. */
  bytes: number;
  /** Timers, sockets and the like. */
  resources: number;
}

/** Milliseconds that an invocation has left: workers take up no more than a first page of work. */
const REMAINING_MS = 5_000;

const [module = '', exported = '', event = '{}', ...counts] = process.argv.slice(2);
const handler = (await import(pathToFileURL(module).href))[exported];
const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => REMAINING_MS };
// Log lines are written, as on Lambda, but nobody reads them here.
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
