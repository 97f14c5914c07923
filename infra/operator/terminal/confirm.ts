/** Questions before a command removes, stops or replaces something. */
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { noteQuestion } from '../history/record.ts';
import { Interrupted } from './exit-codes.ts';

/** Nobody confirmed a change. Nothing was changed. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed';
}

/**
 * Asks whether to go on, unless the command line has `--yes`.
 *
 * @param consequence - what the command is about to do, in sentences
 * @throws NotConfirmed — the answer is not yes, or there is no terminal to ask on
 * @throws Interrupted — Ctrl-C
 */
export const confirm = async (command: Command, consequence: string): Promise<void> => {
  noteQuestion(consequence);
  if (isConfirmed(command, consequence)) return;
  const answer = await ask(`${consequence}\nContinue? [y/N] `);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new NotConfirmed('Nothing was changed.');
};

/**
 * Asks for a name, before what cannot be undone at all, unless the command line has `--yes`.
 *
 * @throws NotConfirmed — another name, or there is no terminal to ask on
 * @throws Interrupted — Ctrl-C
 */
export const confirmByName = async (command: Command, consequence: string, name: string): Promise<void> => {
  noteQuestion(consequence);
  if (isConfirmed(command, consequence)) return;
  const answer = await ask(`${consequence}\nEnter ${name} to continue: `);
  if (answer.trim() !== name) throw new NotConfirmed(`Nothing was changed: "${answer.trim()}" is not "${name}".`);
};

/** Whether the command line confirms a change. @throws NotConfirmed — it does not, and there is no terminal to ask on */
const isConfirmed = (command: Command, consequence: string): boolean => {
  if (command.optsWithGlobals<{ yes?: true }>().yes) return true;
  if (isTerminal()) return false;
  throw new NotConfirmed(
    `Nothing was changed. ${consequence} There is no terminal to ask on: add --yes to confirm this.`,
  );
};

const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks on stderr, so that stdout contains only the result. The end of the input (Ctrl-D) is an empty answer. */
const ask = (question: string): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.once('SIGINT', () => {
    process.stderr.write('\n');
    reject(new Interrupted('Interrupted. Nothing was changed.'));
    lines.close();
  });
  lines.once('close', () => resolve(''));
  lines.question(question, (answer) => {
    resolve(answer);
    lines.close();
  });
  return promise;
};
