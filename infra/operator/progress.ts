/** The progress of long commands: a bar on stderr, only on a terminal, and not with `--json`. */
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { count } from './output.ts';

/**
 * A progress bar. It is drawn from `start` on.
 *
 * @param words - the text beside the bar, with placeholders: `{value}`, `{total}`, `{eta_formatted}`, and the names
 * that `update` passes
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
    // Without this, Ctrl-C would leave the terminal without line wrap.
    linewrap: true,
  });
};

const nothing = () => undefined;

const SILENT = { start: nothing, update: nothing, stop: nothing };
