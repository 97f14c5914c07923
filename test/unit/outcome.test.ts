/** What became of an attempt, by the status of the answer. */
import { describe, expect, test } from 'vitest';
import { judgeByStatus } from '../../shared/outbound/attempt-result.ts';

describe('an answer of', () => {
  test.each([200, 201, 204, 299])('%i takes it', (status) => {
    expect(judgeByStatus({ status, headers: {} })).toStrictEqual({ result: 'taken' });
  });

  test.each([400, 401, 404, 409, 410, 422, 499])('%i refuses it for good', (status) => {
    expect(judgeByStatus({ status, headers: {} })).toStrictEqual({ result: 'refused', cause: `status_${status}` });
  });

  test.each([0, 199, 300, 302, 399, 408, 425, 429, 500, 503, 599])('%i has it sent again', (status) => {
    expect(judgeByStatus({ status, headers: {} })).toStrictEqual({ result: 'again', cause: `status_${status}` });
  });
});

test('what is to be sent again waits as long as the answer says', () => {
  expect(judgeByStatus({ status: 503, headers: { 'retry-after': '7' } })).toStrictEqual({
    result: 'again',
    cause: 'status_503',
    retryAfter: 7_000,
  });
});

test('a 429 with a time asks for fewer calls: nothing has failed', () => {
  expect(judgeByStatus({ status: 429, headers: { 'retry-after': '7' } })).toStrictEqual({
    result: 'limited',
    cause: 'status_429',
    wait: 7_000,
  });
});
