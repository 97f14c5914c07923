/** Checks a body before it is parsed: its media type is right, and it is in UTF-8 and not compressed. */
import { isUtf8 } from 'node:buffer';
import type { Endpoint } from '../../api/endpoint.ts';
import { Problem } from '../../core/problems.ts';
import type { HttpEvent, HttpMiddleware } from '../event.ts';

type BodyType = NonNullable<Endpoint['body']>['type'];

/** Media types by the kind of body, and the `detail` of the problem for any other type. */
const MEDIA_TYPES: Record<BodyType, { pattern: RegExp; remedy: string }> = {
  json: {
    pattern: /^application\/(?:[a-z0-9.+-]+\+)?json(?:;|$)/i,
    remedy: 'Send the body as application/json, and say so in Content-Type.',
  },
  form: {
    pattern: /^application\/x-www-form-urlencoded(?:;|$)/i,
    remedy: 'Send the body as application/x-www-form-urlencoded, and say so in Content-Type.',
  },
  multipart: {
    pattern: /^multipart\/form-data\s*;/i,
    remedy: 'Send the body as multipart/form-data with its boundary: clients set both when they send a form.',
  },
};

/** A parameter of a media type (RFC 9110, 5.6.6): name and value. The value may be quoted. */
const PARAMETER = /;\s*([^=;\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;

/**
 * Some files of Windows begin with it. It is forbidden in JSON (RFC 8259, 8.1), and in a form it would be part of a
 * name.
 */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * Checks a body, and keeps its bytes in `event.bytes`: signatures are verified over the bytes, and parsers replace
 * `body`. The checks reject bodies that a parser would misread without an error.
 *
 * @throws unsupported_media_type — another media type or charset, or a compressed body
 * @throws malformed_body — text that is not UTF-8
 */
export const checkBody = (type: BodyType): HttpMiddleware => ({
  before: function checkBodyBefore({ event }) {
    checkEncoding(event.headers['content-encoding']);
    checkContentType(type, event.headers['content-type'] ?? '');
    // Stryker disable next-line StringLiteral: A parser rejects an empty body, and UTF-8 is the default of Node.
    event.bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
    if (type !== 'multipart') checkText(event, event.bytes);
  },
});

const checkEncoding = (encoding: string | undefined): void => {
  if (encoding === undefined || ['', 'identity'].includes(encoding.trim().toLowerCase())) return;
  throw new Problem('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.', {
    headers: { 'accept-encoding': 'identity' },
  });
};

const checkContentType = (type: BodyType, contentType: string): void => {
  const { pattern, remedy } = MEDIA_TYPES[type];
  if (!pattern.test(contentType)) throw new Problem('unsupported_media_type', remedy);
  // Most requests have no parameter, and `matchAll` is slow.
  if (!contentType.includes(';')) return;
  for (const [, name = '', value = ''] of contentType.matchAll(PARAMETER)) {
    if (name.toLowerCase() !== 'charset' || /^"?utf-?8"?\s*$/i.test(value)) continue;
    throw new Problem('unsupported_media_type', 'Send the body in UTF-8: with charset=utf-8, or without a charset.');
  }
};

const checkText = (event: HttpEvent, bytes: Buffer): void => {
  if (event.isBase64Encoded ? !isUtf8(bytes) : wasChanged(event, bytes)) {
    throw new Problem('malformed_body', 'The body contains text that is not UTF-8.');
  }
  if (bytes[0] === BYTE_ORDER_MARK[0] && bytes[1] === BYTE_ORDER_MARK[1] && bytes[2] === BYTE_ORDER_MARK[2]) {
    throw new Problem('malformed_body', 'The body begins with a byte order mark. Remove it.');
  }
};

/**
 * Whether the sent bytes of a text body were not UTF-8. API Gateway decodes JSON, and replaces invalid bytes by U+FFFD.
 * Because a caller may also send U+FFFD, the length decides. One error has no effect on the length: a character of four
 * bytes without its last byte. U+FFFD has three bytes, too.
 */
const wasChanged = ({ body = '', headers }: HttpEvent, bytes: Buffer): boolean => {
  if (!body.isWellFormed()) return true;
  const sent = headers['content-length'];
  return sent !== undefined && body.includes('\ufffd') && Number(sent) !== bytes.length;
};
