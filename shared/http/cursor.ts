/** Cursors of lists: opaque to the caller, a position in one list to us. */
import { createHash } from 'node:crypto';
import { invalidRequest } from '../core/problems.ts';

/** The list that a cursor continues: its account and its filters. */
type List = readonly (string | number | undefined)[];

/** Characters of a position: ours have far fewer, and the table takes no key of more than 1,024 bytes. */
const LONGEST = 250;

/** A position in a list, as a text that a URL holds as it is. */
export const encodeCursor = (list: List, position: string): string =>
  Buffer.from(`${markOf(list, position)} ${position}`).toString('base64url');

/**
 * The position in a cursor; none where there is no cursor.
 *
 * @throws invalid_request — not a cursor that we made for this list
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

/** Tells a position in one list from those in others, and from what somebody has made of it. */
const markOf = (list: List, position: string): string =>
  createHash('sha256')
    .update(JSON.stringify([list, position]))
    .digest('base64url')
    .slice(0, 16);
