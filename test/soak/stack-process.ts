/**
 * The local stack in a process of its own, so that its memory can be told from that of those who use it. Serves until it
 * is told to end, or until nobody is there who could.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalStack } from '../../infra/local/local-stack.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { collectedHeaps } from './thread-heaps.ts';

/** What it is told. */
export type Order =
  | { do: 'serve'; dynamodbEndpoint: string | undefined; table: string; minute: number; secret: string }
  | { do: 'measure'; collect: boolean }
  | { do: 'end' };

/** What it tells. */
export type Report =
  | { is: 'served'; baseUrl: string; bridgeUrl: string; dynamodbEndpoint: string }
  | ({ is: 'measure' } & Measure)
  | { is: 'error line'; line: string };

/** Bytes of the process, and of the main thread's heap, just collected, and what it holds beside it. */
export interface Measure {
  rss: number;
  heap: number;
  external: number;
  threads: number;
  /** Of each thread's heap, where they were collected too. */
  threadHeaps: number[] | undefined;
  /** Messages in each queue. */
  queues: Record<string, number>;
}

const folder = await mkdtemp(join(tmpdir(), 'soak-'));
let threads = 0;
let stack: LocalStack | undefined;

process.on('worker', (worker) => {
  threads += 1;
  worker.once('exit', () => {
    threads -= 1;
  });
});

const tell = (report: Report): void => void process.send?.(report);

/** Functions say what they do, and what goes wrong: only that is of interest here. What is no log line is wrong too. */
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
    assembly: synthesise(folder, 'minified').then(() => folder),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint,
    tableName: table,
    minute,
    secret,
    onLine: (source, line) => {
      if (isError(line)) tell({ is: 'error line', line: `${source} ${line}` });
    },
  });
  return { is: 'served', baseUrl: stack.baseUrl, bridgeUrl: stack.bridgeUrl, dynamodbEndpoint: stack.dynamodbEndpoint };
};

const end = async (): Promise<void> => {
  await stack?.close();
  await rm(folder, { recursive: true, force: true });
  process.exit();
};

process.on('message', async (order: Order) => {
  if (order.do === 'serve') tell(await serve(order));
  if (order.do === 'measure') tell({ is: 'measure', ...(await measure(order.collect)) });
  if (order.do === 'end') await end();
});
process.on('disconnect', () => void end());
// Ctrl-C is for the one who tells us to end.
process.on('SIGINT', () => undefined);
