/** The request that warms endpoints up. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { warmUp } from '../../../infra/bundle/warm-up/rejected-request.ts';
import type { Endpoint } from '../../../shared/api/endpoint.ts';
import { api } from '../../../shared/api/index.ts';
import { serve } from '../../../shared/http/endpoint.ts';
import type { HttpResponse } from '../../../shared/http/event.ts';
import { captureLog } from '../../support/captured-log.ts';

const written = captureLog();

beforeEach(() => void vi.stubEnv('BASE_URL', 'https://api.example.com'));

afterEach(() => void vi.unstubAllEnvs());

/** The endpoints with a permission. */
const endpoints = Object.entries<Endpoint>(api).filter(([, { permission }]) => permission !== 'none');

test.each(endpoints)('%s rejects it as a fault of the caller, and does nothing', async (_name, description) => {
  const handle = vi.fn();
  const handler = serve(description, handle);
  let response: HttpResponse | undefined;
  await warmUp(async (event, context) => {
    response = await handler(event, context);
  });
  expect([404, 415, 422]).toContain(response?.statusCode);
  expect(handle).not.toHaveBeenCalled();
});

test('an endpoint that takes JSON or no body rejects it in the validation, its last step', async () => {
  const codes: Record<string, unknown> = {};
  for (const [name, description] of endpoints) {
    if (description.catchAll || (description.body && description.body.type !== 'json')) continue;
    await warmUp(async (event, context) => {
      const { body } = await serve(description, vi.fn())(event, context);
      codes[name] = JSON.parse(String(body)).code;
    });
  }
  expect(new Set(Object.values(codes))).toEqual(new Set(['invalid_request']));
});

test('its line is not in the log, and later lines are', async () => {
  await warmUp(serve(api.listProfilers, vi.fn()));
  expect(written).toEqual([]);
  process.stdout.write('{"message":"later"}\n');
  expect(written).toHaveLength(1);
});

test.each([
  ['rejection', () => Promise.reject(new Error('broken'))],
  [
    'exception',
    () => {
      throw new Error('broken');
    },
  ],
])('a handler that ends with a %s has no effect', async (_end, handler) => {
  const { write } = process.stdout;
  await expect(warmUp(handler)).resolves.toBeUndefined();
  expect(process.stdout.write).toBe(write);
});
