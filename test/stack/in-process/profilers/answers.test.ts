/**
 * Answers: sent, counted once, replaced, and removed with their profiler.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import type { AnswerItem } from '../../../../shared/profilers/answer.ts';
import { removeAnswers } from '../../../../shared/profilers/answers.ts';
import { answerKey, answersOf, profilerKey, resultsOf } from '../../../../shared/profilers/entities.ts';
import { readResults } from '../../../../shared/profilers/results.ts';
import { getConsistent, update } from '../../../../shared/table/client.ts';
import { dueAt, dueOf, dueOrder, type Key } from '../../../../shared/table/keys.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { newProfiler } from '../../support/profilers.ts';
import { itemsOf } from '../../support/whole-table.ts';
import { newPanelist, newPhone, newVendor } from '../../support/world.ts';

/** The stored answers to a profiler, without the marks of the worker `count`. */
const answersTo = async (profiler: string) =>
  (await itemsOf<AnswerItem>({ pk: answersOf(profiler) })).map(
    ({ counted: _counted, counted_in: _shard, ...item }) => item,
  );

describe('POST /v1/profiler_answer', () => {
  test('an answer is recorded and returns 204', async () => {
    const vendor = await newVendor();
    const [profiler, phone] = await Promise.all([newProfiler(vendor), newPanelist()]);
    const body = { profiler_id: profiler.id, option_id: profiler.yes, phone_number: phone };
    expect((await call('answerProfiler', { token: vendor.token, body })).status).toBe(204);
    expect(await answersTo(profiler.id)).toEqual([
      expect.objectContaining({ sk: `ANSWER#${phone}`, option_id: profiler.yes, gsi2pk: `PERSON#${phone}` }),
    ]);
  });

  test('the first answer is final: a repeat returns 204, and a second answer with another option returns 409', async () => {
    const vendor = await newVendor();
    const [profiler, phone] = await Promise.all([newProfiler(vendor), newPanelist()]);
    const body = { profiler_id: profiler.id, option_id: profiler.yes, phone_number: phone };
    await call('answerProfiler', { token: vendor.token, body });
    const first = await answersTo(profiler.id);
    expect((await call('answerProfiler', { token: vendor.token, body })).status).toBe(204);
    const other = await fail('answerProfiler', { token: vendor.token, body: { ...body, option_id: profiler.no } });
    expect(other.body).toMatchObject({ status: 409, code: 'already_answered' });
    expect(await answersTo(profiler.id)).toEqual(first);
  });

  test('one of twelve simultaneous answers of a panelist is recorded, and answers with the other option get 409', async () => {
    const vendor = await newVendor();
    const [profiler, phone] = await Promise.all([newProfiler(vendor), newPanelist()]);
    const chosen = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? profiler.yes : profiler.no));
    const received = await Promise.all(
      chosen.map((option_id) =>
        sendRaw('answerProfiler', {
          token: vendor.token,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ profiler_id: profiler.id, option_id, phone_number: phone }),
        }),
      ),
    );
    const [recorded] = await answersTo(profiler.id);
    expect(received.map(({ status }) => status)).toEqual(
      chosen.map((option) => (option === recorded?.option_id ? 204 : 409)),
    );
  });

  test("another vendor's, unknown and malformed profiler ids return the same bytes of a 404", async () => {
    const [owner, other, phone] = await Promise.all([newVendor(), newVendor(), newPanelist()]);
    const profiler = await newProfiler(owner);
    const answerOf = async (profiler_id: string) => {
      const body = { profiler_id, option_id: profiler.yes, phone_number: phone };
      const { body: problem } = await fail('answerProfiler', { token: other.token, body });
      const { trace_id: _, ...rest } = problem;
      return JSON.stringify(rest);
    };
    const unknown = await answerOf('01a1fb03-12ca-717f-b32e-2aa3133ef832');
    expect(JSON.parse(unknown)).toMatchObject({ status: 404, code: 'profiler_not_found' });
    expect(await answerOf(profiler.id)).toBe(unknown);
    expect(await answerOf('no id at all')).toBe(unknown);
    expect(await answersTo(profiler.id)).toEqual([]);
  });

  test('an option of another profiler returns 422 option_not_found', async () => {
    const vendor = await newVendor();
    const [one, two, phone] = await Promise.all([newProfiler(vendor), newProfiler(vendor), newPanelist()]);
    const body = { profiler_id: one.id, option_id: two.yes, phone_number: phone };
    const received = await fail('answerProfiler', { token: vendor.token, body });
    expect(received.body).toMatchObject({ status: 422, code: 'option_not_found' });
  });

  test('an answer to a deleted profiler returns 404 profiler_not_found', async () => {
    const vendor = await newVendor();
    const [profiler, phone] = await Promise.all([newProfiler(vendor), newPanelist()]);
    await call('deleteProfiler', { token: vendor.token, path: { id: profiler.id } });
    const body = { profiler_id: profiler.id, option_id: profiler.yes, phone_number: phone };
    expect((await fail('answerProfiler', { token: vendor.token, body })).body.code).toBe('profiler_not_found');
  });

  test('a user who is not a panelist, and an unregistered number, return 422 panelist_not_found', async () => {
    const vendor = await newVendor();
    const profiler = await newProfiler(vendor);
    const user = newPhone();
    await registerUser({ phone_number: user, panelist: false });
    for (const phone_number of [user, newPhone()]) {
      const body = { profiler_id: profiler.id, option_id: profiler.yes, phone_number };
      const received = await fail('answerProfiler', { token: vendor.token, body });
      expect(received.body).toMatchObject({ status: 422, code: 'panelist_not_found' });
    }
  });

  test('an invalid body returns 422 with all validation errors', async () => {
    const vendor = await newVendor();
    const received = await sendRaw('answerProfiler', {
      token: vendor.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ option_id: 12, phone_number: 27821234567 }),
    });
    expect(received.body).toMatchObject({
      status: 422,
      errors: [
        { pointer: '#/profiler_id', detail: 'is required' },
        { pointer: '#/option_id', detail: 'must be a string, not a number' },
        { pointer: '#/phone_number', detail: 'must be a string, not a number' },
      ],
    });
  });
});

describe('the answers of a deleted profiler', () => {
  /** A deleted profiler with an answer. Its answers may be removed from `due` on. */
  const deletedProfiler = async (due: string) => {
    const vendor = await newVendor();
    const [profiler, phone] = await Promise.all([newProfiler(vendor), newPanelist()]);
    const body = { profiler_id: profiler.id, option_id: profiler.yes, phone_number: phone };
    await call('answerProfiler', { token: vendor.token, body });
    // With results, which are removed, too.
    await expect.poll(async () => (await readResults(vendor.account, profiler.id)).total).toBe(1);
    await call('deleteProfiler', { token: vendor.token, path: { id: profiler.id } });
    const key = profilerKey(vendor.account, profiler.id);
    await update({
      Key: key,
      UpdateExpression: 'SET gsi1sk = :due',
      ExpressionAttributeValues: { ':due': dueOrder(vendor.account, due) },
    });
    return { ...profiler, key };
  };

  const tombstoneOf = (key: Key) => getConsistent<Record<string, unknown>>(key);

  test('sweep removes the answers and results of a deleted profiler, and the tombstone stays for seven days', async () => {
    const profiler = await deletedProfiler(sortableTime(Date.now() - 1_000));
    await expect.poll(() => answersTo(profiler.id)).toEqual([]);
    await expect.poll(() => tombstoneOf(profiler.key)).not.toHaveProperty('gsi1pk');
    expect(await itemsOf({ pk: resultsOf(profiler.id) })).toEqual([]);
    const { expires_at, deleted_at } = (await tombstoneOf(profiler.key)) ?? {};
    const inSevenDays = Date.now() / 1000 + 7 * 86_400;
    expect(Number(expires_at)).toBeGreaterThan(inSevenDays - 60);
    expect(Number(expires_at)).toBeLessThanOrEqual(inSevenDays);
    expect(deleted_at).toEqual(expect.any(String));
  });

  test('the answers of a deleted profiler are kept for a minute, because answers may be in progress', async () => {
    const vendor = await newVendor();
    const profiler = await newProfiler(vendor);
    const before = Date.now();
    await call('deleteProfiler', { token: vendor.token, path: { id: profiler.id } });
    const { gsi1pk, gsi1sk } = (await tombstoneOf(profilerKey(vendor.account, profiler.id))) ?? {};
    expect(gsi1pk).toBe(dueAt('profilers', { account: vendor.account, id: profiler.id, time: '' }).gsi1pk);
    const grace = Date.parse(dueOf({ gsi1sk: String(gsi1sk) }).time) - before;
    expect(grace).toBeGreaterThanOrEqual(60_000);
    expect(grace).toBeLessThan(70_000);
  });

  test('the 41 answers of a deleted profiler are removed page by page, and the tombstone stays due until the end', async () => {
    const profiler = await deletedProfiler(sortableTime(Date.now() + 3_600_000));
    const padding = 'x'.repeat(40_000);
    for (let index = 0; index < 40; index += 1) {
      await update({
        Key: answerKey(profiler.id, newPhone()),
        UpdateExpression: 'SET padding = :padding',
        ExpressionAttributeValues: { ':padding': padding },
      });
    }
    const first = await removeAnswers(profiler.key);
    expect(first.finished).toBe(false);
    expect(first.removed).toBeGreaterThan(20);
    expect(await tombstoneOf(profiler.key)).toHaveProperty('gsi1pk');
    expect(await tombstoneOf(profiler.key), 'until all answers are removed').not.toHaveProperty('expires_at');
    const second = await removeAnswers(profiler.key);
    expect(second).toEqual({ removed: 41 - first.removed, finished: true });
    expect(await tombstoneOf(profiler.key)).not.toHaveProperty('gsi1pk');
    expect(await answersTo(profiler.id)).toEqual([]);
  });
});
