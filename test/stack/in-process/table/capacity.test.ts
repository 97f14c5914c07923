/**
 * The budgets of the access patterns, in capacity units that the table reports, for items under 1 KB.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { identify, mintToken } from '../../../../shared/accounts/tokens.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { recordAnswers } from '../../../../shared/profilers/answer-batch.ts';
import { recordAnswer } from '../../../../shared/profilers/answers.ts';
import { countAudience } from '../../../../shared/profilers/audience.ts';
import { profilerKey } from '../../../../shared/profilers/entities.ts';
import { createProfiler, deleteProfiler, listProfilers, readProfiler } from '../../../../shared/profilers/profilers.ts';
import { put } from '../../../../shared/table/client.ts';
import { type Consumed, consumedBy } from '../../support/consumed.ts';
import { newPanelist, newPhone, newVendor } from '../../support/world.ts';

/** DynamoDB Local reports other units than DynamoDB charges, for transactions and for items that do not exist. */
const testUnits = test.skipIf(process.env.DYNAMODB_ENDPOINT);

const draft = { question: 'Well?', options: ['yes', 'no'] };

test('authorizing a valid token costs 0.5 read units, an unknown token 1.5, and a malformed token none', async () => {
  const { account } = await newVendor();
  const { token } = await issueToken(account, { label: 'test', permissions: ['profilers'] });
  expect(await consumedBy(() => identify(token))).toMatchObject({ calls: 1, table: 0.5, indexes: 0 });
  expect(await consumedBy(() => identify(`${token}x`))).toMatchObject({ calls: 0, table: 0, indexes: 0 });
  expect(await consumedBy(() => identify(mintToken()))).toMatchObject({ calls: 2, table: 1.5, indexes: 0 });
});

test('creating a profiler costs 4 write units, and 1 more for an idempotency key', async () => {
  const { account } = await newVendor();
  expect(await consumedBy(() => createProfiler(account, draft))).toMatchObject({ calls: 1, table: 4, indexes: 0 });
  expect(await consumedBy(() => createProfiler(account, draft, 'key'))).toMatchObject({
    calls: 2,
    table: 5,
    indexes: 0,
  });
});

test('reading a profiler costs 1 read unit', async () => {
  const { account } = await newVendor();
  const { id } = await createProfiler(account, draft);
  expect(await consumedBy(() => readProfiler(account, id))).toMatchObject({ calls: 1, table: 1, indexes: 0 });
});

test('a page of a list of 50 large profilers costs less than 1,600 read units', async () => {
  const { account } = await newVendor();
  const large = { question: 'x'.repeat(340_000), options: ['yes', 'no'] };
  for (let index = 0; index < 50; index += 1)
    await createProfiler(account, large, index % 2 === 0 ? `${index}` : undefined);
  const first = await consumedBy(() => listProfilers(account));
  // A read unit is 4 KB. The page has 5 MB, and reads at most 1 MB of the table more, and the rows of idempotency keys.
  expect(first.table).toBeLessThan(1_600);
  const { next } = await listProfilers(account);
  const second = await consumedBy(() => listProfilers(account, next));
  expect(second.table).toBeLessThan(1_600);
  expect(second.calls).toBeLessThanOrEqual(8);
});

testUnits(
  'a page of a list reads at most 8 MB of deleted profilers, and the next one has those that follow',
  async () => {
    const { account } = await newVendor();
    const deleted = Array.from({ length: 26 }, () => ({
      ...profilerKey(account, newId()),
      deleted_at: timestamp(),
      options: 'x'.repeat(340_000),
    }));
    for (const item of deleted) await put(item);
    const { id } = await createProfiler(account, draft);
    const first = await consumedBy(() => listProfilers(account));
    expect(first.calls).toBe(8);
    expect(first.table).toBeLessThanOrEqual(8 * 257);
    const { profilers, next } = await listProfilers(account);
    expect(profilers).toEqual([]);
    expect(next).toMatch(/^[\da-f-]{36}$/);
    expect((await listProfilers(account, next)).profilers).toMatchObject([{ id }]);
  },
);

test('a deleted profiler takes one read unit of a list, however large it was', async () => {
  const { account } = await newVendor();
  const { id } = await createProfiler(account, { question: 'x'.repeat(170_000), options: ['y'.repeat(170_000), 'no'] });
  await deleteProfiler(account, id);
  expect(await consumedBy(() => listProfilers(account))).toMatchObject({ calls: 1, table: 1 });
});

test('answering costs 2.5 read units, 1 write unit of the table and 1 of the index by person', async () => {
  const { account } = await newVendor();
  const phone_number = await newPanelist();
  const { id, options } = await createProfiler(account, draft);
  const answer = { profiler_id: id, option_id: options[0]?.id ?? '', phone_number };
  expect(await consumedBy(() => recordAnswer(account, answer))).toMatchObject({ calls: 4, table: 3.5, indexes: 1 });
});

testUnits('answers to profilers of 350 KB cost as many read units as answers to small ones', async () => {
  const { account } = await newVendor();
  const phones = await Promise.all(Array.from({ length: 5 }, newPanelist));
  const sizes = [10, 1_000, 340_000];
  const profilers = await Promise.all(
    sizes.map((size) => createProfiler(account, { question: 'x'.repeat(size), options: ['yes', 'no'] })),
  );
  const answersTo = ({ id, options }: (typeof profilers)[number]) =>
    phones.map((phone_number) => ({ profiler_id: id, option_id: options[0]?.id ?? '', phone_number }));
  const costs: Consumed[] = [];
  for (const profiler of profilers) {
    costs.push(await consumedBy(() => recordAnswers(account, answersTo(profiler))));
  }
  // The profiler and the allowance, 0.5 for each panelist, and the answers.
  expect(costs).toEqual(costs.map(() => ({ calls: 8, table: 1 + 1 + 2.5 + 5, written: 5, indexes: 5 })));
  // 3.5 for a number that is not a panelist's: 1.5, and the charge.
  const unknown = answersTo(profilers[2] ?? { id: '', options: [] }).map((one) => ({
    ...one,
    phone_number: newPhone(),
  }));
  expect(await consumedBy(() => recordAnswers(account, unknown))).toMatchObject({ table: 1 + 1 + 7.5 + 1, written: 1 });
  const [first] = profilers;
  const condition = { profiler_id: first?.id ?? '', option_ids: first?.options.map(({ id }) => id) ?? [] };
  expect((await consumedBy(() => countAudience(account, [condition]))).table).toBeLessThan(5);
});

testUnits('deleting a profiler costs 6 write units of the table, and 1 of the index of sweep', async () => {
  const { account } = await newVendor();
  const { id } = await createProfiler(account, draft);
  expect(await consumedBy(() => deleteProfiler(account, id))).toMatchObject({ calls: 1, table: 6 });
});
