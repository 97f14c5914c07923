/** Points in time in the format of RFC 3339. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { pointInTime } from '../../../shared/validation/point-in-time.ts';

test.each([
  ['2026-11-20T09:58:10Z', '2026-11-20T09:58:10.000000'],
  ['2026-11-20t09:58:10.1z', '2026-11-20T09:58:10.100000'],
  ['2026-11-20 09:58:10.123456789Z', '2026-11-20T09:58:10.123456'],
  ['2026-11-20T00:30:00+02:00', '2026-11-19T22:30:00.000000'],
  ['2026-12-31T23:59:59.999999-00:30', '2027-01-01T00:29:59.999999'],
  ['2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000000'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999999'],
  ['1969-12-31T23:59:59Z', '1970-01-01T00:00:00.000000'],
  ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.000000'],
])('the RFC 3339 time %s is parsed as %s', (value, time) => {
  expect(v.parse(pointInTime, value)).toBe(time);
});

test.each([
  '',
  'yesterday',
  '2026-11-20',
  '2026-11-20T09:58:10',
  '2026-11-20T09:58Z',
  '2026-02-30T09:58:10Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T09:60:00Z',
  '2026-11-20T09:58:61Z',
  '2026-11-20T09:58:10.Z',
  '2026-11-20T09:58:10+2:00',
  '2026-11-20T09:58:10+24:00',
  '+12026-11-20T09:58:10Z',
  '1637402290',
])('%j is rejected as a point in time', (value) => {
  expect(v.safeParse(pointInTime, value).issues?.[0].message).toBe(
    'must be a time as RFC 3339 writes it: a date, T, a time of day, and Z or an offset',
  );
});
