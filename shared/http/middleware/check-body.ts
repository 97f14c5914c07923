/** Checks a body before it is parsed: its media type is right, and it is in UTF-8 and not compressed. */
import { isUtf8 } from 'node:buffer';
import type { Endpoint } from '../../api/endpoint.ts';
import { Problem } from '../../core/problems.ts';
import type { HttpMiddleware } from '../event.ts';
import { parseHeaderValue } from '../header-value.ts';
import { MULTIPART_REMEDY } from './multipart-body.ts';

type BodyType = NonNullable<Endpoint['body']>['type'];

/** Media types by the kind of body, and the `detail` of the problem for any other type. */
const MEDIA_TYPES: Record<BodyType, { pattern: RegExp; remedy: string }> = {
  json: {
    pattern: /^application\/(?:[a-z0-9.+-]+\+)?json$/,
    remedy: 'Send the body as application/json, and say so in Content-Type.',
  },
  form: {
    pattern: /^application\/x-www-form-urlencoded$/,
    remedy: 'Send the body as application/x-www-form-urlencoded, and say so in Content-Type.',
  },
  multipart: {
    pattern: /^multipart\/form-data$/,
    remedy: MULTIPART_REMEDY,
  },
};

/**
 * Some files of Windows begin with it. It is forbidden in JSON (RFC 8259, 8.1), and in a form it would be part of a
 * name.
 */
const BYTE_ORDER_MARK = '\ufeff';
const BYTE_ORDER_MARK_BYTES = Buffer.from(BYTE_ORDER_MARK);

/**
 * Checks a body, and keeps it in `event.sent`: signatures are verified over its bytes, and parsers replace `body`. The
 * checks reject bodies that a parser would misread without an error.
 *
 * @throws unsupported_media_type — another media type or charset, or a compressed body
 * @throws malformed_body — text that is not UTF-8
 */
export const checkBody = (type: BodyType): HttpMiddleware => ({
  before: function checkBodyBefore({ event }) {
    const { headers, body = '', isBase64Encoded } = event;
    checkEncoding(headers['content-encoding']);
    checkContentType(type, headers['content-type'] ?? '');
    event.sent = isBase64Encoded ? Buffer.from(body, 'base64') : body;
    if (type !== 'multipart') checkText(event.sent, headers['content-length']);
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
  const given = parseHeaderValue(contentType);
  if (given === undefined || !pattern.test(given.value)) throw new Problem('unsupported_media_type', remedy);
  const charset = given.parameters.get('charset');
  if (charset === undefined || /^utf-?8$/i.test(charset.trim())) return;
  throw new Problem('unsupported_media_type', 'Send the body in UTF-8: with charset=utf-8, or without a charset.');
};

const checkText = (sent: string | Buffer, length: string | undefined): void => {
  const isText = typeof sent === 'string';
  if (isText ? wasChanged(sent, length) : !isUtf8(sent)) {
    throw new Problem('malformed_body', 'The body contains text that is not UTF-8.');
  }
  if (isText ? sent.startsWith(BYTE_ORDER_MARK) : sent.subarray(0, 3).equals(BYTE_ORDER_MARK_BYTES)) {
    throw new Problem('malformed_body', 'The body begins with a byte order mark. Remove it.');
  }
};

/**
 * Whether the sent bytes of a text body were not UTF-8. API Gateway decodes JSON, and replaces invalid bytes by U+FFFD.
 * Because a caller may also send U+FFFD, the length decides. One error has no effect on the length: a character of four
 * bytes without its last byte. U+FFFD has three bytes, too.
 */
const wasChanged = (text: string, length: string | undefined): boolean =>
  !text.isWellFormed() ||
  (length !== undefined && text.includes('\ufffd') && Number(length) !== Buffer.byteLength(text));
