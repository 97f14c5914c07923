/** Cursors: each is a position in one list and valid only for that list. */
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../../shared/core/problems.ts';
import { decodeCursor as decode, encodeCursor as encode } from '../../../shared/http/cursor.ts';

type Filters = Parameters<typeof encode>[1];

/** A list with positions of any form. */
const things = {
  routes: [{ host: 'base', method: 'GET', path: '/v1/things' }],
  position: v.string(),
} as const;

const encodeCursor = (filters: Filters, position: string) => encode(things, filters, position);
const decodeCursor = (filters: Filters, cursor: string | undefined) => decode(things, filters, cursor);

const words = fc.string({ unit: 'grapheme' });
const lists = fc.array(fc.oneof(words, fc.integer(), fc.constant(undefined)), { maxLength: 4 });

/** The position in a cursor, or the code and validation errors of its rejection. */
const decodeOrError = (list: Filters, cursor: string) => {
  try {
    return { position: decodeCursor(list, cursor) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, errors: error.errors };
  }
};

const rejected = {
  code: 'invalid_request',
  errors: [
    {
      parameter: 'cursor',
      detail: 'must be taken as it is from the Link header of the page before, with the same filters',
    },
  ],
};

test('every position decodes from its cursor, and cursors contain only URL-safe characters', () => {
  fc.assert(
    fc.property(lists, words, (list, position) => {
      const cursor = encodeCursor(list, position);
      expect(decodeCursor(list, cursor)).toBe(position);
      expect(cursor).toMatch(/^[\w-]+$/);
    }),
  );
});

test('without a cursor, the position is undefined', () => {
  expect(decodeCursor(['acme'], undefined)).toBeUndefined();
});

test('a cursor is rejected for every other list', () => {
  fc.assert(
    fc.property(lists, lists, words, (list, other, position) => {
      // Lists with the same JSON count as the same list.
      fc.pre(JSON.stringify(list) !== JSON.stringify(other));
      expect(decodeOrError(other, encodeCursor(list, position))).toEqual(rejected);
    }),
  );
});

test('a cursor is rejected for the list of another endpoint with the same filters', () => {
  const answers = { ...things, routes: [{ host: 'base', method: 'GET', path: '/v1/answers' }] } as const;
  expect(() => decode(answers, ['acme'], encodeCursor(['acme'], '1'))).toThrow(Problem);
});

test('a cursor with a right checksum is rejected if its position has another form', () => {
  const numbered = { ...things, position: v.pipe(v.string(), v.regex(/^[0-9]$/)) };
  expect(decode(numbered, ['acme'], encodeCursor(['acme'], '1'))).toBe('1');
  expect(() => decode(numbered, ['acme'], encodeCursor(['acme'], '\uffff'))).toThrow(Problem);
});

test('a cursor with an altered position is rejected', () => {
  fc.assert(
    fc.property(lists, words, words, (list, position, other) => {
      fc.pre(position !== other);
      const [mark] = Buffer.from(encodeCursor(list, position), 'base64url').toString().split(' ');
      expect(decodeOrError(list, Buffer.from(`${mark} ${other}`).toString('base64url'))).toEqual(rejected);
    }),
  );
});

test('a position of 250 characters is accepted', () => {
  const longest = 'x'.repeat(250);
  expect(decodeCursor(['logs'], encodeCursor(['logs'], longest))).toBe(longest);
});

describe('a cursor is rejected', () => {
  const list = ['logs', 'acme', undefined, 'read'];
  const cursor = encodeCursor(list, '2030-01-01T00:00:00.000000#message-1#read');
  const text = Buffer.from(cursor, 'base64url').toString();

  test.each([
    ['that is empty', ''],
    ['that is a bare position', '2030-01-01T00:00:00.000000#message-1#read'],
    ['that is the position, encoded', Buffer.from('2030-01-01T00:00:00.000000').toString('base64url')],
    ['of another account', encodeCursor(['logs', 'other', undefined, 'read'], 'x')],
    ['of another filter', encodeCursor(['logs', 'acme', undefined, 'sent'], 'x')],
    ['of a filter more', encodeCursor(['logs', 'acme', '27821234567', 'read'], 'x')],
    ['without its end', cursor.slice(0, 10)],
    ['with padding', `${cursor}==`],
    ['in base64 with + and /', Buffer.from(`${text}???>>>`).toString('base64')],
    ['with a space', `${cursor} `],
    ['with a character that is not base64', `${cursor.slice(0, 30)}%${cursor.slice(30)}`],
    ['that is not UTF-8', Buffer.concat([Buffer.from(text), Buffer.from([0xff])]).toString('base64url')],
    ['that decodes to zero bytes', 'AAAA'],
    ['with a position of 251 characters', encodeCursor(list, 'x'.repeat(251))],
  ])('%s', (_, wrong) => {
    expect(decodeCursor(list, cursor)).toContain('message-1');
    expect(decodeOrError(list, wrong)).toEqual(rejected);
  });

  test("if any character of its list's hash is changed", () => {
    for (let index = 0; index < 20; index += 1) {
      const changed = `${cursor.slice(0, index)}${cursor[index] === 'A' ? 'B' : 'A'}${cursor.slice(index + 1)}`;
      expect(decodeOrError(list, changed), changed).toEqual(rejected);
    }
  });
});
