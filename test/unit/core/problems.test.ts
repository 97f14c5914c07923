/** What a problem knows of where it came from, and what it says of faults. */
import { expect, test } from 'vitest';
import { invalidRequest, Problem } from '../../../shared/core/problems.ts';

test('what the caller is to mend is not traced: that would be the dearest part of refusing it', () => {
  expect(new Problem('invalid_request', 'Mend it.').stack).not.toContain('    at ');
});

test('what we are to mend is traced, whatever was rejected before', () => {
  new Problem('invalid_request', 'Mend it.');
  expect(new Problem('internal_error', 'Tell us.').stack).toContain('problems.test.ts');
  expect(new Problem('unavailable', 'Try again.').stack).toContain('problems.test.ts');
  expect(new Error('of somebody else').stack).toContain('problems.test.ts');
});

test('a problem is known by its kind, its code and its status', () => {
  const { name, message, code, status } = new Problem('media_not_found', 'There is none.');
  expect({ name, message, code, status }).toEqual({
    name: 'Problem',
    message: 'media_not_found',
    code: 'media_not_found',
    status: 404,
  });
});

test('a request with faults names them all, up to a thousand', () => {
  const faults = Array.from({ length: 1_001 }, (_, place) => ({ pointer: `#/${place}`, detail: 'is required' }));
  const all = 'The request is not valid. See errors.';
  expect(invalidRequest(faults.slice(0, 1))).toMatchObject({ detail: all, faults: faults.slice(0, 1) });
  expect(invalidRequest(faults.slice(0, 1_000))).toMatchObject({ detail: all, faults: faults.slice(0, 1_000) });
  const { detail, faults: named } = invalidRequest(faults);
  expect(detail).toBe(`${all} Only the first 1000 of 1001 are named.`);
  expect(named).toEqual(faults.slice(0, 1_000));
});

test('so does any other problem, so that its answer is never too large to be sent', () => {
  const faults = Array.from({ length: 2_000 }, (_, place) => ({ pointer: `#/${place}`, detail: 'is not known' }));
  const { detail, faults: named } = new Problem('events_refused', 'Correct these.', { faults });
  expect(detail).toBe('Correct these. Only the first 1000 of 2000 are named.');
  expect(named).toEqual(faults.slice(0, 1_000));
});
