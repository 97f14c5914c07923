/** Starts bundles cold: init at full speed, then a first call with a share of a processor. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ProcessorShare } from './processor-share.ts';

export interface Contestant {
  bundle: string;
  environment: Record<string, string>;
  /** The event of the first call. Without an event, the bundle is only loaded. */
  event?: unknown;
}

/** Milliseconds, and milliseconds of processor time. */
interface Duration {
  elapsed: number;
  processor: number;
}

/** Until the bundle is loaded, until the response to its first call, and further calls. */
export interface Start {
  init: Duration;
  call: Duration;
  warm: Duration;
}

/** Lambda has one processor at this memory, and less in proportion (Lambda developer guide, "Configure memory"). */
const MEMORY_OF_A_PROCESSOR = 1_769;

export const shareOf = (memory: number): number => Math.min(memory / MEMORY_OF_A_PROCESSOR, 1);

const runtime = fileURLToPath(new URL('./runtime.mjs', import.meta.url));

export const startCold = async (
  { bundle, environment, event }: Contestant,
  { processor, memory, warm = 0 }: { processor: ProcessorShare; memory: number; warm?: number },
): Promise<Start> => {
  const call = event === undefined ? [] : [JSON.stringify(event), String(warm)];
  const child = spawn(process.execPath, [runtime, bundle, ...call], {
    env: environment,
    stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
  });
  const exited = once(child, 'exit');
  const { pid } = child;
  if (pid === undefined) throw new Error(`Node did not start for ${bundle}.`);
  processor.add(pid);
  const found: Partial<Start> & { result?: { statusCode?: number } } = {};
  for await (const line of createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })) {
    Object.assign(found, JSON.parse(line));
    if (event === undefined || found.call !== undefined) continue;
    processor.limit(pid, shareOf(memory));
    child.stdin?.end('.');
  }
  processor.limit(pid, undefined);
  await exited;
  const { init, call: first = ZERO, warm: more = ZERO, result } = found;
  if (init === undefined) throw new Error(`${bundle} was not loaded.`);
  if (event !== undefined && found.call === undefined) throw new Error(`A first call of ${bundle} failed.`);
  if ((result?.statusCode ?? 200) >= 400) throw new Error(`A first call of ${bundle} returned ${result?.statusCode}.`);
  return { init, call: first, warm: more };
};

const ZERO: Duration = { elapsed: 0, processor: 0 };
