/** Bounds of lists and records: an input over a bound is one error, and its items are not checked. */
import { globSync, readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { api } from '../../../shared/api/index.ts';
import { appEvent } from '../../../shared/app-network/events.ts';
import { rapidproMessage } from '../../../shared/destinations/rapidpro.ts';
import { turnMessages } from '../../../shared/destinations/turn.ts';
import { anyObject, listOf, recordOf } from '../../../shared/validation/bounded.ts';
import { errorInBody } from '../../../shared/validation/validation-errors.ts';

/** The validation errors of a body. */
const errorsOf = (schema: v.GenericSchema, input: unknown) =>
  (v.safeParse(schema, input).issues ?? []).map((issue) => errorInBody(issue));

describe('a list', () => {
  const checked: unknown[] = [];
  const item = v.pipe(
    v.unknown(),
    v.check((value) => checked.push(value) > 0),
    v.string(),
  );
  const list = listOf(item, { min: 1, max: 3, of: 'words' });

  test.each([1, 3])('of %i items within its bounds is accepted', (length) => {
    expect(v.parse(list, Array(length).fill('x'))).toHaveLength(length);
  });

  test('has the errors of all its items', () => {
    expect(errorsOf(list, [1, 'x', null])).toEqual([
      { pointer: '#/0', detail: 'must be a string, not a number' },
      { pointer: '#/2', detail: 'must be a string, not null' },
    ]);
  });

  test.each([
    ['too many', Array(1_000_000).fill(1), 'must hold at most 3 words'],
    ['too few', [], 'must hold at least 1 words'],
  ])('of %s items is one error, and no item is checked', (_, input, detail) => {
    checked.length = 0;
    expect(errorsOf(list, input)).toEqual([{ pointer: '#', detail }]);
    expect(checked).toEqual([]);
  });

  test('with an object in its place is one error', () => {
    expect(errorsOf(list, { length: 1e9 })).toEqual([{ pointer: '#', detail: 'must be an array, not an object' }]);
  });
});

describe('a record', () => {
  const record = recordOf(v.picklist(['a', 'b', 'c']), v.number(), { max: 2 });
  const open = recordOf(v.string(), v.number(), { max: 2 });

  test('with the maximum number of names is accepted', () => {
    expect(v.parse(record, { a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
  });

  test.each<[string, v.GenericSchema, unknown, string]>([
    ['too many names', record, { x: 'x', y: 'y', z: 'z' }, 'must hold at most 2 names'],
    ['a name that is too long', open, { ['x'.repeat(101)]: 1 }, 'must hold names of at most 100 characters'],
    ['something else', record, 'x', 'must be an object, not a string'],
  ])('with %s is one error', (_, schema, input, detail) => {
    expect(errorsOf(schema, input)).toEqual([{ pointer: '#', detail }]);
  });

  test.each(['__proto__', 'constructor', 'prototype'])(
    'rejects the name %s like any unknown name, and changes no prototype',
    (name) => {
      const input: unknown = JSON.parse(`{"a":1,"${name}":{"b":2}}`);
      for (const schema of [record, open]) {
        expect(errorsOf(schema, input)).toEqual([{ pointer: `#/${name}`, detail: 'is not a name that is known' }]);
      }
      expect(({} as { b?: unknown }).b).toBeUndefined();
    },
  );
});

test('anyObject accepts any object with all its fields, and rejects other values', () => {
  const input = { a: [{}], b: null };
  expect(v.parse(anyObject, input)).toEqual(input);
  expect(errorsOf(anyObject, null)).toEqual([{ pointer: '#', detail: 'must be an object, not null' }]);
});

describe('all lists and records of requests have a bound', () => {
  /** Types of schemas that check each part of a request. */
  const MANY = new Set(['array', 'record', 'map', 'set', 'object_with_rest', 'tuple_with_rest', 'loose_tuple']);
  const isPart = (value: unknown): value is object => typeof value === 'object' && value !== null;

  /** The unbounded schemas within a schema, each by its place. */
  const unboundedIn = (part: unknown, place: string, seen = new Set<unknown>()): string[] => {
    if (!isPart(part) || seen.has(part)) return [];
    seen.add(part);
    const type = 'kind' in part && part.kind === 'schema' && 'type' in part ? String(part.type) : '';
    const keywords: object = 'keywords' in part && isPart(part.keywords) ? part.keywords : {};
    const isBounded = 'maxItems' in keywords || 'maxProperties' in keywords;
    const inner = Object.entries(part).filter(([name]) => !['reference', 'keywords', '~standard'].includes(name));
    // A lazy schema depends on its input.
    const lazy = 'getter' in part && typeof part.getter === 'function' ? [part.getter([]), part.getter({})] : [];
    return [
      ...(MANY.has(type) && !isBounded ? [`${place}: ${type}`] : []),
      ...inner.flatMap(([name, value]) => unboundedIn(value, `${place}.${name}`, seen)),
      ...lazy.flatMap((one) => unboundedIn(one, `${place}.lazy`, seen)),
    ];
  };

  const requests: [string, unknown][] = [
    ...Object.entries(api).flatMap(([name, endpoint]): [string, unknown][] =>
      (['path', 'query', 'headers', 'body'] as const).map((part) => [
        `${name}.${part}`,
        part in endpoint ? endpoint[part as keyof typeof endpoint] : undefined,
      ]),
    ),
    ['appEvent', appEvent],
    ['rapidproMessage', rapidproMessage],
    ['turnMessages', turnMessages],
  ];

  test('in the schemas', () => {
    expect(requests.flatMap(([place, part]) => unboundedIn(part, place))).toEqual([]);
  });

  test.each<[string, v.GenericSchema]>([
    ['a bare list', v.object({ list: v.optional(v.array(v.string())) })],
    ['a bare record', v.pipe(v.record(v.string(), v.string()))],
    ['a bare list in a lazy schema', v.lazy(() => v.array(v.string()))],
    ['a list whose bound comes after its items', v.pipe(v.array(v.string()), v.maxLength(3))],
  ])('and the check finds %s', (_, schema) => {
    expect(unboundedIn(schema, 'x')).not.toEqual([]);
  });

  test('in the sources: only bounded.ts uses schemas without a bound', () => {
    const unbounded = /\bv\.(array|record|map|set|looseObject|objectWithRest|tupleWithRest|looseTuple)(Async)?\b(?!\w)/;
    const sources = globSync('{shared,functions}/**/*.ts').filter((path) => path !== 'shared/validation/bounded.ts');
    expect(sources.length).toBeGreaterThan(50);
    expect(sources.filter((path) => unbounded.test(readFileSync(path, 'utf8')))).toEqual([]);
  });
});
