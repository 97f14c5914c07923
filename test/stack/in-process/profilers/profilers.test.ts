/**
 * Profilers: created, listed and deleted.
 *
 * @module-tag long
 */
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { timestamp } from '../../../../shared/core/clock.ts';
import { idOf } from '../../../../shared/core/ids.ts';
import { profilerKey, profilerOfKey } from '../../../../shared/profilers/entities.ts';
import { answersRemoved, createProfiler, deleteProfiler } from '../../../../shared/profilers/profilers.ts';
import { getConsistent, remove, update } from '../../../../shared/table/client.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { pagedList } from '../../support/paged-list.ts';
import { newVendor } from '../../support/world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const question = 'Which of these do you drink?';

describe('POST /v1/research_profilers', () => {
  test('a new profiler returns its id and an object that maps each lower-case option to its id', async () => {
    const { token } = await newVendor();
    const { status, body } = await call('createProfiler', {
      token,
      body: { question, options: ['Tea', 'COFFEE', 'tea', 'Water'] },
    });
    expect(status).toBe(200);
    expect(body.profiler_id).toMatch(UUID);
    expect(Object.keys(body.options).sort()).toEqual(['coffee', 'tea', 'water']);
    expect(new Set(Object.values(body.options)).size).toBe(3);
    for (const id of Object.values(body.options)) expect(id).toMatch(UUID);
  });

  test('a new profiler can be read at once, with its options in the order of the request', async () => {
    const { token } = await newVendor();
    const created = await call('createProfiler', { token, body: { question, options: ['B', 'a', 'C'] } });
    const { body } = await call('readProfiler', { token, path: { id: created.body.profiler_id } });
    expect(body).toEqual({
      question,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
      options: ['b', 'a', 'c'].map((option) => ({ id: created.body.options[option], option })),
    });
  });

  test.each([
    ['names of object members', ['__proto__', 'constructor', 'toString', 'hasOwnProperty']],
    ['numbers', ['1', '2', '-1', '01']],
    ['emoji and combining characters', ['👩‍👩‍👧', '👨', 'e\u0301', 'é']],
    ['letters with a longer or special lower case', ['İ', 'ẞ', 'ΑΣ', 'I']],
    ['leading and trailing spaces', ['yes', ' yes', 'yes ']],
    ['10,000 characters', ['x'.repeat(10_000), 'y']],
    ['control characters', ['a\u0000b', 'a\nb']],
  ])('options are stored in lower case without other changes: %s', async (_, options) => {
    const { token } = await newVendor();
    const { body } = await call('createProfiler', { token, body: { question, options } });
    const found = options.map((option) => Object.getOwnPropertyDescriptor(body.options, option.toLowerCase())?.value);
    expect(found.every((id) => UUID.test(id))).toBe(true);
    const read = await call('readProfiler', { token, path: { id: body.profiler_id } });
    expect(read.body.options).toEqual(options.map((option, at) => ({ id: found[at], option: option.toLowerCase() })));
  });

  test('the response to random options has one key for each distinct lower-case option', async () => {
    const { token } = await newVendor();
    const option = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '');
    await fc.assert(
      fc.asyncProperty(fc.array(option, { minLength: 2, maxLength: 8 }), async (options) => {
        const distinct = new Set(options.map((text) => text.toLowerCase()));
        fc.pre(distinct.size > 1);
        const { body } = await call('createProfiler', { token, body: { question, options } });
        expect(new Set(Object.keys(body.options))).toEqual(distinct);
      }),
      { numRuns: 50 },
    );
  });

  test.each<[string, unknown, { pointer: string; detail: string }[]]>([
    [
      'no fields',
      {},
      [
        { pointer: '#/question', detail: 'is required' },
        { pointer: '#/options', detail: 'is required' },
      ],
    ],
    [
      'wrong types',
      { question: 7, options: 'yes' },
      [
        { pointer: '#/question', detail: 'must be a string, not a number' },
        { pointer: '#/options', detail: 'must be an array, not a string' },
      ],
    ],
    [
      'a blank question and a blank option',
      { question: ' ', options: ['yes', '\t'] },
      [
        { pointer: '#/question', detail: 'must not be empty or white space only' },
        { pointer: '#/options/1', detail: 'must not be empty or white space only' },
      ],
    ],
    [
      'options of other types',
      { question, options: [1, null, {}, 'yes', ['no']] },
      [
        { pointer: '#/options/0', detail: 'must be a string, not a number' },
        { pointer: '#/options/1', detail: 'must be a string, not null' },
        { pointer: '#/options/2', detail: 'must be a string, not an object' },
        { pointer: '#/options/4', detail: 'must be a string, not an array' },
      ],
    ],
    [
      'options that differ only in case',
      { question, options: ['Yes', 'yes', 'YES'] },
      [{ pointer: '#/options', detail: 'must hold at least two options that differ in more than case' }],
    ],
    [
      'more than 10,000 options',
      { question, options: Array(10_001).fill('yes') },
      [{ pointer: '#/options', detail: 'must hold at most 10000 options' }],
    ],
    ['null as its body', null, [{ pointer: '#', detail: 'must be an object, not null' }]],
  ])('a request with %s returns 422 with all validation errors', async (_, body, errors) => {
    const { token } = await newVendor();
    const received = await sendRaw('createProfiler', {
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(received.body).toMatchObject({ status: 422, code: 'invalid_request', errors });
    expect((received.body as { errors: unknown[] }).errors).toHaveLength(errors.length);
  });

  test('a profiler of more than 350 KB as stored returns 422, and a profiler just below is created', async () => {
    const { token } = await newVendor();
    const tooLarge = await fail('createProfiler', {
      token,
      body: { question: 'ß'.repeat(175_000), options: ['a', 'b'] },
    });
    expect(tooLarge.body).toMatchObject({ status: 422, code: 'profiler_too_large' });
    const fits = { question: 'ß'.repeat(174_000), options: ['a', 'b'] };
    const { body } = await call('createProfiler', { token, body: fits });
    const read = await call('readProfiler', { token, path: { id: body.profiler_id } });
    expect(read.body.question).toBe(fits.question);
  });

  test('unknown fields are ignored', async () => {
    const { token } = await newVendor();
    const body = { question, options: ['a', 'b'], colour: 'red' };
    expect((await call('createProfiler', { token, body })).status).toBe(200);
  });
});

describe('POST /v1/research_profilers with an idempotency key', () => {
  const headers = { 'idempotency-key': 'order 17' };
  const body = { question, options: ['Yes', 'No'] };

  test('a repeat with the same key returns the first response and creates no second profiler', async () => {
    const { token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    const again = await call('createProfiler', { token, headers, body });
    expect(again.body).toEqual(first.body);
    expect((await call('listProfilers', { token })).body).toHaveLength(1);
  });

  test('ten simultaneous requests with the same key create one profiler', async () => {
    const { token } = await newVendor();
    const all = await Promise.all(Array.from({ length: 10 }, () => call('createProfiler', { token, headers, body })));
    expect(new Set(all.map((received) => JSON.stringify(received.body.profiler_id))).size).toBe(1);
    for (const received of all) expect(received.body).toEqual(all[0]?.body);
    expect((await call('listProfilers', { token })).body).toHaveLength(1);
  });

  test('a repeat creates the profiler if the first request was interrupted between its two writes', async () => {
    const { account, token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    const key = profilerKey(account, first.body.profiler_id);
    // The state of the table after the first of the two writes.
    await remove(key);
    expect((await call('listProfilers', { token })).body).toEqual([]);
    const again = await call('createProfiler', { token, headers, body });
    expect(again.body.profiler_id).toBe(first.body.profiler_id);
    expect((await call('listProfilers', { token })).body).toMatchObject([{ id: first.body.profiler_id }]);
  });

  test('another request with the same key returns 422 idempotency_key_reused', async () => {
    const { token } = await newVendor();
    await call('createProfiler', { token, headers, body });
    const other = await fail('createProfiler', { token, headers, body: { ...body, options: ['Yes', 'Maybe'] } });
    expect(other.body).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
      detail: expect.stringContaining('another profiler.'),
    });
  });

  test('two accounts can use the same key', async () => {
    const [one, other] = await Promise.all([newVendor(), newVendor()]);
    const first = await call('createProfiler', { token: one.token, headers, body });
    const second = await call('createProfiler', { token: other.token, headers, body });
    expect(second.body.profiler_id).not.toBe(first.body.profiler_id);
  });

  test('a repeat after the deletion of the profiler returns the first response and creates nothing', async () => {
    const { token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    await call('deleteProfiler', { token, path: { id: first.body.profiler_id } });
    expect((await call('createProfiler', { token, headers, body })).body).toEqual(first.body);
    expect((await call('listProfilers', { token })).body).toEqual([]);
  });

  test('a key can be used for another request after its tombstone expired, even if the table still contains it', async () => {
    const { account, token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    await call('deleteProfiler', { token, path: { id: first.body.profiler_id } });
    const tombstone = profilerKey(account, first.body.profiler_id);
    const ofKey = profilerOfKey(account, idOf(account, 'createProfiler', headers['idempotency-key']));
    await answersRemoved(tombstone);
    for (const Key of [tombstone, ofKey]) {
      const { expires_at } = (await getConsistent<{ expires_at?: number }>(Key)) ?? {};
      expect(expires_at, 'both rows expire together').toBeGreaterThan(Date.now() / 1000 + 7 * 86_400 - 60);
      await update({
        Key,
        UpdateExpression: 'SET expires_at = :past',
        ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1000) - 1 },
      });
    }
    const other = { ...body, question: 'Something else?' };
    await call('createProfiler', { token, headers, body: other });
    expect((await call('listProfilers', { token })).body).toMatchObject([{ question: other.question }]);
  });

  test('a blank key returns 422', async () => {
    const { token } = await newVendor();
    // fetch trims header values, so a blank value arrives as an empty string.
    const received = await fail('createProfiler', { token, headers: { 'idempotency-key': ' ' }, body });
    const errors = [{ parameter: 'idempotency-key', detail: 'must not be empty or white space only' }];
    expect(received.body).toMatchObject({ status: 422, errors });
  });
});

test('the limit of 350 KB counts the bytes that the table stores for each option', async () => {
  const { account } = await newVendor();
  const options = (length: number) => Array.from({ length: 3_000 }, (_, place) => `${place}`.padEnd(length, 'x'));
  // In addition to its text, an option takes 50 bytes: attribute names, an id, and the overhead of a list element.
  await createProfiler(account, { question, options: options(66) });
  await expect(createProfiler(account, { question, options: options(67) })).rejects.toMatchObject({
    code: 'profiler_too_large',
    detail: 'Question and options exceed 350 KB as stored. Shorten them.',
  });
});

describe('GET /v1/research_profilers', () => {
  const { walk } = pagedList(
    (token, query: { cursor?: string }) => call('listProfilers', { token, query }),
    ({ id }) => id,
  );

  test('an account without profilers gets an empty array', async () => {
    const { token } = await newVendor();
    const { status, body, headers } = await call('listProfilers', { token });
    expect({ status, body, link: headers.get('link') }).toEqual({ status: 200, body: [], link: null });
  });

  test('profilers are listed oldest first, with and without an idempotency key', async () => {
    const { token } = await newVendor();
    const ids: string[] = [];
    for (let index = 0; index < 8; index += 1) {
      const headers = index % 2 === 0 ? { 'idempotency-key': `key ${index}` } : {};
      const { body } = await call('createProfiler', {
        token,
        headers,
        body: { question, options: ['a', `b${index}`] },
      });
      ids.push(body.profiler_id);
      // The order of ids from two functions has a resolution of one millisecond.
      await pause(2);
    }
    const { body } = await call('listProfilers', { token });
    expect(body.map(({ id }) => id)).toEqual(ids);
    expect(body[0]).toEqual({
      id: ids[0],
      question,
      created_at: expect.any(String),
      options: [
        { id: expect.stringMatching(UUID), option: 'a' },
        { id: expect.stringMatching(UUID), option: 'b0' },
      ],
    });
  });

  test('a list of more than 5 MB is paginated, and each profiler is on one page', async () => {
    const { account, token } = await newVendor();
    const created: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      const key = index % 3 === 0 ? `key ${index}` : undefined;
      const { id } = await createProfiler(
        account,
        { question: `${index} ${'x'.repeat(300_000)}`, options: ['a', 'b'] },
        key,
      );
      created.push(id);
    }
    const pages = await walk({ token }, {});
    expect(pages).toHaveLength(3);
    expect(pages.flat()).toEqual(created);
  });

  test('a paginated list contains profilers full of control characters, which are larger in a response than in the table', async () => {
    const { account, token } = await newVendor();
    const created: string[] = [];
    const question = `?${'\u0001'.repeat(340_000)}`;
    for (let index = 0; index < 7; index += 1) {
      created.push((await createProfiler(account, { question, options: ['a', 'b'] })).id);
    }
    expect((await walk({ token }, {})).flat()).toEqual(created);
    expect((await call('listProfilers', { token })).body[0]?.question).toBe(question);
    const [id = ''] = created;
    expect((await call('readProfiler', { token, path: { id } })).body.question).toBe(question);
  });
});

describe('DELETE /v1/research_profilers', () => {
  test('a deletion returns 204, and then reading and deleting return 404 and the list is empty', async () => {
    const { token } = await newVendor();
    const created = await call('createProfiler', { token, body: { question, options: ['a', 'b'] } });
    const path = { id: created.body.profiler_id };
    expect((await call('deleteProfiler', { token, path })).status).toBe(204);
    expect((await fail('readProfiler', { token, path })).body.code).toBe('profiler_not_found');
    expect((await fail('deleteProfiler', { token, path })).body.code).toBe('profiler_not_found');
    expect((await call('listProfilers', { token })).body).toEqual([]);
  });

  test('of three simultaneous deletions, one returns 204 and two return 404', async () => {
    const { token } = await newVendor();
    const created = await call('createProfiler', { token, body: { question, options: ['a', 'b'] } });
    const request = { token, path: { id: created.body.profiler_id } };
    const both = await Promise.all([1, 2, 3].map(() => sendRaw('deleteProfiler', request)));
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });

  test('a second deletion in the same microsecond fails with profiler_not_found', async () => {
    const { account } = await newVendor();
    const { id } = await createProfiler(account, { question, options: ['a', 'b'] });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const time = Date.now();
    await deleteProfiler(account, id);
    // The clock is set back to return the same microsecond again.
    vi.setSystemTime(time + 60_000);
    timestamp();
    vi.setSystemTime(time);
    await expect(deleteProfiler(account, id)).rejects.toMatchObject({ code: 'profiler_not_found' });
  });
});

describe("another vendor's profiler", () => {
  test.each(['readProfiler', 'deleteProfiler'] as const)(
    "another vendor's, unknown and malformed ids return the same bytes of a 404: %s",
    async (name) => {
      const [owner, other] = await Promise.all([newVendor(), newVendor()]);
      const created = await call('createProfiler', { token: owner.token, body: { question, options: ['a', 'b'] } });
      const theirs = await fail(name, { token: other.token, path: { id: created.body.profiler_id } });
      const unknown = await fail(name, { token: other.token, path: { id: '01a1fb03-12ca-717f-b32e-2aa3133ef832' } });
      const malformed = await fail(name, { token: other.token, path: { id: 'x'.repeat(3_000) } });
      expect(theirs.status).toBe(404);
      const bytes = ({ body: { trace_id: _, ...rest } }: typeof theirs) => JSON.stringify(rest);
      expect(bytes(theirs)).toBe(bytes(unknown));
      expect(bytes(malformed)).toBe(bytes(unknown));
      expect((await call('readProfiler', { token: owner.token, path: { id: created.body.profiler_id } })).status).toBe(
        200,
      );
    },
  );

  test("another vendor's profiler is not in the list", async () => {
    const [owner, other] = await Promise.all([newVendor(), newVendor()]);
    await call('createProfiler', { token: owner.token, body: { question, options: ['a', 'b'] } });
    expect((await call('listProfilers', { token: other.token })).body).toEqual([]);
  });
});
