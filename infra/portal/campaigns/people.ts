/** Who gets a campaign: the people of a typed list, or of a table. */

import { type Entry, type Fault, numbersIn, parseNumber } from '../phone-numbers.ts';
import type { Table } from './csv.ts';

export interface Person {
  phone: string;
  /** The line of the file or of the list. */
  line: number;
  /** The values of the columns. */
  values: string[];
}

export interface People {
  people: Person[];
  /** Numbers that were there before: the first one counts. */
  repeated: { line: number; phone: string }[];
  invalid: { line: number; text: string; fault: Fault }[];
  /** The names of the columns; none for a typed list. */
  columns: string[];
}

/** How a table is read. */
export interface Reading {
  hasHeader: boolean;
  /** The place of the column with the numbers. */
  column: number;
}

/** Names of a column with phone numbers, the surest ones first. */
const NAMES = [/phone|mobile|cell|msisdn|whatsapp|\btel/i, /number/i];

/** Rows by which the column is found. */
const SAMPLE = 200;

/** Finds the column with the numbers, and whether the first row has the names of the columns. */
export const guessReading = ({ rows }: Table): Reading => {
  const [first, ...others] = rows;
  const sample = (others.length > 0 ? others : rows).slice(0, SAMPLE);
  const scores = Array.from({ length: widthOf(rows) }, (_, column) => {
    const numbers = sample.filter(({ cells }) => looksLikeNumber(cells[column] ?? '')).length;
    const rank = NAMES.findIndex((name) => name.test(first?.cells[column] ?? ''));
    // A column of other long numbers, such as those of identity cards, has another name.
    return numbers === 0 || rank === -1 ? numbers : numbers + sample.length / (rank + 2);
  });
  const column = scores.indexOf(Math.max(...scores));
  return { column, hasHeader: !looksLikeNumber(first?.cells[column] ?? '') };
};

const looksLikeNumber = (cell: string): boolean => {
  const parsed = parseNumber(cell);
  return 'phone' in parsed || parsed.fault === 'national' || parsed.fault === 'power';
};

const widthOf = (rows: Table['rows']): number => rows.reduce((width, { cells }) => Math.max(width, cells.length), 0);

/**
 * The names of the columns, each different from the others.
 *
 * @param numbered - the name of a column without one: `Column 3`
 */
export const columnsOf = ({ rows }: Table, hasHeader: boolean, numbered: (place: number) => string): string[] => {
  const header = hasHeader ? (rows[0]?.cells ?? []) : [];
  const names: string[] = [];
  for (let place = 0; place < widthOf(rows); place += 1) {
    // Braces would end a placeholder.
    const given = (header[place] ?? '').replaceAll(/[{}]/g, '').trim() || numbered(place + 1);
    let name = given;
    for (let copy = 2; names.some((other) => sameName(other, name)); copy += 1) name = `${given} ${copy}`;
    names.push(name);
  }
  return names;
};

/** Whether two names are of the same column: capital letters do not matter. */
export const sameName = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase();

export const peopleInTable = (
  table: Table,
  { hasHeader, column }: Reading,
  columns: string[],
  country: string,
): People => {
  const entries = table.rows.slice(hasHeader ? 1 : 0).map(({ line, cells }) => ({
    ...{ line, text: cells[column] ?? '', values: columns.map((_, place) => cells[place] ?? '') },
    ...parseNumber(cells[column] ?? '', country),
  }));
  return { ...sortOut(entries), columns };
};

export const peopleInText = (text: string, country: string): People => ({
  ...sortOut(numbersIn(text, country).map((entry) => ({ ...entry, values: [] }))),
  columns: [],
});

/** Divides entries into people, repeated numbers, and what is no number. */
const sortOut = (entries: (Entry & { values: string[] })[]): Omit<People, 'columns'> => {
  const people = new Map<string, Person>();
  const repeated: People['repeated'] = [];
  const invalid: People['invalid'] = [];
  for (const { line, text, values, ...parsed } of entries) {
    if ('fault' in parsed) invalid.push({ line, text, fault: parsed.fault });
    else if (people.has(parsed.phone)) repeated.push({ line, phone: parsed.phone });
    else people.set(parsed.phone, { phone: parsed.phone, line, values });
  }
  return { people: [...people.values()], repeated, invalid };
};
