/**
 * How the clock of the local stack learns from the table's stream what is due.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { now, sortableTime } from '../../../../shared/core/clock.ts';
import { putIfAbsent, remove, update } from '../../../../shared/table/client.ts';
import { dueAt } from '../../../../shared/table/keys.ts';
import { serveMovingStack } from '../../support/moving-clock.ts';

const DAY = 86_400_000;

test('work that is removed, or no longer due, is not waited for', async () => {
  const { moving } = await serveMovingStack('clock-due-work');
  const due = sortableTime(now() + 2 * DAY);
  const later = sortableTime(now() + 3 * DAY);
  const keyOf = (id: string) => ({ pk: `WORK#${id}`, sk: 'WORK' });
  // Two items of one partition: the account of the second one comes after that of the first one.
  await putIfAbsent({ ...keyOf('removed'), ...dueAt('conversations', { account: 'acme', id: 'one', time: due }) });
  await putIfAbsent({ ...keyOf('done'), ...dueAt('conversations', { account: 'birch', id: 'one', time: later }) });
  const dueWork = moving.watchDueWork();
  const next = async () => {
    const time = await dueWork.next();
    return time && sortableTime(time).slice(0, 23);
  };
  expect(await next()).toBe(due.slice(0, 23));
  await remove(keyOf('removed'));
  await expect.poll(next).toBe(later.slice(0, 23));
  await update({ Key: keyOf('done'), UpdateExpression: 'REMOVE gsi1pk, gsi1sk' });
  await expect.poll(next).toBeUndefined();
  dueWork.end();
});
