/** The wait that servers request with the header `Retry-After`. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { interpretByStatus } from '../../../shared/destinations/attempt-result.ts';
import { retryAfterIn } from '../../../shared/destinations/http/retry-after.ts';

const DAY_MS = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));

afterEach(() => void vi.useRealTimers());

const waitFor = (value: string) => retryAfterIn({ status: 503, headers: { 'retry-after': value } });

describe('Retry-After', () => {
  test.each([
    ['seconds', '120', 120_000],
    ['zero seconds', '0', 0],
    ['leading zeros', '007', 7_000],
    ['a fraction of a second', '1.5', 1_500],
    ['white space around it', ' 120 ', 120_000],
    ['a date', 'Tue, 01 Jan 2030 00:01:30 GMT', 90_000],
    ['a date of RFC 850', 'Tuesday, 01-Jan-30 00:01:30 GMT', 90_000],
    ['a date of asctime', 'Tue Jan  1 00:01:30 2030', 90_000],
    ['a date of ISO 8601', '2030-01-01T00:01:30+00:00', 90_000],
    ['a date of ISO 8601 with another zone', '2030-01-01T02:01:30+02:00', 90_000],
    ['a date in the past', 'Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['a date of RFC 850 in the past', 'Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ])('is read as %s', (_, value, wait) => {
    expect(waitFor(value)).toBe(wait);
  });

  test.each([
    ['seconds', '120, 60, 90', 120_000],
    ['seconds without a space', '60,120', 120_000],
    ['dates', 'Tue, 01 Jan 2030 00:01:30 GMT, Tue, 01 Jan 2030 00:01:00 GMT', 90_000],
    ['seconds and a date', '30, Tue, 01 Jan 2030 00:01:30 GMT', 90_000],
    ['a date that does not exist, and seconds', 'Tue, 99 Jan 2030 00:01:30 GMT, 30', 30_000],
  ])('with several values means the longest: %s', (_, value, wait) => {
    expect(waitFor(value)).toBe(wait);
  });

  test.each([
    ['many seconds', '86401'],
    ['more seconds than a number can hold', '9'.repeat(400)],
    ['a date in the far future', 'Fri, 31 Dec 9999 23:59:59 GMT'],
  ])('is limited to one day: %s', (_, value) => {
    expect(waitFor(value)).toBe(DAY_MS);
  });

  test.each([
    ['empty', ''],
    ['white space', '  '],
    ['a word', 'soon'],
    ['a word with a number', 'soon 7'],
    ['a unit', '60s'],
    ['negative', '-5'],
    ['signed', '+5'],
    ['infinite', 'Infinity'],
    ['not a number', 'NaN'],
    ['an exponent', '1e3'],
    ['hexadecimal', '0x10'],
    ['two numbers', '12 34'],
    ['an empty list', ','],
    ['a list with a word', '5, soon'],
    ['a date that does not exist', 'Tue, 99 Jan 2030 25:61:61 GMT'],
    ['a date without a time', '2030-01-02'],
    ['a date of ISO 8601 without a zone', '2030-01-01T00:01:30'],
  ])('is ignored if it is %s', (_, value) => {
    expect(waitFor(value)).toBeUndefined();
    expect(interpretByStatus({ status: 503, headers: { 'retry-after': value } })).toStrictEqual({
      status: 'retry',
      cause: 'status_503',
    });
  });

  test('is optional', () => {
    expect(retryAfterIn({ status: 503, headers: {} })).toBeUndefined();
  });

  test('of any value is ignored or means a wait of 0 to 24 hours', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789 .,-:+eEGMTZ') });
    const date = fc.date({ noInvalidDate: true }).map((each) => each.toUTCString());
    fc.assert(
      fc.property(fc.oneof(fc.string(), digits, date), (value) => {
        const wait = waitFor(value) ?? 0;
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(DAY_MS);
      }),
      { numRuns: 2_000 },
    );
  });
});
