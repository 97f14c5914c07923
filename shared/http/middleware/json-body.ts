import jsonBodyParser from '@middy/http-json-body-parser';
import { Problem } from '../../core/problems.ts';
import type { HttpEvent, HttpMiddleware } from '../event.ts';

/**
 * Characters of a body that Middy's parser reads: it passes each value to a function of its own, which takes forty times as
 * long as `JSON.parse` and ten times the memory, and cannot be switched off.
 */
const MAX_PARSED_BY_MIDDY = 65_536;

/** Names of fields that make Middy's parser reject a body, plain or escaped. They are unknown fields like any other here. */
const REJECTED_BY_MIDDY = /__proto__|constructor|\\u/;

/**
 * Reads JSON with Middy's parser, or where that would reject or slow down a body, with `JSON.parse`. This is as safe:
 * `JSON.parse` makes `__proto__` a field of its own, and schemas read the fields that they name and leave out all others.
 *
 * @throws malformed_body — the body is missing, or no JSON
 */
export const jsonBody = (): HttpMiddleware => {
  const middy = jsonBodyParser<HttpEvent>();
  return {
    before: function jsonBodyBefore(request) {
      const { event } = request;
      const text = event.isBase64Encoded ? (event.bytes ?? Buffer.alloc(0)).toString() : (event.body ?? '');
      try {
        if (text.length <= MAX_PARSED_BY_MIDDY && !REJECTED_BY_MIDDY.test(text)) middy.before?.(request);
        else Object.assign(event, { body: JSON.parse(text) });
      } catch {
        throw new Problem(
          'malformed_body',
          'The body is missing, or cannot be read as application/json. Send well-formed JSON.',
        );
      }
    },
  };
};
