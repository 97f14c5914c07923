/** A function of the local stack that runs in this process, where a mutant is active or coverage is collected. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalFunction } from '../../infra/local/aws/lambda/lambda-pool.ts';
import type { FunctionDefinition } from '../../infra/local/aws/template/definitions.ts';

type Handler = (event: unknown, context: object) => Promise<unknown>;

/** Receives the log lines of the running function. */
const lines = new AsyncLocalStorage<(line: string) => void>();

/** Variables that differ between functions: credentials and names. Here, all functions use the operator's. */
const IDENTITY = /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|LAMBDA_FUNCTION_NAME)$/;

/** The environment variables of all functions. */
export const environment: Record<string, string> = {};

const write = process.stdout.write.bind(process.stdout);

/** Passes lines that a function writes to its log. Other lines are those of a test. */
process.stdout.write = ((text: string | Uint8Array, ...rest: []) => {
  const onLine = lines.getStore();
  if (onLine === undefined) return write(text, ...rest);
  for (const line of String(text).split('\n').filter(Boolean)) onLine(line);
  return true;
}) as typeof process.stdout.write;

/**
 * Resolves when all functions so far are loaded. They are loaded one after the other, because modules that import each
 * other would deadlock if two of them were loaded at the same time.
 */
let loading: Promise<unknown> = Promise.resolve();

/** Resolves when all functions are loaded. */
export const loaded = (): Promise<unknown> => loading;

export class FunctionHere implements LocalFunction {
  readonly #definition: FunctionDefinition;
  readonly #onLine: (line: string) => void;
  readonly #run: Promise<Handler>;
  calls = 0;

  constructor(definition: FunctionDefinition, settings: Record<string, string>, onLine: (line: string) => void) {
    this.#definition = definition;
    this.#onLine = onLine;
    this.#run = loading.then(() => this.#load());
    loading = this.#run;
    for (const [name, value] of Object.entries(settings).filter(([name]) => !IDENTITY.test(name))) {
      if ((environment[name] ?? value) !== value) throw new Error(`${name} differs from function to function.`);
      environment[name] = value;
    }
  }

  async invoke(event: unknown): Promise<unknown> {
    const { id, timeout } = this.#definition;
    const run = await this.#run;
    const deadline = Date.now() + timeout;
    const context = {
      awsRequestId: randomUUID(),
      functionName: id,
      getRemainingTimeInMillis: () => deadline - Date.now(),
    };
    this.calls += 1;
    try {
      const result = await lines.run(this.#onLine, () => run(JSON.parse(JSON.stringify(event)), context));
      return JSON.parse(JSON.stringify(result) ?? 'null');
    } finally {
      this.calls -= 1;
    }
  }

  async #load(): Promise<Handler> {
    const { id, folder, handler } = this.#definition;
    const [file, exported = ''] = handler.split('.');
    const functions: Record<string, Handler> = await import(pathToFileURL(join(folder, `${file}.mjs`)).href);
    const run = functions[exported];
    if (run === undefined) throw new Error(`${id} has no ${exported}.`);
    return run;
  }

  /** Returns false: a function has no process of its own that could be killed. */
  kill(): boolean {
    return false;
  }

  async close(): Promise<void> {}
}
