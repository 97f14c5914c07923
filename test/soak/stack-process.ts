/**
 * Serves the local stack in a separate process, so that its memory can be measured alone. It ends on the order `end`,
 * or when the parent process disconnects.
 */
import { LocalStack } from '../../infra/local/local-stack.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { collectedHeaps } from './thread-heaps.ts';

/** Messages from the parent process. */
export type Order =
  | { do: 'serve'; dynamodbEndpoint: string | undefined; table: string; minute: number; secret: string }
  | { do: 'measure'; collect: boolean }
  | { do: 'end' };

/** Messages to the parent process. */
export type Report =
  | { is: 'served'; baseUrl: string; bridgeUrl: string; dynamodbEndpoint: string }
  | ({ is: 'measure' } & Measure)
  | { is: 'error line'; line: string };

/** Memory in bytes: of the process, of the main thread's heap after garbage collection, and external to the heap. */
export interface Measure {
  rss: number;
  heap: number;
  external: number;
  threads: number;
  /** The heap of each thread in bytes, if their garbage was collected too. */
  threadHeaps: number[] | undefined;
  /** The number of messages in each queue. */
  queues: Record<string, number>;
}

let threads = 0;
let stack: LocalStack | undefined;

process.on('worker', (worker) => {
  threads += 1;
  worker.once('exit', () => {
    threads -= 1;
  });
});

const sendReport = (report: Report): void => void process.send?.(report);

/** Whether a log line is an error. A line that is not JSON counts as an error. */
const isError = (line: string): boolean => {
  try {
    return JSON.parse(line).level === 'error';
  } catch {
    return true;
  }
};

const measure = async (collect: boolean): Promise<Measure> => {
  const threadHeaps = collect ? await collectedHeaps() : undefined;
  globalThis.gc?.();
  const { heapUsed: heap, external } = process.memoryUsage();
  const counts = Object.entries(stack?.queueCounts() ?? {});
  return {
    rss: process.memoryUsage.rss(),
    heap,
    external,
    threads,
    threadHeaps,
    queues: Object.fromEntries(counts.map(([id, { visible, inFlight }]) => [id, visible + inFlight])),
  };
};

const serve = async ({ dynamodbEndpoint, table, minute, secret }: Extract<Order, { do: 'serve' }>): Promise<Report> => {
  stack = await LocalStack.start({
    assembly: synthesise('minified'),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint,
    tableName: table,
    minute,
    secret,
    onLine: (source, line) => {
      if (isError(line)) sendReport({ is: 'error line', line: `${source} ${line}` });
    },
  });
  return { is: 'served', baseUrl: stack.baseUrl, bridgeUrl: stack.bridgeUrl, dynamodbEndpoint: stack.dynamodbEndpoint };
};

const end = async (): Promise<void> => {
  await stack?.close();
  process.exit();
};

process.on('message', async (order: Order) => {
  if (order.do === 'serve') sendReport(await serve(order));
  if (order.do === 'measure') sendReport({ is: 'measure', ...(await measure(order.collect)) });
  if (order.do === 'end') await end();
});
process.on('disconnect', () => void end());
// The parent process handles Ctrl-C and then sends `end`.
process.on('SIGINT', () => undefined);
