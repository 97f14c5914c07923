import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { timestamp } from '../../../shared/core/clock.ts';
import { idFromKey } from '../../../shared/core/ids.ts';
import { answersRemoved, createProfiler, deleteProfiler } from '../../../shared/profilers/profilers.ts';
import { getConsistent, remove, update } from '../../../shared/table/client.ts';
import { profilerKey, profilerOfKey } from '../../../shared/table/keys.ts';
import { call, fail, type Received, sendRaw } from '../support/client.ts';
import { newVendor } from '../support/world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const question = 'Which of these do you drink?';

describe('creating a profiler', () => {
  test('answers the id and an object that maps each lower-cased option to its id', async () => {
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

  test('what was created is read at once, its options in the order they were sent', async () => {
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
    ['names that objects have', ['__proto__', 'constructor', 'toString', 'hasOwnProperty']],
    ['numbers', ['1', '2', '-1', '01']],
    ['emoji and combining characters', ['👩‍👩‍👧', '👨', 'e\u0301', 'é']],
    ['letters whose lower case is longer or special', ['İ', 'ẞ', 'ΑΣ', 'I']],
    ['spaces at the ends, which count', ['yes', ' yes', 'yes ']],
    ['10,000 characters', ['x'.repeat(10_000), 'y']],
    ['control characters', ['a\u0000b', 'a\nb']],
  ])('stores options as they are: %s', async (_, options) => {
    const { token } = await newVendor();
    const { body } = await call('createProfiler', { token, body: { question, options } });
    const found = options.map((option) => Object.getOwnPropertyDescriptor(body.options, option.toLowerCase())?.value);
    expect(found.every((id) => UUID.test(id))).toBe(true);
    const read = await call('readProfiler', { token, path: { id: body.profiler_id } });
    expect(read.body.options).toEqual(options.map((option, at) => ({ id: found[at], option: option.toLowerCase() })));
  });

  test('whatever the options are, each is found by its lower case, once', async () => {
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
      'nothing at all',
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
      'half a surrogate pair',
      { question, options: ['\ud83d', 'yes'] },
      [{ pointer: '#/options/0', detail: 'must be valid Unicode: it holds half of a surrogate pair' }],
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
      'one option',
      { question, options: ['yes'] },
      [{ pointer: '#/options', detail: 'must hold at least two options that differ in more than case' }],
    ],
    [
      'options that differ in case only',
      { question, options: ['Yes', 'yes', 'YES'] },
      [{ pointer: '#/options', detail: 'must hold at least two options that differ in more than case' }],
    ],
    [
      'more options than fit',
      { question, options: Array(10_001).fill('yes') },
      [{ pointer: '#/options', detail: 'must hold at most 10000 options' }],
    ],
    [
      'an array',
      [],
      [
        { pointer: '#/question', detail: 'is required' },
        { pointer: '#/options', detail: 'is required' },
      ],
    ],
    ['null', null, [{ pointer: '#', detail: 'must be an object, not null' }]],
  ])('names every fault of a body at once: %s', async (_, body, errors) => {
    const { token } = await newVendor();
    const received = await sendRaw('createProfiler', {
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(received.body).toMatchObject({ status: 422, code: 'invalid_request', errors });
    expect((received.body as { errors: unknown[] }).errors).toHaveLength(errors.length);
  });

  test('names at most a thousand faults, and says that there are more', async () => {
    const { token } = await newVendor();
    const { body } = await fail('createProfiler', { token, body: { question, options: Array(2_000).fill('') } });
    expect(body.errors).toHaveLength(1_000);
    expect(body.detail).toContain('Only the first 1000 of 2001 are named');
  });

  test('one of more than 350 KB as stored is rejected, one just below is kept', async () => {
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

describe('an idempotency key', () => {
  const headers = { 'idempotency-key': 'order 17' };
  const body = { question, options: ['Yes', 'No'] };

  test('makes a repeated request give the first answer, and creates once', async () => {
    const { token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    const again = await call('createProfiler', { token, headers, body });
    expect(again.body).toEqual(first.body);
    expect((await call('listProfilers', { token })).body).toHaveLength(1);
  });

  test('creates once when the request is sent many times at once', async () => {
    const { token } = await newVendor();
    const all = await Promise.all(Array.from({ length: 10 }, () => call('createProfiler', { token, headers, body })));
    expect(new Set(all.map((received) => JSON.stringify(received.body.profiler_id))).size).toBe(1);
    for (const received of all) expect(received.body).toEqual(all[0]?.body);
    expect((await call('listProfilers', { token })).body).toHaveLength(1);
  });

  test('whose request ended before the profiler was there makes it when it is repeated', async () => {
    const { account, token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    const key = profilerKey(account, first.body.profiler_id);
    // As the table is after the first of the two writes.
    await remove(key);
    expect((await call('listProfilers', { token })).body).toEqual([]);
    const again = await call('createProfiler', { token, headers, body });
    expect(again.body.profiler_id).toBe(first.body.profiler_id);
    expect((await call('listProfilers', { token })).body).toMatchObject([{ id: first.body.profiler_id }]);
  });

  test('cannot be used for another request', async () => {
    const { token } = await newVendor();
    await call('createProfiler', { token, headers, body });
    const other = await fail('createProfiler', { token, headers, body: { ...body, options: ['Yes', 'Maybe'] } });
    expect(other.body).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
      detail: expect.stringContaining('another profiler.'),
    });
  });

  test('belongs to one account: another one may use the same', async () => {
    const [one, other] = await Promise.all([newVendor(), newVendor()]);
    const first = await call('createProfiler', { token: one.token, headers, body });
    const second = await call('createProfiler', { token: other.token, headers, body });
    expect(second.body.profiler_id).not.toBe(first.body.profiler_id);
  });

  test('gives the first answer even when the profiler has been deleted since', async () => {
    const { token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    await call('deleteProfiler', { token, path: { id: first.body.profiler_id } });
    expect((await call('createProfiler', { token, headers, body })).body).toEqual(first.body);
    expect((await call('listProfilers', { token })).body).toEqual([]);
  });

  test('is free again when the tombstone has expired, though the table still has it', async () => {
    const { account, token } = await newVendor();
    const first = await call('createProfiler', { token, headers, body });
    await call('deleteProfiler', { token, path: { id: first.body.profiler_id } });
    const tombstone = profilerKey(account, first.body.profiler_id);
    const ofKey = profilerOfKey(account, idFromKey(account, 'createProfiler', headers['idempotency-key']));
    await answersRemoved(tombstone);
    for (const Key of [tombstone, ofKey]) {
      const { expires_at } = (await getConsistent<{ expires_at?: number }>(Key)) ?? {};
      expect(expires_at, 'both rows end together').toBeGreaterThan(Date.now() / 1000 + 7 * 86_400 - 60);
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

  test.each([
    ['blank', ' ', 'must not be empty or white space only'],
    ['longer than 255 characters', 'k'.repeat(256), 'must have at most 255 characters'],
  ])('that is %s is refused', async (_, key, detail) => {
    const { token } = await newVendor();
    // fetch trims header values; a blank one arrives empty.
    const received = await fail('createProfiler', { token, headers: { 'idempotency-key': key }, body });
    expect(received.body).toMatchObject({ status: 422, errors: [{ parameter: 'idempotency-key', detail }] });
  });
});

test('a profiler may take 350 KB as the table counts them, whatever they are made of', async () => {
  const { account } = await newVendor();
  const options = (length: number) => Array.from({ length: 3_000 }, (_, place) => `${place}`.padEnd(length, 'x'));
  // Beside its text an option takes 50 bytes: an id with its name, a name, and what tells their places.
  await createProfiler(account, { question, options: options(66) });
  await expect(createProfiler(account, { question, options: options(67) })).rejects.toMatchObject({
    code: 'profiler_too_large',
    detail: 'Question and options exceed 350 KB as stored. Shorten them.',
  });
});

describe('listing profilers', () => {
  test('gives an empty array where there are none', async () => {
    const { token } = await newVendor();
    const { status, body, headers } = await call('listProfilers', { token });
    expect({ status, body, link: headers.get('link') }).toEqual({ status: 200, body: [], link: null });
  });

  test('gives them oldest first, whether made with an idempotency key or without', async () => {
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
      // Two functions' clocks tell milliseconds apart, and no less.
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

  test('is paginated where the response would exceed 5 MB, and loses or repeats none', async () => {
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
    const listed: string[] = [];
    let query = {};
    for (let pages = 1; ; pages += 1) {
      const received: Received<{ id: string }[]> = await call('listProfilers', { token, query });
      listed.push(...received.body.map(({ id }) => id));
      const [, next] =
        /^<\/v1\/research_profilers\?([^>]+)>; rel="next"$/.exec(received.headers.get('link') ?? '') ?? [];
      if (next === undefined) {
        expect(pages).toBe(3);
        break;
      }
      query = Object.fromEntries(new URLSearchParams(next));
    }
    expect(listed).toEqual(created);
  });

  test.each([
    ['quotation marks', '"'],
    ['control characters', '\u0001'],
    ['backslashes', '\\'],
    ['emoji', '😀'],
  ])(
    'can be read whole where they are full of %s, which take more in a response than in the table',
    async (_, character) => {
      const { account, token } = await newVendor();
      const created: string[] = [];
      const text = character.repeat(340_000 / Buffer.byteLength(character));
      for (let index = 0; index < 7; index += 1) {
        created.push((await createProfiler(account, { question: `?${text}`, options: ['a', 'b'] })).id);
      }
      const listed: string[] = [];
      let query: { cursor?: string } = {};
      do {
        const { body, headers } = await call('listProfilers', { token, query });
        expect(body.length).toBeGreaterThan(0);
        expect(body[0]?.question).toBe(`?${text}`);
        listed.push(...body.map(({ id }) => id));
        const [, cursor] = /cursor=([^>]+)>/.exec(headers.get('link') ?? '') ?? [];
        query = cursor === undefined ? {} : { cursor };
      } while (query.cursor !== undefined);
      expect(listed).toEqual(created);
      const [id = ''] = created;
      expect((await call('readProfiler', { token, path: { id } })).body.question).toBe(`?${text}`);
    },
  );

  test.each(['', 'not a cursor', '!!!'])('refuses a cursor that it did not make: "%s"', async (cursor) => {
    const { token } = await newVendor();
    const { body } = await fail('listProfilers', { token, query: { cursor } });
    expect(body).toMatchObject({ status: 422, code: 'invalid_request', errors: [{ parameter: 'cursor' }] });
  });
});

describe('deleting a profiler', () => {
  test('answers 204 without a body; then it is neither read nor listed nor deleted again', async () => {
    const { token } = await newVendor();
    const created = await call('createProfiler', { token, body: { question, options: ['a', 'b'] } });
    const path = { id: created.body.profiler_id };
    expect((await call('deleteProfiler', { token, path })).status).toBe(204);
    expect((await fail('readProfiler', { token, path })).body.code).toBe('profiler_not_found');
    expect((await fail('deleteProfiler', { token, path })).body.code).toBe('profiler_not_found');
    expect((await call('listProfilers', { token })).body).toEqual([]);
  });

  test('of two at once, exactly one deletes it', async () => {
    const { token } = await newVendor();
    const created = await call('createProfiler', { token, body: { question, options: ['a', 'b'] } });
    const request = { token, path: { id: created.body.profiler_id } };
    const both = await Promise.all([1, 2, 3].map(() => sendRaw('deleteProfiler', request)));
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });

  test('of two in the same microsecond, one deletes it', async () => {
    const { account } = await newVendor();
    const { id } = await createProfiler(account, { question, options: ['a', 'b'] });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const time = Date.now();
    await deleteProfiler(account, id);
    // A clock that is set back gives the same microsecond again.
    vi.setSystemTime(time + 60_000);
    timestamp();
    vi.setSystemTime(time);
    await expect(deleteProfiler(account, id)).rejects.toMatchObject({ code: 'profiler_not_found' });
  });
});

describe("another vendor's profiler", () => {
  test.each(['readProfiler', 'deleteProfiler'] as const)(
    'looks like an unknown one, byte for byte: %s',
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

  test('is not in the list', async () => {
    const [owner, other] = await Promise.all([newVendor(), newVendor()]);
    await call('createProfiler', { token: owner.token, body: { question, options: ['a', 'b'] } });
    expect((await call('listProfilers', { token: other.token })).body).toEqual([]);
  });
});
