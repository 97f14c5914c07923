/** Errors that all endpoints have in common. The tests read the API list, so they include each new endpoint. */
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';
import type { Endpoint } from '../../../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../../../shared/api/index.ts';
import { type Permission, permissions } from '../../../../shared/core/permissions.ts';
import { asProblem, sendRaw, urlOf } from '../../support/client.ts';
import { newCaller } from '../../support/world.ts';

const all = Object.entries(api) as [EndpointName, Endpoint][];
const withToken = all.filter(([, { token }]) => token === 'header');
const withBody = all.flatMap(([name, { body, permission }]) => (body ? [[name, body.type, permission] as const] : []));
const withJson = all.filter(([, { body }]) => body?.type === 'json');

/** Endpoints with bodies of each type, with the token in the header and in the path. */
const REPRESENTATIVES: EndpointName[] = [
  'createProfiler',
  'receiveTurnMessage',
  'receiveRapidproMessage',
  'uploadImage',
];

/** The options of an endpoint's tests of what all endpoints of its type have in common. */
const inCommon = (name: EndpointName) => (REPRESENTATIVES.includes(name) ? {} : { tags: 'long' as const });

/** The cases of such a test: the first one shows that an endpoint checks its body as the representatives do. */
const casesFor = (name: EndpointName, cases: string[]) => (REPRESENTATIVES.includes(name) ? cases : cases.slice(0, 1));

const MEDIA_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=x',
};

const rest = {
  id: 'any',
  request_id: 'any',
  user: '1234567',
  job_id: 'any',
  file: 'any',
  delivery_id: 'any',
  webhook_id: 'any',
  token_id: 'any',
  bot_phone_number: '1234567',
  phone_number: '1234567',
};

/** The statuses of an empty object: fields are missing, or, if all are optional, nothing has the id in the path. */
const REJECTED = [404, 422];

/** A permission that an endpoint accepts. */
const permissionOf = (permission: Endpoint['permission']) =>
  permission === 'any' || permission === 'none' ? 'stats' : permission;

/** Callers by their permissions: one for all tests, which are rejected or have no effect. */
const callers = new Map<string, ReturnType<typeof newCaller>>();

const callerWith = (...given: Permission[]): ReturnType<typeof newCaller> => {
  const caller = callers.get(given.join()) ?? newCaller(...given);
  callers.set(given.join(), caller);
  return caller;
};

/** A request's path and token, with the token in the path or in the header. */
const withTokenOf = (name: EndpointName, token: string) =>
  api[name].token === 'path'
    ? { path: { ...rest, encoded_token: Buffer.from(token).toString('base64url') } }
    : { path: rest, token };

describe.each(withToken)('%s', (name, { permission }) => {
  test('without an Authorization header returns 401', async () => {
    expect((await sendRaw(name, { path: rest })).status).toBe(401);
  });

  test('with an invalid token returns 403', async () => {
    expect((await sendRaw(name, { token: 'nobody', path: rest })).status).toBe(403);
  });

  test("with all permissions except the endpoint's returns 403 permission_required", async () => {
    // Every permission of a customer will do for `any`.
    const { token } = await (permission === 'any'
      ? callerWith('app')
      : callerWith(...permissions.filter((other) => other !== permission && other !== 'app')));
    const { status, body } = asProblem(await sendRaw(name, { token, path: rest }));
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'permission_required' });
  });
});

describe('a token in the query', () => {
  test('without an Authorization header returns 401', async () => {
    const { token } = await newCaller('stats');
    expect((await sendRaw('listLogs', { query: `access_token=${token}` })).status).toBe(401);
  });

  const isRejected = async (name: EndpointName, { permission, body }: Endpoint) => {
    const { token } = await callerWith(permissionOf(permission));
    const received = asProblem(
      await sendRaw(name, {
        token,
        path: rest,
        query: `access_token=${token}`,
        ...(body && { headers: { 'content-type': MEDIA_TYPES[body.type] }, body: body.type === 'json' ? '{}' : '' }),
      }),
    );
    expect(received.body).toMatchObject({
      status: 422,
      code: 'invalid_request',
      errors: expect.arrayContaining([
        { parameter: 'access_token', detail: expect.stringContaining('in the Authorization header only') },
      ]),
    });
    expect(JSON.stringify(received.body)).not.toContain(token);
  };

  const withoutFile = withToken.filter(([, { body }]) => body?.type !== 'multipart');
  const name = 'beside an Authorization header makes %s return 422, without the token';
  test.each(withoutFile.filter(([one]) => REPRESENTATIVES.includes(one)))(name, isRejected);
  test.each(withoutFile.filter(([one]) => !REPRESENTATIVES.includes(one)))(name, { tags: 'long' }, isRejected);
});

describe.each(withJson)('%s', (name, { permission }) => {
  test.each(casesFor(name, ['{', '', '{"question":', 'question=1', '[[[['.repeat(50_000), '\u0000']))(
    'with invalid JSON returns 400 malformed_body: %.20s',
    inCommon(name),
    async (body) => {
      const { token } = await callerWith(permissionOf(permission));
      const headers = { 'content-type': 'application/json' };
      const received = asProblem(await sendRaw(name, { ...withTokenOf(name, token), headers, body }));
      expect(received.body).toMatchObject({ status: 400, code: 'malformed_body' });
    },
  );

  test.each(casesFor(name, ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '']))(
    'with the content type "%s" returns 415',
    inCommon(name),
    async (type) => {
      const { token } = await callerWith(permissionOf(permission));
      const received = asProblem(
        await sendRaw(name, {
          ...withTokenOf(name, token),
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

  const properties = [
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":{"a":1}}}',
    '{"prototype":{"a":1}}',
    String.raw`{"\u005f_proto__":{"a":1}}`,
  ];
  test.each(casesFor(name, properties))(
    'ignores names of JavaScript object properties like any unknown field: %s',
    inCommon(name),
    async (body) => {
      const { token } = await callerWith(permissionOf(permission));
      const headers = { 'content-type': 'application/json' };
      const plain = asProblem(await sendRaw(name, { ...withTokenOf(name, token), headers, body: '{}' }));
      const received = asProblem(await sendRaw(name, { ...withTokenOf(name, token), headers, body }));
      expect({ ...received.body, trace_id: '' }).toEqual({ ...plain.body, trace_id: '' });
      expect(REJECTED).toContain(received.status);
    },
  );

  test.each(casesFor(name, ['application/json; charset=utf-8', 'Application/JSON']))(
    'accepts the content type "%s"',
    inCommon(name),
    async (type) => {
      const { token } = await callerWith(permissionOf(permission));
      const received = await sendRaw(name, {
        ...withTokenOf(name, token),
        headers: { 'content-type': type },
        body: '{}',
      });
      expect(REJECTED).toContain(received.status);
    },
  );
});

/** Bodies in Latin-1, well-formed except for the encoding. */
const LATIN_1 = {
  json: Buffer.from('{"text":"caf\u00e9"}', 'latin1'),
  form: Buffer.from('text=caf\u00e9', 'latin1'),
};

describe.each(withBody)('the body of %s (%s)', (name, type, permission) => {
  const send = async (headers: Record<string, string>, body: NonNullable<RequestInit['body']>) => {
    const { token } = await callerWith(permissionOf(permission));
    return asProblem(await sendRaw(name, { ...withTokenOf(name, token), headers, body }));
  };

  test.each(casesFor(name, ['charset=iso-8859-1', 'charset="Windows-1252"', 'CharSet = utf-16']))(
    'with the parameter %s returns 415',
    inCommon(name),
    async (charset) => {
      const { body } = await send({ 'content-type': `${MEDIA_TYPES[type]}; ${charset}` }, 'x');
      expect(body).toMatchObject({
        status: 415,
        code: 'unsupported_media_type',
        detail: expect.stringMatching('UTF-8'),
      });
    },
  );

  test.each(casesFor(name, ['charset=UTF-8', 'charset="utf-8"', 'a="; charset=latin1"', 'charset=utf8']))(
    'is accepted with the parameter %s',
    inCommon(name),
    async (charset) => {
      const { status } = await send({ 'content-type': `${MEDIA_TYPES[type]};${charset}` }, '');
      expect([400, 422]).toContain(status);
    },
  );

  test.each(casesFor(name, ['gzip', 'br', 'identity, gzip', 'GZIP']))(
    'with Content-Encoding: %s returns 415 with Accept-Encoding: identity',
    inCommon(name),
    async (encoding) => {
      const { headers, body } = await send(
        { 'content-type': MEDIA_TYPES[type], 'content-encoding': encoding },
        gzipSync('{"text":"a"}'),
      );
      expect(body).toMatchObject({ status: 415, code: 'unsupported_media_type' });
      expect(headers.get('accept-encoding')).toBe('identity');
    },
  );

  test('is accepted with Content-Encoding: Identity', inCommon(name), async () => {
    const { status } = await send({ 'content-type': MEDIA_TYPES[type], 'content-encoding': 'Identity' }, '');
    expect([400, 422]).toContain(status);
  });

  if (type === 'multipart') return;
  const types = casesFor(name, type === 'json' ? [MEDIA_TYPES.json, 'application/vnd.acme+json'] : [MEDIA_TYPES.form]);

  test.each(types)('that is not UTF-8 returns 400, as %s', inCommon(name), async (contentType) => {
    const { body } = await send({ 'content-type': contentType }, LATIN_1[type]);
    expect(body).toMatchObject({ status: 400, code: 'malformed_body', detail: expect.stringMatching('UTF-8') });
  });

  test.each(types)('that begins with a byte order mark returns 400, as %s', inCommon(name), async (contentType) => {
    const { body } = await send({ 'content-type': contentType }, type === 'json' ? '\ufeff{}' : '\ufefftext=a');
    expect(body).toMatchObject({
      status: 400,
      code: 'malformed_body',
      detail: expect.stringMatching('byte order mark'),
    });
  });
});

describe('a problem', () => {
  test('links to its description, and its trace_id is the request id in the response header', async () => {
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

  test('has a type whose address is a page with its section in a browser, and the API description for programs', async () => {
    const { token } = await newCaller('profilers');
    const { body } = asProblem(await sendRaw('readProfiler', { token, path: rest }));
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await fetch(body.type, { headers: { accept } });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('vary')).toBe('Accept');
    const html = await page.text();
    expect(html).toContain(`<section id="${new URL(body.type).hash.slice(1)}">`);
    const link = new URL(/href="([^"]+)"/.exec(html)?.[1] ?? '', body.type);
    for (const request of [fetch(body.type), fetch(link, { headers: { accept } })]) {
      const description = await request;
      expect(description.headers.get('content-type')).toBe('application/json');
      expect(await description.json()).toHaveProperty('openapi');
    }
  });
});

describe('the gateway', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/research_profilers'],
    ['GET', '/v1/research_profilers/'],
    ['GET', '/v1/research_profilers/a/b/c'],
    ['GET', '/V1/research_profilers'],
  ])('returns 404 for a route that does not exist: %s %s', async (method, path) => {
    const response = await fetch(inject('stack').base_url + path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: 'Not Found' });
  });

  test('returns 404 on the bridge host for a path of the API host', async () => {
    const { token } = await newCaller('profilers', 'bridge');
    const response = await fetch(`${inject('stack').bridge_url}/v1/research_profilers`, {
      headers: { authorization: token },
    });
    expect(await response.json()).toMatchObject({ status: 404, code: 'address_not_found' });
  });

  test('accepts 5.9 MB in a body, and returns 413 for 6.3 MB and 10.5 MB', { tags: 'long' }, async () => {
    const { token } = await newCaller('profilers');
    const post = async (bytes: number) => {
      const body = JSON.stringify({ question: 'x'.repeat(bytes), options: ['a', 'b'] });
      return (await sendRaw('createProfiler', { token, headers: { 'content-type': 'application/json' }, body })).status;
    };
    expect(await post(5_900_000)).toBe(422);
    expect(await post(6_291_456)).toBe(413);
    expect(await post(10_500_000)).toBe(413);
  });

  test('returns 431 for more than 10,240 bytes of headers', async () => {
    const response = await fetch(urlOf('listProfilers'), {
      headers: { authorization: 'x', 'x-more': 'y'.repeat(11_000) },
    });
    expect(response.status).toBe(431);
  });
});
