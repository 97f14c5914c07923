import { invalidRequest, Problem } from '../../core/problems.ts';
import { bytesOf, type HttpMiddleware } from '../event.ts';
import { type HeaderValue, parseHeaderValue } from '../header-value.ts';

/** Most parts of a form. */
const MAX_PARTS = 100;

/** Most bytes of a part's headers. */
const MAX_HEAD = 8_192;

/** Most characters of a boundary (RFC 2046, 5.1.1). */
const MAX_BOUNDARY = 70;

/**
 * Parses a multipart form into its fields, by name. A repeated field becomes an array.
 *
 * @throws unsupported_media_type — Content-Type names no boundary
 * @throws malformed_body — the body is truncated, or is not a form
 * @throws invalid_request — more than 100 parts, or a part with more than 8 KB of headers
 */
export const multipartBody = (): HttpMiddleware => ({
  before: function multipartBodyBefore({ event }) {
    const boundary = parseHeaderValue(event.headers['content-type'] ?? '')?.parameters.get('boundary') ?? '';
    if (boundary === '' || boundary.length > MAX_BOUNDARY) {
      throw new Problem('unsupported_media_type', MULTIPART_REMEDY);
    }
    const fields = new Map<string, (File | string)[]>();
    for (const { name, value } of partsOf(bytesOf(event), boundary)) {
      const values = fields.get(name);
      if (values === undefined) fields.set(name, [value]);
      else values.push(value);
    }
    const body = [...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
    Object.assign(event, { body: Object.fromEntries(body) });
  },
});

/** What to do if the media type is wrong. */
export const MULTIPART_REMEDY =
  'Send the body as multipart/form-data with its boundary: clients set both when they send a form.';

interface Part {
  name: string;
  value: File | string;
}

const LINE_END = Buffer.from('\r\n');
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * The parts of a form (RFC 7578; RFC 2046, 5.1.1). The whole body is at hand, so each step is a search for bytes, and the time
 * is in proportion to the size of the body. The limits are part of the parser: what it reads is what was counted.
 */
function* partsOf(bytes: Buffer, boundary: string): Generator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter may begin the body. What is before it, and after the last one, means nothing.
  const first = delimiter.subarray(LINE_END.length);
  let at = bytes.subarray(0, first.length).equals(first) ? first.length : afterNext(bytes, delimiter, 0);
  for (let parts = 0; !isLast(bytes, at); parts += 1) {
    if (parts === MAX_PARTS) throw tooMuch(`must hold at most ${MAX_PARTS} fields`);
    const lineEnd = bytes.indexOf(LINE_END, at);
    // Spaces may follow a delimiter.
    if (lineEnd === -1 || !isBlank(bytes, at, lineEnd)) throw malformed();
    const head = bytes.subarray(lineEnd, lineEnd + MAX_HEAD);
    const length = head.indexOf(END_OF_HEAD);
    if (length === -1) {
      if (head.length < MAX_HEAD) throw malformed();
      throw tooMuch(`must hold fields with at most ${MAX_HEAD} bytes of headers`);
    }
    const start = lineEnd + length + END_OF_HEAD.length;
    // The line end of an empty content is that of its headers.
    const next = afterNext(bytes, delimiter, start - LINE_END.length);
    yield partOf(head.subarray(0, length).toString(), bytes.subarray(start, Math.max(start, next - delimiter.length)));
    at = next;
  }
}

/** The place after the next delimiter. */
const afterNext = (bytes: Buffer, delimiter: Buffer, from: number): number => {
  const index = bytes.indexOf(delimiter, from);
  if (index === -1) throw malformed();
  return index + delimiter.length;
};

const HYPHEN = '-'.charCodeAt(0);

const isLast = (bytes: Buffer, at: number): boolean => bytes[at] === HYPHEN && bytes[at + 1] === HYPHEN;

const isBlank = (bytes: Buffer, from: number, to: number): boolean =>
  to - from <= MAX_HEAD && /^[ \t]*$/.test(bytes.toString('latin1', from, to));

/** A header of a part: name and value. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+)[ \t]*:(.*)$/s;

/** A line that continues the one before. */
const FOLDED = /\r\n[ \t]+/g;

const partOf = (head: string, content: Buffer): Part => {
  const headers = new Map<string, string>();
  for (const line of head.replaceAll(FOLDED, ' ').split('\r\n').slice(1)) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    if (name === '' || headers.has(name.toLowerCase())) throw malformed();
    headers.set(name.toLowerCase(), value.trim());
  }
  const disposition = parseHeaderValue(headers.get('content-disposition') ?? '');
  const name = disposition && textParameter(disposition, 'name');
  if (disposition?.value !== 'form-data' || name === undefined) throw malformed();
  const bytes = decoded(content, headers.get('content-transfer-encoding'));
  const fileName = textParameter(disposition, 'filename');
  if (fileName === undefined) return { name, value: bytes.toString() };
  const type = headers.get('content-type') ?? 'application/octet-stream';
  return { name, value: new File([Uint8Array.from(bytes)], fileName, { type }) };
};

/** A value with other characters than ASCII (RFC 8187). */
const EXTENDED = /^utf-8'[^']*'(.*)$/is;

/**
 * A parameter that is a text. RFC 7578 forbids the form `filename*`, but clients in Python send it, in place of `filename`, for
 * names with other letters than ASCII.
 */
const textParameter = ({ parameters }: HeaderValue, name: string): string | undefined => {
  const [, encoded] = EXTENDED.exec(parameters.get(`${name}*`) ?? '') ?? [];
  if (encoded === undefined) return parameters.get(name);
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw malformed();
  }
};

/** The content without its transfer encoding, which old clients use (RFC 7578, 4.7). */
const decoded = (content: Buffer, encoding = 'binary'): Buffer => {
  if (/^(?:7bit|8bit|binary)$/i.test(encoding)) return content;
  if (/^base64$/i.test(encoding)) return Buffer.from(content.toString('latin1'), 'base64');
  throw malformed();
};

const malformed = (): Problem =>
  new Problem('malformed_body', 'The form is incomplete, or its parts cannot be read. Send the complete form.');

const tooMuch = (detail: string): Problem => invalidRequest([{ pointer: '#', detail }]);
