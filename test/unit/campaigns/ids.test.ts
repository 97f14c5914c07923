/** Ids of batches and of the messages in them. */
import { validate, version } from 'uuid';
import { expect, test } from 'vitest';
import { messageIdAt, newBatchId, positionOf } from '../../../shared/campaigns/ids.ts';
import { newId } from '../../../shared/core/ids.ts';

test.each([
  ['a random batch', newBatchId()],
  ['the lowest id', '0'.repeat(27)],
  ['the highest id', 'f'.repeat(27)],
])('the id of a message of %s is a UUID of version 8, and contains the batch and the position', (_, batch) => {
  for (const position of [0, 1, 24, 9_999, 2 ** 14 - 1]) {
    const id = messageIdAt(batch, position);
    expect([validate(id), version(id)]).toEqual([true, 8]);
    expect(positionOf(id)).toEqual({ batch, position });
  }
});

test('the id of a single message contains no batch', () => {
  expect(positionOf(newId())).toBeUndefined();
  expect(positionOf('019a9f5e-2c15-8d4e-c6e7-f8091a2b3c4d')).toBeUndefined();
  expect(positionOf('no id')).toBeUndefined();
});

test('ids of batches sort by age, and two of the same millisecond differ', async () => {
  const first = newBatchId();
  const second = newBatchId();
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(second).not.toBe(first);
  expect(newBatchId() > first).toBe(true);
});
