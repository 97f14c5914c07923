/** A batch of wake-ups: what is handled at the same time, and what stays on the queue. */
import type { SQSRecord } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { queueUrl } from '../../../shared/core/settings.ts';
import { handleBatch } from '../../../shared/outbox/wake-ups/batch.ts';
import { captureLog } from '../../support/captured-log.ts';
import { useFakeQueue } from '../support/fake-queue.ts';

const queue = useFakeQueue();
const written = captureLog();

afterEach(() => void vi.unstubAllEnvs());

/** A wake-up of a group. Its handle is also its id. */
const record = (handle: string, group: string) =>
  ({ messageId: handle, receiptHandle: handle, attributes: { MessageGroupId: group } }) as SQSRecord;

const handle = (records: SQSRecord[], work: (id: string) => Promise<'handled' | 'left'>): Promise<void> =>
  handleBatch(queueUrl(), records, ({ receiptHandle }) => work(receiptHandle));

test('ten groups are handled at the same time, and the wake-ups of one group in turn', async () => {
  const all = Promise.withResolvers<void>();
  const [running, order] = [new Set<string>(), [] as string[]];
  let max = 0;
  const groups = Array.from({ length: 9 }, (_, index) => record(`other-${index}`, `${index}`));
  await handle([record('first', 'same'), ...groups.slice(0, 8), record('second', 'same')], async (id) => {
    order.push(id);
    running.add(id);
    max = Math.max(max, running.size);
    if (running.size === 9) all.resolve();
    if (id !== 'second') await all.promise;
    running.delete(id);
    return 'handled';
  });
  expect(max).toBe(9);
  expect(order.indexOf('second')).toBe(9);
  expect([queue.removed, queue.returned]).toEqual([[], []]);
});

test('only the first wake-up of each group is the first', async () => {
  const first: [string, boolean][] = [];
  await handleBatch(
    queueUrl(),
    [record('a', '1'), record('b', '1'), record('c', '2')],
    async ({ messageId }, isFirst) => {
      first.push([messageId, isFirst]);
      return 'handled';
    },
  );
  expect(Object.fromEntries(first)).toEqual({ a: true, b: false, c: true });
});

test('a slow wake-up does not keep the others on the queue, nor what is handled later', async () => {
  const [slow, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const records = [record('slow', '1'), record('quick', '2'), record('left', '3'), record('later', '4')];
  const batch = handle(records, async (id) => {
    if (id === 'slow') await slow.promise;
    if (id === 'later') await later.promise;
    return id === 'left' ? 'left' : 'handled';
  });
  await expect.poll(() => queue.removed).toEqual(['quick']);
  later.resolve();
  await expect.poll(() => queue.removed).toEqual(['quick', 'later']);
  slow.resolve();
  await batch;
  expect(queue.removed).toEqual(['quick', 'later', 'slow']);
  expect(queue.returned).toEqual([]);
});

test('a wake-up that fails returns after 5 s; the others are handled and removed, and the batch fails with its error', async () => {
  const records = [
    record('bad', '1'),
    record('next', '1'),
    record('good', '2'),
    record('left', '3'),
    record('worse', '4'),
  ];
  const batch = handle(records, async (id) => {
    if (id === 'bad') throw new Error(id);
    if (id === 'worse') throw new TypeError(id);
    return id === 'left' ? 'left' : 'handled';
  });
  await expect(batch).rejects.toThrow('bad');
  expect(queue.returned.toSorted((a, b) => a.ReceiptHandle.localeCompare(b.ReceiptHandle))).toEqual([
    { ReceiptHandle: 'bad', VisibilityTimeout: 5 },
    { ReceiptHandle: 'worse', VisibilityTimeout: 5 },
  ]);
  expect(queue.removed.toSorted()).toEqual(['good', 'next']);
  // The worker logs the first error.
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', message: 'wake-up failed', error: 'TypeError' },
  ]);
});

test('if the queue fails, the batch fails with the error of its wake-up, and the log says what returns later', async () => {
  queue.down = true;
  const batch = handle([record('bad', '1'), record('good', '2')], async (id) => {
    if (id === 'bad') throw new TypeError('bad');
    return 'handled';
  });
  await expect(batch).rejects.toThrow('bad');
  expect(written.map((line) => JSON.parse(line)).map(({ level, message }) => `${level}: ${message}`)).toEqual([
    'error: wake-up not returned early',
    'warn: wake-ups not removed early',
  ]);
});
