import { Problem } from '../problems.ts';
import type { HttpMiddleware } from './event.ts';

/**
 * Reads a multipart form: its fields by their names, those that come more than once in an array. Node's own parser does
 * it; Middy's lets a body that is cut off end the process.
 *
 * @throws unsupported_media_type — it is something else
 * @throws malformed_body — it is cut off, or no form
 */
export const multipartBodyParser = (): HttpMiddleware => ({
  before: async function multipartBodyParserBefore({ event }) {
    const type = event.headers['content-type'] ?? '';
    if (!/^multipart\/form-data *;/i.test(type)) {
      throw new Problem(
        'unsupported_media_type',
        'Send the body as multipart/form-data with its boundary: clients set both when they send a form.',
      );
    }
    const form = await new Response(event.bytes, { headers: { 'content-type': type } }).formData().catch(() => {
      throw new Problem('malformed_body', 'The form is cut off, or its parts cannot be read. Send it whole.');
    });
    const fields = [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    });
    Object.assign(event, { body: Object.fromEntries(fields) });
  },
});
