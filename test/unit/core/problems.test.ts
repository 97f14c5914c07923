/** Stack traces of problems, and the limit on their validation errors. */
import { expect, test } from 'vitest';
import { invalidRequest, Problem } from '../../../shared/core/problems.ts';

test('a problem that the caller must fix has no stack trace, because a trace is the costliest part of a rejection', () => {
  expect(new Problem('invalid_request', 'Mend it.').stack).not.toContain('    at ');
});

test('server problems and other errors have a stack trace, even after a rejected request', () => {
  new Problem('invalid_request', 'Mend it.');
  expect(new Problem('internal_error', 'Tell us.').stack).toContain('problems.test.ts');
  expect(new Problem('unavailable', 'Try again.').stack).toContain('problems.test.ts');
  expect(new Error('of somebody else').stack).toContain('problems.test.ts');
});

test('a problem has a name, a code, a message equal to the code, and a status', () => {
  const { name, message, code, status } = new Problem('media_not_found', 'There is none.');
  expect({ name, message, code, status }).toEqual({
    name: 'Problem',
    message: 'media_not_found',
    code: 'media_not_found',
    status: 404,
  });
});

test('an invalid request lists up to 1,000 validation errors', () => {
  const errors = Array.from({ length: 1_001 }, (_, index) => ({ pointer: `#/${index}`, detail: 'is required' }));
  const all = 'The request is not valid. See errors.';
  expect(invalidRequest(errors.slice(0, 1))).toMatchObject({ detail: all, errors: errors.slice(0, 1) });
  expect(invalidRequest(errors.slice(0, 1_000))).toMatchObject({ detail: all, errors: errors.slice(0, 1_000) });
  const { detail, errors: named } = invalidRequest(errors);
  expect(detail).toBe(`${all} Only the first 1000 of 1001 are named.`);
  expect(named).toEqual(errors.slice(0, 1_000));
});

test('any problem lists up to 1,000 validation errors, which limits the size of its response', () => {
  const errors = Array.from({ length: 2_000 }, (_, index) => ({ pointer: `#/${index}`, detail: 'is not known' }));
  const { detail, errors: named } = new Problem('events_refused', 'Correct these.', { errors });
  expect(detail).toBe('Correct these. Only the first 1000 of 2000 are named.');
  expect(named).toEqual(errors.slice(0, 1_000));
});

test('a response may list fewer validation errors', () => {
  const errors = Array.from({ length: 101 }, (_, index) => ({ pointer: `#/to/${index}`, detail: 'is wrong' }));
  const { detail, errors: named } = invalidRequest(errors, 100);
  expect(detail).toBe('The request is not valid. See errors. Only the first 100 of 101 are named.');
  expect(named).toEqual(errors.slice(0, 100));
});
