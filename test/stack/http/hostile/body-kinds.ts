/** Hostile bodies: their values, their syntax and their bytes. */
import fc, { type Arbitrary } from 'fast-check';
import type { Operation } from './description.ts';
import { INTACT, type Kind } from './kind.ts';
import { ODD_TEXTS } from './well-formed.ts';
import type { Sent } from './wire.ts';
import { placesIn, type Raw, write } from './writing.ts';

const hasBody = ({ body }: Operation): boolean => body !== undefined;
const hasBodyOf =
  (type: string) =>
  ({ body }: Operation): boolean =>
    body?.type.includes(type) ?? false;
const hasJson = hasBodyOf('json');

/** A text, as JSON and as a form field. */
const both = (text: string): Raw => ({ json: JSON.stringify(text), field: text });
/** A JSON value. A form field contains the same characters. */
const written = (json: string): Raw => ({ json, field: json });

const WRONG_TYPES = [
  'true',
  'false',
  '0',
  '1',
  '{}',
  '[]',
  '[[]]',
  '[null]',
  '{"a":{}}',
  '""',
  '" "',
  '["a","a"]',
  '[{}]',
];

const NUMBERS = ['-1', '-0', '1.5', '1e400', '-1e-400', '1e21', '9007199254740993', '2147483648', '0.1e1', '1E+2'];

/** Unusual texts, some with lone surrogates, which JSON can express and UTF-8 cannot. */
const TEXTS = [
  ...ODD_TEXTS.map(both),
  written(String.raw`"\ud800"`),
  written(String.raw`"a\udc00b"`),
  written(String.raw`"\udc00\ud800"`),
  written(String.raw`"\u0000"`),
  written(String.raw`"\u001b[2J\u0007"`),
  both(' '),
  both('\u00a0\u2003\ufeff'),
  both('\u0301'.repeat(300)),
  both('👩‍👩‍👧‍👦'.repeat(40)),
  both('+27821234567'),
  both('２７８２１２３４５６７'),
  both('27821234567\n'),
];

/** Lengths of texts at and above limits, in characters. */
const LENGTHS = [255, 256, 1_000, 1_001, 2_048, 4_096, 4_097, 20_000, 65_536, 65_537];

/** Letters of one, two, three and four bytes. */
const LETTERS = ['a', 'é', '한', '😀'];

const DEEP = [
  { depth: 50, open: '[', close: ']' },
  { depth: 2_000, open: '[', close: ']' },
  { depth: 2_000, open: '{"a":', close: '}' },
  { depth: 20_000, open: '[', close: ']' },
  { depth: 20_000, open: '{"data":[', close: ']}' },
  { depth: 20_000, open: '[', close: '' },
].map(({ depth, open, close }) => written(`${open.repeat(depth)}1${close.repeat(depth)}`));

const WIDE = [
  `[${'0,'.repeat(10_100)}0]`,
  `[${'"a",'.repeat(5_000)}"b"]`,
  `[${'{},'.repeat(2_000)}{}]`,
  `{${Array.from({ length: 5_000 }, (_, at) => `"k${at}":${at}`).join()}}`,
].map(written);

/** Bodies with one value replaced. */
const replacing = (values: Arbitrary<Raw>): Kind['make'] => {
  return (drafts) =>
    fc.tuple(drafts, values, fc.nat()).map(([draft, value, at]) => {
      // A form cannot be replaced as a whole: it is a list of fields.
      const places = placesIn(draft.body).filter((place) => place.length > 0 || hasJson(draft.operation));
      const place = places[at % places.length];
      return write(draft, place && { place, value });
    });
};

/** Unexpected fields. */
const EXTRAS = [
  '"__proto__":{"account":"demo","isAdmin":true}',
  '"constructor":{"prototype":{"permissions":["app"]}}',
  '"toString":1,"hasOwnProperty":null,"length":-1',
  '"account":"demo","permissions":["app"],"pk":"TOKEN","sk":"TOKEN"',
  '"":"","\\u0000":0,"\\ud800":1',
  '"statuses":[],"messages":{}',
  '"expires_at":0,"gsi1pk":"a","id":"a"',
  '"$ref":"#","$gt":"","$where":"1"',
];

const FIELDS = [
  '__proto__=a',
  'constructor=a',
  'toString=a&toString=b',
  '=',
  '&&&',
  '__proto__[a]=b',
  'account=demo',
  'id=a',
];

/** Inserts fields at the beginning of a JSON object. Any other body is unchanged. */
const intoObject = (json: string, fields: string): string =>
  json.replace(/^\{(?="|\})/, `{${fields},`).replace(',}', '}');

/** A request with another body. */
const withBody = (sent: Sent, body: Buffer): Sent => ({
  ...sent,
  body,
  headers: sent.headers.map(([name, value]) => [name, name === 'Content-Length' ? String(body.length) : value]),
});

const changed = (sent: Sent, change: (text: string) => string): Sent =>
  withBody(sent, Buffer.from(change((sent.body ?? Buffer.alloc(0)).toString('latin1')), 'latin1'));

const inLatin = (text: string): string => Buffer.from(text).toString('latin1');

const typed = (sent: Sent, type: string | undefined): Sent => ({
  ...sent,
  headers: sent.headers.flatMap(([name, value]): [string, string][] =>
    name !== 'Content-Type' ? [[name, value]] : type === undefined ? [] : [[name, type]],
  ),
});

const CONTENT_TYPES = [
  undefined,
  '',
  ' ',
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json;charset="',
  'application/json;;;',
  'APPLICATION/JSON',
  'application/vnd.api+json',
  'application/json+x',
  'application/jsonp',
  'text/json',
  'text/plain',
  'text/plain; charset=x-none',
  'application/xml',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=ISO-8859-1',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary="',
  `multipart/form-data; boundary=${'b'.repeat(300)}`,
  'multipart/form-data; boundary=a; boundary=boundary-of-the-form',
  'multipart/form-data; boundary="boundary-of-the-form"; charset=utf-7',
  'multipart/mixed; boundary=boundary-of-the-form',
  'application/json, application/json',
  'image/png',
  'a/b;c',
  '\u00ff',
];

/** Other contents in place of a body. */
const BODIES = [
  '',
  ' ',
  '\n',
  'null',
  'true',
  '0',
  '""',
  '[]',
  '{}',
  '[{}]',
  '{',
  '}',
  '{}{}',
  '{"a":1,}',
  "{'a':1}",
  '{a:1}',
  '// a\n{}',
  '{"a":NaN}',
  '{"a":undefined}',
  '{"a":01}',
  '{"a":"\t"}',
  '{"a":"\\x41"}',
  '{"a":"\\u12"}',
  '"\\ud800',
  '\ufeff{}',
  '\0',
  '%',
  '%zz=%',
  'a=%ff',
  'a=%ed%a0%80',
  '%u0041=b',
  'a=b&a=c&a[]=d',
  '--boundary-of-the-form--',
  '--boundary-of-the-form\r\n\r\n--boundary-of-the-form--',
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  'a: &a [*a,*a]',
  'data:application/json;base64,e30=',
  'e30=',
].map((text) => Buffer.from(text));

/** Changes that break the structure of a multipart form. */
const BREAKS: ((form: string) => string)[] = [
  (form) => form.replace(/--\r\n$/, ''),
  (form) => form.replace(/--\r\n$/, '--'),
  (form) => form.replaceAll('\r\n', '\n'),
  (form) => form.replace('\r\n\r\n', '\r\n'),
  (form) => form.replace('Content-Disposition', 'X-Disposition'),
  (form) => form.replace('form-data;', 'attachment;'),
  (form) => form.replace('name="file"', 'name=file'),
  (form) => form.replace('name="file"', 'name="__proto__"'),
  (form) => form.replace('name="file"', 'name=""'),
  (form) => form.replace('name="file"', 'name="file'),
  (form) => form.replace('name="file"', "name*=utf-8''file"),
  (form) => form.replace('filename="picture.png"', ''),
  (form) => form.replace('filename="picture.png"', 'filename=""'),
  (form) => form.replace('filename="picture.png"', 'filename="../../etc/passwd"'),
  (form) => form.replace('filename="picture.png"', `filename="${'a'.repeat(20_000)}"`),
  (form) => form.replace('filename="picture.png"', 'filename="\u00ff\u00fe\0"'),
  (form) => form.replace('Content-Type: image/png', 'Content-Type: text/html'),
  (form) => form.replace('Content-Type: image/png', 'Content-Transfer-Encoding: base64'),
  (form) => form.replace('Content-Type: image/png', `X-More: ${'a'.repeat(20_000)}`),
  (form) => `preamble\r\n${form}epilogue`,
  (form) => form.replace(/--\r\n$/, `\r\n${form}`),
  (form) => form.replace(/^--/, '----'),
];

/** Sizes in bytes above Lambda's limit of 6 MB, and above API Gateway's limit of 10 MB. */
const TOO_LARGE = [6_400_000, 10_600_000];

export const bodyKinds: Record<string, Kind> = {
  'a value of another type': { applies: hasBody, make: replacing(fc.constantFrom(...WRONG_TYPES).map(written)) },
  'a value that is null': { applies: hasJson, make: replacing(fc.constant(written('null'))) },
  'a value that is an unusual number': { applies: hasBody, make: replacing(fc.constantFrom(...NUMBERS).map(written)) },
  'a value that is an unusual text': { applies: hasBody, make: replacing(fc.constantFrom(...TEXTS)) },
  'a value that is a very long text': {
    applies: hasBody,
    share: 0.3,
    make: replacing(
      fc
        .tuple(fc.constantFrom(...LENGTHS), fc.constantFrom(...LETTERS))
        .map(([length, letter]) => both(letter.repeat(length))),
    ),
  },
  'a value that is deeply nested': { applies: hasJson, share: 0.3, make: replacing(fc.constantFrom(...DEEP)) },
  'a value with thousands of elements': { applies: hasJson, share: 0.2, make: replacing(fc.constantFrom(...WIDE)) },
  'a missing value': {
    applies: hasBody,
    make: (drafts) =>
      fc.tuple(drafts, fc.nat()).map(([draft, at]) => {
        const places = placesIn(draft.body).slice(1);
        const place = places[at % places.length] ?? [];
        return write({ ...draft, body: without(draft.body, place) });
      }),
  },
  'unexpected fields': {
    applies: hasBody,
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom(...EXTRAS), fc.constantFrom(...FIELDS)).map(([draft, extra, field]) => {
        const { type = '' } = draft.operation.body ?? {};
        if (hasJson(draft.operation)) return changed(write(draft), (json) => intoObject(json, extra));
        if (type.startsWith('multipart')) return changed(write(draft), (form) => `${strangePart(field)}${form}`);
        return changed(write(draft), (form) => `${form}&${field}`);
      }),
  },
  'duplicate keys': {
    applies: hasJson,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.nat(), fc.constantFrom(...WRONG_TYPES, ...NUMBERS), fc.boolean())
        .map(([draft, at, value, first]) => {
          const keys = placesIn(draft.body).flatMap((place) => place.slice(-1));
          const again = `${JSON.stringify(keys[at % keys.length] ?? 'a')}:${value}`;
          return changed(write(draft), (json) =>
            first ? intoObject(json, inLatin(again)) : json.replace(/\}$/, `,${inLatin(again)}}`),
          );
        }),
  },
  'a truncated body': {
    applies: hasBody,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.double({ min: 0, max: 0.99, noNaN: true }))
        .map(([draft, share]) => changed(write(draft), (text) => text.slice(0, Math.floor(share * text.length)))),
  },
  'a body with changed bytes': {
    applies: hasBody,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 5 }))
        .map(([draft, turns]) => {
          const sent = write(draft);
          const body = Buffer.from(sent.body ?? '');
          for (const [at, byte] of turns) if (body.length > 0) body[at % body.length] = byte;
          return withBody(sent, body);
        }),
  },
  'other content in place of the body': {
    applies: hasBody,
    make: (drafts) => fc.tuple(drafts, fc.constantFrom(...BODIES)).map(([draft, body]) => withBody(write(draft), body)),
  },
  'a byte order mark': {
    applies: hasBody,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.constantFrom('\xef\xbb\xbf', '\xff\xfe', '\xfe\xff', '\x2b\x2f\x76\x38'))
        .map(([draft, mark]) => changed(write(draft), (text) => `${mark}${text}`)),
  },
  'another character encoding': {
    applies: hasBody,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.constantFrom<BufferEncoding[]>('utf16le', 'latin1', 'base64', 'hex'))
        .map(([draft, encoding]) => {
          const sent = write(draft);
          const { body = Buffer.alloc(0) } = sent;
          const isBinary = encoding === 'base64' || encoding === 'hex';
          return withBody(
            sent,
            Buffer.from(isBinary ? body.toString(encoding) : body.toString(), isBinary ? 'latin1' : encoding),
          );
        }),
  },
  'another content type': {
    applies: hasBody,
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom(...CONTENT_TYPES)).map(([draft, type]) => typed(write(draft), type)),
  },
  'a content encoding': {
    share: INTACT,
    applies: hasBody,
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom('gzip', 'br', 'identity', 'aws-chunked', 'x')).map(([draft, encoding]) => {
        const sent = write(draft);
        return { ...sent, headers: [...sent.headers, ['Content-Encoding', encoding]] };
      }),
  },
  'a chunked body': {
    share: INTACT,
    applies: hasBody,
    make: (drafts) =>
      drafts.map((draft) => {
        const sent = write(draft);
        const headers = sent.headers.filter(([name]) => name !== 'Content-Length');
        return { ...sent, headers: [...headers, ['Transfer-Encoding', 'chunked']] };
      }),
  },
  'a body of a request that has none': {
    applies: (operation) => !hasBody(operation) && operation.method !== 'HEAD',
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom(...BODIES)).map(([draft, body]) => {
        const sent = write(draft);
        const extra: [string, string][] = [
          ['Content-Type', 'application/json'],
          ['Content-Length', String(body.length)],
        ];
        return { ...sent, body, headers: [...sent.headers, ...extra] };
      }),
  },
  'a broken multipart form': {
    applies: hasBodyOf('multipart'),
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom(...BREAKS)).map(([draft, broken]) => changed(write(draft), broken)),
  },
  'a body over the limits': {
    applies: hasBody,
    share: 0.02,
    rejected: true,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.constantFrom(...TOO_LARGE))
        .map(([draft, size]) => withBody(write(draft), Buffer.alloc(size, 'a'))),
  },
};

const strangePart = (field: string): string =>
  `--boundary-of-the-form\r\nContent-Disposition: form-data; name="${field.replace(/=.*/, '')}"\r\n\r\na\r\n`;

/** A body without one of its values. */
const without = (body: unknown, [name, ...rest]: string[]): unknown => {
  if (typeof body !== 'object' || body === null || name === undefined) return body;
  if (Array.isArray(body))
    return body.flatMap((one, at) => (String(at) !== name ? [one] : rest.length > 0 ? [without(one, rest)] : []));
  return Object.fromEntries(
    Object.entries(body).flatMap(([key, one]) =>
      key !== name ? [[key, one]] : rest.length > 0 ? [[key, without(one, rest)]] : [],
    ),
  );
};
