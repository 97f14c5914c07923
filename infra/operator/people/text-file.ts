/** Text of files as people have them: in UTF-8 or UTF-16, from spreadsheets of any system, or from standard input. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { getSystemErrorMessage } from 'node:util';
import { UserError } from '../queries/accounts-admin.ts';

export interface TextFile {
  /** The lines, without the characters that end them. */
  lines: string[];
  /** Whether it begins with a byte order mark, by which spreadsheets recognise Unicode. */
  hasMark: boolean;
  /** The characters that end its lines. */
  lineEnd: '\r\n' | '\n' | '\r';
}

/**
 * Reads a file; `-` is standard input.
 *
 * @throws UserError — it cannot be read, or is no text
 */
export const readTextFile = async (path: string): Promise<TextFile> => {
  const name = path === '-' ? 'Standard input' : `The file ${path}`;
  try {
    return textFileOf(path === '-' ? await buffer(process.stdin) : await readFile(path), name);
  } catch (error) {
    if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') throw error;
    throw new UserError(`${name} cannot be read: ${getSystemErrorMessage(error.errno)}.`);
  }
};

/** How a workbook of Excel or LibreOffice begins: it is a ZIP file. */
const ZIP = 'PK\u0003\u0004';

/**
 * The text of bytes. Its encoding is that of the byte order mark; without one, UTF-8, or Windows-1252 if it is no UTF-8.
 *
 * @internal Tests use it, too.
 */
export const textFileOf = (bytes: Buffer, name: string): TextFile => {
  if (bytes.toString('latin1', 0, ZIP.length) === ZIP) {
    throw new UserError(`${name} is a workbook. Save it as "CSV UTF-8" in the spreadsheet.`);
  }
  const { text, hasMark } = decode(bytes);
  if (text.includes('\0')) throw new UserError(`${name} is no text. Save it as "CSV UTF-8" in the spreadsheet.`);
  const [lineEnd = '\n'] = /\r\n|\n|\r/.exec(text) ?? [];
  return { lines: text.split(/\r\n|\n|\r/), hasMark, lineEnd: lineEnd as TextFile['lineEnd'] };
};

/** Byte order marks (The Unicode Standard, section 23.8), with the names of the encodings in the Encoding Standard. */
const MARKS: [mark: string, encoding: string][] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

const decode = (bytes: Buffer): { text: string; hasMark: boolean } => {
  const beginning = bytes.toString('hex', 0, 3);
  const [, encoding] = MARKS.find(([mark]) => beginning.startsWith(mark)) ?? [];
  // The decoder removes the mark.
  if (encoding !== undefined) return { text: new TextDecoder(encoding).decode(bytes), hasMark: true };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), hasMark: false };
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), hasMark: false };
  }
};
