/** `operator completion`: scripts with which shells complete the commands, made from the definition of the program. */
import { fileURLToPath } from 'node:url';
import { Argument, type Command, type Option } from 'commander';
import { examples } from '../usage.ts';

/** The name of the command that the scripts define: `npm run operator --` cannot be completed. */
const NAME = 'business-api';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A command, and what may follow it. */
interface Place {
  /** The names of the command and its parents: `account update`. */
  path: string;
  /** Its subcommands and options. */
  words: string[];
  /** The values of its options that take one. `undefined`: any. */
  values: { option: string; choices: string[] | undefined }[];
  /** Whether its arguments are files. */
  takesFiles: boolean;
}

const placesOf = (command: Command, path: string[], inherited: Option[]): Place[] => {
  const options = [...command.options, ...inherited].filter(({ hidden }) => !hidden);
  const names = options.flatMap(({ long }) => long ?? []);
  const place = {
    path: path.join(' '),
    words: [...command.commands.map((each) => each.name()), ...names, '--help'],
    values: options.flatMap(({ long, required, optional, argChoices }) =>
      long && (required || optional) ? [{ option: long, choices: argChoices }] : [],
    ),
    takesFiles: command.registeredArguments.some((argument) => argument.name().includes('file')),
  };
  const below = command.commands.flatMap((each) =>
    placesOf(each, [...path, each.name()], [...command.options, ...inherited]),
  );
  return [place, ...below];
};

const quoted = (words: string[]): string => `'${words.join(' ')}'`;

/** The program, with the Node.js of its packages if they have one. */
const START = `"$([ -x '${root}node_modules/.bin/node' ] && echo '${root}node_modules/.bin/node' || echo node)" '${root}infra/operator/main.ts'`;

const bash = (places: Place[]): string => `# Completion of ${NAME} for bash.
${NAME}() { ${START} "$@"; }
_business_api() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${patternsOf(places)}) at="$at $word" ;;
    esac
  done
  COMPREPLY=()
  case "$at $prev" in
${valueCases(places, (choices) => (choices ? `mapfile -t COMPREPLY < <(compgen -W ${quoted(choices)} -- "$cur"); return` : `mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return`))}
  esac
  case "$at" in
${wordCases(places, (words) => `mapfile -t COMPREPLY < <(compgen -W ${quoted(words)} -- "$cur")`, `mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")`)}
  esac
}
complete -F _business_api ${NAME}
`;

const zsh = (places: Place[]): string => `# Completion of ${NAME} for zsh, after compinit.
${NAME}() { ${START} "$@" }
_business_api() {
  local at='' word prev="\${words[CURRENT-1]}"
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${patternsOf(places)}) at="$at $word" ;;
    esac
  done
  case "$at $prev" in
${valueCases(places, (choices) => (choices ? `compadd -- ${choices.join(' ')}; return` : '_files; return'))}
  esac
  case "$at" in
${wordCases(places, (words) => `compadd -- ${words.join(' ')}`, '_files')}
  esac
}
compdef _business_api ${NAME}
`;

const fish = (places: Place[]): string => `# Completion of ${NAME} for fish.
function ${NAME}; ${START.replace('"$(', '(').replace(')" ', ') ')} $argv; end
function __business_api_is
  set -l at
  for word in (commandline -opc)[2..]
    contains -- (string join ' ' $at $word) ${places.flatMap(({ path }) => (path ? [`'${path}'`] : [])).join(' ')}; and set -a at $word
  end
  test (string join ' ' $at) = "$argv"
end
complete -c ${NAME} -f
${places.map(fishLines).join('\n')}
`;

const fishLines = ({ path, words, values, takesFiles }: Place): string => {
  const at = `complete -c ${NAME} -n "__business_api_is ${path}"`;
  const commands = words.filter((word) => !word.startsWith('--'));
  const options = words.filter((word) => word.startsWith('--'));
  return [
    ...(commands.length > 0 ? [`${at} -a ${quoted(commands)}`] : []),
    ...options.map((option) => {
      const value = values.find((each) => each.option === option);
      const choices = value?.choices ? ` -x -a ${quoted(value.choices)}` : '';
      return `${at} -l ${option.slice(2)}${value === undefined ? '' : choices || ' -r -F'}`;
    }),
    ...(takesFiles ? [`${at} -F`] : []),
  ].join('\n');
};

const patternsOf = (places: Place[]): string =>
  places.flatMap(({ path }) => (path === '' ? [] : [`' ${path}'`])).join('|');

/** Cases for the word after an option that takes a value. */
const valueCases = (places: Place[], complete: (choices: string[] | undefined) => string): string =>
  places
    .flatMap(({ path, values }) =>
      values.map(({ option, choices }) => `    '${path && ` ${path}`} ${option}') ${complete(choices)} ;;`),
    )
    .join('\n');

const wordCases = (places: Place[], complete: (words: string[]) => string, files: string): string =>
  places
    .map(
      ({ path, words, takesFiles }) =>
        `    '${path && ` ${path}`}') ${complete(words)}${takesFiles ? `; ${files}` : ''} ;;`,
    )
    .join('\n');

const SHELLS = { bash, zsh, fish };

type Shell = keyof typeof SHELLS;

export const addCompletionCommand = (program: Command): void => {
  program
    .command('completion')
    .description(
      `Prints a script for a shell. It defines the command ${NAME}, which is "npm run operator --" for any folder, and completes its subcommands, options and values.

bash: eval "$(npm run --silent operator -- completion bash)" in ~/.bashrc. zsh: the same in ~/.zshrc, after compinit. fish: npm run --silent operator -- completion fish | source`,
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', examples('completion bash'))
    .action((shell: Shell) => void process.stdout.write(SHELLS[shell](placesOf(program, [], []))));
};
