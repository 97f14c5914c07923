/** Texts with placeholders: `Good morning, {name}!` */
import type { Person } from './people.ts';
import { sameName } from './people.ts';

const PLACEHOLDER = /\{([^{}]*)\}/g;

export interface Template {
  /** Placeholders of no column, each once. */
  unknown: string[];
  /** The places of the columns that the text uses. */
  used: number[];
  fill: (values: string[]) => string;
}

export const templateOf = (text: string, columns: string[]): Template => {
  const placeOf = (name: string): number => columns.findIndex((column) => sameName(column, name));
  const names = [...new Set(Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name))];
  return {
    unknown: names.filter((name) => placeOf(name) === -1),
    used: [...new Set(names.map(placeOf))].filter((place) => place !== -1),
    fill: (values) =>
      text.replaceAll(PLACEHOLDER, (whole, name: string) =>
        placeOf(name) === -1 ? whole : (values[placeOf(name)] ?? ''),
      ),
  };
};

/** Characters as the service counts them: an emoji is one. */
export const lengthOf = (text: string): number => [...text].length;

export interface TextFaults {
  /** People without a value that the text uses, by column. */
  empty: { column: string; people: Person[] }[];
  tooLong: Person[];
  /** People whose text would be empty. */
  blank: Person[];
}

/**
 * What is wrong with the texts of people.
 *
 * @param max - most characters of a text
 * @param mayBeBlank - whether a message needs no text, because it has a picture or a file
 */
export const findTextFaults = (
  { used, fill }: Template,
  people: Person[],
  { columns, max, mayBeBlank }: { columns: string[]; max: number; mayBeBlank: boolean },
): TextFaults => ({
  empty: used
    .map((place) => ({
      column: columns[place] ?? '',
      people: people.filter(({ values }) => (values[place] ?? '') === ''),
    }))
    .filter(({ people: some }) => some.length > 0),
  tooLong: people.filter(({ values }) => lengthOf(fill(values)) > max),
  blank: mayBeBlank ? [] : people.filter(({ values }) => fill(values).trim() === ''),
});
