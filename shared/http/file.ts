/** Headers of a response that is saved as a file. */

const TYPES: Record<string, string> = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' };

/**
 * @param file - the last part of the path: `log.csv`
 * @param about - what it is about, for the name of the saved file: letters, digits and hyphens
 */
export const asFile = (file: string, about: string) => ({
  'content-type': TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
  'content-disposition': `attachment; filename="${about}-${file}"`,
  'x-content-type-options': 'nosniff',
});
