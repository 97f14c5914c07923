/** The HTTP layer around a handler that fails in ways that the served stack does not. */
import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { define } from '../../../shared/api/endpoint.ts';
import { invalidRequest, Problem } from '../../../shared/core/problems.ts';
import { endpoint, ok, serve } from '../../../shared/http/endpoint.ts';
import type { HttpEvent } from '../../../shared/http/event.ts';
import { captureLog } from '../../support/captured-log.ts';

const written = captureLog();

beforeEach(() => void vi.stubEnv('BASE_URL', 'https://api.example.com'));

afterEach(() => void vi.unstubAllEnvs());

/** An event as far as the HTTP layer looks at it. */
const eventWith = (lambda: unknown) =>
  ({
    routeKey: 'GET /v1/research_profilers',
    headers: {},
    requestContext: { requestId: 'request-1', authorizer: { lambda } },
  }) as HttpEvent;

const identity = { account: 'acme', token: 'token-1', permissions: ['profilers'] };

const context = (remaining: number) => ({ getRemainingTimeInMillis: () => remaining }) as Context;

const answerOf = async (failure: Error, event = eventWith(identity)) => {
  const handler = endpoint('listProfilers', () => Promise.reject(failure));
  const { statusCode, headers, body } = await handler(event, context(10_000));
  return { statusCode, headers, body: JSON.parse(body ?? '') };
};

test('an unexpected error is a 500 that tells nothing of its cause, to the caller or in the log', async () => {
  const answer = await answerOf(new TypeError('27821234567 is not a function'));
  expect(answer.statusCode).toBe(500);
  expect(answer.body).toEqual({
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

/** The errors of Middy's body parsers say where they come from; everything else that looks like one is our own. */
test.each<[string, object]>([
  ['a status alone', { statusCode: 400 }],
  ['a status, and a cause that is nothing', { statusCode: 400, cause: null }],
  ['a status, and a cause in words', { statusCode: 400, cause: '-body-parser' }],
  ['a status, and a cause that names no package', { statusCode: 400, cause: { data: 'x' } }],
  ['a status, and a cause in another package', { statusCode: 400, cause: { package: '@middy/core' } }],
  ['a status that is no number', { statusCode: '400', cause: { package: '@middy/http-json-body-parser' } }],
  ['no status', { cause: { package: '@middy/http-json-body-parser' } }],
])('an error is ours, and no fault of the body, that has %s', async (_, properties) => {
  const answer = await answerOf(Object.assign(new Error('27821234567'), properties));
  expect(answer).toMatchObject({ statusCode: 500, body: { code: 'internal_error' } });
});

test('so is something thrown that is no error', async () => {
  const thrown = { statusCode: 400, cause: { package: '@middy/http-json-body-parser' } };
  expect(await answerOf(thrown as unknown as Error)).toMatchObject({ statusCode: 500 });
});

test.each<[Problem, number, string, string[]]>([
  [new Problem('media_not_found', 'There is none.'), 404, 'rejected', []],
  [invalidRequest([]), 422, 'rejected', []],
  [new Problem('malformed_body', 'It is none.'), 400, 'rejected', []],
  [new Problem('unavailable', 'Try again.', { retryAfter: 1 }), 503, 'failed', ['unavailable']],
  [new Problem('internal_error', 'Tell us.'), 500, 'failed', ['internal_error']],
])(
  'a request that ends with %s is one line, and another one where it is ours to mend',
  async (problem, ...expected) => {
    const { headers } = await answerOf(problem);
    const [status, outcome, errors] = expected;
    expect(headers?.['retry-after']).toBe(status === 503 ? '1' : undefined);
    const lines = written.map((line) => JSON.parse(line));
    expect(lines.filter(({ message }) => message === 'request')).toMatchObject([
      { level: 'info', account: 'acme', route: 'GET /v1/research_profilers', status, outcome, requests: 1 },
    ]);
    expect(lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual(errors);
  },
);

test('a request that succeeds is one line, with the milliseconds that it took', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const handler = endpoint('listProfilers', async () => {
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
])('a table that is busy (%s) is a 503 that says when to try again', async (name) => {
  const answer = await answerOf(Object.assign(new Error('busy'), name.startsWith('E') ? { code: name } : { name }));
  expect(answer).toMatchObject({
    statusCode: 503,
    headers: { 'retry-after': '1' },
    body: { code: 'unavailable', detail: 'Retry in a moment.' },
  });
});

test('a table that is answered for by what stands before it, with an error of no name, is a 503 too', async () => {
  const failure = Object.assign(new SyntaxError('Unexpected token <'), { $metadata: { httpStatusCode: 502 } });
  expect(await answerOf(failure)).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  const refusal = Object.assign(new Error('refused'), { $metadata: { httpStatusCode: 400 } });
  expect(await answerOf(refusal)).toMatchObject({ statusCode: 500 });
});

test('a handler that takes too long is answered before Lambda ends it', async () => {
  const handler = endpoint('listProfilers', () => new Promise(() => undefined));
  const { statusCode, headers, body } = await handler(eventWith(identity), context(550));
  expect({ statusCode, retry: headers?.['retry-after'] }).toEqual({ statusCode: 503, retry: '1' });
  expect(JSON.parse(body ?? '')).toMatchObject({
    code: 'unavailable',
    detail: 'The request took too long. Retry in a moment.',
  });
});

test('a handler knows how long it has, short of what that answer takes', async () => {
  const handle = vi.fn(async ({ remaining }: { remaining: () => number }) =>
    ok([], { 'x-remaining': `${remaining()}` }),
  );
  const { headers } = await endpoint('listProfilers', handle)(eventWith(identity), context(10_000));
  expect(headers).toMatchObject({ 'x-remaining': '9500' });
});

test.each([undefined, {}, { account: 'acme' }, { ...identity, permissions: 'profilers' }])(
  'without an identity from the authorizer nobody is let in: %o',
  async (lambda) => {
    const handle = vi.fn(async () => ok([]));
    const { statusCode } = await endpoint('listProfilers', handle)(eventWith(lambda), context(10_000));
    expect(statusCode).toBe(500);
    expect(handle).not.toHaveBeenCalled();
    expect(written.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'internal_error', error: 'Error' }),
    );
  },
);

test('a request leaves nothing behind for the next one', async () => {
  const handler = endpoint('listProfilers', async ({ account }) => ok([], { 'x-account': account }));
  const [one, two] = await Promise.all([
    handler(eventWith(identity), context(10_000)),
    handler(eventWith({ ...identity, account: 'other' }), context(10_000)),
  ]);
  expect([one.headers?.['x-account'], two.headers?.['x-account']]).toEqual(['acme', 'other']);
});

const FORM = 'application/x-www-form-urlencoded';

/** A body as API Gateway hands on what it takes for bytes, as it does a form. */
const encoded = (body: string | Buffer) => ({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true });

/** A body as it hands on what it takes for text. */
const plain = (body: string) => ({ body, isBase64Encoded: false });

/** A post of a body of a content type, and what its path holds. */
const posting = (
  sent: Partial<Pick<HttpEvent, 'body' | 'isBase64Encoded' | 'pathParameters'>>,
  type = FORM,
): HttpEvent => ({ ...eventWith(undefined), ...sent, headers: { 'content-type': type } });

describe('an endpoint that takes a form', () => {
  const form = define({
    area: 'bridge',
    summary: 'Takes a form.',
    routes: [{ host: 'bridge', method: 'POST', path: '/form' }],
    token: 'none',
    permission: 'none',
    body: { type: 'form', schema: v.object({ text: v.string(), reply: v.optional(v.array(v.string())) }) },
    responses: { 200: v.unknown() },
    problems: [],
    table: [],
  });

  const send = async (event: HttpEvent) => {
    const handle = vi.fn(async ({ body, bytes }: { body: object; bytes: Buffer }) =>
      ok({ ...body, bytes: bytes.toString('base64') }),
    );
    const { statusCode, body } = await serve(form, handle)(event, context(10_000));
    return { status: statusCode, body: JSON.parse(body ?? ''), handled: handle.mock.calls.length > 0 };
  };

  test('gets its fields, repeated ones in order, and the bytes that they came in', async () => {
    const sent = 'text=a+%26+%E2%98%BA&reply=Yes&reply=No+%2B&extra=1';
    const bytes = 'dGV4dD1hKyUyNislRTIlOTglQkEmcmVwbHk9WWVzJnJlcGx5PU5vKyUyQiZleHRyYT0x';
    const fields = { text: 'a & \u263a', reply: ['Yes', 'No +'], bytes };
    expect(await send(posting(encoded(sent)))).toEqual({ status: 200, body: fields, handled: true });
    expect(await send(posting(plain(sent)))).toEqual({ status: 200, body: fields, handled: true });
  });

  test.each<[string, string]>([
    ['text=%F0%9F%98%80', '😀'],
    ['text=😀', '😀'],
    ['text=%25', '%'],
    ['text=100%2525', '100%25'],
    ['text=%EF%BF%BD', '\ufffd'],
    ['text=%00', '\u0000'],
    ['text', ''],
  ])('reads what can be read: %s', async (sent, text) => {
    expect(await send(posting(encoded(sent)))).toMatchObject({ status: 200, body: { text } });
    expect(await send(posting(plain(sent)))).toMatchObject({ status: 200, body: { text } });
  });

  test.each<[string, string]>([
    ['a percent sign alone', 'text=100%'],
    ['a percent sign and one digit', 'text=%4'],
    ['a percent sign and no digits', 'text=%zz'],
    ['half of a character', 'text=%E2%98'],
    ['half of a surrogate pair', 'text=%ED%A0%80'],
    ['a character in more bytes than it needs', 'text=%C0%AF'],
    ['a byte of another encoding', 'text=caf%E9'],
    ['a broken name', 'text=a&%=b'],
    ['a broken field that nobody asks for', 'text=a&extra=%'],
  ])('refuses one that cannot be read, and guesses nothing: %s', async (_, sent) => {
    for (const event of [posting(encoded(sent)), posting(plain(sent))]) {
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

  test.each<[string, Buffer]>([
    ['Latin-1', Buffer.from('text=caf\u00e9', 'latin1')],
    ['half of a character', Buffer.from('text=\u263a').subarray(0, -1)],
    ['UTF-16', Buffer.from('\ufefftext=\u263a', 'utf16le')],
  ])('refuses bytes that are no UTF-8: %s', async (_, sent) => {
    expect(await send(posting(encoded(sent)))).toMatchObject({
      status: 400,
      body: { code: 'malformed_body' },
      handled: false,
    });
  });

  test('takes 1,000 fields, and refuses more', async () => {
    expect(await send(posting(encoded(`${'a=&'.repeat(999)}text=a`)))).toMatchObject({ status: 200 });
    for (const count of [1_000, 1_000_000]) {
      expect(await send(posting(encoded(`text=a${'&'.repeat(count)}`)))).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '#', detail: 'must hold at most 1000 fields' }] },
        handled: false,
      });
    }
  });

  test('takes 1 MB, and refuses more before it is decoded', async () => {
    const most = `text=${'+'.repeat(1_048_576 - 5)}`;
    expect(await send(posting(encoded(most)))).toMatchObject({ status: 200 });
    expect(await send(posting(encoded(`${most}+`)))).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#', detail: 'must have at most 1048576 bytes' }] },
      handled: false,
    });
  });

  test.each(['__proto__', 'constructor', 'toString'])('ignores a field named %s', async (name) => {
    expect(await send(posting(encoded(`${name}=x&${name}=y&text=a`)))).toMatchObject({
      status: 200,
      body: { text: 'a' },
    });
  });

  test.each<[string, HttpEvent]>([
    ['of other fields', posting(encoded('reply=a&reply=b'))],
    ['that is empty', posting(encoded(''))],
    ['that is missing', posting({})],
  ])('names the faults of a form %s', async (_, event) => {
    expect(await send(event)).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', errors: [{ pointer: '#/text', detail: 'is required' }] },
      handled: false,
    });
  });

  test.each(['application/json', 'multipart/form-data; boundary=x', 'text/plain', `${FORM}x`, ''])(
    'refuses other content types, and says which it takes: %j',
    async (type) => {
      expect(await send(posting(encoded('text=a'), type))).toMatchObject({
        status: 415,
        body: {
          code: 'unsupported_media_type',
          detail: 'Send the body as application/x-www-form-urlencoded, and say so in Content-Type.',
        },
        handled: false,
      });
    },
  );

  test('refuses a form that does not say that it is one', async () => {
    const event = { ...posting(encoded('text=a')), headers: {} };
    expect(await send(event)).toMatchObject({ status: 415, handled: false });
  });

  test.each([`${FORM}; charset=utf-8`, 'Application/X-WWW-Form-URLEncoded'])(
    'takes its content type as it is written: %s',
    async (type) => {
      expect(await send(posting(encoded('text=a'), type))).toMatchObject({ status: 200 });
    },
  );
});

describe('an endpoint that takes JSON', () => {
  const document = define({
    area: 'bridge',
    summary: 'Takes JSON.',
    routes: [{ host: 'bridge', method: 'POST', path: '/document' }],
    token: 'none',
    permission: 'none',
    body: { type: 'json', schema: v.object({ text: v.string() }) },
    responses: { 200: v.unknown() },
    problems: [],
    table: [],
  });

  test.each([
    ['as text', plain('{ "text": "\\u005a\\u006fë 😀" }\n')],
    ['as bytes', encoded('{ "text": "\\u005a\\u006fë 😀" }\n')],
  ])('gets the bytes as they came, besides what they say, from a body that comes %s', async (_, sent) => {
    const { statusCode, body } = await serve(document, async ({ body: { text }, bytes }) =>
      ok({ text, bytes: bytes.toString('base64') }),
    )(posting(sent, 'application/json'), context(10_000));
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

  test('takes what would be a broken form', async () => {
    expect(await send(posting(plain('{"text":"100%"}'), 'application/json'))).toEqual({
      status: 200,
      body: { text: '100%' },
    });
  });

  test.each<[string, HttpEvent]>([
    ['broken', posting(plain('{"text":'), 'application/json')],
    ['missing', posting({}, 'application/json')],
  ])('says what is wrong with a body that is %s', async (_, event) => {
    expect(await send(event)).toMatchObject({
      status: 400,
      body: {
        code: 'malformed_body',
        detail: 'The body is missing, or cannot be read as application/json. Send well-formed JSON.',
      },
    });
  });

  test.each<[string, string]>([
    ['a field named __proto__', '{"__proto__":{"text":1},"text":"a"}'],
    ['one that is written otherwise', String.raw`{"\u005f_proto__":{"text":1},"text":"a"}`],
    ['a field named constructor', '{"constructor":{"prototype":{"text":1}},"text":"a"}'],
    ['such fields below others', '{"x":[{"__proto__":[]},{"constructor":{"prototype":{}}}],"text":"a"}'],
    ['more than Middy parses', `{"x":"${'x'.repeat(100_000)}","__proto__":{},"text":"a"}`],
    ['an object that nests deeply', `{"x":${'[['.repeat(200_000)}${']]'.repeat(200_000)},"text":"a"}`],
  ])('ignores what nobody asked for, whatever it is: %s', async (_, sent) => {
    for (const body of [plain(sent), encoded(sent)]) {
      expect(await send(posting(body, 'application/json'))).toEqual({ status: 200, body: { text: 'a' } });
    }
    expect(Object.hasOwn(Object.prototype, 'text')).toBe(false);
  });

  describe('that came as text', () => {
    const sent = Buffer.from('{"text":"zzz\u00ff"}', 'latin1');
    const withLength = (event: HttpEvent, length: number): HttpEvent => ({
      ...event,
      headers: { ...event.headers, 'content-length': String(length) },
    });

    test.each<[string, HttpEvent]>([
      ['was not UTF-8', withLength(posting(plain(sent.toString()), 'application/json'), sent.length)],
      ['holds half of a surrogate pair', posting(plain('{"text":"\ud83d"}'), 'application/json')],
    ])('and %s is refused', async (_, event) => {
      expect(await send(event)).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
    });

    test.each<[string, HttpEvent]>([
      ['sent', withLength(posting(plain(sent.toString()), 'application/json'), Buffer.byteLength(sent.toString()))],
      ['sent, where nobody knows the length', posting(plain(sent.toString()), 'application/json')],
    ])('may hold the replacement character where that was %s', async (_, event) => {
      expect(await send(event)).toEqual({ status: 200, body: { text: 'zzz\ufffd' } });
    });
  });

  test('says which content type it takes', async () => {
    expect(await send(posting(plain('{"text":"a"}'), 'text/plain'))).toMatchObject({
      status: 415,
      body: { detail: 'Send the body as application/json, and say so in Content-Type.' },
    });
  });
});

describe('an endpoint that takes a multipart form', () => {
  const upload = define({
    area: 'bridge',
    summary: 'Takes fields.',
    routes: [{ host: 'bridge', method: 'POST', path: '/fields' }],
    token: 'none',
    permission: 'none',
    body: { type: 'multipart', schema: v.object({ text: v.unknown() }) },
    responses: { 200: v.unknown() },
    problems: [],
    table: [],
  });

  const field = (value: string) => `--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n${value}\r\n`;

  const send = async (sent: string, type = 'multipart/form-data; boundary=x') => {
    const { statusCode, body } = await serve(upload, async ({ body: { text } }) => ok({ text }))(
      posting(encoded(sent), type),
      context(10_000),
    );
    return { status: statusCode, body: JSON.parse(body ?? '') };
  };

  test('gets its fields, repeated ones in order', async () => {
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
  ])('with %s headers of a part is refused before they are read', async (_, headers) => {
    const sent = field('one').replace('name="text"', `name="text"${headers}`);
    expect(await send(`${sent}--x--`)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#', detail: 'must hold fields with at most 8192 bytes of headers' }] },
    });
    const some = field('one').replace('name="text"', 'name="text"\r\nContent-Type: text/plain');
    expect(await send(`${some}--x--`)).toEqual({ status: 200, body: { text: 'one' } });
    expect((await send(`${field('y'.repeat(20_000))}--x--${'epilogue'.repeat(2_000)}`)).status).toBe(200);
  });

  test('of 100 parts is taken, of more refused before it is taken apart', async () => {
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
    'refuses other content types, and says which it takes: %j',
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

  test.each([field('one'), '', `${field('one')}--x`.slice(0, -9)])('refuses what is cut off: %j', async (sent) => {
    expect(await send(sent)).toMatchObject({
      status: 400,
      body: {
        code: 'malformed_body',
        detail: 'The form is incomplete, or its parts cannot be read. Send the complete form.',
      },
    });
  });
});

describe('an endpoint whose path ends with a slash', () => {
  const slash = define({
    area: 'bridge',
    summary: 'Ends with a slash.',
    routes: [
      { host: 'bridge', method: 'POST', path: '/form' },
      { host: 'bridge', method: 'POST', path: '/form/' },
    ],
    token: 'none',
    permission: 'none',
    body: { type: 'form', schema: v.object({ text: v.string() }) },
    responses: { 200: v.unknown() },
    problems: [],
    table: [],
  });

  const send = async (pathParameters: Record<string, string> | undefined, sent = 'text=a') => {
    const handle = vi.fn(async () => ok('served'));
    const event = posting({ ...encoded(sent), ...(pathParameters && { pathParameters }) });
    const { statusCode, body } = await serve(slash, handle)(event, context(10_000));
    return { status: statusCode, body: JSON.parse(body ?? ''), calls: handle.mock.calls.length };
  };

  test.each([[undefined], [{}], [{ proxy: '' }]])('is served with nothing behind it: %j', async (parameters) => {
    expect(await send(parameters)).toEqual({ status: 200, body: 'served', calls: 1 });
  });

  test.each(['more', 'more/of/it', '/', '%2F', ' '])('is not served with more behind it: %j', async (proxy) => {
    const notFound = {
      status: 404,
      body: {
        code: 'address_not_found',
        detail: 'This path does not exist. Remove anything after the final slash.',
      },
      calls: 0,
    };
    expect(await send({ proxy })).toMatchObject(notFound);
    // Whatever is wrong besides.
    expect(await send({ proxy }, '%')).toMatchObject(notFound);
  });
});
