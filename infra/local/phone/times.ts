/** Times of the service, in the form of the page. */

/** A time of the table or the API as ISO 8601, in milliseconds. */
export const isoOf = (time: string): string => `${time.slice(0, 23)}Z`;

/** Compares two times, or other texts, for sorting. */
export const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
