/** The division of a batch into chunks. */
import { expect, test } from 'vitest';
import { chunkAt, chunksOfBatch } from '../../../shared/campaigns/chunks.ts';

const text = (body: string) => ({ type: 'text' as const, text: { body } });

test('10,000 numbers are 40 chunks, which contain each position once', () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => String(27_820_000_000 + index));
  const chunks = chunksOfBatch(numbers.map((to) => ({ to })));
  expect(chunks.map(({ to }) => to.length)).toEqual(Array(40).fill(250));
  expect(chunks.map(({ position }) => position)).toEqual(Array.from({ length: 40 }, (_, index) => index * 250));
  expect(chunks.flatMap(({ to }) => to)).toEqual(numbers);
  expect(chunks.every(({ contents }) => contents === undefined)).toBe(true);
});

test.each([['x'], ['😀']])('a chunk has at most 300 KB, with texts of 4,096 times %s', (letter) => {
  const content = text(letter.repeat(4_096));
  const chunks = chunksOfBatch(Array.from({ length: 100 }, () => ({ to: '27820000000', content })));
  for (const chunk of chunks) {
    expect(Buffer.byteLength(JSON.stringify(chunk))).toBeLessThan(320_000);
    expect(chunk.contents).toHaveLength(chunk.to.length);
  }
  expect(chunks.flatMap(({ to }) => to)).toHaveLength(100);
  expect(chunks.map(({ position }) => position)).toEqual(
    chunks.map((_, index) => chunks.slice(0, index).reduce((sum, { to }) => sum + to.length, 0)),
  );
});

test('the largest message is a chunk of its own', () => {
  const content = { ...text('😀'.repeat(4_096)), quick_replies: Array(10).fill('😀'.repeat(4_096)) };
  const chunks = chunksOfBatch([1, 2, 3].map((to) => ({ to: `2782000000${to}`, content })));
  expect(chunks.map(({ to }) => to.length)).toEqual([1, 1, 1]);
});

test('the chunk of a position is the last one that begins at it or before', () => {
  const sent = Array.from({ length: 600 }, (_, index) => ({ to: String(index).padStart(7, '0') }));
  const first = chunksOfBatch(sent).map(({ position }) => position);
  expect([0, 249, 250, 599].map((position) => chunkAt(first, position))).toEqual([0, 0, 250, 500]);
  expect(chunkAt([], 0)).toBeUndefined();
});
