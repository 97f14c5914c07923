/** The layout of tables: as wide as the terminal allows, without cutting anything off. */

/** Text between two columns. */
const GAP = 2;

/** The columns of the terminal; undefined if the output is no terminal. */
export const terminalWidth = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns : undefined);

/** How a table is written: with these widths of its columns, or, if none fit, each row as a list of its cells. */
export type Layout = { widths: number[] } | 'lists';

/**
 * The layout of a table. Columns whose cells have spaces become narrower, the widest first; words are never broken,
 * because people copy ids.
 *
 * @param rows - the cells, with the names of the columns as the first row
 * @param limit - the width that the table may have; undefined for any
 */
export const layoutOf = (rows: string[][], limit: number | undefined): Layout => {
  const places = [...(rows[0] ?? []).keys()];
  const max = (index: number, widthOf: (cell: string) => number) =>
    Math.max(0, ...rows.map((row) => widthOf(row[index] ?? '')));
  const widths = places.map((index) => max(index, width));
  if (limit === undefined) return { widths };
  const min = places.map((index) => max(index, (cell) => Math.max(...wordsOf(cell).map(width))));
  const total = () => widths.reduce((sum, each) => sum + each + GAP, -GAP);
  while (total() > limit) {
    const [widest] = places
      .filter((index) => (widths[index] ?? 0) > (min[index] ?? 0))
      .toSorted((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0));
    if (widest === undefined) return 'lists';
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { widths };
};

/** A cell's lines, each at most as wide as its column. */
export const wrap = (cell: string, wide: number): string[] => {
  if (width(cell) <= wide) return [cell];
  const lines: string[] = [];
  for (const word of wordsOf(cell)) {
    const last = lines.at(-1);
    if (last !== undefined && width(`${last} ${word}`) <= wide) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

const wordsOf = (cell: string): string[] => cell.split(' ');

/** The number of a text's characters. */
export const width = (text: string): number => [...text].length;
