/** Cursors: opaque texts for callers. A cursor contains a position in one list, and a checksum. */
import { createHash } from 'node:crypto';
import { invalidRequest } from '../core/problems.ts';

/** The list that a cursor continues: its account and its filters. */
type List = readonly (string | number | undefined)[];

/** Most characters of a position. Positions are far shorter, and DynamoDB rejects sort keys over 1,024 bytes. */
const LONGEST = 250;

/** The cursor of a position in a list, in base64url: URLs contain it without escapes. */
export const encodeCursor = (list: List, position: string): string =>
  Buffer.from(`${markOf(list, position)} ${position}`).toString('base64url');

/**
 * The position in a cursor; undefined if there is no cursor.
 *
 * @throws invalid_request — the cursor was changed, or belongs to another list
 */
export const decodeCursor = (list: List, cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString();
  const position = text.slice(text.indexOf(' ') + 1);
  if (position.length > LONGEST || encodeCursor(list, position) !== cursor) {
    throw invalidRequest([
      {
        parameter: 'cursor',
        detail: 'must be taken as it is from the Link header of the page before, with the same filters',
      },
    ]);
  }
  return position;
};

/** A checksum of list and position: it detects changed cursors, and cursors of other lists. */
const markOf = (list: List, position: string): string =>
  createHash('sha256')
    .update(JSON.stringify([list, position]))
    .digest('base64url')
    .slice(0, 16);
