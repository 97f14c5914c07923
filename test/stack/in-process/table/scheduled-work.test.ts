/**
 * Scheduled work of many items in one partition, on a real engine: each due item is found once, whatever the pages contain.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { type Due, ScheduledWork } from '../../../../shared/due-work/scheduled-work.ts';
import { dueOrder, duePartitions } from '../../../../shared/table/keys.ts';
import { putAll } from '../../support/many-items.ts';
import { useOwnTable } from '../../support/own-table.ts';

const TIME = '2030-01-01T00:00:00.000Z';

useOwnTable('scheduled-work');

/** Work of an account: so many items that are due, some at the very time, and so many that are due later. */
const workOf = (partition: string, account: string, due: number, later: number): Due[] =>
  Array.from({ length: due + later }, (_, index) => ({
    pk: `WORK#${partition}#${account}`,
    sk: String(index).padStart(5, '0'),
    gsi1pk: partition,
    gsi1sk: dueOrder(
      account,
      index < due ? (index % 2 === 0 ? TIME : '2029-12-31T23:59:59.999Z') : '2030-01-01T00:00:00.001Z',
    ),
  }));

const idsOf = (items: Due[]): string[] => items.map(({ pk, sk }) => `${pk} ${sk}`).toSorted();

test('each item is found once that is due: within a first page, at its end, beyond it, and after other accounts', async () => {
  const [first = '', second = '', third = '', fourth = ''] = duePartitions('conversations');
  const all = [
    [first, 'acme', 3, 3],
    [second, 'acme', 149, 60],
    [second, 'birch', 2, 0],
    [third, 'acme', 150, 10],
    [third, 'acme-2', 1, 1],
    [fourth, 'acme', 340, 20],
    [fourth, 'birch', 0, 200],
    [fourth, 'cedar', 160, 0],
  ] as const;
  await putAll(all.flatMap(([index, account, due, later]) => workOf(index, account, due, later)));
  const found: Due[] = [];
  for await (const items of new ScheduledWork('conversations', TIME).due()) found.push(...items);
  expect(idsOf(found)).toEqual(idsOf(all.flatMap(([index, account, due]) => workOf(index, account, due, 0))));
});
