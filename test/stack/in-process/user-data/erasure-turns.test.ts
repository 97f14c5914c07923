/**
 * Erasures and ends of consents in turns, on a stopped clock: what one customer has stored in any amount costs other users no
 * further run of the worker. A run ends after a number of calls of the table, as it would at the end of its time.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { BatchItem } from '../../../../shared/campaigns/batch.ts';
import { batchKey, chunkKey, ofPendingBatch } from '../../../../shared/campaigns/entities.ts';
import { eraseFromBatches } from '../../../../shared/campaigns/erase-batches.ts';
import { newBatchId } from '../../../../shared/campaigns/ids.ts';
import { sortableTime, timestampOf } from '../../../../shared/core/clock.ts';
import { newId, newUnguessableId } from '../../../../shared/core/ids.ts';
import { deliveriesAbout } from '../../../../shared/delivery/entities.ts';
import { endExpiredConsents } from '../../../../shared/due-work/expired-consents.ts';
import { erasureKey, markedPartition } from '../../../../shared/messaging/entities.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { logsOfContact } from '../../../../shared/outbox/entities.ts';
import { documents, getConsistent, page } from '../../../../shared/table/client.ts';
import { dataOfPerson, dueAt, ofPerson } from '../../../../shared/table/keys.ts';
import type { ConsentItem } from '../../../../shared/user-data/consents.ts';
import { consentKey } from '../../../../shared/user-data/entities.ts';
import { removeUser, resumeErasures } from '../../../../shared/user-data/erasure.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { putAll } from '../../support/many-items.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { historyOf, logOf } from '../../support/user-history.ts';
import { newAccount, newPhone, newPhones } from '../../support/world.ts';

useOwnTable('turns');

const NOW = Date.parse('2030-01-01T12:00:00Z');
const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Runs a step of the worker until it has made so many calls of the table. Returns its result, and the number of calls. */
const run = async <Done>(max: number, step: (isOver: () => boolean) => Promise<Done>): Promise<[Done, number]> => {
  let calls = 0;
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: never) => {
    calls += 1;
    return send(command);
  }) as typeof documents.send);
  const done = await step(() => calls >= max);
  spy.mockRestore();
  return [done, calls];
};

const isMarked = async (phone: string): Promise<boolean> =>
  (await getConsistent<{ gsi1pk: string }>(erasureKey(phone)))?.gsi1pk === markedPartition;

const countAt = async (partition: string): Promise<number> => {
  const { items } = await page({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :partition',
    ExpressionAttributeValues: { ':partition': partition },
  });
  return items.length;
};

/** Three users with a message each, who are erased now. Two minutes later, their erasures have their last look. */
const eraseThree = async (): Promise<string[]> => {
  const account = await newAccount();
  const phones = newPhones(3);
  for (const to of phones) await sendMessage(account, { to, type: 'text', text: { body: 'Hello' } }, {});
  vi.setSystemTime(NOW - 3 * MINUTE);
  for (const phone of phones) await removeUser(newId(), phone);
  vi.setSystemTime(NOW);
  return phones;
};

test('a user with a large history and log delays no other erasure, and is erased in later runs', async () => {
  const account = await newAccount();
  const heavy = newPhone();
  const past = { account, phone: heavy, at: NOW - 10 * MINUTE };
  await putAll([...logOf({ ...past, count: 2_000 }), ...historyOf({ ...past, count: 500 })]);
  vi.setSystemTime(NOW - 4 * MINUTE);
  await removeUser(newId(), heavy);
  const phones = await eraseThree();

  const [, first] = await run(1_000, resumeErasures);
  expect(first).toBeLessThan(1_500);
  for (const phone of phones) expect(await isMarked(phone)).toBe(true);
  expect(await isMarked(heavy)).toBe(false);
  const left = await countAt(logsOfContact(heavy));
  expect(left).toBeGreaterThan(500);

  // Each run continues where the one before ended.
  let runs = 0;
  for (; !(await isMarked(heavy)); runs += 1) {
    expect(runs).toBeLessThan(4);
    const [{ failed }] = await run(1_000, resumeErasures);
    expect(failed).toBe(0);
  }
  expect(await countAt(logsOfContact(heavy))).toBe(0);
  expect(await countAt(deliveriesAbout(heavy))).toBe(0);
});

/** Pending batches of an account for tomorrow, with two recipients each. */
const batchesOf = (account: string, recipients: string[][]) =>
  recipients.flatMap((to) => {
    const [id, upload, due] = [newBatchId(), newUnguessableId(), sortableTime(NOW + 1_440 * MINUTE)];
    const [created, expires_at] = [timestampOf(NOW - 10 * MINUTE), lifetime.expires_at];
    const batch: BatchItem = {
      ...batchKey(account, id),
      ...{ id, account, job_id: newId(), priority: 'medium', recipients: to.length, upload, chunks: [0], created, due },
      content: { type: 'text', text: { body: 'Hello' } },
      expires_at,
      ...ofPendingBatch(account, { id, rank: 1, due }),
    };
    return [batch, { ...chunkKey(upload, 0), account, created, position: 0, to, expires_at }];
  });

test('pending batches delay no erasure, and one pass over them removes all marked numbers together', async () => {
  const phones = await eraseThree();
  const [, withoutBatches] = await run(10_000, resumeErasures);
  for (const phone of phones) expect(await isMarked(phone)).toBe(true);
  // The same three users again, beside many batches, of which some contain them.
  const account = await newAccount();
  const [first = '', second = '', third = ''] = phones;
  const others = Array.from({ length: 600 }, () => newPhones(2));
  await putAll(batchesOf(account, [...others, [first, newPhone()], [second, third], [newPhone(), third]]));
  vi.setSystemTime(NOW - 3 * MINUTE);
  for (const phone of phones) await removeUser(newId(), phone);
  vi.setSystemTime(NOW);
  const [, withBatches] = await run(10_000, resumeErasures);
  expect(withBatches).toBeLessThanOrEqual(withoutBatches);

  let [runs, batches, messages] = [0, 0, 0];
  for (; (await getConsistent(erasureKey(first))) !== undefined; runs += 1) {
    expect(runs).toBeLessThan(10);
    const [done] = await run(300, eraseFromBatches);
    batches += done.batches;
    messages += done.messages;
    expect(done.failed).toBe(0);
  }
  // Less than one batch in five was read twice, because a run ended within a page.
  expect(runs).toBeGreaterThan(1);
  expect(batches).toBeGreaterThanOrEqual(603);
  expect(messages).toBe(4);
  for (const phone of phones) expect(await getConsistent(erasureKey(phone))).toBeUndefined();
});

test('a batch that cannot be read stops no other one, and its numbers stay marked for the next pass', async () => {
  const phones = await eraseThree();
  const [gone = ''] = phones;
  await run(10_000, resumeErasures);
  const account = await newAccount();
  const items = batchesOf(account, [
    [gone, newPhone()],
    [gone, newPhone()],
  ]);
  await putAll(items);
  const broken = items[1]?.pk ?? '';
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: { input: object }) => {
    if (JSON.stringify(command.input).includes(`"${broken}"`)) throw new Error('unreadable');
    return send(command as never);
  }) as typeof documents.send);
  expect(await eraseFromBatches(() => false)).toMatchObject({ messages: 1, erasures: 0, failed: 1 });
  spy.mockRestore();
  expect(await isMarked(gone)).toBe(true);
  expect(await eraseFromBatches(() => false)).toMatchObject({ messages: 1, erasures: 3, failed: 0 });
  expect(await getConsistent(erasureKey(gone))).toBeUndefined();
});

/** Consents to one property that have expired. */
const consentsOf = (account: string, phone: string, count: number): ConsentItem[] =>
  Array.from({ length: count }, () => {
    const id = newId();
    const [created, valid_until] = [timestampOf(NOW - 1_440 * MINUTE), timestampOf(NOW - MINUTE)];
    return {
      ...consentKey(id, created),
      ...{ id, account, phone, reason: 'Why not?', created, version: 1 },
      properties: { device_make: { released: created, valid_until } },
      ...ofPerson(phone, created),
      ...dueAt('consents', { account, id, time: valid_until }),
    };
  });

test("many consents of one account that expire at once do not delay the end of another account's consent", async () => {
  const [many, one] = [`a-${await newAccount()}`.slice(0, 30), `b-${await newAccount()}`.slice(0, 30)];
  const [phone, other] = newPhones(2);
  const [consent] = consentsOf(one, other ?? '', 1);
  if (consent === undefined) throw new Error('There is no consent.');
  // A page of the first account in each of eight partitions comes first: 1,200 consents of two or three calls each.
  await putAll([...consentsOf(many, phone ?? '', 3_000), consent]);
  const [{ consents, failed }] = await run(4_500, endExpiredConsents);
  expect(failed).toBe(0);
  expect(consents).toBeLessThan(3_000);
  const { properties } = (await getConsistent<ConsentItem>(consentKey(consent.id, consent.created))) ?? consent;
  expect(properties.device_make?.status).toBe('expired');
  expect(await countAt(dataOfPerson(phone ?? ''))).toBeGreaterThan(0);
});
