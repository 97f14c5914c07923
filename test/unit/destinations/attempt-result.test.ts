/** The attempt result by the status of the response. */
import { describe, expect, test } from 'vitest';
import { interpretByStatus } from '../../../shared/destinations/attempt-result.ts';

describe('interpretByStatus', () => {
  test.each([200, 201, 204, 299])('status %i means delivered', (status) => {
    expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'delivered' });
  });

  test.each([400, 401, 404, 409, 410, 422, 499])('status %i means rejected', (status) => {
    expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'rejected', cause: `status_${status}` });
  });

  test.each([0, 199, 300, 302, 399, 408, 425, 429, 500, 503, 599])('status %i means retry', (status) => {
    expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'retry', cause: `status_${status}` });
  });
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
