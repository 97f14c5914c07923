/** The wake-ups that endpoints send before their responses. */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { expect, test, vi } from 'vitest';
import { handler as relay } from '../../../functions/workers/relay.ts';
import { conversationName, entryKey } from '../../../shared/outbox/entities.ts';
import { withWakeUps } from '../../../shared/outbox/wake-ups/at-once.ts';
import { deliverAtOnce } from '../../../shared/outbox/wake-ups/awaited.ts';
import { captureLog } from '../../support/captured-log.ts';
import { useFakeQueue } from '../support/fake-queue.ts';

const PHONE = '27821234567';
const written = captureLog();
const queue = useFakeQueue();

const keys = ['1', '2'].map((id) =>
  entryKey(conversationName({ direction: 'app', account: 'acme', phone: `${PHONE}${id}` }), id),
);

const names = () =>
  queue.taken.map(({ MessageGroupId, MessageDeduplicationId }) => `${MessageGroupId} ${MessageDeduplicationId}`);

const accepting = withWakeUps(async (result: string) => {
  for (const key of keys) deliverAtOnce([key]);
  return result;
});

test('those of a request are sent in one call, under the names under which relay sends them: the queue drops them then', async () => {
  expect(await accepting('done')).toBe('done');
  expect(queue.calls).toHaveLength(1);
  const atOnce = names();
  queue.taken.length = 0;
  const Records = keys.map((key) => ({ dynamodb: { Keys: marshall(key) } }));
  await relay({ Records } as DynamoDBStreamEvent, {} as never);
  expect(names().toSorted()).toEqual(atOnce.toSorted());
});

test('those of a request that fails later are sent, too', async () => {
  const failing = withWakeUps(async () => {
    deliverAtOnce(keys);
    throw new Error('Later.');
  });
  await expect(failing()).rejects.toThrow('Later.');
  expect(queue.taken).toHaveLength(keys.length);
});

test('the response is the same while the queue fails, and the line in the log has no number', async () => {
  queue.down = true;
  expect(await accepting('done')).toBe('done');
  expect(written.join()).toContain('wake-ups not sent at once');
  expect(written.join()).not.toContain(PHONE);
});

test('the response does not wait for a queue that does not respond', async () => {
  queue.hangs = true;
  const timeout = AbortSignal.timeout(50);
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout);
  expect(await accepting('done')).toBe('done');
  // Without the end, the client would repeat the call after five seconds.
  expect(queue.requests).toBe(1);
  expect(queue.taken).toEqual([]);
  expect(written.join()).toContain('wake-ups not sent at once');
});

test('a request without messages makes no call, nor does one of a handler that may not', async () => {
  await withWakeUps(async () => undefined)();
  deliverAtOnce(keys);
  expect(queue.calls).toEqual([]);
});
