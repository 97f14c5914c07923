/** Answers that are returned to the vendor: the list, the results, and several answers in one request. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { applied, removed } from '../../support/app-events.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { inPages, pagedList } from '../../support/paged-list.ts';
import { newProfiler } from '../../support/profilers.ts';
import { type Caller, newPanelist, newPhone, newVendor } from '../../support/world.ts';

const newPanelists = (count: number): Promise<string[]> => Promise.all(Array.from({ length: count }, newPanelist));

const record = async ({ token }: Caller, body: unknown[]) =>
  (await call('answerProfilers', { token, body })).body.results;

/** The total of a profiler, and the counts of its options, in their order. */
const countsOf = async ({ token }: Caller, id: string): Promise<number[]> => {
  const { total, options } = (await call('readResults', { token, path: { id } })).body;
  return [total, ...options.map(({ count }) => count)];
};

describe('POST /v1/profiler_answers', () => {
  test('judges each answer by itself, in the order of the request, and a repeat changes nothing', async () => {
    const [vendor, other] = [await newVendor(), await newVendor()];
    const [mine, theirs] = [await newProfiler(vendor), await newProfiler(other)];
    const [ann = '', ben = ''] = await newPanelists(2);
    const of = (phone_number: string, option_id = mine.yes, profiler_id = mine.id) => ({
      profiler_id,
      option_id,
      phone_number,
    });
    const body = [
      of(ann),
      of(ben, mine.no.toUpperCase()),
      of(ann, mine.no),
      of(ann),
      of(newPhone()),
      of(ann, theirs.yes),
      of(ann, theirs.yes, theirs.id),
      of(ann, mine.yes, randomUUID()),
      { ...of('+1'), option_id: 7 },
      'an answer',
    ];
    const results = await record(vendor, body);
    expect(results.map(({ status, code }) => (code === undefined ? status : `${status} ${code}`))).toEqual([
      204,
      204,
      '409 already_answered',
      204,
      '422 panelist_not_found',
      '422 option_not_found',
      '422 profiler_not_found',
      '422 profiler_not_found',
      '422 invalid_request',
      '422 invalid_request',
    ]);
    expect(results[8]?.errors?.map(({ pointer }) => pointer)).toEqual(['#/8/option_id', '#/8/phone_number']);
    expect(results[6]?.detail).toBe(results[7]?.detail);
    expect(await record(vendor, body)).toEqual(results);
    await expect.poll(() => countsOf(vendor, mine.id)).toEqual([2, 1, 1]);
    expect(await countsOf(other, theirs.id)).toEqual([0, 0, 0]);
  });

  test('accepts 500 answers, and rejects none and 501 as a whole', async () => {
    const vendor = await newVendor();
    const { id, yes } = await newProfiler(vendor);
    const body = Array.from({ length: 500 }, () => ({ profiler_id: id, option_id: yes, phone_number: newPhone() }));
    const results = await record(vendor, body);
    expect(new Set(results.map(({ code }) => code))).toEqual(new Set(['panelist_not_found']));
    expect(results).toHaveLength(500);
    for (const wrong of [[], [...body, ...body.slice(0, 1)]]) {
      const { status, body: problem } = await fail('answerProfilers', { token: vendor.token, body: wrong });
      expect([status, problem.code, problem.errors?.map(({ pointer }) => pointer)]).toEqual([
        422,
        'invalid_request',
        ['#'],
      ]);
    }
  });

  test.each(['{}', '"a"', '7', 'null'])('rejects the body %s', async (body) => {
    const { token } = await newVendor();
    const headers = { 'content-type': 'application/json' };
    expect(await sendRaw('answerProfilers', { token, headers, body })).toMatchObject({
      status: 422,
      body: { code: 'invalid_request' },
    });
  });
});

describe('GET /v1/research_profilers/{id}/answers', () => {
  const answersTo = (id: string) =>
    pagedList(
      (token, query: { limit?: string; cursor?: string }) => call('listAnswers', { token, path: { id }, query }),
      ({ phone_number }) => phone_number,
    );

  test('lists the answers by phone number, page by page, with option and time', async () => {
    const vendor = await newVendor();
    const { id, yes, no } = await newProfiler(vendor);
    const phones = (await newPanelists(5)).sort();
    await record(
      vendor,
      phones.map((phone_number, index) => ({ profiler_id: id, option_id: index % 2 ? no : yes, phone_number })),
    );
    const { token } = vendor;
    const expected = phones.map((phone_number, index) => ({
      phone_number,
      option_id: index % 2 ? no : yes,
      option: index % 2 ? 'no' : 'yes',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}$/),
    }));
    // The list may be some milliseconds behind.
    await expect.poll(async () => (await call('listAnswers', { token, path: { id } })).body).toEqual(expected);
    expect(await answersTo(id).walk(vendor, { limit: '2' })).toEqual(inPages(2, phones));
  });

  test('is empty without answers, and rejects a cursor of another profiler and a wrong limit', async () => {
    const vendor = await newVendor();
    const { token } = vendor;
    const [one, two] = [await newProfiler(vendor), await newProfiler(vendor)];
    expect((await call('listAnswers', { token, path: { id: one.id } })).body).toEqual([]);
    const phones = await newPanelists(2);
    await record(
      vendor,
      phones.map((phone_number) => ({ profiler_id: one.id, option_id: one.yes, phone_number })),
    );
    const cursor = await answersTo(one.id).cursorAfter(vendor, { limit: '1' });
    const wrong = [
      [two.id, { cursor }],
      [one.id, { cursor: 'abc' }],
      [one.id, { limit: '0' }],
      [one.id, { limit: '1001' }],
    ] as const;
    for (const [id, query] of wrong) {
      expect((await fail('listAnswers', { token, path: { id }, query })).body.code).toBe('invalid_request');
    }
  });
});

describe('GET /v1/research_profilers/{id}/results', () => {
  test('counts each answer once, and excludes that of a user who is removed', {
    tags: 'long',
    timeout: 300_000,
  }, async () => {
    const vendor = await newVendor();
    const { id, yes, no } = await newProfiler(vendor);
    const phones = await newPanelists(3);
    const [leaving = ''] = phones;
    const body = phones.map((phone_number, index) => ({
      profiler_id: id,
      option_id: index < 2 ? yes : no,
      phone_number,
    }));
    for (const _ of ['first', 'repeat']) {
      expect((await record(vendor, body)).map(({ status }) => status)).toEqual([204, 204, 204]);
    }
    // A busy worker counts late.
    const options = { timeout: 120_000 };
    await expect.poll(() => countsOf(vendor, id), options).toEqual([3, 2, 1]);
    await applied(removed(leaving));
    await expect.poll(() => countsOf(vendor, id), options).toEqual([2, 1, 1]);
    await expect.poll(() => getConsistent(erasureKey(leaving))).toBeUndefined();
    expect(await countsOf(vendor, id)).toEqual([2, 1, 1]);
    expect((await call('listAnswers', { token: vendor.token, path: { id } })).body).toHaveLength(2);
  });
});

test("another vendor's, a deleted and an unknown profiler have neither answers nor results", async () => {
  const [vendor, other] = [await newVendor(), await newVendor()];
  const [{ id: theirs }, { id: deleted }] = [await newProfiler(other), await newProfiler(vendor)];
  const { token } = vendor;
  await call('deleteProfiler', { token, path: { id: deleted } });
  for (const name of ['listAnswers', 'readResults'] as const) {
    for (const id of [theirs, deleted, randomUUID(), 'no id']) {
      const { status, body } = await fail(name, { token, path: { id } });
      expect([status, body.code]).toEqual([404, 'profiler_not_found']);
    }
  }
});
