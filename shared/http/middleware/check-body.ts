/** What a body must be before it is parsed: of the right media type, in UTF-8, not compressed. */
import { isUtf8 } from 'node:buffer';
import type { Endpoint } from '../../api/endpoint.ts';
import { Problem } from '../../core/problems.ts';
import type { HttpEvent, HttpMiddleware } from '../event.ts';

type BodyType = NonNullable<Endpoint['body']>['type'];

/** Media types by the kind of body, and what `detail` says about any other. */
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

/** A parameter of a media type (RFC 9110, 5.6.6): its name, and its value, which may be quoted. */
const PARAMETER = /;\s*([^=;\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;

/** Begins some files of Windows. JSON must not (RFC 8259, 8.1), and in a form it would be part of a name. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * Keeps the bytes of a body, before a parser puts what they say in its place: signatures are made over them. Refuses what
 * the parsers would read wrong without noticing.
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

const checkEncoding = (encoding = ''): void => {
  if (['', 'identity'].includes(encoding.trim().toLowerCase())) return;
  throw new Problem('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.', {
    headers: { 'accept-encoding': 'identity' },
  });
};

const checkContentType = (type: BodyType, contentType: string): void => {
  const { pattern, remedy } = MEDIA_TYPES[type];
  if (!pattern.test(contentType)) throw new Problem('unsupported_media_type', remedy);
  for (const [, name = '', value = ''] of contentType.matchAll(PARAMETER)) {
    if (name.toLowerCase() !== 'charset' || /^"?utf-?8"?\s*$/i.test(value)) continue;
    throw new Problem('unsupported_media_type', 'Send the body in UTF-8: with charset=utf-8, or without a charset.');
  }
};

const checkText = (event: HttpEvent, bytes: Buffer): void => {
  if (event.isBase64Encoded ? !isUtf8(bytes) : wasChanged(event, bytes)) {
    throw new Problem('malformed_body', 'The body contains text that is not UTF-8.');
  }
  if (bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
    throw new Problem('malformed_body', 'The body begins with a byte order mark. Remove it.');
  }
};

/**
 * Whether a body that came as text was not UTF-8 on its way: API Gateway decodes JSON, and what cannot be decoded becomes
 * U+FFFD. That character may also have been sent, so its length decides. Not noticed: nothing but characters of four bytes
 * that lack the last one, for U+FFFD is as long as the rest.
 */
const wasChanged = ({ body = '', headers }: HttpEvent, bytes: Buffer): boolean => {
  if (!body.isWellFormed()) return true;
  const sent = headers['content-length'];
  return sent !== undefined && body.includes('\ufffd') && Number(sent) !== bytes.length;
};
