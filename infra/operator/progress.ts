/** How far long work has come: a bar on stderr, on a terminal only, and not beside JSON. */
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { count } from './output.ts';

/**
 * A bar that is not drawn yet.
 *
 * @param words - what stands beside the bar, in which `{value}`, `{total}`, `{eta_formatted}` and what `update` is given
 * have their values
 */
export const progressBar = (command: Command, words: string): Pick<SingleBar, 'start' | 'update' | 'stop'> => {
  if (command.optsWithGlobals<{ json?: boolean }>().json) return SILENT;
  return new SingleBar({
    format: `{bar} {percentage} %  ${words}`,
    formatValue: (value, _options, type) => (type === 'percentage' ? `${value}`.padStart(3) : count(value)),
    barsize: 30,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    etaBuffer: 500,
    // Ctrl-C leaves the terminal as it was.
    linewrap: true,
  });
};

const nothing = () => undefined;

const SILENT = { start: nothing, update: nothing, stop: nothing };
