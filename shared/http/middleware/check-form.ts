import { invalidRequest, Problem } from '../../core/problems.ts';
import type { HttpMiddleware } from '../event.ts';

/** Bytes of a form, which its parser reads one by one: more than the longest message takes with all its quick replies. */
const MAX_SIZE = 1_048_576;

/** Fields of a form. Node's parser reads so many, and leaves out the others without a word. */
const MAX_FIELDS = 1_000;

const AMPERSAND = '&'.charCodeAt(0);

/**
 * Refuses a form that cannot be read whole: its parser takes anything, and puts replacement characters where it cannot.
 *
 * @throws malformed_body — a broken percent-encoding, or one that is not UTF-8
 * @throws invalid_request — more than 1 MB, or more than 1,000 fields
 */
export const checkForm = (): HttpMiddleware => ({
  before: function checkFormBefore({ event }) {
    const bytes = event.bytes ?? Buffer.alloc(0);
    if (bytes.length > MAX_SIZE) throw tooMuch(`must have at most ${MAX_SIZE} bytes`);
    if (hasMoreFields(bytes)) throw tooMuch(`must hold at most ${MAX_FIELDS} fields`);
    refuseUnreadable(bytes);
  },
});

const tooMuch = (detail: string): Problem => invalidRequest([{ pointer: '#', detail }]);

const hasMoreFields = (bytes: Buffer): boolean => {
  let at = -1;
  for (let fields = 1; fields <= MAX_FIELDS; fields += 1) {
    at = bytes.indexOf(AMPERSAND, at + 1);
    if (at === -1) return false;
  }
  return true;
};

const refuseUnreadable = (bytes: Buffer): void => {
  try {
    decodeURIComponent(bytes.toString());
  } catch {
    throw new Problem('malformed_body', 'The form contains an invalid percent-encoding, or text that is not UTF-8.');
  }
};
