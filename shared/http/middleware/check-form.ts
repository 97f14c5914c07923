import { invalidRequest, Problem } from '../../core/problems.ts';
import { bytesOf, type HttpMiddleware } from '../event.ts';

/** Most bytes of a form. The longest message with all its quick replies is shorter. The parser reads byte by byte. */
const MAX_SIZE = 1_048_576;

/** Most fields of a form. Node's parser silently drops further fields. */
const MAX_FIELDS = 1_000;

const AMPERSAND = '&'.charCodeAt(0);

/**
 * Rejects forms that the parser would read incompletely: it reports no errors, and inserts replacement characters. API
 * Gateway passes forms in base64. The parser gets the text, so that it need not decode it again.
 *
 * @throws malformed_body — an invalid percent-encoding, or text that is not UTF-8
 * @throws invalid_request — more than 1 MB, or more than 1,000 fields
 */
export const checkForm = (): HttpMiddleware => ({
  before: function checkFormBefore({ event }) {
    const bytes = bytesOf(event);
    if (bytes.length > MAX_SIZE) throw tooMuch(`must have at most ${MAX_SIZE} bytes`);
    if (hasMoreFields(bytes)) throw tooMuch(`must hold at most ${MAX_FIELDS} fields`);
    const text = bytes.toString();
    refuseUnreadable(text);
    Object.assign(event, { body: text, isBase64Encoded: false });
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

const refuseUnreadable = (text: string): void => {
  try {
    decodeURIComponent(text);
  } catch {
    throw new Problem('malformed_body', 'The form contains an invalid percent-encoding, or text that is not UTF-8.');
  }
};
