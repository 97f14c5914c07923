/**
 * CSV (RFC 4180), as spreadsheets read it. What a spreadsheet would take for a formula begins with an apostrophe, as OWASP
 * recommends ("CSV Injection"): phone numbers have no plus, so they stay as they are. Where the decimal sign is a comma,
 * spreadsheets divide cells at semicolons, also within a text.
 */

type Cell = string | number | undefined;

/** A line, with its line end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\r\n`;

const cellOf = (value: Cell): string => {
  const text = String(value ?? '');
  const disarmed =
    typeof value === 'string' ? text.replaceAll(/(?:^|(?<=[;\t\r\n]))(?=[=+\-@])|^(?=[\t\r\n])/g, "'") : text;
  return /[",\r\n]/.test(disarmed) ? `"${disarmed.replaceAll('"', '""')}"` : disarmed;
};

/** Most bytes of a page of an export: in base64, it fits into Lambda's response of 6 MB. */
export const EXPORT_BYTES = 4_000_000;
