/** Validation errors of a request, in the form of the response. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../../shared/core/problems.ts';
import { errorInBody, errorInParameter, pointerTo, validBody } from '../../../shared/validation/validation-errors.ts';

/** The validation errors of a body. */
const errorsOf = (schema: v.GenericSchema, input: unknown, keys?: string[]) =>
  (v.safeParse(schema, input).issues ?? []).map((issue) => errorInBody(issue, keys));

const choice = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.literal('image') }),
]);

describe('the text of a validation error', () => {
  test.each<[string, v.GenericSchema, unknown]>([
    ['must be a string, not a number', v.string(), 1],
    ['must be a string, not null', v.string(), null],
    ['must be a string, not an array', v.string(), []],
    ['must be a string, not an object', v.string(), {}],
    ['must be a string, not true', v.string(), true],
    ['must be a string, not false', v.string(), false],
    ['must be a number, not a string', v.number(), '1'],
    ['must be true or false, not a string', v.boolean(), 'true'],
    ['must be an array, not an object', v.array(v.string()), {}],
    ['must be an object, not a string', v.object({}), 'x'],
    ['must be an object, not null', v.object({}), null],
    ['must be a string, not an object', v.string(), Object.create(null)],
    ['is required', v.string(), undefined],
    ['must be "one"', v.literal('one'), 'two'],
    ['must be "one" or "two"', v.picklist(['one', 'two']), 'three'],
    ['must be "one" or "two"', v.picklist(['one', 'two']), 1],
    ['must be "one", "two" or "three"', v.picklist(['one', 'two', 'three']), ''],
    ['must have some length', v.pipe(v.string(), v.minLength(3, 'must have some length')), 'x'],
    ['must be this or that', v.union([v.string(), v.number()], 'must be this or that'), true],
  ])('%s', (words, schema, input) => {
    expect(errorsOf(schema, input)).toEqual([{ pointer: '#', detail: words }]);
  });

  test('is about the one key that selects the variant', () => {
    const pointer = '#/type';
    expect(errorsOf(choice, { type: 'file' })).toEqual([{ pointer, detail: 'must be "text" or "image"' }]);
    expect(errorsOf(choice, {})).toEqual([{ pointer, detail: 'is required' }]);
    expect(errorsOf(choice, { type: 'text' })).toEqual([{ pointer: '#/text', detail: 'is required' }]);
  });

  test('never repeats the input', () => {
    const given = 'secret-27821234567';
    for (const schema of [v.number(), v.literal('x'), v.picklist(['x', 'y']), choice, v.array(v.string())]) {
      expect(JSON.stringify(errorsOf(schema, given))).not.toContain('27821234567');
      expect(JSON.stringify(errorsOf(v.object({ type: schema }), { type: given }))).not.toContain('27821234567');
    }
  });
});

test("an error in a parameter contains the parameter's path", () => {
  const { issues = [] } = v.safeParse(v.object({ page: v.object({ size: v.string() }) }), { page: {} });
  expect(issues.map(errorInParameter)).toEqual([{ parameter: 'page.size', detail: 'is required' }]);
});

describe('the pointer of a validation error', () => {
  test('begins at the top of the body, with list items by number', () => {
    const schema = v.object({ list: v.array(v.object({ name: v.string() })) });
    expect(errorsOf(schema, { list: [{ name: 'x' }, {}, { name: 1 }] })).toEqual([
      { pointer: '#/list/1/name', detail: 'is required' },
      { pointer: '#/list/2/name', detail: 'must be a string, not a number' },
    ]);
  });

  test('begins with the given keys if only a part of the body was checked', () => {
    expect(errorsOf(v.object({ name: v.string() }), {}, ['events', '3'])).toEqual([
      { pointer: '#/events/3/name', detail: 'is required' },
    ]);
  });

  test.each([
    [[], '#'],
    [[''], '#/'],
    [['a', 'b'], '#/a/b'],
    [['a/b'], '#/a~1b'],
    [['a~b'], '#/a~0b'],
    [['~1', '/0'], '#/~01/~10'],
    [['a b%"#?'], '#/a%20b%25%22%23%3F'],
    [['é😀'], '#/%C3%A9%F0%9F%98%80'],
    [['half \ud83d of a pair'], '#/half%20%EF%BF%BD%20of%20a%20pair'],
  ])('is escaped by RFC 6901 and as a URI fragment: %j', (keys, pointer) => {
    expect(pointerTo(keys)).toBe(pointer);
  });

  test("is the parameter's name outside of the body", () => {
    const { issues = [] } = v.safeParse(v.object({ 'idempotency-key': v.string() }), {});
    expect(issues.map(errorInParameter)).toEqual([{ parameter: 'idempotency-key', detail: 'is required' }]);
  });
});

describe('validBody', () => {
  const schema = v.object({
    name: v.pipe(
      v.string(),
      v.transform((name) => name.length),
    ),
    list: v.array(v.string()),
  });

  test('returns the output of the schema', () => {
    expect(validBody(schema, { name: 'abc', list: [], more: 1 })).toEqual({ name: 3, list: [] });
  });

  test('throws invalid_request with all errors, each with its pointer', () => {
    expect(problemOf(() => validBody(schema, { list: ['x', 1] }))).toMatchObject({
      code: 'invalid_request',
      errors: [
        { pointer: '#/name', detail: 'is required' },
        { pointer: '#/list/1', detail: 'must be a string, not a number' },
      ],
    });
  });
});

/** The thrown problem. */
const problemOf = (act: () => unknown): Problem => {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('There was no problem.');
};
