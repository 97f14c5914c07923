/** A function of the local stack that runs in this very process, where a mutant is active or coverage is taken. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalFunction } from '../../infra/local/aws/lambda/lambda-pool.ts';
import type { FunctionDefinition } from '../../infra/local/aws/template/definitions.ts';

type Handler = (event: unknown, context: object) => Promise<unknown>;

/** Takes the log lines of the function that runs. */
const lines = new AsyncLocalStorage<(line: string) => void>();

/** Settings in which functions differ: who they are. Here, all are the operator. */
const OWN = /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|LAMBDA_FUNCTION_NAME)$/;

/** What the functions find in their environment, all of them together. */
export const environment: Record<string, string> = {};

const write = process.stdout.write.bind(process.stdout);

/** A function writes lines; where nobody takes them, they are a test's. */
process.stdout.write = ((text: string | Uint8Array, ...rest: []) => {
  const take = lines.getStore();
  if (take === undefined) return write(text, ...rest);
  for (const line of String(text).split('\n').filter(Boolean)) take(line);
  return true;
}) as typeof process.stdout.write;

/**
 * All functions that have been loaded so far, one after the other: modules that import each other wait for each other
 * without end where two of them are loaded at the same time.
 */
let loading: Promise<unknown> = Promise.resolve();

/** Waits until all functions are loaded. */
export const loaded = (): Promise<unknown> => loading;

export class FunctionHere implements LocalFunction {
  readonly #definition: FunctionDefinition;
  readonly #onLine: (line: string) => void;
  readonly #run: Promise<Handler>;

  constructor(definition: FunctionDefinition, settings: Record<string, string>, onLine: (line: string) => void) {
    this.#definition = definition;
    this.#onLine = onLine;
    this.#run = loading.then(() => this.#load());
    loading = this.#run;
    for (const [name, value] of Object.entries(settings).filter(([name]) => !OWN.test(name))) {
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
    const result = await lines.run(this.#onLine, () => run(JSON.parse(JSON.stringify(event)), context));
    return JSON.parse(JSON.stringify(result) ?? 'null');
  }

  async #load(): Promise<Handler> {
    const { id, folder, handler } = this.#definition;
    const [file, exported = ''] = handler.split('.');
    const functions: Record<string, Handler> = await import(pathToFileURL(join(folder, `${file}.mjs`)).href);
    const run = functions[exported];
    if (run === undefined) throw new Error(`${id} has no ${exported}.`);
    return run;
  }

  /** Nothing can be ended alone here. */
  kill(): boolean {
    return false;
  }

  async close(): Promise<void> {}
}
