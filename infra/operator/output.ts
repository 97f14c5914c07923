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

/** Rows in aligned columns under their names. */
export const columns = (names: string[], rows: string[][]): string => {
  const cells = rows.map((row) => row.map(printable));
  const widths = names.map((name, place) => Math.max(...[name, ...cells.map((row) => row[place] ?? '')].map(width)));
  const line = (row: string[]) =>
    row
      .map((cell, place) => pad(cell, widths[place] ?? 0))
      .join('  ')
      .trimEnd();
  return [faint(line(names)), ...cells.map(line)].join('\n');
};

/** Named values, one a line. */
export const fields = (values: Record<string, string | undefined>): string => {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const widest = Math.max(...given.map(([name]) => width(name)));
  return given.map(([name, value]) => `${faint(pad(name, widest))}  ${printable(value)}`).join('\n');
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

/** Text that cannot disturb the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

const width = (text: string): number => [...text].length;

const pad = (text: string, wide: number): string => text + ' '.repeat(Math.max(0, wide - width(text)));
