/** The division of a batch into chunks. */
import { expect, test } from 'vitest';
import { chunkAt, chunksOfBatch, inOrder, placeOf } from '../../../shared/campaigns/chunks.ts';
import { rankOf } from '../../../shared/table/batch-keys.ts';

const text = (body: string) => ({ type: 'text' as const, text: { body } });

test('messages are sorted by rank and number, and messages to one number keep their order', () => {
  const sent = ['3', '1', '3', '2', '3'].map((to, place) => ({ to, place }));
  const ordered = ['1', '2', '3'].toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  const places: Record<string, string[]> = { '1': ['11'], '2': ['23'], '3': ['30', '32', '34'] };
  expect(inOrder(sent).map(({ to, place }) => `${to}${place}`)).toEqual(ordered.flatMap((to) => places[to] ?? []));
});

test('numbers of one rank are next to each other, sorted by number', () => {
  const numbers = Array.from({ length: 20_000 }, (_, place) => String(27_820_000_000 + place));
  const shared = [...Map.groupBy(numbers, rankOf).values()].find((same) => same.length > 1) ?? [];
  const ordered = inOrder(numbers.toReversed().map((to) => ({ to }))).map(({ to }) => to);
  const first = ordered.indexOf(shared[0] ?? '');
  expect(ordered.slice(first, first + shared.length)).toEqual(shared);
});

test('10,000 numbers are 40 chunks, which contain each position once', () => {
  const numbers = Array.from({ length: 10_000 }, (_, place) => String(27_820_000_000 + place));
  const chunks = chunksOfBatch(numbers.map((to) => ({ to })));
  expect(chunks.map(({ to }) => to.length)).toEqual(Array(40).fill(250));
  expect(chunks.map(({ position }) => position)).toEqual(Array.from({ length: 40 }, (_, place) => place * 250));
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
    chunks.map((_, place) => chunks.slice(0, place).reduce((sum, { to }) => sum + to.length, 0)),
  );
});

test('the largest message is a chunk of its own', () => {
  const content = { ...text('😀'.repeat(4_096)), quick_replies: Array(10).fill('😀'.repeat(4_096)) };
  const chunks = chunksOfBatch([1, 2, 3].map((to) => ({ to: `2782000000${to}`, content })));
  expect(chunks.map(({ to }) => to.length)).toEqual([1, 1, 1]);
});

test('the chunk of a position is the last one that begins at it or before', () => {
  const places = chunksOfBatch(Array.from({ length: 600 }, (_, place) => ({ to: String(place).padStart(7, '0') }))).map(
    placeOf,
  );
  expect([0, 249, 250, 599].map((position) => chunkAt(places, position)?.position)).toEqual([0, 0, 250, 500]);
  expect(chunkAt([], 0)).toBeUndefined();
});
