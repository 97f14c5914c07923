/** The attempt result by the status of the response. */
import { describe, expect, test } from 'vitest';
import { interpretByStatus } from '../../../shared/destinations/attempt-result.ts';

describe('interpretByStatus', () => {
  test.each([200, 201, 202, 204, 299])('status %i means delivered', (status) => {
    expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'delivered' });
  });

  test.each([400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 413, 415, 422, 426, 428, 431, 451, 499])(
    'status %i means rejected, and Retry-After is ignored',
    (status) => {
      const result = { status: 'rejected', cause: `status_${status}` };
      for (const headers of [{}, { 'retry-after': '5' }]) {
        expect(interpretByStatus({ status, headers })).toStrictEqual(result);
      }
    },
  );

  test.each([0, 199, 300, 301, 302, 303, 304, 307, 308, 399, 408, 425, 429, 500, 501, 502, 503, 504, 507, 599])(
    'status %i means retry',
    (status) => {
      expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'retry', cause: `status_${status}` });
    },
  );
});

test('a retry waits for the seconds of Retry-After', () => {
  expect(interpretByStatus({ status: 503, headers: { 'retry-after': '7' } })).toStrictEqual({
    status: 'retry',
    cause: 'status_503',
    retryAfter: 7_000,
  });
});

test('a 429 with Retry-After means rate limited, which is not a failure', () => {
  expect(interpretByStatus({ status: 429, headers: { 'retry-after': '7' } })).toStrictEqual({
    status: 'rate_limited',
    cause: 'status_429',
    wait: 7_000,
  });
});
