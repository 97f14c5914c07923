/** Serialises drafts as requests. Values that are broken on purpose stay as they are. */
import type { Draft } from './well-formed.ts';
import type { Sent } from './wire.ts';

/** A raw value, as JSON, which may be invalid, and as a form field. */
export interface Raw {
  json: string;
  field: string;
}

/** A raw value, and its position in a body. */
export interface Replacement {
  place: string[];
  value: Raw;
}

const BOUNDARY = 'boundary-of-the-form';

/** Serialises a draft. */
export const write = (draft: Draft, replacement?: Replacement): Sent => {
  const { operation, host, caller, token, body } = draft;
  const type = operation.body?.type;
  const bytes = body === undefined ? undefined : written(type, body, replacement);
  return {
    operation,
    caller,
    host,
    method: operation.method,
    target: `${pathOf(draft)}${queryOf(Object.entries(draft.query))}`,
    headers: [
      ['Host', 'localhost'],
      ...(token !== undefined && operation.token === 'header' ? [['Authorization', `Bearer ${token}`] as const] : []),
      ...Object.entries(draft.headers).map(([name, value]) => [name, asHeader(value)] as const),
      ...(bytes ? [['Content-Type', contentTypeOf(type)] as const] : []),
      ...(bytes ? [['Content-Length', String(bytes.length)] as const] : []),
    ].map(([name = '', value = '']) => [name, value]),
    body: bytes,
  };
};

const contentTypeOf = (type = ''): string => (type.startsWith('multipart') ? `${type}; boundary=${BOUNDARY}` : type);

const written = (type = '', body: unknown, replacement?: Replacement): Buffer => {
  if (type.startsWith('multipart')) return multipart(body, replacement);
  return Buffer.from(type.endsWith('json') ? json(body, replacement) : form(body, replacement));
};

/** The path with its parameters, and a token in base64url. */
const pathOf = ({ operation, token = '', path }: Draft): string =>
  operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? Buffer.from(token).toString('base64url')),
  );

const encoded = (value: string): string => encodeURIComponent(value.toWellFormed());

export const queryOf = (pairs: [string, string][]): string =>
  pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.map(encoded).join('=')).join('&')}`;

/** A text without the characters that a header cannot contain. */
export const asHeader = (value: string): string =>
  Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');

/** The placeholder for a raw value in a body. */
const GAP = '\ue000gap\ue000';

const isNested = (value: unknown): value is Record<string, unknown> | unknown[] =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array);

/** The paths of all values in a body; the first is that of the whole body. */
export const placesIn = (body: unknown): string[][] => [
  [],
  ...(isNested(body)
    ? Object.entries(body).flatMap(([name, part]) => placesIn(part).map((place) => [name, ...place]))
    : []),
];

/** A body with the value at a path replaced. */
const withPart = (body: unknown, [name, ...rest]: string[], part: unknown): unknown => {
  if (name === undefined) return part;
  if (Array.isArray(body)) return body.map((one, at) => (String(at) === name ? withPart(one, rest, part) : one));
  if (!isNested(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, one]) => [key, key === name ? withPart(one, rest, part) : one]),
  );
};

const json = (body: unknown, replacement?: Replacement): string => {
  if (replacement === undefined) return JSON.stringify(body);
  const { place, value } = replacement;
  return JSON.stringify(withPart(body, place, GAP)).replace(JSON.stringify(GAP), () => value.json);
};

/** Form fields in order; a field with several values is repeated. */
const fieldsOf = (body: unknown, replacement?: Replacement): [string, unknown][] => {
  const filled = replacement ? withPart(body, replacement.place, replacement.value.field) : body;
  if (!isNested(filled)) return [['file', filled]];
  return Object.entries(filled).flatMap(([name, value]) => [value].flat().map((one): [string, unknown] => [name, one]));
};

const form = (body: unknown, replacement?: Replacement): string =>
  queryOf(fieldsOf(body, replacement).map(([name, value]) => [name, String(value)])).slice(1);

const multipart = (body: unknown, replacement?: Replacement): Buffer =>
  Buffer.concat([
    ...fieldsOf(body, replacement).map(([name, value]) => part(name, value)),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);

/** A part of a multipart form. Bytes become a file. */
const part = (name: string, value: unknown): Buffer => {
  const isFile = value instanceof Uint8Array;
  const head = [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="${name}"${isFile ? '; filename="picture.png"' : ''}`,
    ...(isFile ? ['Content-Type: image/png'] : []),
  ];
  const content = isFile ? value : Buffer.from(String(value));
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), content, Buffer.from('\r\n')]);
};
