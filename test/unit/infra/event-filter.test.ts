import { describe, expect, test } from 'vitest';
import { readFilter } from '../../../infra/local/aws/template/event-filter.ts';

const inserted = {
  eventName: 'INSERT',
  dynamodb: {
    Keys: { pk: { S: 'OUTBOX#1' }, sk: { S: '7' } },
    NewImage: { pk: { S: 'OUTBOX#1' }, state: { S: 'sent' }, tags: { SS: ['a', 'b'] }, none: { NULL: true } },
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
  ['all of several places', { eventName: ['INSERT'], ...keys(['OUTBOX#1']) }],
  ['something that is there', image('state', { S: [{ exists: true }] })],
  ['something that is not there', image('other', { S: [{ exists: false }] })],
  ['one value of a set', image('tags', { SS: ['b'] })],
  ['a value that is no text', image('none', { NULL: [true] })],
  ['the absence of a value where there are only parts', image('state', [{ exists: false }])],
])('a record matches %s', (_, pattern) => {
  expect(matches(pattern)).toBe(true);
});

test.each<[string, object]>([
  ['another value', { eventName: ['REMOVE'] }],
  ['another prefix', keys([{ prefix: 'UTBOX' }])],
  ['one place of two', { eventName: ['REMOVE'], ...keys(['OUTBOX#1']) }],
  ['something that is not there', image('other', { S: [{ exists: true }] })],
  ['the absence of something that is there', image('state', { S: [{ exists: false }] })],
  ['a part as a value', image('state', [{ exists: true }])],
  ['a text as another kind of value', image('none', { NULL: ['true'] })],
])('a record does not match %s', (_, pattern) => {
  expect(matches(pattern)).toBe(false);
});

test('one of several patterns is enough, and none is no filter', () => {
  expect(matches({ eventName: ['REMOVE'] }, { eventName: ['INSERT'] })).toBe(true);
  expect(matches({ eventName: ['REMOVE'] }, { eventName: ['MODIFY'] })).toBe(false);
  expect(matches()).toBe(true);
});

describe('what is not served is rejected', () => {
  test.each<[string, unknown]>([
    ['another operator', keys([{ suffix: '1' }])],
    ['an operator with another operand', keys([{ prefix: 1 }])],
    ['two operators in one', keys([{ prefix: 'a', exists: true }])],
    ['a number range', image('n', { N: [{ numeric: ['>', 1] }] })],
    ['a choice of patterns', { $or: [{ eventName: ['INSERT'] }] }],
    ['a choice deeper down', { dynamodb: { NewImage: { $or: [{ exists: true }] } } }],
    ['another place', { awsRegion: ['us-east-1'] }],
    ['another part of the record', { dynamodb: { OldImage: { a: { S: ['x'] } } } }],
    ['a value that is in no list', { eventName: 'INSERT' }],
    ['an empty list', { eventName: [] }],
    ['an empty pattern', {}],
    ['a list', []],
    ['a list in a list', { eventName: [['INSERT']] }],
  ])('%s', (_, pattern) => {
    expect(() => readFilter([JSON.stringify(pattern)])).toThrow('The emulator does not serve this');
  });
});
