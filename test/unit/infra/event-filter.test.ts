import { describe, expect, test } from 'vitest';
import { readFilter } from '../../../infra/local/aws/template/event-filter.ts';

const inserted = {
  eventName: 'INSERT',
  dynamodb: {
    Keys: { pk: { S: 'OUTBOX#1' }, sk: { S: '7' } },
    NewImage: {
      ...{ pk: { S: 'OUTBOX#1' }, state: { S: 'sent' }, tags: { SS: ['a', 'b'] } },
      ...{ none: { NULL: true }, counted: { BOOL: false } },
    },
  },
};

const keys = (pk: unknown[]) => ({ dynamodb: { Keys: { pk: { S: pk } } } });
const image = (name: string, value: object) => ({ dynamodb: { NewImage: { [name]: value } } });

const matches = (...patterns: object[]): boolean =>
  readFilter(patterns.map((pattern) => JSON.stringify(pattern)))(inserted);

test.each<[string, object]>([
  ['an exact value', { eventName: ['INSERT'] }],
  ['one of several values', { eventName: ['MODIFY', 'INSERT'] }],
  ['a prefix', keys([{ prefix: 'OUTBOX#' }])],
  ['a value or a prefix', keys(['other', { prefix: 'OUT' }])],
  ['several fields at once', { eventName: ['INSERT'], ...keys(['OUTBOX#1']) }],
  ['one value of a set', image('tags', { SS: ['b'] })],
  ['a value that is not a string', image('none', { NULL: [true] })],
  ['the value false', image('counted', { BOOL: [false] })],
])('a record matches %s', (_, pattern) => {
  expect(matches(pattern)).toBe(true);
});

test.each<[string, object]>([
  ['another value', { eventName: ['REMOVE'] }],
  ['another prefix', keys([{ prefix: 'UTBOX' }])],
  ['one field of two', { eventName: ['REMOVE'], ...keys(['OUTBOX#1']) }],
  ['a missing field', image('other', { S: ['sent'] })],
  ['a field of another type', image('state', { BOOL: [false] })],
  ['an object as a value', image('state', ['sent'])],
  ['a string as a boolean', image('none', { NULL: ['true'] })],
  ['true instead of false', image('counted', { BOOL: [true] })],
])('a record does not match %s', (_, pattern) => {
  expect(matches(pattern)).toBe(false);
});

test('a record must match one of several patterns, and without patterns every record matches', () => {
  expect(matches({ eventName: ['REMOVE'] }, { eventName: ['INSERT'] })).toBe(true);
  expect(matches({ eventName: ['REMOVE'] }, { eventName: ['MODIFY'] })).toBe(false);
  expect(matches()).toBe(true);
});

describe('unsupported filters are rejected', () => {
  test.each<[string, unknown]>([
    ['another operator', keys([{ suffix: '1' }])],
    ['an operator with another operand', keys([{ prefix: 1 }])],
    ['two operators in one', keys([{ prefix: 'a', suffix: 'b' }])],
    ['the presence of a field', image('state', { S: [{ exists: true }] })],
    ['the absence of a field', image('other', { BOOL: [{ exists: false }] })],
    ['a number range', image('n', { N: [{ numeric: ['>', 1] }] })],
    ['a choice of patterns', { $or: [{ eventName: ['INSERT'] }] }],
    ['a nested choice of patterns', { dynamodb: { NewImage: { $or: [{ prefix: 'a' }] } } }],
    ['another field of the event', { awsRegion: ['us-east-1'] }],
    ['another part of the record', { dynamodb: { OldImage: { a: { S: ['x'] } } } }],
    ['a value outside a list', { eventName: 'INSERT' }],
    ['an empty list', { eventName: [] }],
    ['an empty pattern', {}],
    ['a list', []],
    ['a nested list', { eventName: [['INSERT']] }],
  ])('%s', (_, pattern) => {
    expect(() => readFilter([JSON.stringify(pattern)])).toThrow('The emulator does not serve this');
  });

  test('more patterns than Lambda accepts', () => {
    const pattern = JSON.stringify({ eventName: ['INSERT'] });
    expect(() => readFilter(Array.from({ length: 5 }, () => pattern))).not.toThrow();
    expect(() => readFilter(Array.from({ length: 6 }, () => pattern))).toThrow('number of patterns');
  });
});
