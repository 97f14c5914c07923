/** Roles under every way in which IAM may evaluate transactions: what they allow beyond their functions. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { deniedAsWhole, tableRights } from '../../infra/constructs/function/table-rights.ts';
import { functionAccess, patternsNamed } from '../support/table-access.ts';
import { widened } from './support/widened.ts';

/** Actions that change an item. */
const WRITES = /^(Put|Update|Delete|BatchWrite)Item$/;

const pairsOf = (rights: { action: string; partitions: string[] }[]): string[] =>
  rights.flatMap(({ action, partitions }) => partitions.map((one) => `${action} ${one}`));

test('every pair of action and partitions beyond the access patterns of a function is in the list of widened pairs', () => {
  const found = functionAccess.map(({ id, access }) => {
    const own = new Set(pairsOf(patternsNamed(access).map((one) => ({ ...one, partitions: [one.partitions] }))));
    return [
      id,
      pairsOf(tableRights(access))
        .filter((pair) => !own.has(pair))
        .sort(),
    ] as const;
  });
  expect(Object.fromEntries(found.filter(([, pairs]) => pairs.length > 0))).toEqual(widened);
});

test('no role is widened to partitions that its function only reads or checks', () => {
  for (const { id, access } of functionAccess) {
    const written = patternsNamed(access).flatMap(({ action, partitions }) =>
      WRITES.test(action) ? [partitions] : [],
    );
    for (const pair of widened[id] ?? []) expect(written, `${id} ${pair}`).toContain(pair.split(' ')[1]);
  }
});

describe('the guide for security', () => {
  const documented = v.record(
    v.string(),
    v.strictObject({
      Effect: v.literal('Allow'),
      Action: v.array(v.string()),
      Resource: v.literal('TABLE_ARN'),
      Condition: v.strictObject({
        'ForAllValues:StringLike': v.strictObject({ 'dynamodb:LeadingKeys': v.array(v.string()) }),
        Null: v.strictObject({ 'dynamodb:LeadingKeys': v.literal('false') }),
      }),
    }),
  );

  test('lists the functions that IAM would deny if it evaluated whole transactions, with the statement that they need', async () => {
    const guide = await readFile('infra/docs/security.md', 'utf8');
    const [, json = ''] = /<!-- whole transactions -->\s+```json\n(.*?)```/s.exec(guide) ?? [];
    const listed = Object.entries(v.parse(documented, JSON.parse(json))).map(([id, { Action, Condition }]) => [
      id,
      { actions: Action, partitions: Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'] },
    ]);
    const denied = functionAccess.flatMap(({ id, access }) =>
      deniedAsWhole(access).map(({ actions, partitions }) => [
        id,
        { actions: actions.map((action) => `dynamodb:${action}`), partitions },
      ]),
    );
    expect(listed).toEqual(denied);
    expect(denied.map(([id]) => id)).toEqual(['StartUserDataRequest']);
  });
});
