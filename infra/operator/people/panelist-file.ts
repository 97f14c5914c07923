/** Reads a CSV file of panelists: its phone numbers, and its bad rows. */
import { CsvError, parse } from 'csv-parse/sync';
import * as v from 'valibot';
import { phoneNumber } from '../../../shared/validation/schemas.ts';
import { Refusal } from '../queries/accounts-admin.ts';

export interface PanelistFile {
  /** Each number once, in the file's order. */
  numbers: Set<string>;
  /** How many rows repeat the number of an earlier row. */
  duplicates: number;
  bad: BadRow[];
}

export interface BadRow {
  /** The row's first line, counted from 1. */
  line: number;
  /** Never quotes the row, which is personal data. */
  reason: string;
}

/** A row. `cells` is undefined if its quotes are unbalanced. */
interface Row {
  line: number;
  cells: string[] | undefined;
}

const HEADER = 'phone_number';

/**
 * Maximum number of lines of a row. A quoted cell may contain line breaks; with this limit, an unbalanced quote makes
 * one row bad, not the rest of the file.
 */
const LONGEST_ROW = 100;

/**
 * Reads the lines of a file. Its first row names the column `phone_number`, or begins with a phone number.
 *
 * @throws Refusal — the first row does neither, or the file is empty
 */
export const readPanelistFile = async (lines: AsyncIterable<string> | Iterable<string>): Promise<PanelistFile> => {
  const file: PanelistFile = { numbers: new Set(), duplicates: 0, bad: [] };
  let column: number | undefined;
  for await (const { line, cells } of rowsOf(lines)) {
    if (cells?.every((cell) => cell === '')) continue;
    if (column === undefined) {
      const named = cells?.findIndex((cell) => cell.toLowerCase() === HEADER) ?? -1;
      column = Math.max(named, 0);
      if (named >= 0) continue;
      if (!v.is(phoneNumber, cells?.[0])) throw unreadable();
    }
    const { success, output, issues } = v.safeParse(phoneNumber, cells?.[column]);
    if (cells === undefined) file.bad.push({ line, reason: 'has an unbalanced quote' });
    else if (!cells[column]) file.bad.push({ line, reason: 'has no phone number' });
    else if (!success) file.bad.push({ line, reason: issues[0].message });
    else if (file.numbers.has(output)) file.duplicates += 1;
    else file.numbers.add(output);
  }
  if (column === undefined) throw unreadable();
  return file;
};

const unreadable = (): Refusal =>
  new Refusal(
    `The file must be CSV with commas: its first row names a column "${HEADER}", or begins with a phone number (7 to 15 digits without +).`,
  );

/** The rows, including empty rows. */
async function* rowsOf(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Row> {
  const held: string[] = [];
  let line = 1;
  const take = (): Row => {
    const length = lengthOf(held);
    const row = { line, cells: length === undefined ? undefined : parseRow(held.slice(0, length).join('\n')) };
    // After a row with unbalanced quotes, the next row begins on the next line.
    const taken = row.cells === undefined ? 1 : (length ?? 1);
    held.splice(0, taken);
    line += taken;
    return row;
  };
  for await (const next of lines) {
    held.push(next);
    while (held.length > 0 && (lengthOf(held) !== undefined || held.length === LONGEST_ROW)) yield take();
  }
  while (held.length > 0) yield take();
}

/**
 * The number of lines of the first row; undefined if these lines do not complete it. Complete means balanced quotes.
 */
const lengthOf = (lines: string[]): number | undefined => {
  let open = false;
  const last = lines.findIndex((line) => {
    if (quotesIn(line) % 2 === 1) open = !open;
    return !open;
  });
  return last < 0 ? undefined : last + 1;
};

const quotesIn = (line: string): number => line.split('"').length - 1;

/** A row's cells, trimmed. */
const parseRow = (text: string): string[] | undefined => {
  try {
    const [cells = []] = parse(text, { bom: true, trim: true, skipEmptyLines: true, recordDelimiter: '\n' });
    return cells;
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
};
