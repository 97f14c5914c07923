import { invalidRequest, Problem } from '../../core/problems.ts';
import { bytesOf, type HttpMiddleware } from '../event.ts';

/** Most parts of a form. The time of Node's parser grows with the square of their number. */
const MAX_PARTS = 100;

/** Most bytes of a part's headers. Node's parser reads them byte by byte. */
const MAX_HEAD = 8_192;

const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^;\s]*))/i;

/**
 * Parses a multipart form into its fields, by name. A repeated field becomes an array. The parser is Node's own: with
 * Middy's, a truncated body ends the process.
 *
 * @throws malformed_body — the body is truncated, or is not a form
 * @throws invalid_request — more than 100 parts, or a part with more than 8 KB of headers
 */
export const multipartBody = (): HttpMiddleware => ({
  before: async function multipartBodyBefore({ event }) {
    // Stryker disable next-line StringLiteral: The replacement matches nothing either, or is rejected too.
    const type = event.headers['content-type'] ?? '';
    const bytes = bytesOf(event);
    const excess = excessIn(bytes, type);
    if (excess !== undefined) throw invalidRequest([{ pointer: '#', detail: excess }]);
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
      throw new Problem(
        'malformed_body',
        'The form is incomplete, or its parts cannot be read. Send the complete form.',
      );
    });
    const fields = [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    });
    Object.assign(event, { body: Object.fromEntries(fields) });
  },
});

/**
 * The limit that a form exceeds, as a validation error; undefined if none. A boundary is before each part, and at the
 * end.
 */
const excessIn = (bytes: Buffer, type: string): string | undefined => {
  const [, quoted, plain = ''] = BOUNDARY.exec(type) ?? [];
  const boundary = Buffer.from(`--${quoted ?? plain}`);
  let parts = 0;
  for (let at = bytes.indexOf(boundary); at !== -1; at = bytes.indexOf(boundary, at + boundary.length)) {
    parts += 1;
    if (parts > MAX_PARTS + 1) return `must hold at most ${MAX_PARTS} fields`;
    const head = bytes.subarray(at + boundary.length, at + boundary.length + MAX_HEAD);
    const isEnd = head.subarray(0, 2).equals(HYPHENS);
    if (!isEnd && head.length === MAX_HEAD && !head.includes(END_OF_HEAD)) {
      return `must hold fields with at most ${MAX_HEAD} bytes of headers`;
    }
  }
  return undefined;
};

const HYPHENS = Buffer.from('--');
const END_OF_HEAD = Buffer.from('\r\n\r\n');
