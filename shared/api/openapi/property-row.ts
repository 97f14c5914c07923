/** The table of properties in the API description. */

/** A property as a row of a table in Markdown; none, if it is not in the catalogue. */
export const propertyRow = (
  name: string,
  described: { description: string; automatic: boolean } | undefined,
): string[] =>
  described === undefined
    ? []
    : [`| \`${name}\` | ${described.description} | ${described.automatic ? 'at once' : 'by the user'} |`];
