import { expect, test } from 'vitest';
import { partsOf, sizeInJson } from '../../../shared/core/parts.ts';

const sizes = (all: number[], limits: { items: number; bytes: number }): number[][] =>
  partsOf(all, { ...limits, sizeOf: (size) => size });

test.each([
  ['nothing', [], []],
  ['items within both limits', [1, 2, 3], [[1, 2, 3]]],
  ['more items than a part has', [1, 1, 1, 1], [[1, 1, 1], [1]]],
  ['more bytes than a part has', [6, 4, 1], [[6, 4], [1]]],
  ['an item that is too large for a part, between others', [1, 11, 1], [[1], [11], [1]]],
])('%s: no part exceeds a limit, and the order stays', (_, all, parts) => {
  expect(sizes(all, { items: 3, bytes: 10 })).toEqual(parts);
});

test('the size of a value counts text in UTF-8, and binary data by its length', () => {
  expect(sizeInJson({ a: 'ä🌻' })).toBe('{"a":""}'.length + 6);
  expect(sizeInJson({ a: new Uint8Array(500), b: Buffer.alloc(500) })).toBe('{"a":"","b":""}'.length + 1_000);
});
