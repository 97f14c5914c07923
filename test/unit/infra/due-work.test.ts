/** When the table's next work is due, as the clock of the local stack reads it. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { StreamRecord } from '../../../infra/local/aws/event-sources/stream.ts';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import { dueWorkOf } from '../../../infra/local/clock/due-work.ts';
import { eraseSteps, sweepSteps } from '../../../shared/api/workers.ts';
import { erasurePartition, markedPartition } from '../../../shared/messaging/entities.ts';
import { allDuePartitions, dueOrder, duePartitions } from '../../../shared/table/keys.ts';

const [ONE = '', OTHER = ''] = duePartitions('conversations');
const NINE = '2026-11-24T09:00:00.000000';
const TEN = '2026-11-24T10:00:00.000000';
const ELEVEN = '2026-11-24T11:00:00.000000';

/** The place of an account's work in the index. */
const placeOf = (partition: string, time: string): string =>
  partition.startsWith('DUE#') ? dueOrder('acme', time) : time;

/** The key of a partition's oldest item. */
const keyIn = (partition: string) => ({ pk: { S: `item of ${partition}` }, sk: { S: 'HEAD' } });

/** A stack whose table has the oldest work of these partitions. */
const serve = async (oldest: Record<string, string>) => {
  const reads: string[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const { ExpressionAttributeValues } = (await json(request)) as {
      ExpressionAttributeValues: Record<':due' | ':place', { S: string }>;
    };
    const partition = ExpressionAttributeValues[':due'].S;
    const isFirst = ExpressionAttributeValues[':place'].S === ' ';
    if (isFirst) reads.push(partition);
    const time = oldest[partition];
    response.writeHead(status);
    const found =
      time === undefined || !isFirst ? [] : [{ ...keyIn(partition), gsi1sk: { S: placeOf(partition, time) } }];
    response.end(JSON.stringify({ Items: found }));
  });
  const dynamodbEndpoint = await listenOnLoopback(server, 0);
  onTestFinished(() => closeServer(server));
  const watchers = new Set<(record: StreamRecord) => void>();
  const stack = {
    dynamodbEndpoint,
    watchRecords: (watcher: (record: StreamRecord) => void) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
  /** Reports what happened to an item, which is in this partition now. The stream does not tell where it was before. */
  const change = (eventName: string, Keys: StreamRecord['dynamodb']['Keys'], partition?: string): void => {
    const dynamodb = { SequenceNumber: '1', ApproximateCreationDateTime: 1, Keys };
    const NewImage = { ...Keys, ...(partition !== undefined && { gsi1pk: { S: partition } }) };
    const record = { eventName, dynamodb: eventName === 'REMOVE' ? dynamodb : { ...dynamodb, NewImage } };
    for (const watcher of watchers) watcher(record);
  };
  return { watch: dueWorkOf(stack, 'table'), reads, change, watchers, fail: () => (status = 500) };
};

const at = (time: string): number => Date.parse(`${time.slice(0, 23)}Z`);

test('the oldest work of all kinds counts; a later read is only of partitions that have changed', async () => {
  const [consentEnds = ''] = duePartitions('consents');
  const oldest: Record<string, string> = { [ONE]: TEN, [consentEnds]: ELEVEN, [erasurePartition]: NINE };
  const { watch, reads, change } = await serve(oldest);
  const dueWork = watch();
  expect(await dueWork.next()).toBe(at(NINE));
  expect(reads.toSorted()).toEqual([...allDuePartitions, erasurePartition, markedPartition].toSorted());

  reads.length = 0;
  change('MODIFY', { pk: { S: 'no work' }, sk: { S: 'HEAD' } });
  change('REMOVE', { pk: { S: 'another item' }, sk: { S: 'HEAD' } });
  expect(await dueWork.next()).toBe(at(NINE));
  expect(reads).toEqual([]);

  delete oldest[erasurePartition];
  change('REMOVE', keyIn(erasurePartition));
  expect(await dueWork.next()).toBe(at(TEN));
  delete oldest[ONE];
  change('MODIFY', keyIn(ONE), OTHER);
  expect(await dueWork.next()).toBe(at(ELEVEN));
  delete oldest[consentEnds];
  change('MODIFY', keyIn(consentEnds));
  expect(await dueWork.next()).toBeUndefined();
  expect(reads).toEqual([erasurePartition, ONE, OTHER, consentEnds]);
});

test.each([
  ['an older item enters', NINE, 'INSERT', OTHER, ONE],
  ['its oldest item is removed', undefined, 'REMOVE', ONE, undefined],
])('a partition is read again if %s during its read', async (_change, then, eventName, item, partition) => {
  const oldest: Record<string, string> = { [ONE]: TEN };
  const { watch, reads, change } = await serve(oldest);
  const dueWork = watch();
  const first = dueWork.next();
  await expect.poll(() => reads).toContain(ONE);
  if (then === undefined) delete oldest[ONE];
  else oldest[ONE] = then;
  change(eventName, keyIn(item), partition);
  await first;
  expect(await dueWork.next()).toBe(then && at(then));
});

test('each movement of the clock begins with a read of everything, and stops watching at its end', async () => {
  const oldest: Record<string, string> = { [ONE]: TEN };
  const { watch, watchers } = await serve(oldest);
  const first = watch();
  expect(await first.next()).toBe(at(TEN));
  first.end();
  expect(watchers.size).toBe(0);
  delete oldest[ONE];
  expect(await watch().next()).toBeUndefined();
});

test('what is due needs only its own step of a worker', async () => {
  const oldest: Record<string, string> = { [OTHER]: TEN, [erasurePartition]: NINE, [markedPartition]: ELEVEN };
  const dueWork = (await serve(oldest)).watch();
  await dueWork.next();
  const needed = (time: number) => [
    ...sweepSteps.filter((step) => dueWork.needs(time, 'SweepFunction1', { step })),
    ...eraseSteps.filter((step) => dueWork.needs(time, 'EraseFunction1', { step })),
    ...['AnotherFunction1'].filter((id) => dueWork.needs(time, id)),
  ];
  expect(needed(at(NINE) - 1)).toEqual(['AnotherFunction1']);
  expect(needed(at(NINE))).toEqual(['erasures', 'AnotherFunction1']);
  expect(needed(at(TEN))).toEqual(['conversations', 'erasures', 'AnotherFunction1']);
  expect(needed(at(ELEVEN))).toEqual(['conversations', 'erasures', 'batches', 'AnotherFunction1']);
});

test('an error of the database is reported with its status', async () => {
  const { watch, fail } = await serve({});
  fail();
  await expect(watch().next()).rejects.toThrow('The database returned 500 for work that is due');
});
