/** What the command says: answers on stdout, in words or as JSON; everything else on stderr. */
import { styleText } from 'node:util';
import type { Command } from 'commander';

/** Prints what a command found or did: one JSON document for programs (`--json`), words for people. */
export const answer = (command: Command, document: unknown, words: string): void => {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  process.stdout.write(`${json ? JSON.stringify(document, null, 2) : words}\n`);
};

/** Says something beside the answer. */
export const note = (words: string): void => void process.stderr.write(`${words}\n`);

/** Says what went wrong. */
export const complain = (words: string): void =>
  note(`${styleText('red', 'error:', { stream: process.stderr })} ${words}`);

/** Bold on a terminal, plain elsewhere. */
export const strong = (text: string): string => styleText('bold', text);

/** Less important on a terminal. */
const faint = (text: string): string => styleText('dim', text);

/** A table's cell: text, perhaps in a colour on a terminal. */
export type Cell = string | { text: string; colour: Colour };

type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim';

/** Text in a colour on a terminal, to be put into a table. */
export const tinted = (colour: Colour, text: string): Cell => ({ text, colour });

/**
 * Rows in aligned columns under their names.
 *
 * @param counts - names of columns of numbers, which end where their numbers end
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

/** Named values, one a line. */
export const fields = (values: Record<string, Cell | undefined>): string => {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const widest = Math.max(...given.map(([name]) => width(name)));
  return given.map(([name, value]) => `${faint(pad(name, widest))}  ${shown(value)}`).join('\n');
};

/** A day as people read it, in UTC. */
export const day = (time: string): string => time.slice(0, 10);

/** A time as people read it, to the minute, in UTC. */
export const minute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** A time as people read it, to the second, in UTC. */
export const second = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** When something is due that may be due already, where no time is given. */
export const due = (time: string | undefined): string => (time === undefined ? 'now' : minute(time));

/** A phone number that tells users apart, but not who they are: `2782…4567`. At least three digits are left out. */
export const masked = (phone: string): string =>
  `${phone.slice(0, Math.min(4, Math.max(0, phone.length - 7)))}…${phone.slice(-4)}`;

/** A count as people read it. */
export const count = (number: number): string => number.toLocaleString('en');

/** How much of a whole it is, in words: never `100 %` of what is not whole, nor `0 %` of what is there. */
export const share = (part: number, whole: number): string => {
  if (whole === 0) return '';
  const percent = Math.floor((part / whole) * 100);
  return `${percent === 0 && part > 0 ? '<1' : percent} %`;
};

/** The widths of the last block of a bar, in eighths of a character. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar as long as its part of the most, which has `wide` characters; what is there at all can be seen. */
export const bar = (value: number, most: number, wide: number): string => {
  if (value <= 0) return '';
  const eighths = Math.max(1, Math.round((value / most) * wide * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
};

/** Text that cannot disturb the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

const width = (text: string): number => [...text].length;

const pad = (text: string, wide: number): string => text + ' '.repeat(Math.max(0, wide - width(text)));
