/**
 * Pending batches and cancelled jobs in a restored table.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { sendEach } from '../../../../shared/campaigns/accept.ts';
import { isBatchKey, isChunkKey } from '../../../../shared/campaigns/entities.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { tableName } from '../../../../shared/core/settings.ts';
import { jobKey } from '../../../../shared/messaging/entities.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { isHeadKey } from '../../../../shared/outbox/entities.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newAccount, newPhone } from '../../support/world.ts';
import { lose, restoreInJson, restoreToNewTable } from './copied-table.ts';

const { dynamodb_endpoint: endpoint } = inject('stack');

useOwnTable('restored-batches');
useFakeQueue();

const restoreFrom = async (...args: string[]) => (await restoreInJson('--from', ...args)).kinds;

/** More recipients than a transaction has writes. */
const RECIPIENTS = 120;

/** A pending batch, of which one recipient is then erased, in a table that is restored to the time before. */
const newRestored = async () => {
  const account = await newAccount();
  const phones = Array.from({ length: RECIPIENTS }, newPhone);
  const [erased = ''] = phones;
  await updateUser(randomUUID(), { phone_number: erased, panelist: true });
  const text = { type: 'text' as const, text: { body: 'Hello' } };
  const drafts = phones.map((to) => ({ to, ...text }));
  const { job_id } = await sendEach(account, drafts, {});
  const restored = await restoreToNewTable(endpoint);
  await eraseUser(erased);
  return { account, job_id, restored, erased, others: phones.slice(1) };
};

const chunksOf = async (table: string) => (await itemsIn(table)).filter(isChunkKey);

const sentTo = async (account: string): Promise<string[]> => {
  const { entries } = await listLogs(account, { state: 'sent' }, 1_000);
  return entries.map(({ contact }) => contact.split('@')[0] ?? '').filter((phone) => !phone.startsWith('erased-'));
};

test('a pending batch comes back with its chunks, without recipients who were erased since', async () => {
  const { account, restored, erased, others } = await newRestored();
  await lose((await itemsIn()).filter((item) => isBatchKey(item) || isChunkKey(item)));
  expect(await restoreFrom(restored, '--account', account)).not.toMatchObject({ 'batch of messages': { restored: 1 } });
  expect(await chunksOf(tableName())).toEqual([]);
  expect(await restoreFrom(restored, '--account', account, '--outbox')).toMatchObject({
    'batch of messages': { restored: 1 },
    'chunk of a batch': { not_selected: 1 },
  });
  expect(JSON.stringify(await chunksOf(tableName()))).not.toContain(erased);
  expect(await expand(account, undefined, Date.now() + 60_000)).toMatchObject({ expanded: others.length });
  expect((await sentTo(account)).sort()).toEqual(others.toSorted());
  const heads = (await itemsIn()).filter(isHeadKey).map(({ pk }) => pk);
  expect(heads.filter((pk) => !pk.startsWith(`OUTBOX#app#${account}#`))).toEqual([]);
  // The batch is expanded: its chunks do not come back.
  await restoreFrom(restored, '--account', account, '--outbox');
  expect(await chunksOf(tableName())).toEqual([]);
});

test('an adopted table has neither erased recipients nor open jobs that were cancelled since', async () => {
  const { account, job_id, restored, erased } = await newRestored();
  await cancelJob(account, job_id);
  const kinds = await restoreFrom(restored, '--clean', '--taken', new Date().toISOString());
  expect(kinds).toMatchObject({ 'chunk of a batch': { changed: 1 }, job: { changed: 1 } });
  expect(JSON.stringify(await chunksOf(restored))).not.toContain(erased);
  const job = (await itemsIn(restored)).find(({ pk }) => pk === jobKey(account, job_id).pk);
  expect(job).toMatchObject({ cancelled: expect.any(String), gsi1pk: expect.stringMatching(/^DUE#/) });
});
