/** Cursors: opaque texts for callers. A cursor contains a position in one list, and a checksum. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Endpoint } from '../api/endpoint.ts';
import { invalidRequest } from '../core/problems.ts';

/** An endpoint that returns pages. */
type Paged = Pick<Endpoint, 'routes'> & { position: v.GenericSchema<string> };

/** What makes a list another one than the next caller's: the account, and the filters. */
type Filters = readonly (string | number | undefined)[];

/** Most characters of a position. Positions are far shorter, and DynamoDB rejects sort keys over 1,024 bytes. */
const LONGEST = 250;

/** The cursor of a position in a list, in base64url: URLs contain it without escapes. */
export const encodeCursor = (endpoint: Paged, filters: Filters, position: string): string =>
  Buffer.from(`${markOf(endpoint, filters, position)} ${position}`).toString('base64url');

/**
 * The position in a cursor; undefined if there is no cursor. It has the form of the endpoint's positions: the checksum is
 * not secret, so it does not show that the service has made the cursor.
 *
 * @throws invalid_request — the cursor was changed or made up, or belongs to another list
 */
export const decodeCursor = (endpoint: Paged, filters: Filters, cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString();
  const position = text.slice(text.indexOf(' ') + 1);
  if (
    position.length > LONGEST ||
    encodeCursor(endpoint, filters, position) !== cursor ||
    !v.is(endpoint.position, position)
  ) {
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
const markOf = ({ routes: [{ method, path }] }: Paged, filters: Filters, position: string): string =>
  createHash('sha256')
    .update(JSON.stringify([method, path, filters, position]))
    .digest('base64url')
    .slice(0, 16);
