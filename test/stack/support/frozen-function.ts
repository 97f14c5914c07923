/** A function in processes that are stopped between invocations (SIGSTOP, SIGCONT), like environments of Lambda. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LocalFunction } from '../../../infra/local/aws/lambda/lambda-pool.ts';
import type { FunctionDefinition } from '../../../infra/local/aws/template/definitions.ts';
import type { Call, Done } from './frozen-process.ts';
import type { InterruptingProxy } from './interrupting-proxy.ts';

const ENTRY = fileURLToPath(new URL('./frozen-process.ts', import.meta.url));

/** Functions that call each AWS endpoint through a proxy. */
export const frozenFunctions = (through: (url: string) => Promise<InterruptingProxy>) =>
  class FrozenFunction implements LocalFunction {
    readonly #definition: FunctionDefinition;
    readonly #environment: Record<string, string>;
    readonly #onLine: (line: string) => void;
    readonly #frozen: ChildProcess[] = [];
    readonly #all: ChildProcess[] = [];

    constructor(definition: FunctionDefinition, environment: Record<string, string>, onLine: (line: string) => void) {
      this.#definition = definition;
      this.#environment = environment;
      this.#onLine = onLine;
    }

    get calls(): number {
      return this.#all.length - this.#frozen.length;
    }

    async invoke(event: unknown): Promise<unknown> {
      const child = this.#frozen.pop() ?? (await this.#start());
      child.kill('SIGCONT');
      const call: Call = { requestId: randomUUID(), event, deadline: Date.now() + this.#definition.timeout };
      const { result, error } = await new Promise<Done>((resolve) => {
        child.once('message', (done: Done) => resolve(done));
        child.once('exit', () => resolve({ error: 'Exited' }));
        child.send(call);
      });
      child.removeAllListeners('exit');
      child.kill('SIGSTOP');
      this.#frozen.push(child);
      if (error !== undefined) throw new Error(error);
      return result ?? null;
    }

    kill(): boolean {
      return false;
    }

    async close(): Promise<void> {
      await Promise.all(
        this.#all.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exited = once(child, 'exit');
          child.kill('SIGKILL');
          await exited;
        }),
      );
    }

    async #start(): Promise<ChildProcess> {
      const { folder, handler } = this.#definition;
      const [file = '', exported = ''] = handler.split('.');
      const entries = Object.entries(this.#environment).map(async ([name, value]) => [
        name,
        name.startsWith('AWS_ENDPOINT_URL_') ? (await through(value)).url : value,
      ]);
      const child = spawn(process.execPath, ['--enable-source-maps', ENTRY, join(folder, `${file}.mjs`), exported], {
        env: Object.fromEntries(await Promise.all(entries)),
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      this.#all.push(child);
      for (const stream of [child.stdout, child.stderr]) {
        if (stream) createInterface(stream).on('line', this.#onLine);
      }
      return child;
    }
  };
