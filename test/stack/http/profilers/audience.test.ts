/** Audiences: which panelists they contain, what they reveal, and their limits. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { allowanceKey } from '../../../../shared/accounts/entities.ts';
import { answerKey, resultKey } from '../../../../shared/profilers/entities.ts';
import { userKey } from '../../../../shared/users/entities.ts';
import { call, fail } from '../../support/client.ts';
import { putAll } from '../../support/many-items.ts';
import { newProfiler, type YesOrNo } from '../../support/profilers.ts';
import { type Caller, newPhone, newVendor } from '../../support/world.ts';

/** Records answers of new panelists to profilers: each panelist has the same answer, by its text, to all of them. */
const answered = async ({ token }: Caller, profilers: YesOrNo[], { yes = 0, no = 0 }): Promise<void> => {
  const people = [...Array(yes).fill('yes'), ...Array(no).fill('no')].map((text: 'yes' | 'no') => ({
    text,
    phone_number: newPhone(),
  }));
  await putAll(people.map(({ phone_number }) => ({ ...userKey(phone_number), panelist: true, created: '2030' })));
  const body = profilers.flatMap((profiler) =>
    people.map(({ text, phone_number }) => ({ profiler_id: profiler.id, option_id: profiler[text], phone_number })),
  );
  const { results } = (await call('answerProfilers', { token, body })).body;
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set([204]));
};

const sizeOf = async ({ token }: Caller, all: { profiler_id: string; option_ids: string[] }[]) =>
  (await call('countAudience', { token, body: { all } })).body;

/** Waits for the size: reads are eventually consistent. */
const expectSize = (vendor: Caller, all: { profiler_id: string; option_ids: string[] }[]) =>
  expect.poll(() => sizeOf(vendor, all));

const FEW = { count: null, fewer_than: 10 };

test('counts are rounded down to tens, and fewer than ten are not revealed', async () => {
  const vendor = await newVendor();
  const one = await newProfiler(vendor);
  const ask = (...option_ids: string[]) => expectSize(vendor, [{ profiler_id: one.id, option_ids }]);
  await ask(one.yes).toEqual(FEW);
  await answered(vendor, [one], { yes: 10, no: 9 });
  await ask(one.yes).toEqual({ count: 10 });
  await ask(one.no).toEqual(FEW);
  await ask(one.yes, one.no).toEqual({ count: 10 });
  await answered(vendor, [one], { yes: 9, no: 2 });
  await ask(one.yes, one.yes.toUpperCase()).toEqual({ count: 10 });
  await ask(one.yes, one.no).toEqual({ count: 30 });
});

test('contains the panelists who meet all conditions', async () => {
  const vendor = await newVendor();
  const [one, two] = [await newProfiler(vendor), await newProfiler(vendor)];
  await answered(vendor, [one, two], { yes: 20, no: 11 });
  await answered(vendor, [one], { yes: 10 });
  const condition = ({ id, yes, no }: YesOrNo, ...texts: string[]) => ({
    profiler_id: id,
    option_ids: texts.map((text) => (text === 'yes' ? yes : no)),
  });
  await expectSize(vendor, [condition(one, 'yes')]).toEqual({ count: 30 });
  await expectSize(vendor, [condition(one, 'yes'), condition(two, 'yes')]).toEqual({ count: 20 });
  await expectSize(vendor, [condition(two, 'yes', 'no'), condition(one, 'no')]).toEqual({ count: 10 });
  await expectSize(vendor, [condition(two, 'no'), condition(one, 'yes')]).toEqual(FEW);
});

describe('an audience is rejected', () => {
  test('with 404 for profilers that are not the own ones, and 422 for other options', async () => {
    const [vendor, other] = [await newVendor(), await newVendor()];
    const [mine, theirs] = [await newProfiler(vendor), await newProfiler(other)];
    const { token } = vendor;
    for (const profiler_id of [theirs.id, randomUUID(), 'no id']) {
      const all = [
        { profiler_id: mine.id, option_ids: [mine.yes] },
        { profiler_id, option_ids: [theirs.yes] },
      ];
      const { status, body } = await fail('countAudience', { token, body: { all } });
      expect([status, body.code]).toEqual([404, 'profiler_not_found']);
    }
    const all = [{ profiler_id: mine.id, option_ids: [mine.yes, theirs.yes] }];
    expect((await fail('countAudience', { token, body: { all } })).body).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '#/all/0/option_ids/1', detail: 'is no option of the profiler' }],
    });
  });

  test('with 422 without conditions, with six, twice the same profiler, or no options', async () => {
    const vendor = await newVendor();
    const { id, yes } = await newProfiler(vendor);
    const condition = { profiler_id: id, option_ids: [yes] };
    const wrong = [
      [],
      Array.from({ length: 6 }, () => ({ ...condition, profiler_id: randomUUID() })),
      [condition, condition],
      [{ ...condition, option_ids: [] }],
    ];
    for (const all of wrong) {
      const { status, body } = await fail('countAudience', { token: vendor.token, body: { all } });
      expect([status, body.code]).toEqual([422, 'invalid_request']);
    }
  });

  test('with 422 if its profilers have over 200,000 answers together', async () => {
    const vendor = await newVendor();
    const [one, two] = [await newProfiler(vendor), await newProfiler(vendor)];
    const all = [one, two].map(({ id, yes }) => ({ profiler_id: id, option_ids: [yes] }));
    await putAll([
      { ...resultKey(one.id, one.yes, 0), count: 120_000 },
      { ...resultKey(two.id, two.no, 3), count: 80_001 },
    ]);
    const ask = () => fail('countAudience', { token: vendor.token, body: { all } });
    await expect.poll(async () => (await sendFor(ask)).code).toBe('audience_too_large');
    await expectSize(vendor, all.slice(0, 1)).toEqual(FEW);
  });

  test('over the daily allowance, it returns 429', async () => {
    const vendor = await newVendor();
    const { id, yes } = await newProfiler(vendor);
    const day = new Date().toISOString().slice(0, 10);
    const expires_at = Math.ceil(Date.now() / 1_000) + 86_400;
    await putAll([{ ...allowanceKey(vendor.account, 'audiences', day), used: 99, expires_at }]);
    const all = [{ profiler_id: id, option_ids: [yes] }];
    expect(await sizeOf(vendor, all)).toEqual(FEW);
    const { status, body, headers } = await fail('countAudience', { token: vendor.token, body: { all } });
    expect([status, body.code]).toEqual([429, 'allowance_exceeded']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    // Another allowance than that of contacts.
    expect(body.detail).toContain('100 audiences a day');
  });
});

/** The problem of a response; a stale read may have allowed the request. */
const sendFor = async (ask: () => Promise<{ body: { code: string } }>): Promise<{ code: string }> =>
  ask().then(
    ({ body }) => body,
    () => ({ code: 'none' }),
  );

test('an answer that is not counted yet belongs to the audience', async () => {
  const vendor = await newVendor();
  const one = await newProfiler(vendor);
  // Written past the service, as counted: the results lack them.
  await putAll(
    Array.from({ length: 10 }, () => ({
      ...answerKey(one.id, newPhone()),
      option_id: one.yes,
      created: '2030-01-01T00:00:00.000000',
      counted: true,
    })),
  );
  await expectSize(vendor, [{ profiler_id: one.id, option_ids: [one.yes] }]).toEqual({ count: 10 });
});
