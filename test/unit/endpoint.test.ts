/** The HTTP layer around a handler that fails in ways that the served stack does not. */
import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { define } from '../../shared/api.ts';
import { endpoint, ok, serve } from '../../shared/http/endpoint.ts';
import type { HttpEvent } from '../../shared/http/event.ts';
import { captureLog } from '../support/captured-log.ts';

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
    detail: 'Tell support the trace_id.',
    trace_id: 'request-1',
  });
  const lines = written.map((line) => JSON.parse(line));
  expect(lines).toContainEqual({
    level: 'error',
    message: 'internal_error',
    request_id: 'request-1',
    error: 'TypeError',
    at: expect.stringContaining('endpoint.test.ts'),
  });
  expect(written.join()).not.toContain('27821234567');
});

test.each([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'TimeoutError',
  'InternalServerError',
  'ECONNRESET',
])('a table that is busy (%s) is a 503 that says when to try again', async (name) => {
  const answer = await answerOf(Object.assign(new Error('busy'), name.startsWith('E') ? { code: name } : { name }));
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' }, body: { code: 'unavailable' } });
});

test('a handler that takes too long is answered before Lambda ends it', async () => {
  const handler = endpoint('listProfilers', () => new Promise(() => undefined));
  const { statusCode, headers } = await handler(eventWith(identity), context(550));
  expect({ statusCode, retry: headers?.['retry-after'] }).toEqual({ statusCode: 503, retry: '1' });
});

test.each([undefined, {}, { account: 'acme' }, { ...identity, permissions: 'profilers' }])(
  'without an identity from the authorizer nobody is let in: %o',
  async (lambda) => {
    const handle = vi.fn(async () => ok([]));
    const { statusCode } = await endpoint('listProfilers', handle)(eventWith(lambda), context(10_000));
    expect(statusCode).toBe(500);
    expect(handle).not.toHaveBeenCalled();
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

describe('an endpoint that takes a form', () => {
  const form = define({
    area: 'bridge',
    summary: 'Takes a form.',
    routes: [{ host: 'bridge', method: 'POST', path: '/form' }],
    token: 'none',
    permission: 'none',
    body: { type: 'form', schema: v.object({ text: v.string(), reply: v.array(v.string()) }) },
    responses: { 200: v.unknown() },
    problems: [],
    table: [],
  });

  const send = async (body: string, type = 'application/x-www-form-urlencoded') => {
    const event = { ...eventWith(undefined), body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
    const answer = await serve(form, async (request) => ok(request.body))(
      { ...event, headers: { 'content-type': type } },
      context(10_000),
    );
    return { status: answer.statusCode, body: JSON.parse(answer.body ?? '') };
  };

  test('gets its fields, repeated ones in order', async () => {
    expect(await send('text=a+%26+%E2%98%BA&reply=Yes&reply=No+%2B&extra=1')).toEqual({
      status: 200,
      body: { text: 'a & \u263a', reply: ['Yes', 'No +'] },
    });
  });

  test('names the faults of a form, and refuses JSON', async () => {
    expect(await send('reply=a&reply=b')).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/text' }] } });
    expect(await send('{}', 'application/json')).toMatchObject({ status: 415 });
  });
});
