/** Tables of guides that commands write. */

/** A text whose first table has these rows, below their heads, as the formatter aligns them. */
export const withFirstTable = (text: string, rows: string[][]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [head, ...lines] = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return text.replace(/^\|.*(?:\n\|.*)*/m, () => [head, rule, ...lines].join('\n'));
};
