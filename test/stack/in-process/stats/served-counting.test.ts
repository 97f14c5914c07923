/**
 * Counting by the function of the served stack, with its rights.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { newId } from '../../../../shared/core/ids.ts';
import { type LogItem, logItem } from '../../../../shared/outbox/message.ts';
import { newClaim } from '../../../../shared/stats/claims.ts';
import { getConsistent, putAll, update } from '../../../../shared/table/client.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { call } from '../../support/client.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const DAY = new Date().toISOString().slice(0, 10);
const TIME = `${DAY}T00:00:00.000000`;

/** Log entries of a new job, which the stream shows as they were before a claim marked them. */
const claimed = async (account: string): Promise<{ claim: string; job_id: string; entries: LogItem[] }> => {
  const [claim, job_id] = [newClaim(), newId()];
  const entries = Array.from({ length: 4 }, () =>
    logItem({ id: newId(), account, phone: newPhone(), job_id, payload_type: 'text', ...lifetime }, 'sent', TIME),
  );
  await putAll(entries);
  const marks = entries.map(({ pk, sk }) =>
    update({
      Key: { pk, sk },
      UpdateExpression: 'SET counted = :claim',
      ConditionExpression: 'counted = :false',
      ExpressionAttributeValues: { ':claim': claim, ':false': false },
    }),
  );
  const areMarked = (await Promise.all(marks)).every(Boolean);
  // On a busy machine, the worker may come first.
  return areMarked ? { claim, job_id, entries } : claimed(account);
};

test('entries that a killed worker has claimed are counted', async () => {
  const { token, account } = await newCaller('stats');
  const { claim, job_id, entries } = await claimed(account);
  const days = { start_date: DAY, end_date: DAY };
  const counts = async () => (await call('listJobs', { token, query: days })).body ?? [];
  await expect
    .poll(async () => (await counts()).filter((one) => one.job_id === job_id))
    .toEqual([{ job_id, state: 'sent', payload_type: 'text', count: 4 }]);
  const marks = await Promise.all(entries.map(({ pk, sk }) => getConsistent<LogItem>({ pk, sk })));
  expect(marks.map((entry) => entry?.counted)).not.toContain(claim);
});
