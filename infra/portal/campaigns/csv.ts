/** Tables in text files: what spreadsheets save as CSV. */

interface Row {
  /** The first line of the row in the file, from 1 on. */
  line: number;
  cells: string[];
}

export interface Table {
  /** Without rows whose cells are all empty. */
  rows: Row[];
}

/** Why a file is no table. */
export type FileFault = 'workbook' | 'binary' | 'empty' | 'quote';

export type ParsedTable = Table | { fault: FileFault; line?: number };

const SEPARATORS = [',', ';', '\t', '|'] as const;

/** Rows by which the separator is found. */
const SAMPLE = 50;

/**
 * The text of a file: UTF-8, UTF-16 with its mark, or Windows-1252, in which Excel saves CSV by default.
 *
 * @returns the text, or why the file is none
 */
export const decode = (bytes: Uint8Array): string | { fault: FileFault } => {
  const [first, second, third, fourth] = bytes;
  if (first === 0x50 && second === 0x4b && third === 3 && fourth === 4) return { fault: 'workbook' };
  // The older workbook of Excel.
  if (first === 0xd0 && second === 0xcf && third === 0x11) return { fault: 'workbook' };
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.includes(0) || (first === 0x25 && second === 0x50)) return { fault: 'binary' };
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
};

/** A table in a text: cells separated by comma, semicolon, tab or bar, which may be in quotes (RFC 4180). */
export const parseTable = (text: string): ParsedTable => {
  const [, named, rest = text] = /^\ufeff?(?:"?sep=(.)"?(?:\r\n|\r|\n))([\s\S]*)$/i.exec(text) ?? [];
  const body = rest.replace(/^\ufeff/, '');
  const { rows, unclosed } = rowsOf(body, named ?? separatorOf(body));
  if (unclosed !== undefined) return { fault: 'quote', line: unclosed };
  const shift = named === undefined ? 0 : 1;
  const filled = rows
    .map(({ line, cells }) => ({ line: line + shift, cells: cells.map((cell) => cell.trim()) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  return filled.length === 0 ? { fault: 'empty' } : { rows: filled };
};

/** The separator that divides the first rows most evenly, and then into most cells. */
const separatorOf = (text: string): string => {
  const scores = SEPARATORS.map((separator) => {
    const { rows } = rowsOf(text, separator, SAMPLE);
    const width = rows[0]?.cells.length ?? 0;
    const even = rows.filter(({ cells }) => cells.length === width).length;
    return { separator, score: width < 2 ? 0 : even / rows.length + Math.min(width, 100) / 1_000 };
  });
  return scores.reduce((best, other) => (other.score > best.score ? other : best)).separator;
};

/**
 * The rows of a text, at most `max`.
 *
 * @returns also the line of a quotation mark that does not end
 */
const rowsOf = (
  text: string,
  separator: string,
  max = Number.POSITIVE_INFINITY,
): { rows: Row[]; unclosed: number | undefined } => {
  const rows: Row[] = [];
  let row: Row = { line: 1, cells: [] };
  let [cell, at, line] = ['', 0, 1];
  let unclosed: number | undefined;
  const endRow = (): void => {
    rows.push({ ...row, cells: [...row.cells, cell] });
    cell = '';
    row = { line, cells: [] };
  };
  while (at < text.length && rows.length < max) {
    const character = text[at] ?? '';
    if (character === '"' && cell.trim() === '') {
      const opened = line;
      const { value, end } = quoted(text, at + 1);
      line += value.split(/\r\n|\r|\n/).length - 1;
      cell = value;
      if (end === undefined) {
        unclosed = opened;
        break;
      }
      at = end;
    } else if (character === separator) {
      row.cells.push(cell);
      cell = '';
      at += 1;
    } else if (character === '\n' || character === '\r') {
      at += character === '\r' && text[at + 1] === '\n' ? 2 : 1;
      line += 1;
      endRow();
    } else {
      cell += character;
      at += 1;
    }
  }
  if (rows.length < max && (cell !== '' || row.cells.length > 0)) endRow();
  return { rows, unclosed };
};

/** A cell in quotes from the place after its first one: two quotes are one. Without an end, there is no last one. */
const quoted = (text: string, from: number): { value: string; end: number | undefined } => {
  let [value, at] = ['', from];
  for (;;) {
    const end = text.indexOf('"', at);
    if (end === -1) return { value: value + text.slice(at), end: undefined };
    value += text.slice(at, end);
    if (text[end + 1] !== '"') return { value, end: end + 1 };
    value += '"';
    at = end + 2;
  }
};
