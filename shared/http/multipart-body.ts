import { invalidRequest, Problem } from '../problems.ts';
import type { HttpMiddleware } from './event.ts';

/** Parts of a form: what Node's parser takes grows with their square. */
const MAX_PARTS = 100;

const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^;\s]*))/i;

/**
 * Reads a multipart form: its fields by their names, those that come more than once in an array. Node's own parser does
 * it; Middy's lets a body that is cut off end the process.
 *
 * @throws malformed_body — it is cut off, or no form
 * @throws invalid_request — more than 100 parts
 */
export const multipartBody = (): HttpMiddleware => ({
  before: async function multipartBodyBefore({ event }) {
    const type = event.headers['content-type'] ?? '';
    const { bytes = Buffer.alloc(0) } = event;
    if (hasMoreParts(bytes, type)) {
      throw invalidRequest([{ pointer: '#', detail: `must hold at most ${MAX_PARTS} fields` }]);
    }
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
      throw new Problem('malformed_body', 'The form is cut off, or its parts cannot be read. Send it whole.');
    });
    const fields = [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    });
    Object.assign(event, { body: Object.fromEntries(fields) });
  },
});

/** Whether the boundary comes more often than with so many parts, each of which it begins, and the end. */
const hasMoreParts = (bytes: Buffer, type: string): boolean => {
  const [, quoted, plain = ''] = BOUNDARY.exec(type) ?? [];
  const boundary = Buffer.from(`--${quoted ?? plain}`);
  let at = -1;
  for (let times = 0; times <= MAX_PARTS + 1; times += 1) {
    at = bytes.indexOf(boundary, at + 1);
    if (at === -1) return false;
  }
  return true;
};
