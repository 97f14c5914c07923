/** Multipart forms: what clients send is read as they mean it, and no form costs more than its size allows. */
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { define } from '../../../shared/api/endpoint.ts';
import { ok, serve } from '../../../shared/http/endpoint.ts';
import { parseHeaderValue } from '../../../shared/http/header-value.ts';
import { captureLog } from '../../support/captured-log.ts';

captureLog();

const upload = define({
  area: 'bridge',
  summary: 'Takes any fields.',
  routes: [{ host: 'bridge', method: 'POST', path: '/fields' }],
  token: 'none',
  permission: 'none',
  // An object schema would drop names such as `prototype`.
  body: { type: 'multipart', schema: v.custom<Record<string, unknown>>(() => true) },
  responses: { 200: v.unknown() },
  problems: [],
  table: [],
});

interface Field {
  name: string;
  /** The name of a file; undefined for a text. */
  file?: string | undefined;
  content: string;
}

/** The fields that the endpoint receives; or the status and the errors of its response. */
const received = async (body: Uint8Array | string, type: string) => {
  let fields: Field[] = [];
  const event = {
    routeKey: 'POST /fields',
    headers: { 'content-type': type },
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
    requestContext: { requestId: 'request-1', http: { method: 'POST' }, timeEpoch: 0 },
  };
  const handler = serve(upload, async ({ body: given }) => {
    const entries = Object.entries(given).flatMap(([name, values]) =>
      [values].flat().map((value) => ({ name, value })),
    );
    fields = await Promise.all(
      entries.map(async ({ name, value }) =>
        value instanceof File
          ? { name, file: value.name, content: Buffer.from(await value.arrayBuffer()).toString('latin1') }
          : { name, content: String(value) },
      ),
    );
    return ok({});
  });
  const { statusCode, body: sent = '{}' } = await handler(
    event as never,
    { getRemainingTimeInMillis: () => 9_000 } as never,
  );
  return statusCode === 200
    ? fields
    : { status: statusCode, code: JSON.parse(sent).code, errors: JSON.parse(sent).errors };
};

const BOUNDARY = 'boundary-of-the-form';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const part = (disposition: string, content = 'abc', more = '') =>
  `--${BOUNDARY}\r\nContent-Disposition: ${disposition}${more}\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

describe('a file', () => {
  test.each<[client: string, disposition: string, name: string]>([
    ['Go, with quotes', String.raw`form-data; name="file"; filename="a\"b.png"`, 'a"b.png'],
    ['Go, with a backslash', String.raw`form-data; name="file"; filename="a\\b.png"`, String.raw`a\b.png`],
    ['Go, with both', String.raw`form-data; name="file"; filename="\\\"; name=\"x"`, String.raw`\"; name="x`],
    ['a browser, with quotes', 'form-data; name="file"; filename="a%22b.png"', 'a%22b.png'],
    ['a browser, with a backslash', String.raw`form-data; name="file"; filename="a\b.png"`, String.raw`a\b.png`],
    ['an old browser', String.raw`form-data; name="file"; filename="C:\x\a.png"`, String.raw`C:\x\a.png`],
    ['a client without quotes', 'form-data; name=file; filename=a.png', 'a.png'],
    ['a client in capitals', 'Form-Data; NAME="file"; FileName="a.png"', 'a.png'],
    [
      'Python, with other letters',
      'form-data; name="file"; filename*=utf-8\'\'na%C3%AFve%20%E2%82%AC.png',
      'naïve €.png',
    ],
    ['a client with both names', 'form-data; name="file"; filename="n.png"; filename*=UTF-8\'en\'%C3%AF.png', 'ï.png'],
    ['a client with UTF-8', 'form-data; name="file"; filename="naïve €.png"', 'naïve €.png'],
    ['a client with a semicolon', 'form-data; name="file"; filename="a;b=c.png"', 'a;b=c.png'],
    ['a client without a name', 'form-data; name="file"; filename=""', ''],
    ['a client without spaces', 'form-data;name="file";filename="a.png"', 'a.png'],
    ['a client that folds lines', 'form-data;\r\n name="file";\r\n\tfilename="a.png"', 'a.png'],
  ])('of %s is received with its name', async (_, disposition, file) => {
    expect(await received(`${part(disposition)}${END}`, TYPE)).toEqual([{ name: 'file', file, content: 'abc' }]);
  });

  test('may be encoded in base64, and is received as it is otherwise', async () => {
    const sent = (encoding: string, content: string) =>
      received(`${part('form-data; name="a"', content, `\r\nContent-Transfer-Encoding: ${encoding}`)}${END}`, TYPE);
    expect(await sent('base64', 'YWJj')).toEqual([{ name: 'a', content: 'abc' }]);
    for (const encoding of ['binary', '8BIT', '7bit']) {
      expect(await sent(encoding, 'YWJj')).toEqual([{ name: 'a', content: 'YWJj' }]);
    }
    expect(await sent('quoted-printable', 'YWJj')).toMatchObject({ status: 400 });
  });

  test('may be empty, and may contain what looks like a delimiter', async () => {
    const contents = ['', '\r\n', '\r\n\r\n', '--', `x--${BOUNDARY}--`, `\n--${BOUNDARY}\n`, '\r\n--bound'];
    const form = contents.map((content) => part('form-data; name="a"', content)).join('');
    expect(await received(`${form}${END}`, TYPE)).toEqual(contents.map((content) => ({ name: 'a', content })));
  });
});

describe('a form', () => {
  test.each<[string, string]>([
    ['with text before and after it', `Preamble\r\n${part('form-data; name="a"')}${END}Epilogue`],
    ['with spaces after a delimiter', `${part('form-data; name="a"').replace(BOUNDARY, `${BOUNDARY} \t `)}${END}`],
    ['without the last line end', `${part('form-data; name="a"')}${END.trim()}`],
  ])('%s is received', async (_, body) => {
    expect(await received(body, TYPE)).toEqual([{ name: 'a', content: 'abc' }]);
  });

  test.each<[string, string]>([
    ['of another disposition', part('attachment; name="a"')],
    ['without a name', part('form-data')],
    ['without a disposition', part('').replace('Content-Disposition: ', 'X-Disposition: a')],
    ['with two dispositions', part('form-data; name="a"', '', '\r\nContent-Disposition: form-data; name="b"')],
    ['with two names', part('form-data; name="a"; name="b"')],
    ['with an open quote', part('form-data; name="a')],
    ['with a line that is no header', part('form-data; name="a"', '', '\r\nabc')],
    ['whose delimiter continues', part('form-data; name="a"').replace(BOUNDARY, `${BOUNDARY}x`)],
    ['with a wrong extended name', part('form-data; name="a"; filename*=utf-8\'\'%FF')],
  ])('with a part %s returns 400', async (_, sent) => {
    expect(await received(`${sent}${END}`, TYPE)).toMatchObject({ status: 400, code: 'malformed_body' });
  });

  test.each([
    'multipart/form-data; a="; boundary=x"; boundary=y',
    'multipart/form-data; a="\\"; boundary=x"; boundary=y',
    'multipart/form-data; boundary*=x; boundary=y',
    'multipart/form-data; xboundary=x; boundary=y',
  ])('is counted by the boundary by which it is parsed: %s', async (type) => {
    const sent = '--y\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(70_000);
    expect(await received(`${sent}--y--\r\n`, type)).toMatchObject({
      status: 422,
      errors: [{ pointer: '#', detail: 'must hold at most 100 fields' }],
    });
  });

  test.each([
    'multipart/form-data; boundary=x; boundary=y',
    'multipart/form-data; boundary="x"; BOUNDARY="y"',
    'multipart/form-data; boundary="x',
    'multipart/form-data; boundary=x, multipart/form-data; boundary=y',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])('whose boundary is missing or ambiguous returns 415: %s', async (type) => {
    expect(await received('--x\r\n', type)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  test('is received as a client has written it, whatever its names and contents', async () => {
    const words = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((word) => !/[\r\n]/.test(word));
    const fields = fc.array(
      fc.record({
        // Endpoints ignore names that objects have, and objects reorder numbers.
        name: words.filter((name) => name !== '' && !/^(\d+|__proto__|constructor|prototype)$/.test(name)),
        file: fc.option(words, { nil: undefined }),
        content: fc.string({ unit: 'binary-ascii', maxLength: 200 }),
      }),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(fields, async (given) => {
        const form = given
          .map(({ name, file, content }) => {
            const quoted = (value: string) => `"${value.replaceAll(/(["\\])/g, '\\$1')}"`;
            const named = file === undefined ? '' : `; filename=${quoted(file)}`;
            return part(`form-data; name=${quoted(name)}${named}`, content);
          })
          .join('');
        const expected = [...Map.groupBy(given, ({ name }) => name).values()].flat();
        expect(await received(`${form}${END}`, TYPE)).toEqual(
          expected.map(({ name, file, content }) => ({ name, ...(file !== undefined && { file }), content })),
        );
      }),
    );
  });

  test("written by Node's own client is received unchanged", async () => {
    const form = new FormData();
    form.append('file', new File([Uint8Array.from([0, 13, 10, 45, 45, 255])], 'a"b\\c é.png', { type: 'image/png' }));
    form.append('text', 'one');
    form.append('text', 'two');
    const sent = new Response(form);
    const type = sent.headers.get('content-type') ?? '';
    expect(await received(new Uint8Array(await sent.arrayBuffer()), type)).toEqual([
      { name: 'file', file: 'a%22b\\c é.png', content: '\u0000\r\n--\u00ff' },
      { name: 'text', content: 'one' },
      { name: 'text', content: 'two' },
    ]);
  });

  test('of any bytes, under any content type, is received or returns 400, 415 or 422', async () => {
    const pieces = [
      ...['\r\n', '\n', '--', ';', '"', '\\', ' ', '\0', '\u00ff', 'boundary=', 'form-data', 'name=', 'filename='],
      ...['Content-Disposition:', "filename*=utf-8''%", BOUNDARY, `--${BOUNDARY}`, `\r\n--${BOUNDARY}\r\n`, END],
      ...[part('form-data; name="a"'), part('form-data; name="f"; filename="f"'), 'multipart/form-data;', 'base64'],
    ];
    const soup = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), { maxLength: 30 });
    const types = fc.oneof(
      fc.constant(TYPE),
      soup.map((some) => `multipart/form-data;${some.join('')}`),
      soup.map((some) => `${TYPE};${some.join('')}`),
    );
    await fc.assert(
      fc.asyncProperty(soup, types, async (some, type) => {
        const outcome = await received(some.join(''), type);
        if (!Array.isArray(outcome)) expect([400, 415, 422]).toContain(outcome.status);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a header with parameters', () => {
  test.each<[string, string, Record<string, string>]>([
    ['text/plain', 'text/plain', {}],
    [' Text/Plain ', 'text/plain', {}],
    ['text/plain;', 'text/plain', {}],
    ['text/plain ; charset = UTF-8 ', 'text/plain', { charset: 'UTF-8' }],
    ['a/b;; c=d ;', 'a/b', { c: 'd' }],
    ['a/b; utf-8', 'a/b', { 'utf-8': '' }],
    ['a/b; c="d;e=f"; g=h', 'a/b', { c: 'd;e=f', g: 'h' }],
    [String.raw`a/b; c="\"\\\x"; d=""`, 'a/b', { c: String.raw`"\\x`, d: '' }],
    ['a/b; __proto__=c', 'a/b', { ['__proto__']: 'c' }],
  ])('%j is parsed', (field, value, parameters) => {
    const parsed = parseHeaderValue(field);
    expect({ value: parsed?.value, parameters: [...(parsed?.parameters ?? [])] }).toEqual({
      value,
      parameters: Object.entries(parameters),
    });
  });

  test.each(['a/b; c="d', 'a/b; c="d"e', 'a/b; c=d e', 'a/b; c=d, a/b', 'a/b; c=1; C=1', 'a/b; =c', 'a/b; c=d"e"'])(
    '%j is not well-formed',
    (field) => {
      expect(parseHeaderValue(field)).toBeUndefined();
    },
  );
});
