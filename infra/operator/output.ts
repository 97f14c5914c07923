/** The command's output: the result on stdout, as text or JSON; everything else on stderr. */
import { styleText } from 'node:util';
import type { Command } from 'commander';

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
 * A table with aligned columns.
 *
 * @param counts - names of the columns with numbers, which are aligned to the right
 */
export const columns = <Name extends string>(names: Name[], rows: Cell[][], counts: NoInfer<Name>[] = []): string => {
  const widths = names.map((name, place) =>
    Math.max(width(name), ...rows.map((row) => width(printable(textOf(row[place] ?? ''))))),
  );
  const line = (row: Cell[]) =>
    row
      .map((cell, place) => {
        const blank = ' '.repeat((widths[place] ?? 0) - width(printable(textOf(cell))));
        const name = names[place];
        return name !== undefined && counts.includes(name) ? blank + shown(cell) : shown(cell) + blank;
      })
      .join('  ')
      .trimEnd();
  return [faint(line(names)), ...rows.map(line)].join('\n');
};

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

const shown = (cell: Cell): string => {
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

/** An ISO time to the minute: `2027-01-31 12:00 UTC`. */
export const minute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** An ISO time to the second: `2027-01-31 12:00:00 UTC`. */
export const second = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

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

/** A bar for a value: `most` has `wide` characters, and every value above 0 at least one eighth. */
export const bar = (value: number, most: number, wide: number): string => {
  if (value <= 0) return '';
  const eighths = Math.max(1, Math.round((value / most) * wide * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
};

/** Text without control characters, which could change the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

const width = (text: string): number => [...text].length;

const pad = (text: string, wide: number): string => text + ' '.repeat(Math.max(0, wide - width(text)));
