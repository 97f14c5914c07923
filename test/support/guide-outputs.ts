/**
 * The outputs of commands in guides. A guide has blocks of the language `console`, as in a terminal:
 *
 *     $ npm run operator -- trigger user-writes
 *     message.received 0199a3f2-…: accepted with 204.
 *
 * `withOutputs` runs the commands of a guide in one shell, in order, and replaces the lines below each by its output,
 * stderr included. A comment `<!-- $ COMMAND -->` on a line of its own runs a command that readers do not see, for example
 * one that waits. What differs from run to run is replaced:
 *
 * - ids: by numbered ones, in the order in which they appear on the page,
 * - times, durations and secrets: by the same ones everywhere,
 * - URLs of the stack: by those of `npm start`.
 *
 * Lines of one output that only come in another order keep the order of the guide: functions run at the same time. After a
 * line `<!-- ± 15 % -->`, numbers of the next output may differ by so much from those of the guide.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

interface Command {
  /** The command as the guide shows it, and where its output begins and ends, in lines. */
  command: string;
  from: number;
  to: number;
  /** Whether readers see it and its output. */
  shown: boolean;
  /** By which share the numbers of its output may differ. */
  tolerance: number;
}

const TOLERANCE = /^<!-- ± (\d+) % -->$/;
const HIDDEN = /^<!-- \$ (.+) -->$/;
const PROMPT = '$ ';

/** The commands of a guide, in order. */
const commandsIn = (lines: readonly string[]): Command[] => {
  const commands: Command[] = [];
  let isConsole = false;
  let tolerance = 0;
  for (const [place, line] of lines.entries()) {
    const [, hidden] = HIDDEN.exec(line) ?? [];
    const last = commands.at(-1);
    const [, percent] = TOLERANCE.exec(line) ?? [];
    if (percent !== undefined) tolerance = Number(percent) / 100;
    if (line.startsWith('```')) isConsole = line === '```console';
    else if (isConsole && line.startsWith(PROMPT)) {
      const command = line.slice(PROMPT.length);
      commands.push({ command, from: place + 1, to: place + 1, shown: true, tolerance });
      tolerance = 0;
    } else if (isConsole && last) last.to = place + 1;
    else if (hidden !== undefined)
      commands.push({ command: hidden, from: place, to: place, shown: false, tolerance: 0 });
  }
  return commands;
};

/** Precede the exit code of a command, and the output of the next one. No command prints them. */
const [CODE, SEPARATOR] = ['\u0002', '\u0001'];

interface Shell {
  env: NodeJS.ProcessEnv;
  /** URLs and other texts of the stack of the test, with those that the guide shows in commands and outputs. */
  replacements: Record<string, string>;
}

/** `npm run operator -- …` and `npm run stack -- …` without npm's own lines, and with the sources of this folder. */
const NPM = `npm() {
  while [ "$1" != -- ]; do script=$1; shift; done; shift
  case $script in
    operator) '${process.execPath}' infra/operator/main.ts "$@" ;;
    stack) '${process.execPath}' infra/local/clock/command.ts "$@" ;;
    rehearse) '${process.execPath}' test/rehearse/main.ts "$@" ;;
  esac
}`;

/** Milliseconds after which the commands of a guide have failed: one of them waits in vain. */
const TIMEOUT = 500_000;

/** How a command of a guide ended. */
interface Ended {
  output: string;
  code: number;
}

/** Runs commands in one shell. */
const run = async (commands: string[], env: NodeJS.ProcessEnv): Promise<Ended[]> => {
  const ends = commands.map((command) => `${command}\nprintf '${CODE}%s${SEPARATOR}' "$?"`);
  const script = ['exec 2>&1', NPM, ...ends].join('\n');
  const shell = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'], timeout: TIMEOUT });
  const parts = (await text(shell.stdout)).split(SEPARATOR).slice(0, -1);
  return parts.map((part) => {
    const [output = '', code] = part.split(CODE);
    return { output, code: Number(code) };
  });
};

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** Times, durations and sizes of what contains them, with what replaces them. */
const VARYING: [pattern: RegExp, replacement: string][] = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '2027-01-31T12:00:00.000Z'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\b/g, '2027-01-31T12:00:00.000000'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '2027-01-31T12:00:00Z'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, '2027-01-31 12:00:00'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d\b/g, '2027-01-31 12:00'],
  [/\bwhsec_[\w+/=]+/g, 'whsec_…'],
  [/(?<event>[0-9a-f-]{36})-(?<attempt>\d\d)[0-9a-f]{12}\b/g, '$<event>-$<attempt>0199a3f27c4e'],
  [/\bRESULT +MS\b/g, 'RESULT  MS'],
  [/ (?<status>[2-5]\d\d) +\d+(?=$| +2027-)/gm, ' $<status>     20'],
  // The clock is ahead by the given duration, less the time that it took.
  [/\b\d+ min ahead\b/g, '30 min ahead'],
  [/\bdue at \d+ times and took [\d.]+ s\b/g, 'due at 30 times and took 1.0 s'],
  [/\b\d\d:\d\d:\d\d\.\d{3}\b/g, '12:00:00.000'],
  [/\b1[789]\d{11}\b/g, '1801396800000'],
  [/\b\d+ ms\b/g, '20 ms'],
  [/((?:\b|_)ms"?[=:]"?)\d+/g, '$120'],
];

/** Replaces what differs from run to run. `ids` has the numbers of the ids so far. */
const normalised = (output: string, replacements: Record<string, string>, ids: Map<string, string>): string => {
  let found = output;
  for (const [pattern, replacement] of VARYING) found = found.replaceAll(pattern, replacement);
  for (const [one, other] of Object.entries(replacements)) found = found.replaceAll(one, other);
  return found.replaceAll(UUID, (id) => {
    const number = String(ids.size + 1).padStart(12, '0');
    const kept = ids.get(id) ?? `0199a3f2-7c4e-7d10-8000-${number}`;
    ids.set(id, kept);
    return kept;
  });
};

/** The same lines in the order of the guide, if only their order differs. */
const inOrderOf = (before: string[], after: string[]): string[] =>
  before.toSorted().join('\n') === after.toSorted().join('\n') ? before : after;

const NUMBER = /\d+(?:[.,]\d+)*/g;

const numbersIn = (line: string): number[] =>
  (line.match(NUMBER) ?? []).map((number) => Number(number.replaceAll(',', '')));

/** Whether two lines differ only in numbers, and these by at most a share of the larger one. */
const isLike = (one: string, other: string, tolerance: number): boolean => {
  const form = (line: string): string => line.replaceAll(NUMBER, '0').replaceAll(/ +/g, ' ');
  const [before, after] = [numbersIn(one), numbersIn(other)];
  return (
    form(one) === form(other) &&
    before.every((number, place) => {
      const found = after[place] ?? Number.NaN;
      return Math.abs(number - found) <= tolerance * Math.max(number, found);
    })
  );
};

/** The lines of the guide where the new ones differ from them only by as much as they may. */
const withinTolerance = (before: string[], after: string[], tolerance: number): string[] =>
  after.map((line, place) => {
    const known = before[place];
    return known !== undefined && isLike(known, line, tolerance) ? known : line;
  });

/** The guide with the outputs of its commands; and what each command printed, and its exit code. */
export const withOutputs = async (
  markdown: string,
  { env, replacements }: Shell,
): Promise<{ guide: string; ended: Ended[] }> => {
  const lines = markdown.split('\n');
  const commands = commandsIn(lines);
  const ended = await run(
    commands.map(({ command }) =>
      Object.entries(replacements).reduce((text, [one, shown]) => text.replaceAll(shown, one), command),
    ),
    env,
  );
  const ids = new Map<string, string>();
  const written = [...lines];
  const changes = commands.map(({ command, from, to, shown, tolerance }, place) => {
    const output = ended[place]?.output;
    if (output === undefined) throw new Error(`This command of the guide did not end: ${command}`);
    const printed = normalised(output, replacements, ids).trimEnd();
    const found = printed === '' ? [] : printed.split('\n').map((line) => line.trimEnd());
    return {
      from,
      to,
      shown,
      printed: tolerance === 0 ? found : withinTolerance(lines.slice(from, to), found, tolerance),
    };
  });
  // From the end, so that the places of earlier commands stay.
  for (const { from, to, shown, printed } of changes.reverse()) {
    if (shown) written.splice(from, to - from, ...inOrderOf(lines.slice(from, to), printed));
  }
  return { guide: written.join('\n'), ended };
};
