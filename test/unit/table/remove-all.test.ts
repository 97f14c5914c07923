import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { documents, removeAll } from '../../../shared/table/client.ts';

beforeEach(() => void vi.stubEnv('TABLE_NAME', 'table'));

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Deletion = { DeleteRequest: { Key: { sk: string } } };

test('removeAll removes each item once, at most 25 per call, even if the table leaves some unprocessed', async () => {
  const removed: string[] = [];
  vi.spyOn(documents, 'send').mockImplementation(async ({ input }: { input: object }) => {
    const { table = [] } = (input as { RequestItems: { table?: Deletion[] } }).RequestItems;
    expect(table.length).toBeLessThanOrEqual(25);
    const taken = table.slice(0, table.length > 20 ? -3 : table.length);
    removed.push(...taken.map(({ DeleteRequest }) => DeleteRequest.Key.sk));
    return { UnprocessedItems: { table: table.slice(taken.length) } };
  });
  const keys = Array.from({ length: 60 }, (_, index) => ({ pk: 'ANSWERS#1', sk: `ANSWER#${index}`, padding: 'x' }));
  await removeAll(keys);
  expect(removed.toSorted()).toEqual(keys.map(({ sk }) => sk).toSorted());
});
