/** The command's output: the result on stdout, as text or JSON; everything else on stderr. */
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { layoutOf, terminalWidth, width, wrap } from './terminal/table.ts';
import { timeInWords } from './terminal/times.ts';

/** Prints the result of a command: text, or with `--json` one JSON document. */
export const printResult = (command: Command, document: unknown, words: string): void => {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  process.stdout.write(`${json ? JSON.stringify(document, null, 2) : words}\n`);
};

/** Prints a line on stderr. */
export const printNote = (words: string): void => void process.stderr.write(`${words}\n`);

/** Prints an error on stderr. */
export const printError = (words: string): void =>
  printNote(`${styleText('red', 'error:', { stream: process.stderr })} ${words}`);

/** Prints an error of Commander on stderr, in the words of the commands. */
export const printUsageError = (text: string): void =>
  printError(
    text
      .replace(/^error: /, '')
      .replace(/^command-argument value '(.*)' is invalid for argument '(.*?)'\./s, "'$1' is no valid $2.")
      .trimEnd(),
  );

/** Bold on a terminal, plain elsewhere. */
export const strong = (text: string): string => styleText('bold', text);

/** Dim on a terminal, plain elsewhere. */
const faint = (text: string): string => styleText('dim', text);

/** A table's cell: text, with an optional colour for terminals. */
export type Cell = string | { text: string; colour: Colour };

type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim';

/** A table's cell in a colour. */
export const tinted = (colour: Colour, text: string): Cell => ({ text, colour });

/**
 * A table with aligned columns. If it is wider than the terminal, cells with several words are wrapped; if that is not
 * enough, each row is a list.
 *
 * @param counts - names of the columns with numbers, which are aligned to the right
 */
export const columns = <Name extends string>(names: Name[], rows: Cell[][], counts: NoInfer<Name>[] = []): string => {
  const layout = layoutOf([names, ...rows.map((row) => row.map((cell) => printable(textOf(cell))))], terminalWidth());
  if (layout === 'lists') return rows.map((row) => fields(Object.fromEntries(pairs(names, row)))).join('\n\n');
  const { widths } = layout;
  const line = (row: Cell[]) =>
    row
      .map((cell, index) => {
        const blank = ' '.repeat((widths[index] ?? 0) - width(printable(textOf(cell))));
        const name = names[index];
        return name !== undefined && counts.includes(name) ? blank + shown(cell) : shown(cell) + blank;
      })
      .join('  ')
      .trimEnd();
  const lines = (row: Cell[]): string => {
    const wrapped = row.map((cell, index) => wrap(printable(textOf(cell)), widths[index] ?? 0));
    const height = Math.max(1, ...wrapped.map(({ length }) => length));
    const parts = Array.from({ length: height }, (_, part) =>
      row.map((cell, index): Cell => {
        const text = wrapped[index]?.[part] ?? '';
        return typeof cell === 'string' ? text : { ...cell, text };
      }),
    );
    return parts.map(line).join('\n');
  };
  return [faint(lines(names)), ...rows.map(lines)].join('\n');
};

/** The cells of a row with the names of their columns. Empty ones are left out. */
const pairs = (names: string[], row: Cell[]): [string, Cell][] =>
  names.flatMap((name, index): [string, Cell][] => {
    const cell = row[index] ?? '';
    return textOf(cell) === '' ? [] : [[name, cell]];
  });

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

/** A cell's text, in its colour on a terminal. */
export const shown = (cell: Cell): string => {
  const text = printable(textOf(cell));
  return typeof cell === 'string' || text === '' ? text : styleText(cell.colour, text);
};

/** Names and values, one pair per line. Undefined values are left out. */
export const fields = (values: Record<string, Cell | undefined>): string => {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const widest = Math.max(...given.map(([name]) => width(name)));
  return given.map(([name, value]) => `${faint(pad(name, widest))}  ${shown(value)}`).join('\n');
};

/** The UTC day of an ISO time: `2027-01-31`. */
export const day = (time: string): string => time.slice(0, 10);

/** The day of an ISO time, as the terminal shows it: in the zone of the machine, or in UTC with `--utc`. */
export const shownDay = (time: string): string => timeInWords(time, 'day');

/** An ISO time to the minute: `2027-01-31 14:00 +02:00`, or `2027-01-31 12:00 UTC`. */
export const minute = (time: string): string => timeInWords(time, 'minute');

/** An ISO time to the second. */
export const second = (time: string): string => timeInWords(time, 'second');

/** When an attempt is due; without a time, now. */
export const due = (time: string | undefined): string => (time === undefined ? 'now' : minute(time));

/**
 * A masked phone number: `2782…4567`. It distinguishes users without identifying them: at least three digits are
 * hidden.
 */
export const masked = (phone: string): string =>
  `${phone.slice(0, Math.min(4, Math.max(0, phone.length - 7)))}…${phone.slice(-4)}`;

/** A number with separators: `1,234`. */
export const count = (number: number): string => number.toLocaleString('en');

/** A part as a percentage, rounded down: `100 %` only if all, `<1 %` if less than one but more than none. */
export const share = (part: number, whole: number): string => {
  if (whole === 0) return '';
  const percent = Math.floor((part / whole) * 100);
  return `${percent === 0 && part > 0 ? '<1' : percent} %`;
};

/** Last blocks of a bar, by eighths of a character. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a value: `max` has `wide` characters, and every value above 0 at least one eighth. */
export const bar = (value: number, max: number, wide: number): string => {
  if (value <= 0) return '';
  const eighths = Math.max(1, Math.round((value / max) * wide * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
};

/** Text without control characters, which could change the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

const pad = (text: string, wide: number): string => text + ' '.repeat(Math.max(0, wide - width(text)));
