/**
 * Reloads a running stack after changes of its sources: changed functions are bundled and replaced at once. If the template may
 * have changed, too, the stack is synthesised anew, which takes seconds.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StartError } from '../aws/start-error.ts';
import type { LocalStack } from '../local-stack.ts';
import { synthesise } from '../synthesise.ts';
import type { Changed, Effect } from './sources.ts';

/** The id of a function in the template, up to its hash. */
const idOf = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}Function`;

/**
 * Returns a function that reloads the stack.
 *
 * @param assembly - the folder of the stack's assembly
 * @param say - receives what was reloaded, or why not
 */
export const reloading = (
  stack: LocalStack,
  assembly: string,
  say: (line: string) => void,
): ((files: string[]) => Promise<void>) => {
  const open = () => {
    const worker = new Worker(new URL('./sources.ts', import.meta.url), { workerData: assembly });
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

  const replaceFunctions = async (functions: Effect['functions']): Promise<void> => {
    const ids = stack.functionIds();
    for (const { name, folder } of functions) {
      const id = ids.find((one) => one.replace(/[0-9A-F]{8}$/, '') === idOf(name));
      if (id !== undefined) await stack.replaceCode(id, folder);
    }
    const names = functions.map(({ name }) => name).join(', ');
    if (functions.length > 0) say(`reloaded ${functions.length > 3 ? `${functions.length} functions` : names}`);
  };

  const replaceStack = async (): Promise<void> => {
    try {
      await synthesise(assembly, 'mapped');
      await stack.load(assembly);
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
    await replaceFunctions(functions);
    if (isOfTemplate) await replaceStack();
  };
};
