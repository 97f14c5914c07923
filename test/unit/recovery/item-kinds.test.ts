/** Every row has one declaration, which the guide for operators lists. */
import { glob, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { beginningOf, kindsOf, latestTimeOf } from '../../../infra/operator/recovery/item-kinds.ts';
import { accessPatterns, entities } from '../../../shared/api/access-patterns.ts';
import { jobCounterKey } from '../../../shared/stats/entities.ts';
import type { AnyItem } from '../../../shared/table/entity.ts';
import type { Key } from '../../../shared/table/keys.ts';

/** All keys that functions of the domains make, by the name of the function. */
const keysMade: [string, Key][] = [];
for await (const file of glob('shared/*/{entities,keys}.ts')) {
  const module: object = await import(`../../../${file}`);
  for (const [name, make] of Object.entries(module)) {
    if (!/Key$/.test(name) || name.startsWith('is')) continue;
    const made: unknown = typeof make === 'function' ? Reflect.apply(make, undefined, ['x', 'x', 'x', 'x']) : make;
    const { pk, sk } = Object(made);
    if (typeof pk !== 'string' || typeof sk !== 'string') throw new Error(`${name} makes no key.`);
    keysMade.push([name, { pk, sk }]);
  }
}

test('the keys of every row have one declaration', () => {
  expect(keysMade.length).toBeGreaterThan(40);
  const undeclared = keysMade.filter(([, key]) => kindsOf(key).length !== 1).map(([name]) => name);
  expect(undeclared, 'Declare the row beside its key, in entities.ts, and add it to the guide.').toEqual([]);
});

test('every declaration is of a row that has a key', () => {
  const made = new Set(keysMade.flatMap(([, key]) => kindsOf(key)));
  expect(entities.filter((entity) => !made.has(entity)).map(({ name }) => name)).toEqual([]);
});

test('no two declarations give the same name to an access', () => {
  const names = entities.flatMap(({ access }) => Object.keys(access));
  expect(names.length).toBe(Object.keys(accessPatterns).length);
});

test('the guide for operators lists every row that a restore knows, and no other', async () => {
  const guide = await readFile('infra/docs/operator.md', 'utf8');
  const [, section = ''] = guide.split('### What a restore brings back\n');
  const rows = (section.split('\n#')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2);
  const listed = rows.flatMap((row) => (row.split('|')[1] ?? '').split(',').map((name) => name.trim()));
  expect(listed.sort()).toEqual(entities.map(({ name }) => name).sort());
});

test('another row has no declaration', () => {
  expect(kindsOf({ pk: 'ELSE#1', sk: 'ELSE' })).toEqual([]);
  expect(kindsOf({ pk: 'ACCOUNT#1', sk: 'ELSE' })).toEqual([]);
});

describe('the time of an item', () => {
  const T = (hour: string): string => `2030-01-01T${hour}:00:00.000000`;
  const item = (attributes: object, key = { pk: 'X#', sk: 'X' }): AnyItem => ({ ...key, ...attributes });

  test.each<[string, AnyItem, string | undefined, string]>([
    ['is its creation', item({ created: T('01') }), T('01'), T('01')],
    ['is its last change', item({ created: T('01'), updated: T('03'), completed: T('02') }), T('03'), T('01')],
    ['of a profiler is its creation or deletion', item({ created_at: T('01'), deleted_at: T('04') }), T('04'), T('01')],
    ['of settings is their change', item({ updated: T('05') }), T('05'), T('05')],
    [
      'of a counter is the end of its day',
      item({ count: 1 }, jobCounterKey('a', { day: '2030-01-01', job_id: 'j', payload_type: '', state: 'sent' })),
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
