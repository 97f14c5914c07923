/** What became of an attempt, by the status of the answer. */
import { describe, expect, test } from 'vitest';
import { interpretByStatus } from '../../../shared/outbound/attempt-result.ts';

describe('an answer of', () => {
  test.each([200, 201, 204, 299])('%i takes it', (status) => {
    expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'delivered' });
  });

  test.each([400, 401, 404, 409, 410, 422, 499])('%i refuses it permanently', (status) => {
    expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'rejected', cause: `status_${status}` });
  });

  test.each([0, 199, 300, 302, 399, 408, 425, 429, 500, 503, 599])('%i has it sent again', (status) => {
    expect(interpretByStatus({ status, headers: {} })).toStrictEqual({ status: 'retry', cause: `status_${status}` });
  });
});

test('what is to be sent again waits as long as the answer says', () => {
  expect(interpretByStatus({ status: 503, headers: { 'retry-after': '7' } })).toStrictEqual({
    status: 'retry',
    cause: 'status_503',
    retryAfter: 7_000,
  });
});

test('a 429 with a time asks for fewer calls: nothing has failed', () => {
  expect(interpretByStatus({ status: 429, headers: { 'retry-after': '7' } })).toStrictEqual({
    status: 'rate_limited',
    cause: 'status_429',
    wait: 7_000,
  });
});
