/** Scheduled work of many items in one shard, on a real engine: each item is found once, whatever the pages contain. */
import { expect, test } from 'vitest';
import { type Due, ScheduledWork } from '../../../shared/due-work/scheduled-work.ts';
import { duePartitions } from '../../../shared/table/keys.ts';
import { putAll } from '../support/many-items.ts';
import { useOwnTable } from '../support/own-table.ts';

const TIME = '2030-01-01T00:00:00.000Z';

useOwnTable('scheduled-work');

/** Work of a shard: so many items that are due, some at the very time, and so many that are due later. */
const workOf = (shard: string, due: number, later: number): Due[] =>
  Array.from({ length: due + later }, (_, place) => ({
    pk: `WORK#${shard}`,
    sk: String(place).padStart(5, '0'),
    gsi1pk: shard,
    gsi1sk: place < due ? (place % 2 === 0 ? TIME : '2029-12-31T23:59:59.999Z') : '2030-01-01T00:00:00.001Z',
  }));

const idsOf = async (pages: AsyncGenerator<Due[]>): Promise<string[]> => {
  const found: string[] = [];
  for await (const items of pages) found.push(...items.map(({ pk, sk }) => `${pk} ${sk}`));
  return found.toSorted();
};

test('each item is due or later, once: within a first page, at its end, and beyond it', async () => {
  const [first = '', second = '', third = '', fourth = ''] = duePartitions;
  const all = [
    [first, 3, 3],
    [second, 149, 60],
    [third, 150, 10],
    [fourth, 160, 20],
  ] as const;
  await putAll(all.flatMap(([shard, due, later]) => workOf(shard, due, later)));
  const work = new ScheduledWork(TIME);
  const ids = (part: (due: number, items: Due[]) => Due[]): string[] =>
    all
      .flatMap(([shard, due, later]) => part(due, workOf(shard, due, later)))
      .map(({ pk, sk }) => `${pk} ${sk}`)
      .toSorted();
  expect(await idsOf(work.due())).toEqual(ids((due, items) => items.slice(0, due)));
  expect(await idsOf(work.later())).toEqual(ids((due, items) => items.slice(due)));
});
