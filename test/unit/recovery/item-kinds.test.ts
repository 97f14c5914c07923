/** Every kind of item has a decision about restores: in the code, and in the guide for operators. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  beginningOf,
  type Item,
  itemKinds,
  kindsOf,
  latestTimeOf,
} from '../../../infra/operator/recovery/item-kinds.ts';
import { accessPatterns } from '../../../shared/table/access-patterns.ts';
import * as batchKeys from '../../../shared/table/batch-keys.ts';
import * as keys from '../../../shared/table/keys.ts';
import * as peopleKeys from '../../../shared/table/people-keys.ts';

/** Keys that functions of the three files of keys make, by the name of the function. */
const keysMade = Object.entries({ ...keys, ...batchKeys, ...peopleKeys }).flatMap(
  ([name, make]): [string, keys.Key][] => {
    if (typeof make !== 'function' || !/Key$/.test(name) || name.startsWith('is')) return [];
    const made: unknown = Reflect.apply(make, undefined, ['x', 'x', 'x', 'x']);
    const { pk, sk } = Object(made);
    if (typeof pk !== 'string' || typeof sk !== 'string') throw new Error(`${name} makes no key.`);
    return [[name, { pk, sk }]];
  },
);

const namesOf = (key: keys.Key): string[] => kindsOf(key).map(({ name }) => name);

test('the keys of every item are of one kind, which says what a restore does with it', () => {
  expect(keysMade.length).toBeGreaterThan(25);
  const undecided = keysMade.filter(([, key]) => kindsOf(key).length !== 1).map(([name]) => name);
  expect(undecided, 'Decide on each in infra/operator/recovery/item-kinds.ts, and add it to the guide.').toEqual([]);
});

test('functions write only partitions whose items have a decision', () => {
  const written = Object.values(accessPatterns).filter(({ action }) => /Put|Update|BatchWrite/.test(action));
  const prefixes = [...new Set(written.map(({ partitions }) => partitions.replace('*', '')))];
  const undecided = prefixes.filter((prefix) => !itemKinds.some((kind) => kind.keys.pk === prefix));
  expect(undecided, 'Decide on each in infra/operator/recovery/item-kinds.ts.').toEqual([]);
});

test('every kind with a decision exists', () => {
  const made = new Set(
    [keys.sweepPositionsKey, batchKeys.erasurePassKey, ...keysMade.map(([, key]) => key)].flatMap(namesOf),
  );
  expect(itemKinds.map(({ name }) => name).filter((name) => !made.has(name))).toEqual([]);
});

test('the guide for operators lists every kind, and no other', async () => {
  const guide = await readFile('infra/docs/operator.md', 'utf8');
  const [, section = ''] = guide.split('### What a restore brings back\n');
  const rows = (section.split('\n#')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2);
  const listed = rows.flatMap((row) => (row.split('|')[1] ?? '').split(',').map((name) => name.trim()));
  expect(listed.sort()).toEqual(itemKinds.map(({ name }) => name).sort());
});

test('an item of another kind has no decision', () => {
  expect(kindsOf({ pk: 'ELSE#1', sk: 'ELSE' })).toEqual([]);
  expect(kindsOf({ pk: 'ACCOUNT#1', sk: 'ELSE' })).toEqual([]);
});

describe('the time of an item', () => {
  const T = (hour: string): string => `2030-01-01T${hour}:00:00.000000`;
  const item = (attributes: object, key = { pk: 'X#', sk: 'X' }): Item => ({ ...key, ...attributes });

  test.each<[string, Item, string | undefined, string]>([
    ['is its creation', item({ created: T('01') }), T('01'), T('01')],
    ['is its last change', item({ created: T('01'), updated: T('03'), completed: T('02') }), T('03'), T('01')],
    ['of a profiler is its creation or deletion', item({ created_at: T('01'), deleted_at: T('04') }), T('04'), T('01')],
    ['of settings is their change', item({ updated: T('05') }), T('05'), T('05')],
    [
      'of a counter is the end of its day',
      item({ count: 1 }, keys.jobCounterKey('a', { day: '2030-01-01', job_id: 'j', payload_type: '', state: 'sent' })),
      '2030-01-01T23:59:59.999999',
      '',
    ],
    ['of a status receipt is its report', item({ reported: Date.UTC(2030, 0, 1) }), '2030-01-01T00:00:00.000000', ''],
    ['is missing where no attribute has one', item({ count: 1, expires_at: 1 }), undefined, ''],
  ])('%s', (_, given, latest, beginning) => {
    expect(latestTimeOf(given)).toBe(latest);
    expect(beginningOf(given)).toBe(beginning);
  });
});
