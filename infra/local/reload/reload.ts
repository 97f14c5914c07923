/**
 * Reloads a running stack after changes of its sources: changed functions are bundled and replaced at once. If the template may
 * have changed, too, the stack is synthesised again, which takes seconds.
 */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { StartError } from '../aws/start-error.ts';
import { ownPath, release } from '../kept-assemblies.ts';
import type { LocalStack } from '../local-stack.ts';
import { synthesise } from '../synthesise.ts';
import type { Changed, Effect, SourcesOptions } from './sources.ts';

/** The id of a function in the template, up to its hash. */
const idOf = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}Function`;

/**
 * Returns a function that reloads the stack.
 *
 * @param served - the folder of the stack's assembly
 * @param say - receives what was reloaded, or why not
 */
export const reloading = (
  stack: LocalStack,
  served: string,
  say: (line: string) => void,
): ((files: string[]) => Promise<void>) => {
  let assembly = served;
  /** Replaced code remains for calls in progress until the stack is replaced once more. */
  let round = 0;
  const replacedIn = (count: number): string => ownPath(`replaced-${count}`);

  const open = () => {
    const workerData: SourcesOptions = { assembly, replaced: replacedIn(round) };
    const worker = new Worker(new URL('./sources.ts', import.meta.url), { workerData });
    // It cannot load the bundler, of which a source has changed again: the next change is one of the template.
    worker.once('error', () => {
      if (sources === worker) sources = undefined;
    });
    return worker;
  };
  let sources: Worker | undefined = open();

  const effectOf = async (files: string[]): Promise<Effect> => {
    const unknown: Effect = { functions: [], isOfTemplate: true };
    if (sources === undefined) return unknown;
    sources.postMessage({ files } satisfies Changed);
    return once(sources, 'message').then(
      ([effect]) => effect as Effect,
      () => unknown,
    );
  };

  const replaceFunctions = (functions: Effect['functions']): void => {
    const ids = stack.functionIds();
    const names: string[] = [];
    for (const { name, folder } of functions) {
      const id = ids.find((one) => one.replace(/[0-9A-F]{8}$/, '') === idOf(name));
      // A new function comes with the template.
      if (id === undefined) continue;
      stack.replaceCode(id, folder);
      names.push(name);
    }
    if (names.length > 0) say(`reloaded ${names.length > 3 ? `${names.length} functions` : names.join(', ')}`);
  };

  /** Whether the last synthesis failed: a change of any file may have repaired it. */
  let isOutdated = false;

  const replaceStack = async (): Promise<void> => {
    isOutdated = true;
    try {
      const next = await synthesise('split');
      await stack.load(next);
      isOutdated = false;
      if (next !== assembly) release(assembly);
      assembly = next;
      await rm(replacedIn(round - 1), { recursive: true, force: true });
      round += 1;
      say('reloaded');
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      say(error.message);
      return;
    }
    await sources?.terminate();
    sources = open();
  };

  return async (files) => {
    const { functions, isOfTemplate, error } = await effectOf(files);
    if (error !== undefined) say(`The functions cannot be bundled:\n${error}`);
    replaceFunctions(functions);
    if (isOfTemplate || isOutdated) await replaceStack();
  };
};
