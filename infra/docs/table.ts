/** Tables of guides that commands write. */

/**
 * A guide whose first table below a heading has these rows, below their heads, as the formatter aligns them.
 *
 * @param heading - a line of the guide; its first line by default
 * @throws Error — the guide lacks the heading
 */
export const withTable = (guide: string, rows: string[][], heading = ''): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [head, ...lines] = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const start = guide.indexOf(`${heading}\n`);
  if (start < 0) throw new Error(`The guide lacks the line "${heading}".`);
  return (
    guide.slice(0, start) + guide.slice(start).replace(/^\|.*(?:\n\|.*)*/m, () => [head, rule, ...lines].join('\n'))
  );
};
