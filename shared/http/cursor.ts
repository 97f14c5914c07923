/** Cursors of lists: opaque to the caller, a position in the list to us. */
import { invalidRequest } from '../problems.ts';

/** A position, as a text that a URL holds as it is. */
export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url');

/**
 * The position in a cursor; none where there is no cursor.
 *
 * @throws invalid_request — not a cursor that we made
 */
export const decodeCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (cursor === '' || encodeCursor(position) !== cursor) {
    throw invalidRequest([
      { parameter: 'cursor', detail: 'must be taken as it is from the Link header of the page before' },
    ]);
  }
  return position;
};
