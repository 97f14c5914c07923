import jsonBodyParser from '@middy/http-json-body-parser';
import { Problem } from '../../core/problems.ts';
import { bytesOf, type HttpEvent, type HttpMiddleware } from '../event.ts';

/**
 * Most characters of a body for Middy's parser. It calls a reviver for each value, which cannot be switched off: forty
 * times the time of plain `JSON.parse` for long bodies, and ten times the memory.
 */
const MAX_PARSED_BY_MIDDY = 65_536;

/** Field names, plain or escaped, that Middy's parser rejects. For this API they are ordinary unknown fields. */
const REJECTED_BY_MIDDY = /__proto__|constructor|\\u/;

/**
 * Parses JSON. API Gateway passes ordinary JSON as text, and other media types with `+json` in base64. Text is parsed by
 * `JSON.parse`, and base64 by Middy's parser, unless that would be slow, or reject a field name. The results are the same,
 * and as safe: `JSON.parse` makes `__proto__` an own property, and schemas drop the fields that they do not name.
 *
 * @throws malformed_body — the body is missing, or is not JSON
 */
export const jsonBody = (): HttpMiddleware => {
  const middy = jsonBodyParser<HttpEvent>({ disableContentTypeCheck: true });
  return {
    before: function jsonBodyBefore(request) {
      const { event } = request;
      try {
        if (!event.isBase64Encoded) event.body = JSON.parse(event.body ?? '');
        else {
          const text = bytesOf(event).toString();
          if (text.length <= MAX_PARSED_BY_MIDDY && !REJECTED_BY_MIDDY.test(text)) middy.before?.(request);
          else event.body = JSON.parse(text);
        }
      } catch {
        throw new Problem(
          'malformed_body',
          'The body is missing, or cannot be read as application/json. Send well-formed JSON.',
        );
      }
    },
  };
};
