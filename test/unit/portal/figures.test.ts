import { expect, test } from 'vitest';
import { percent } from '../../../infra/web/figures.ts';

test.each([
  [0, 1_000, '0 %'],
  [1, 1_000, '< 1 %'],
  [333, 1_000, '33 %'],
  [999, 1_000, '> 99 %'],
  [1_000, 1_000, '100 %'],
  [0, 0, '–'],
])('%i of %i is %s: only nothing is 0 %%, and only all of it is 100 %%', (part, whole, text) =>
  expect(percent(part, whole)).toBe(text),
);
