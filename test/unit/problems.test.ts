/** What a problem knows of where it came from. */
import { expect, test } from 'vitest';
import { Problem } from '../../shared/problems.ts';

test('what the caller is to mend is not traced: that would be the dearest part of refusing it', () => {
  expect(new Problem('invalid_request', 'Mend it.').stack).not.toContain('    at ');
});

test('what we are to mend is traced, whatever was refused before', () => {
  new Problem('invalid_request', 'Mend it.');
  expect(new Problem('unavailable', 'Try again.').stack).toContain('problems.test.ts');
  expect(new Error('of somebody else').stack).toContain('problems.test.ts');
});
