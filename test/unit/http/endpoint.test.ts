/** The HTTP layer around a handler, in cases that the local stack does not produce. */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { profilers } from '../../../shared/api/areas/profilers.ts';
import { define } from '../../../shared/api/endpoint.ts';
import { invalidRequest, Problem } from '../../../shared/core/problems.ts';
import { endpoint, noContent, ok, serve } from '../../../shared/http/endpoint.ts';
import type { HttpEvent } from '../../../shared/http/event.ts';
import { log } from '../../../shared/telemetry/log.ts';
import { listOf } from '../../../shared/validation/bounded.ts';
import { captureLog } from '../../support/captured-log.ts';

const written = captureLog();

beforeEach(() => void vi.stubEnv('BASE_URL', 'https://api.example.com'));

afterEach(() => void vi.unstubAllEnvs());

/** An event with the fields that the HTTP layer reads. */
const eventWith = (lambda: unknown) =>
  ({
    routeKey: 'GET /v1/research_profilers',
    headers: {},
    requestContext: { requestId: 'request-1', http: { method: 'GET' }, authorizer: { lambda } },
  }) as HttpEvent;

const identity = { account: 'acme', token: 'token-1', label: 'test', permissions: ['profilers'] };

const context = (remaining: number) => ({ getRemainingTimeInMillis: () => remaining }) as Context;

const responseOf = async (failure: Error, event = eventWith(identity)) => {
  const handler = endpoint(profilers.listProfilers, () => Promise.reject(failure));
  const { statusCode, headers, body } = await handler(event, context(10_000));
  return { statusCode, headers, body: JSON.parse(body ?? '') };
};

test('an unexpected error returns 500, and neither response nor log contains its message', async () => {
  const response = await responseOf(new TypeError('27821234567 is not a function'));
  expect(response.statusCode).toBe(500);
  expect(response.body).toEqual({
    type: 'https://api.example.com/v1/openapi.json#/components/responses/internal_error',
    title: 'Something went wrong on our side',
    status: 500,
    code: 'internal_error',
    detail: 'Send the trace_id to support.',
    trace_id: 'request-1',
  });
  const lines = written.map((line) => JSON.parse(line));
  expect(lines).toContainEqual({
    level: 'error',
    message: 'internal_error',
    trace_id: 'request-1',
    error: 'TypeError',
    at: expect.stringContaining('endpoint.test.ts'),
  });
  expect(written.join()).not.toContain('27821234567');
});

/** Errors of Middy's body parsers name their package. Similar errors are internal errors. */
test.each<[string, object]>([
  ['a status and no cause', { statusCode: 400 }],
  ['a status and null as the cause', { statusCode: 400, cause: null }],
  ['a status and a string as the cause', { statusCode: 400, cause: '-body-parser' }],
  ['a status and a cause without a package', { statusCode: 400, cause: { data: 'x' } }],
  ['a status and a cause in another package', { statusCode: 400, cause: { package: '@middy/core' } }],
  ['a status that is not a number', { statusCode: '400', cause: { package: '@middy/http-json-body-parser' } }],
  ['no status', { cause: { package: '@middy/http-json-body-parser' } }],
])('an error with %s returns 500, not 400', async (_, properties) => {
  const response = await responseOf(Object.assign(new Error('27821234567'), properties));
  expect(response).toMatchObject({ statusCode: 500, body: { code: 'internal_error' } });
});

test('a thrown object that is not an Error returns 500', async () => {
  const thrown = { statusCode: 400, cause: { package: '@middy/http-json-body-parser' } };
  expect(await responseOf(thrown as unknown as Error)).toMatchObject({ statusCode: 500 });
});

test.each<[Problem, number, string, string[]]>([
  [new Problem('media_not_found', 'There is none.'), 404, 'rejected', []],
  [invalidRequest([]), 422, 'rejected', []],
  [new Problem('malformed_body', 'It is none.'), 400, 'rejected', []],
  [new Problem('unavailable', 'Try again.', { retryAfter: 1 }), 503, 'failed', ['unavailable']],
  [new Problem('internal_error', 'Tell us.'), 500, 'failed', ['internal_error']],
])(
  'a request that ends with %s logs one request line, and an error line if the service must be fixed',
  async (problem, ...expected) => {
    const { headers } = await responseOf(problem);
    const [status, outcome, errors] = expected;
    expect(headers?.['retry-after']).toBe(status === 503 ? '1' : undefined);
    const lines = written.map((line) => JSON.parse(line));
    expect(lines.filter(({ message }) => message === 'request')).toMatchObject([
      { level: 'info', account: 'acme', route: 'GET /v1/research_profilers', status, outcome, requests: 1 },
    ]);
    expect(lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual(errors);
  },
);

test('a successful request logs one line with its duration in milliseconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const handler = endpoint(profilers.listProfilers, async () => {
    vi.setSystemTime(Date.now() + 25);
    return ok([]);
  });
  await handler(eventWith(identity), context(10_000));
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { message: 'request', status: 200, outcome: 'succeeded', requests: 1, request_ms: 25 },
  ]);
});

test.each([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'TimeoutError',
  'InternalServerError',
  'ECONNRESET',
])('a busy table (%s) returns 503 with Retry-After: 1', async (name) => {
  const response = await responseOf(Object.assign(new Error('busy'), name.startsWith('E') ? { code: name } : { name }));
  expect(response).toMatchObject({
    statusCode: 503,
    headers: { 'retry-after': '1' },
    body: { code: 'unavailable', detail: 'Retry in a moment.' },
  });
});

test('a 502 from a proxy before the table returns 503, and a 400 returns 500', async () => {
  const failure = Object.assign(new SyntaxError('Unexpected token <'), { $metadata: { httpStatusCode: 502 } });
  expect(await responseOf(failure)).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  const refusal = Object.assign(new Error('refused'), { $metadata: { httpStatusCode: 400 } });
  expect(await responseOf(refusal)).toMatchObject({ statusCode: 500 });
});

test('a handler that takes too long returns 503 before Lambda stops it', async () => {
  const handler = endpoint(profilers.listProfilers, () => new Promise(() => undefined));
  const end = Date.now() + 550;
  const counting = { getRemainingTimeInMillis: () => end - Date.now() } as Context;
  const { statusCode, headers, body } = await handler(eventWith(identity), counting);
  expect({ statusCode, retry: headers?.['retry-after'] }).toEqual({ statusCode: 503, retry: '1' });
  expect(JSON.parse(body ?? '')).toMatchObject({
    code: 'unavailable',
    detail: 'The request took too long. Retry in a moment.',
  });
});

test('remaining() returns the time left, less 500 ms for the timeout response', async () => {
  const handle = vi.fn(async ({ remaining }: { remaining: () => number }) =>
    ok([], { 'x-remaining': `${remaining()}` }),
  );
  const { headers } = await endpoint(profilers.listProfilers, handle)(eventWith(identity), context(10_000));
  expect(headers).toMatchObject({ 'x-remaining': '9500' });
});

test.each([
  undefined,
  {},
  { account: 'acme' },
  { ...identity, account: 1 },
  { ...identity, token: undefined },
  { ...identity, label: undefined },
  { ...identity, permissions: 'profilers' },
  { ...identity, permissions: ['profilers', 1] },
  { ...identity, permissions: Array.from({ length: 101 }, () => 'profilers') },
  { ...identity, rate: '1' },
  { ...identity, burst: null },
])('a request without a complete identity from the authorizer returns 500: %o', async (lambda) => {
  const handle = vi.fn(async () => ok([]));
  const { statusCode } = await endpoint(profilers.listProfilers, handle)(eventWith(lambda), context(10_000));
  expect(statusCode).toBe(500);
  expect(handle).not.toHaveBeenCalled();
  expect(written.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ level: 'error', message: 'internal_error', error: 'Error' }),
  );
});

test('two concurrent requests keep their own accounts and traces', async () => {
  const handler = endpoint(profilers.listProfilers, async ({ account }) => {
    await setImmediate();
    log('info', 'working', { account });
    return ok([], { 'x-account': account });
  });
  const other = eventWith({ ...identity, account: 'other' });
  other.requestContext.requestId = 'request-2';
  const [one, two] = await Promise.all([
    handler(eventWith(identity), context(10_000)),
    handler(other, context(10_000)),
  ]);
  expect([one.headers?.['x-account'], two.headers?.['x-account']]).toEqual(['acme', 'other']);
  const lines = written.map((line) => JSON.parse(line));
  expect(lines.map(({ message, account, trace_id }) => `${message} ${account} ${trace_id}`).toSorted()).toEqual([
    'request acme request-1',
    'request other request-2',
    'working acme request-1',
    'working other request-2',
  ]);
});

const FORM = 'application/x-www-form-urlencoded';

/** A body as API Gateway passes binary content and forms: in base64. */
const asBytes = (body: string | Buffer) => ({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true });

/** A body as API Gateway passes text. */
const asText = (body: string) => ({ body, isBase64Encoded: false });

/** An event of a POST request, with body, content type and path parameters. */
const postEvent = (
  sent: Partial<Pick<HttpEvent, 'body' | 'isBase64Encoded' | 'pathParameters'>>,
  type = FORM,
): HttpEvent => ({ ...eventWith(undefined), ...sent, headers: { 'content-type': type } });

/** What the endpoints of these tests have in common. */
const common = {
  area: 'bridge',
  summary: 'An endpoint.',
  routes: [{ host: 'bridge', method: 'POST', path: '/form' }],
  token: 'none',
  permission: 'none',
  responses: { 200: v.unknown() },
  problems: [],
  table: [],
} as const;

describe('an endpoint that takes a form', () => {
  const form = define({
    ...common,
    body: { type: 'form', schema: v.object({ text: v.string(), reply: v.optional(v.array(v.string())) }) },
  });

  const send = async (event: HttpEvent) => {
    const handle = vi.fn(async ({ body, bytes }: { body: object; bytes: () => Buffer }) =>
      ok({ ...body, bytes: bytes().toString('base64') }),
    );
    const { statusCode, body } = await serve(form, handle)(event, context(10_000));
    return { status: statusCode, body: JSON.parse(body ?? ''), handled: handle.mock.calls.length > 0 };
  };

  test('receives the fields, repeated ones as a list in order, and the bytes of the body', async () => {
    const sent = 'text=a+%26+%E2%98%BA&reply=Yes&reply=No+%2B&extra=1';
    const bytes = 'dGV4dD1hKyUyNislRTIlOTglQkEmcmVwbHk9WWVzJnJlcGx5PU5vKyUyQiZleHRyYT0x';
    const fields = { text: 'a & \u263a', reply: ['Yes', 'No +'], bytes };
    expect(await send(postEvent(asBytes(sent)))).toEqual({ status: 200, body: fields, handled: true });
    expect(await send(postEvent(asText(sent)))).toEqual({ status: 200, body: fields, handled: true });
  });

  test.each<[string, string]>([
    ['text=%F0%9F%98%80', '😀'],
    ['text=😀', '😀'],
    ['text=%25', '%'],
    ['text=100%2525', '100%25'],
    ['text=%EF%BF%BD', '\ufffd'],
    ['text=%00', '\u0000'],
    ['text', ''],
  ])('valid percent-encoding and UTF-8 are decoded: %s', async (sent, text) => {
    expect(await send(postEvent(asBytes(sent)))).toMatchObject({ status: 200, body: { text } });
    expect(await send(postEvent(asText(sent)))).toMatchObject({ status: 200, body: { text } });
  });

  test.each<[string, string]>([
    ['a lone percent sign', 'text=100%'],
    ['a percent sign and one digit', 'text=%4'],
    ['a percent sign and no digits', 'text=%zz'],
    ['an incomplete UTF-8 character', 'text=%E2%98'],
    ['half of a surrogate pair', 'text=%ED%A0%80'],
    ['an overlong UTF-8 encoding', 'text=%C0%AF'],
    ['a byte of Latin-1', 'text=caf%E9'],
    ['an invalid percent-encoding in a name', 'text=a&%=b'],
    ['an invalid percent-encoding in an unknown field', 'text=a&extra=%'],
  ])('a form with %s returns 400', async (_, sent) => {
    for (const event of [postEvent(asBytes(sent)), postEvent(asText(sent))]) {
      expect(await send(event)).toMatchObject({
        status: 400,
        body: {
          code: 'malformed_body',
          detail: 'The form contains an invalid percent-encoding, or text that is not UTF-8.',
        },
        handled: false,
      });
    }
  });

  test('a form of 1,000 fields is accepted, and a form of more returns 422', async () => {
    expect(await send(postEvent(asBytes(`${'a=&'.repeat(999)}text=a`)))).toMatchObject({ status: 200 });
    for (const count of [1_000, 1_000_000]) {
      expect(await send(postEvent(asBytes(`text=a${'&'.repeat(count)}`)))).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '#', detail: 'must hold at most 1000 fields' }] },
        handled: false,
      });
    }
  });

  test('a form of 1 MB is accepted, and a larger one returns 422 before decoding', async () => {
    const most = `text=${'+'.repeat(1_048_576 - 5)}`;
    expect(await send(postEvent(asBytes(most)))).toMatchObject({ status: 200 });
    expect(await send(postEvent(asBytes(`${most}+`)))).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#', detail: 'must have at most 1048576 bytes' }] },
      handled: false,
    });
  });

  test.each(['__proto__', 'constructor', 'toString'])('ignores a field named %s', async (name) => {
    expect(await send(postEvent(asBytes(`${name}=x&${name}=y&text=a`)))).toMatchObject({
      status: 200,
      body: { text: 'a' },
    });
  });
});

describe('an endpoint that takes JSON', () => {
  const document = define({
    ...common,
    body: { type: 'json', schema: v.object({ text: v.string() }) },
  });

  test.each([
    ['as text', asText('{ "text": "\\u005a\\u006fë 😀" }\n')],
    ['as bytes', asBytes('{ "text": "\\u005a\\u006fë 😀" }\n')],
  ])('a body that API Gateway passes %s arrives parsed, and as the original bytes', async (_, sent) => {
    const { statusCode, body } = await serve(document, async ({ body: { text }, bytes }) =>
      ok({ text, bytes: bytes().toString('base64') }),
    )(postEvent(sent, 'application/json'), context(10_000));
    expect({ status: statusCode, ...JSON.parse(body ?? '') }).toEqual({
      status: 200,
      text: 'Zoë 😀',
      bytes: 'eyAidGV4dCI6ICJcdTAwNWFcdTAwNmbDqyDwn5iAIiB9Cg==',
    });
  });

  const send = async (event: HttpEvent) => {
    const { statusCode, body } = await serve(document, async ({ body: { text } }) => ok({ text }))(
      event,
      context(10_000),
    );
    return { status: statusCode, body: JSON.parse(body ?? '') };
  };

  test('a percent sign alone is valid in JSON', async () => {
    expect(await send(postEvent(asText('{"text":"100%"}'), 'application/json'))).toEqual({
      status: 200,
      body: { text: '100%' },
    });
  });

  test.each<[string, string]>([
    ['a field named __proto__', '{"__proto__":{"text":1},"text":"a"}'],
    ['a field named __proto__ in escaped form', String.raw`{"\u005f_proto__":{"text":1},"text":"a"}`],
    ['a field named constructor', '{"constructor":{"prototype":{"text":1}},"text":"a"}'],
    ['nested fields with these names', '{"x":[{"__proto__":[]},{"constructor":{"prototype":{}}}],"text":"a"}'],
    [
      'a body over 100,000 characters with a field named __proto__',
      `{"x":"${'x'.repeat(100_000)}","__proto__":{},"text":"a"}`,
    ],
    ['400,000 nested arrays in an unknown field', `{"x":${'[['.repeat(200_000)}${']]'.repeat(200_000)},"text":"a"}`],
  ])('unknown fields are ignored and change no prototype: %s', async (_, sent) => {
    for (const body of [asText(sent), asBytes(sent)]) {
      expect(await send(postEvent(body, 'application/json'))).toEqual({ status: 200, body: { text: 'a' } });
    }
    expect(Object.hasOwn(Object.prototype, 'text')).toBe(false);
  });

  describe('a body that API Gateway passed as text', () => {
    const sent = Buffer.from('{"text":"zzz\u00ff"}', 'latin1');
    const withLength = (event: HttpEvent, length: number): HttpEvent => ({
      ...event,
      headers: { ...event.headers, 'content-length': String(length) },
    });

    test.each<[string, HttpEvent]>([
      ['that was not UTF-8', withLength(postEvent(asText(sent.toString()), 'application/json'), sent.length)],
      ['that contains half of a surrogate pair', postEvent(asText('{"text":"\ud83d"}'), 'application/json')],
    ])('a body %s returns 400', async (_, event) => {
      expect(await send(event)).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
    });

    test.each<[string, HttpEvent]>([
      [
        'with the byte length of the content',
        withLength(postEvent(asText(sent.toString()), 'application/json'), Buffer.byteLength(sent.toString())),
      ],
      ['without a content length', postEvent(asText(sent.toString()), 'application/json')],
    ])('a sent replacement character is accepted %s', async (_, event) => {
      expect(await send(event)).toEqual({ status: 200, body: { text: 'zzz\ufffd' } });
    });
  });
});

describe('an endpoint that knows its fields', () => {
  const order = define({
    ...common,
    query: v.object({ limit: v.optional(v.string()) }),
    body: {
      type: 'json',
      schema: v.object({
        send_at: v.optional(v.string()),
        data: v.optional(listOf(v.object({ name: v.string() }), { max: 9, of: 'x' })),
      }),
    },
    responses: { 204: null },
  });

  const send = async (body: unknown, query: Record<string, string> | undefined, described: typeof order = order) => {
    const event = { ...postEvent(asBytes(JSON.stringify(body)), 'application/json'), queryStringParameters: query };
    const {
      statusCode,
      headers,
      body: sent = '',
    } = await serve(described, async () => noContent())(event as never, context(10_000));
    const line = JSON.parse(written.findLast((one) => one.includes('"message":"request"')) ?? '{}');
    return {
      status: statusCode,
      ignored: headers?.['ignored-fields'],
      logged: line.ignored_fields,
      errors: sent === '' ? undefined : JSON.parse(sent).errors,
    };
  };

  test('lists the unknown ones in the header and in the log line, with responses of any status', async () => {
    expect(await send({ send_at: '' }, { limit: '1' })).toEqual({ status: 204 });
    const given = {
      timezone: 'UTC',
      data: [
        { name: '', extra: 1 },
        { name: '', extra: 2 },
      ],
    };
    const names = { ignored: 'offset, timezone, data.extra', logged: ['offset', 'timezone', 'data.extra'] };
    expect(await send(given, { offset: '1' })).toEqual({ status: 204, ...names });
    expect(await send({ ...given, send_at: 1 }, { offset: '1' })).toMatchObject({ status: 422, ...names });
  });

  test('returns 422 for a name that is almost a known one, with its place and the known name', async () => {
    expect(await send({ sendAt: '', data: [{ Name: '' }] }, { limits: '1' })).toMatchObject({
      status: 422,
      errors: [
        { pointer: '#/data/0/name', detail: 'is required' },
        { parameter: 'limits', detail: 'is not a known name: did you mean limit?' },
        { pointer: '#/sendAt', detail: 'is not a known name: did you mean send_at?' },
        { pointer: '#/data/0/Name', detail: 'is not a known name: did you mean name?' },
      ],
    });
  });

  test('writes no line end and no data into header and log: names are input', async () => {
    const names = ['a\r\nset-cookie: x=y', 'é"\u2028', '27821234567', `bapi_${'0a'.repeat(36)}`, '\ud800', 'plain'];
    const { status, ignored, logged } = await send(Object.fromEntries(names.map((name) => [name, 1])), undefined);
    expect(status).toBe(204);
    expect(ignored).toMatch(/^[\w.~!*()%', -]+$/);
    expect(ignored).toContain('a%0D%0Aset-cookie%3A%20x%3Dy');
    expect(logged.toSorted()).toEqual(['?', 'plain']);
  });

  test('lists at most 20 names of at most 64 characters', async () => {
    const { ignored } = await send(
      Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`${'é'.repeat(200)}${index}`.slice(index % 150), 1]),
      ),
      undefined,
    );
    expect(String(ignored).split(', ').length).toBeLessThanOrEqual(20);
    expect(String(ignored).length).toBeLessThan(20 * 66);
  });

  test('of a platform ignores every unknown field without a word', async () => {
    const silent = define({ ...order, ignoresUnknown: true });
    expect(await send({ sendAt: '', timezone: '' }, { limits: '1' }, silent as never)).toEqual({ status: 204 });
  });
});

describe('an endpoint that takes a multipart form', () => {
  const upload = define({
    ...common,
    body: { type: 'multipart', schema: v.object({ text: v.unknown() }) },
  });

  const field = (value: string) => `--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n${value}\r\n`;

  const send = async (sent: string, type = 'multipart/form-data; boundary=x') => {
    const { statusCode, body } = await serve(upload, async ({ body: { text } }) => ok({ text }))(
      postEvent(asBytes(sent), type),
      context(10_000),
    );
    return { status: statusCode, body: JSON.parse(body ?? '') };
  };

  test('receives the fields, repeated ones as a list in order', async () => {
    expect(await send(`${field('100%')}--x--`)).toEqual({ status: 200, body: { text: '100%' } });
    expect(await send(`${field('one')}${field('two')}--x--`)).toEqual({ status: 200, body: { text: ['one', 'two'] } });
    expect(await send(`${field('one')}--x--`, 'Multipart/Form-Data ; boundary=x')).toMatchObject({ status: 200 });
  });

  test.each(['__proto__', 'constructor', 'toString'])('ignores a field named %s', async (name) => {
    const other = field('y').replace('name="text"', `name="${name}"`);
    expect(await send(`${other}${field('one')}--x--`)).toEqual({ status: 200, body: { text: 'one' } });
    expect(await send(`${other}${other}${field('one')}--x--`)).toEqual({ status: 200, body: { text: 'one' } });
  });

  test.each([
    ['many', '\r\nA: b'.repeat(1_000_000)],
    ['one long', `\r\nA: ${'b'.repeat(1_000_000)}`],
  ])('a form with %s headers in one part returns 422 before parsing', async (_, headers) => {
    const sent = field('one').replace('name="text"', `name="text"${headers}`);
    expect(await send(`${sent}--x--`)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#', detail: 'must hold fields with at most 8192 bytes of headers' }] },
    });
    const some = field('one').replace('name="text"', 'name="text"\r\nContent-Type: text/plain');
    expect(await send(`${some}--x--`)).toEqual({ status: 200, body: { text: 'one' } });
    expect((await send(`${field('y'.repeat(20_000))}--x--${'epilogue'.repeat(2_000)}`)).status).toBe(200);
  });

  test('a form of 100 parts is accepted, and a form of more returns 422 before parsing', async () => {
    const filled = (count: number) => `${field('').repeat(count)}--x--`;
    expect((await send(filled(100))).status).toBe(200);
    for (const count of [101, 60_000]) {
      expect(await send(filled(count))).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '#', detail: 'must hold at most 100 fields' }] },
      });
    }
    expect((await send(filled(101), 'multipart/form-data; charset=utf-8; boundary="x"')).status).toBe(422);
  });

  test.each(['', 'multipart/form-data', 'text/plain', 'text/plain; multipart/form-data; boundary=x'])(
    'other content types return 415 with the accepted one: %j',
    async (type) => {
      expect(await send(`${field('one')}--x--`, type)).toMatchObject({
        status: 415,
        body: {
          code: 'unsupported_media_type',
          detail: 'Send the body as multipart/form-data with its boundary: clients set both when they send a form.',
        },
      });
    },
  );

  test.each([field('one'), '', `${field('one')}--x`.slice(0, -9)])(
    'an incomplete form returns 400: %j',
    async (sent) => {
      expect(await send(sent)).toMatchObject({
        status: 400,
        body: {
          code: 'malformed_body',
          detail: 'The form is incomplete, or its parts cannot be read. Send the complete form.',
        },
      });
    },
  );
});
