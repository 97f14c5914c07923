/** Bounds of lists and records: what is over a bound is one fault, and its items are not looked at. */
import { globSync, readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { api } from '../../../shared/api/index.ts';
import { appEvent } from '../../../shared/app-network/events.ts';
import { rapidproMessage } from '../../../shared/platforms/rapidpro.ts';
import { turnMessages } from '../../../shared/platforms/turn.ts';
import { anyObject, listOf, recordOf } from '../../../shared/validation/bounded.ts';
import { errorInBody } from '../../../shared/validation/validation-errors.ts';

/** The faults that a schema finds in a body. */
const faultsOf = (schema: v.GenericSchema, input: unknown) =>
  (v.safeParse(schema, input).issues ?? []).map((issue) => errorInBody(issue));

describe('a list', () => {
  const looked: unknown[] = [];
  const item = v.pipe(
    v.unknown(),
    v.check((value) => looked.push(value) > 0),
    v.string(),
  );
  const list = listOf(item, { min: 1, max: 3, of: 'words' });

  test.each([1, 3])('of %i items within its bounds is taken', (length) => {
    expect(v.parse(list, Array(length).fill('x'))).toHaveLength(length);
  });

  test('names the faults of all its items', () => {
    expect(faultsOf(list, [1, 'x', null])).toEqual([
      { pointer: '#/0', detail: 'must be a string, not a number' },
      { pointer: '#/2', detail: 'must be a string, not null' },
    ]);
  });

  test.each([
    ['too many', Array(1_000_000).fill(1), 'must hold at most 3 words'],
    ['too few', [], 'must hold at least 1 words'],
  ])('of %s items is one fault, and no item is looked at', (_, input, detail) => {
    looked.length = 0;
    expect(faultsOf(list, input)).toEqual([{ pointer: '#', detail }]);
    expect(looked).toEqual([]);
  });

  test('that is no list is said to be none', () => {
    expect(faultsOf(list, { length: 1e9 })).toEqual([{ pointer: '#', detail: 'must be an array, not an object' }]);
  });
});

describe('a record', () => {
  const record = recordOf(v.picklist(['a', 'b', 'c']), v.number(), { max: 2 });
  const open = recordOf(v.string(), v.number(), { max: 2 });

  test('of as many names as it may have is taken', () => {
    expect(v.parse(record, { a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
  });

  test.each<[string, v.GenericSchema, unknown, string]>([
    ['too many names', record, { x: 'x', y: 'y', z: 'z' }, 'must hold at most 2 names'],
    ['a name that is too long', open, { ['x'.repeat(101)]: 1 }, 'must hold names of at most 100 characters'],
    ['something else', record, 'x', 'must be an object, not a string'],
  ])('with %s is one fault', (_, schema, input, detail) => {
    expect(faultsOf(schema, input)).toEqual([{ pointer: '#', detail }]);
  });

  test.each(['__proto__', 'constructor', 'prototype'])('treats the name %s like any other unknown name', (name) => {
    const input: unknown = JSON.parse(`{"a":1,"${name}":{"b":2}}`);
    for (const schema of [record, open]) {
      expect(faultsOf(schema, input)).toEqual([{ pointer: `#/${name}`, detail: 'is not a name that is known' }]);
    }
    expect(({} as { b?: unknown }).b).toBeUndefined();
  });
});

test('an object of any form is taken as it is, and anything else is rejected', () => {
  const input = { a: [{}], b: null };
  expect(v.parse(anyObject, input)).toBe(input);
  expect(faultsOf(anyObject, null)).toEqual([{ pointer: '#', detail: 'must be an object, not null' }]);
});

describe('no list and no record of a request is without a bound', () => {
  /** Types of schemas that look at as many parts as a request has. */
  const MANY = new Set(['array', 'record', 'map', 'set', 'object_with_rest', 'tuple_with_rest', 'loose_tuple']);
  const isPart = (value: unknown): value is object => typeof value === 'object' && value !== null;

  /** The schemas within a schema that have no bound, each by its place. */
  const unboundedIn = (part: unknown, place: string, seen = new Set<unknown>()): string[] => {
    if (!isPart(part) || seen.has(part)) return [];
    seen.add(part);
    const type = 'kind' in part && part.kind === 'schema' && 'type' in part ? String(part.type) : '';
    const keywords: object = 'keywords' in part && isPart(part.keywords) ? part.keywords : {};
    const isBounded = 'maxItems' in keywords || 'maxProperties' in keywords;
    const inner = Object.entries(part).filter(([name]) => !['reference', 'keywords', '~standard'].includes(name));
    // A lazy schema chooses by what it is given.
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

  test('in the schemas themselves', () => {
    expect(requests.flatMap(([place, part]) => unboundedIn(part, place))).toEqual([]);
  });

  test.each<[string, v.GenericSchema]>([
    ['a bare list', v.object({ list: v.optional(v.array(v.string())) })],
    ['a bare record', v.pipe(v.record(v.string(), v.string()))],
    ['a bare list in a lazy schema', v.lazy(() => v.array(v.string()))],
    ['a list whose bound comes after its items', v.pipe(v.array(v.string()), v.maxLength(3))],
  ])('and this test would find %s', (_, schema) => {
    expect(unboundedIn(schema, 'x')).not.toEqual([]);
  });

  test('in the sources: only the module of bounds names the schemas that have none', () => {
    const unbounded = /\bv\.(array|record|map|set|looseObject|objectWithRest|tupleWithRest|looseTuple)(Async)?\b(?!\w)/;
    const sources = globSync('{shared,functions}/**/*.ts').filter((path) => path !== 'shared/validation/bounded.ts');
    expect(sources.length).toBeGreaterThan(50);
    expect(sources.filter((path) => unbounded.test(readFileSync(path, 'utf8')))).toEqual([]);
  });
});
