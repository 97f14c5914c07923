/** The operator's commands as a section of their guide, from their own help. */
import type { Command } from 'commander';

/** The heading of the section. */
export const COMMANDS = 'Commands';

interface Line {
  /** The words of a command with its arguments: `account show <account>`. */
  words: string;
  purpose: string;
}

/** A command's line, or those of its subcommands. */
const linesOf = (command: Command, above: string[] = []): Line[] => {
  const path = [...above, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap((below) => linesOf(below, path));
  const values = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));
  const [purpose = ''] = command.description().split(/(?<=\.)\s|\n/);
  return [{ words: [...path, ...values].join(' '), purpose }];
};

/** Text of the help, in which Markdown must find no signs of its own. */
const literal = (text: string): string => text.replaceAll(/[|<*_`[\]\\]/g, String.raw`\$&`);

const tableOf = (commands: readonly Command[]): string =>
  [
    '| command | what it does |',
    '| --- | --- |',
    ...commands
      .flatMap((command) => linesOf(command))
      .map(({ words, purpose }) => `| \`${words}\` | ${literal(purpose)} |`),
  ].join('\n');

/** All commands in Markdown, each with the first sentence of its help: by groups, and at last those without a group. */
export const commandsSection = ({ commands }: Command): string => {
  const isGroup = (command: Command) => command.commands.length > 0;
  return [
    `## ${COMMANDS}`,
    'Write `npm run operator --` before each of them. `--help` after it shows its options, with examples.',
    ...commands
      .filter(isGroup)
      .map((group) => `### ${group.name()}\n\n${literal(group.description())}\n\n${tableOf([group])}`),
    `### Others\n\n${tableOf(commands.filter((command) => !isGroup(command)))}`,
  ].join('\n\n');
};
