/** The process of the served stack, controlled by messages. */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Measure, Order, Report } from './stack-process.ts';

type Served = Extract<Report, { is: 'served' }>;

export class ServedStack {
  /** Error lines of the log. */
  readonly errors: string[] = [];
  /** The number of calls of the database that timed out. Callers retry, as in AWS. */
  late = 0;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on('message', (report: Report) => {
      if (report.is !== 'error line') return;
      if (isLate(report.line)) this.late += 1;
      else this.errors.push(report.line);
    });
  }

  static async start(what: Omit<Extract<Order, { do: 'serve' }>, 'do'>): Promise<[ServedStack, Served]> {
    const child = fork(fileURLToPath(new URL('./stack-process.ts', import.meta.url)), {
      execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
    });
    const stack = new ServedStack(child);
    return [stack, await stack.#ask({ do: 'serve', ...what }, 'served')];
  }

  /** @param collect - runs garbage collection in all threads first, which pauses them */
  measure({ collect }: { collect: boolean }): Promise<Measure> {
    return this.#ask({ do: 'measure', collect }, 'measure');
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null || !this.#process.connected) return;
    const gone = once(this.#process, 'exit');
    this.#process.send({ do: 'end' } satisfies Order);
    await gone;
  }

  /** @throws Error — the process has ended */
  async #ask<Is extends Report['is']>(order: Order, is: Is): Promise<Extract<Report, { is: Is }>> {
    const { promise, resolve, reject } = Promise.withResolvers<Extract<Report, { is: Is }>>();
    const ended = () => reject(new Error('The local stack has ended.'));
    const listen = (report: Report): void => {
      if (isOf(report, is)) resolve(report);
    };
    this.#process.on('message', listen).once('exit', ended);
    this.#process.send(order);
    return promise.finally(() => this.#process.off('message', listen).off('exit', ended));
  }
}

/** The client of the table has the same timeouts as in AWS, but a local database can be late on a busy machine. */
const isLate = (line: string): boolean => /"message":"unavailable"|"error":"TimeoutError"/.test(line);

const isOf = <Is extends Report['is']>(report: Report, is: Is): report is Extract<Report, { is: Is }> =>
  report.is === is;

/** The memory of another process in bytes, or undefined if it cannot be read. */
export const rssOf = (pid: number): number | undefined => {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  const kilobytes = Number.parseInt(stdout, 10);
  return Number.isNaN(kilobytes) ? undefined : kilobytes * 1024;
};
