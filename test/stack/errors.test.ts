/** What every endpoint promises alike, read off the API's own list: a new endpoint is held to it as soon as it is there. */
import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { api, type Endpoint, type EndpointName } from '../../shared/api.ts';
import { permissions } from '../../shared/permissions.ts';
import { asProblem, sendRaw, urlOf } from './support/client.ts';
import { fileOf, others, pdf, png } from './support/files.ts';
import { newCaller } from './support/world.ts';

const all = Object.entries(api) as [EndpointName, Endpoint][];
const withToken = all.filter(([, { token }]) => token === 'header');
const withJson = all.filter(([, { body }]) => body?.type === 'json');
const withMultipart = all.filter(([, { body }]) => body?.type === 'multipart');
const withForm = all.filter(([, { body }]) => body?.type === 'form');

const rest = { id: 'any', bot_phone_number: '1234567', phone_number: '1234567' };

/** How a token is brought to an endpoint. */
const bringing = (name: EndpointName, token: string) =>
  api[name].token === 'path'
    ? { path: { ...rest, encoded_token: Buffer.from(token).toString('base64url') } }
    : { path: rest, token };

const fieldsOf = (schema: object | undefined): string[] =>
  schema !== undefined && 'entries' in schema ? Object.keys(schema.entries as object) : [];

/** JSON of anything: what JSON cannot say is left out. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)) ?? 'null';

describe.each(withToken)('%s', (name, { permission }) => {
  test('without an Authorization header is 401', async () => {
    expect((await sendRaw(name, { path: rest })).status).toBe(401);
  });

  test('with a token that is not valid is 403', async () => {
    expect((await sendRaw(name, { token: 'nobody', path: rest })).status).toBe(403);
  });

  test('with all permissions but its own is a 403 problem', async () => {
    const { token } = await newCaller(...permissions.filter((other) => other !== permission && other !== 'app'));
    const { status, body } = asProblem(await sendRaw(name, { token, path: rest }));
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'permission_required' });
  });
});

describe.each(withJson)('%s', (name, { permission }) => {
  const caller = newCaller(...permissions.filter((other) => other === permission));

  test.each(['', '{', '{"question":', 'question=1', '[[[['.repeat(50_000), '{"__proto__":{}}', '\u0000'])(
    'with JSON that cannot be read is 400: %.20s',
    async (body) => {
      const { token } = await caller;
      const headers = { 'content-type': 'application/json' };
      const received = asProblem(await sendRaw(name, { ...bringing(name, token), headers, body }));
      expect(received.body).toMatchObject({ status: 400, code: 'malformed_body' });
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])(
    'with the content type "%s" is 415',
    async (type) => {
      const { token } = await caller;
      const received = asProblem(
        await sendRaw(name, {
          ...bringing(name, token),
          headers: { 'content-type': type },
          body: new TextEncoder().encode('{}'),
        }),
      );
      expect(received.body).toMatchObject({
        status: 415,
        code: 'unsupported_media_type',
        detail: expect.stringContaining('application/json'),
      });
    },
  );

  test.each(['application/json; charset=utf-8', 'Application/JSON'])('takes the content type "%s"', async (type) => {
    const { token } = await caller;
    const received = await sendRaw(name, { ...bringing(name, token), headers: { 'content-type': type }, body: '{}' });
    expect(received.status).toBe(422);
  });
});

describe.each(withJson)('%s', (name, { permission }) => {
  test('answers whatever JSON it gets with what it promises, and never with a 5xx', async () => {
    const { token } = await newCaller(...permissions.filter((other) => other === permission));
    const fields = [...new Set(withJson.flatMap(([, { body }]) => fieldsOf(body?.schema)))];
    const nearly = fc.dictionary(fc.constantFrom(...fields), fc.anything({ withNullPrototype: true }), { maxKeys: 6 });
    const body = fc.oneof(
      fc.json({ maxDepth: 4 }),
      nearly.map((value) => toJson(value)),
    );
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const headers = { 'content-type': 'application/json' };
        const { status } = await sendRaw(name, { ...bringing(name, token), headers, body: text });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 150 },
    );
  });
});

describe.each(withForm)('%s', (name, { permission, body: form }) => {
  test('answers whatever form it gets with what it promises, and never with a 5xx', async () => {
    const { token } = await newCaller(...permissions.filter((other) => other === permission));
    const field = fc.constantFrom(...fieldsOf(form?.schema), 'other');
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('27821234567', '+27821234567', 'Hello', '1'));
    const encoded = fc
      .array(fc.tuple(field, value), { maxLength: 8 })
      .map((pairs) => String(new URLSearchParams(pairs)));
    const broken = fc.tuple(encoded, fc.constantFrom('%', '%zz', '%ff', '&%', '=')).map((parts) => parts.join(''));
    const bytes = fc.oneof(
      encoded,
      broken,
      fc.uint8Array().map((given) => Buffer.from(given)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const { status } = await sendRaw(name, { ...bringing(name, token), headers, body });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 150 },
    );
  });
});

describe.each(withMultipart)('%s', (name, { permission, body: form }) => {
  test('answers whatever multipart form it gets with what it promises, and never with a 5xx', async () => {
    const { token } = await newCaller(...permissions.filter((other) => other === permission));
    const field = fc.oneof(fc.constantFrom(...fieldsOf(form?.schema), 'other'), fc.string({ unit: 'binary' }));
    const content = fc.oneof(
      fc.constantFrom(png, pdf, ...Object.values(others)),
      fc.uint8Array().map((given) => Uint8Array.from(given)),
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.tuple(content, fc.string()).map(([bytes, file]) => fileOf(bytes, file)),
    );
    const forms = fc.array(fc.tuple(field, value), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(forms, fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean(), async (fields, share, cut) => {
        const whole = new FormData();
        for (const [key, one] of fields) whole.append(key, one);
        const encoded = new Response(whole);
        const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
        const bytes = await encoded.bytes();
        const body = cut ? bytes.subarray(0, share * bytes.length) : bytes;
        const { status } = await sendRaw(name, { token, headers, body });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a problem', () => {
  test('links to its description, and carries the id that the log and the answer carry', async () => {
    const { token } = await newCaller('profilers');
    const { headers, body } = asProblem(await sendRaw('readProfiler', { token, path: rest }));
    expect(body).toEqual({
      type: `${inject('stack').base_url}/v1/openapi.json#/components/responses/profiler_not_found`,
      title: 'No such profiler',
      status: 404,
      code: 'profiler_not_found',
      detail: expect.stringContaining('GET /v1/research_profilers'),
      trace_id: headers.get('apigw-requestid'),
    });
  });
});

describe('the gateway', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/research_profilers'],
    ['GET', '/v1/research_profilers/'],
    ['GET', '/v1/research_profilers/a/b'],
    ['GET', '/V1/research_profilers'],
  ])('knows no other routes: %s %s', async (method, path) => {
    const response = await fetch(inject('stack').base_url + path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: 'Not Found' });
  });

  test('serves nothing of the API host on the bridge host', async () => {
    const response = await fetch(`${inject('stack').bridge_url}/v1/research_profilers`);
    expect(response.status).toBe(404);
  });

  test('takes a body of up to 6 MB with what surrounds it, and none over 10 MB', async () => {
    const { token } = await newCaller('profilers');
    const post = async (bytes: number) => {
      const body = JSON.stringify({ question: 'x'.repeat(bytes), options: ['a', 'b'] });
      return (await sendRaw('createProfiler', { token, headers: { 'content-type': 'application/json' }, body })).status;
    };
    expect(await post(5_900_000)).toBe(422);
    expect(await post(6_291_456)).toBe(413);
    expect(await post(10_500_000)).toBe(413);
  });

  test('takes no more than 10,240 bytes of headers', async () => {
    const response = await fetch(urlOf('listProfilers'), {
      headers: { authorization: 'x', 'x-more': 'y'.repeat(11_000) },
    });
    expect(response.status).toBe(431);
  });
});
