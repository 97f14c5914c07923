/** CSV files of panelists, as people have them: their phone numbers, and the rows that are rejected. */
import { CsvError, parse } from 'csv-parse/sync';
import * as v from 'valibot';
import { phoneNumber } from '../../../shared/validation/schemas.ts';
import { UserError } from '../queries/accounts-admin.ts';

export interface PanelistFile {
  /** Each number once, in the file's order. */
  numbers: Set<string>;
  /** How many rows repeat the number of an earlier row. */
  duplicates: number;
  bad: BadRow[];
  /** The text of the row that names the columns; undefined if there is none. */
  header: string | undefined;
}

export interface BadRow {
  /** The row's first line, counted from 1. */
  line: number;
  /** Never quotes the row, which is personal data. */
  reason: string;
  /** The cell of the phone number, masked. */
  value: string;
  /** The lines of the row as they are in the file. */
  text: string[];
}

/** A row of the file. */
interface Row {
  line: number;
  text: string[];
}

/** Names of columns of phone numbers, in lower case and without other characters than letters. */
const NAMES = new Set([
  'phone',
  'phones',
  'phoneno',
  'phonenr',
  'phonenumber',
  'phonenumbers',
  'tel',
  'telephone',
  'telephonenumber',
  'mobile',
  'mobileno',
  'mobilenumber',
  'mobilephone',
  'mobilephonenumber',
  'cell',
  'cellnumber',
  'cellphone',
  'cellphonenumber',
  'msisdn',
]);

/** The name that is taken if other columns may contain phone numbers, too. */
const EXACT = 'phone_number';

/** Separators of columns. Spreadsheets write semicolons in countries with a decimal comma. */
const SEPARATORS = [',', ';', '\t'];

/** Lines by which the separator is chosen. */
const SAMPLE = 100;

/**
 * Maximum number of lines of a row. A quoted cell may contain line breaks; with this limit, an unbalanced quote makes
 * one row bad, not the rest of the file.
 */
const LONGEST_ROW = 100;

/**
 * Reads the lines of a file. Its first row names the column of the phone numbers, or begins with a phone number. Rows
 * that begin with `#` are comments.
 *
 * @param column - the name of the column, if the file has several that may be meant
 * @throws UserError — the first row does neither, names no such column or several ones, or the file is empty
 */
export const readPanelistFile = (lines: string[], column?: string): PanelistFile => {
  const rows = rowsOf(lines);
  const place = rows.findIndex(({ text }) => !isEmpty(text) && !isComment(text));
  const first = rows[place];
  if (first === undefined) throw unreadable();
  const layout = layoutOf(first, separatorsIn(lines), column);
  const file: PanelistFile = {
    numbers: new Set(),
    duplicates: 0,
    bad: [],
    header: layout.isNamed ? first.text.join('\n') : undefined,
  };
  for (const row of rows.slice(layout.isNamed ? place + 1 : place)) {
    if (!isEmpty(row.text) && !isComment(row.text)) addRow(file, row, layout);
  }
  return file;
};

interface Layout {
  separator: string;
  /** The place of the column. */
  column: number;
  /** Whether the first row names the columns. */
  isNamed: boolean;
}

const addRow = (file: PanelistFile, { line, text }: Row, { separator, column }: Layout): void => {
  const cells = cellsOf(text, separator);
  const cell = cells?.[column] ?? '';
  const { success, output, issues } = v.safeParse(phoneNumber, cell);
  const reason = cells === undefined ? 'has an unbalanced quote' : cell === '' ? 'has no phone number' : undefined;
  if (reason !== undefined) file.bad.push({ line, reason, value: maskedValue(cell), text });
  else if (!success) file.bad.push({ line, reason: issues[0].message, value: maskedValue(cell), text });
  else if (file.numbers.has(output)) file.duplicates += 1;
  else file.numbers.add(output);
};

/** Separators, the most frequent one outside of quotes first. */
const separatorsIn = (lines: string[]): string[] => {
  const sample = lines
    .slice(0, SAMPLE)
    .join('\n')
    .replaceAll(/"[^"]*"/g, '');
  const countOf = (separator: string) => sample.split(separator).length;
  return SEPARATORS.toSorted((one, other) => countOf(other) - countOf(one));
};

/** The layout by the first row, with the first separator that makes sense of it. */
const layoutOf = ({ text }: Row, separators: string[], wanted: string | undefined): Layout => {
  for (const separator of separators) {
    const cells = cellsOf(text, separator);
    if (cells === undefined) continue;
    const named = columnIn(cells, wanted);
    if (named !== undefined) return { separator, column: named, isNamed: true };
    if (wanted === undefined && v.is(phoneNumber, cells[0])) return { separator, column: 0, isNamed: false };
  }
  throw wanted === undefined ? unreadable() : new UserError(`The first row of the file names no column "${wanted}".`);
};

/** The place of the column that a row names; undefined if it names none. @throws UserError — it names several */
const columnIn = (cells: string[], wanted: string | undefined): number | undefined => {
  const placesOf = (isMeant: (cell: string) => boolean) =>
    cells.flatMap((cell, place) => (isMeant(cell) ? [place] : []));
  const exact = (wanted ?? EXACT).toLowerCase();
  const [place] = placesOf((cell) => cell.toLowerCase() === exact);
  if (place !== undefined || wanted !== undefined) return place;
  const similar = placesOf((cell) => NAMES.has(cell.toLowerCase().replaceAll(/[^a-z]/g, '')));
  if (similar.length <= 1) return similar[0];
  const names = similar.map((one) => `"${cells[one]}"`).join(', ');
  throw new UserError(`Several columns may contain the phone numbers: ${names}. Choose one with --column.`);
};

const unreadable = (): UserError =>
  new UserError(
    `The first row of the file must name a column "${EXACT}" or "Phone", or begin with a phone number (7 to 15 digits without +). Columns are separated by commas, semicolons or tabs. --column chooses another column.`,
  );

const isEmpty = (text: string[]): boolean => text.every((line) => /^[\s,;"]*$/.test(line));

/** Comments say why rows were rejected. A spreadsheet may have put them into quotes. */
const isComment = ([line = '']: string[]): boolean => /^\s*"?#/.test(line);

/** The rows. */
const rowsOf = (lines: string[]): Row[] => {
  const rows: Row[] = [];
  for (let place = 0; place < lines.length; ) {
    const held = lines.slice(place, place + LONGEST_ROW);
    // After a row with unbalanced quotes, the next row begins on the next line.
    const text = held.slice(0, isBroken(held) ? 1 : (lengthOf(held) ?? 1));
    rows.push({ line: place + 1, text });
    place += text.length;
  }
  return rows;
};

/** Whether the quotes of the first row are balanced, but at places where CSV allows none. */
const isBroken = (held: string[]): boolean => {
  const length = lengthOf(held);
  return (
    length !== undefined && length > 1 && SEPARATORS.every((each) => cellsOf(held.slice(0, length), each) === undefined)
  );
};

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

/** A row's cells, trimmed; undefined if its quotes are unbalanced. */
const cellsOf = (text: string[], separator: string): string[] | undefined => {
  try {
    const [cells = []] = parse(text.join('\n'), {
      delimiter: separator,
      bom: true,
      // White space before a quote. Tabs are not white space if they separate columns.
      trim: separator !== '\t',
      skipEmptyLines: true,
      recordDelimiter: '\n',
    });
    return cells.map((cell) => cell.trim());
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
};

/** Characters of a masked value at most, and digits at its ends that are shown. */
const SHOWN = { characters: 20, digits: 2 };

/**
 * A rejected value, by which people find it, without what identifies a person: letters are `x`, digits are `•` but for
 * the two at each end of a long number.
 *
 * @internal Tests use it, too.
 */
export const maskedValue = (value: string): string => {
  const digits = [...value].filter((character) => /\d/.test(character)).length;
  let place = 0;
  const masked = [...value].map((character) => {
    if (/\p{L}/u.test(character)) return 'x';
    if (!/\p{N}/u.test(character)) return /[\p{Cc}\p{M}]/u.test(character) ? ' ' : character;
    place += 1;
    const isAtEnd = place <= SHOWN.digits || place > digits - SHOWN.digits;
    return digits >= 7 && isAtEnd && /\d/.test(character) ? character : '•';
  });
  return masked.length > SHOWN.characters ? `${masked.slice(0, SHOWN.characters).join('')}…` : masked.join('');
};
