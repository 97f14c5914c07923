/** The limit of an account around a handler: problems and header fields. */
import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { BucketTable } from '../../../shared/accounts/rate-limit/bucket.ts';
import { Leases } from '../../../shared/accounts/rate-limit/leases.ts';
import { define, type Endpoint, overLimitOf } from '../../../shared/api/endpoint.ts';
import { api } from '../../../shared/api/index.ts';
import { ok, serve } from '../../../shared/http/endpoint.ts';
import type { HttpEvent } from '../../../shared/http/event.ts';
import { rateLimit } from '../../../shared/http/middleware/rate-limit.ts';
import { captureLog } from '../../support/captured-log.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';

const written = captureLog();

beforeEach(() => void vi.stubEnv('BASE_URL', 'https://api.example.com'));

afterEach(() => void vi.unstubAllEnvs());

const echo = define({
  area: 'profilers',
  summary: 'Returns a text.',
  routes: [{ host: 'base', method: 'POST', path: '/echo' }],
  token: 'header',
  permission: 'profilers',
  body: { type: 'json', schema: v.object({ text: v.string() }) },
  responses: { 200: v.object({ text: v.string() }) },
  problems: [],
  table: [],
});

const identity = { account: 'acme', token: 'token-1', label: 'test', permissions: ['profilers'], rate: 3, burst: 4 };

const eventOf = (body: string, lambda: object = identity) =>
  ({
    routeKey: 'POST /echo',
    headers: { 'content-type': 'application/json' },
    body,
    isBase64Encoded: false,
    requestContext: { requestId: 'request-1', http: { method: 'POST' }, authorizer: { lambda } },
  }) as unknown as HttpEvent;

const context = { getRemainingTimeInMillis: () => 10_000 } as Context;

const open = (code?: 'unavailable', table: BucketTable = new MemoryBuckets()) => {
  const time = Date.UTC(2026, 10, 22);
  const handle = vi.fn(async ({ body }: { body: { text: string } }) => ok({ text: body.text }));
  const leases = new Leases(table, {}, () => time);
  const handler = serve(echo, handle, rateLimit(code, leases));
  return { handle, send: (body = '{"text":"hi"}', lambda?: object) => handler(eventOf(body, lambda), context) };
};

test('all responses have the RateLimit fields, until a request is over the limit: 429, and its body is not read', async () => {
  const { handle, send } = open();
  const policy = { 'ratelimit-policy': '"account";q=4;w=2' };
  expect(await send()).toMatchObject({ statusCode: 200, headers: { ...policy, ratelimit: '"account";r=3;t=1' } });
  expect(await send('{')).toMatchObject({ statusCode: 400, headers: policy });
  expect(await send('{}')).toMatchObject({ statusCode: 422, headers: policy });
  expect(await send('{}', { ...identity, permissions: [] })).toMatchObject({ statusCode: 403, headers: policy });
  const { statusCode, headers, body } = await send('{');
  expect({ statusCode, headers }).toMatchObject({
    statusCode: 429,
    headers: { ...policy, ratelimit: '"account";r=0;t=1', 'retry-after': '1' },
  });
  expect(JSON.parse(body ?? '')).toMatchObject({ code: 'rate_limited', status: 429 });
  expect(handle).toHaveBeenCalledTimes(1);
  expect(written.map((line) => JSON.parse(line)).at(-1)).toMatchObject({ status: 429, outcome: 'rejected' });
});

test('Retry-After is the end of the window in the RateLimit field, also if it is some seconds away', async () => {
  const { send } = open();
  const slow = { ...identity, rate: 0.2, burst: 1 };
  await send(undefined, slow);
  expect(await send(undefined, slow)).toMatchObject({
    headers: { 'retry-after': '5', ratelimit: '"account";r=0;t=5' },
  });
});

test('an endpoint may prefer 503 over the limit', async () => {
  const { send } = open('unavailable');
  for (let request = 0; request < 4; request += 1) await send();
  const { statusCode, headers, body } = await send();
  expect({ statusCode, retry: headers?.['retry-after'] }).toEqual({ statusCode: 503, retry: '1' });
  expect(JSON.parse(body ?? '')).toMatchObject({ code: 'unavailable' });
});

test('a caller without a limit has no RateLimit fields, and is never rejected', async () => {
  const { send } = open();
  const { rate: _rate, burst: _burst, ...unlimited } = identity;
  for (let request = 0; request < 10; request += 1) {
    const { statusCode, headers } = await send(undefined, unlimited);
    expect([statusCode, headers?.ratelimit]).toEqual([200, undefined]);
  }
});

test('if the limit cannot be applied, the log says so in the trace of the request', async () => {
  const broken = async () => {
    throw new Error('broken');
  };
  const { send } = open(undefined, { refill: broken, spend: broken });
  expect(await send()).toMatchObject({ statusCode: 200 });
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { message: 'rate limit not applied', account: 'acme', trace_id: 'request-1' },
    { message: 'request', account: 'acme', trace_id: 'request-1' },
  ]);
});

test('the response waits for the next lease, because Lambda freezes the process after it', async () => {
  const memory = new MemoryBuckets();
  const { promise, resolve } = Promise.withResolvers<void>();
  const calls = { count: 0 };
  const slow: BucketTable = {
    refill: memory.refill,
    spend: async (...given) => {
      calls.count += 1;
      // The second request takes one token, and then the lease of the third.
      if (calls.count === 2) await promise;
      return memory.spend(...given);
    },
  };
  const { handle, send } = open(undefined, slow);
  await send();
  const ended = vi.fn();
  const second = send().then(ended);
  await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2));
  expect(ended).not.toHaveBeenCalled();
  resolve();
  await second;
  expect(ended).toHaveBeenCalled();
});

test('only RapidPro gets 503 over the limit; the app network, callers without a token and messages of MCP have no limit', () => {
  const byProblem = Map.groupBy(Object.entries<Endpoint>(api), ([, endpoint]) => overLimitOf(endpoint));
  const names = (problem: ReturnType<typeof overLimitOf>) => byProblem.get(problem)?.map(([name]) => name);
  expect(names('unavailable')).toEqual(['receiveRapidproMessage']);
  const unlimited = [
    'readApiDescription',
    'readDocumentation',
    'readMedia',
    'receiveAppEvents',
    'readPortal',
    'handleMcpMessage',
    'createSession',
  ];
  expect(names(undefined)).toEqual(unlimited);
});
