import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withUnchanged } from '../../../infra/local/phone/page/data/unchanged.ts';

test('a row that has not changed keeps its identity, wherever it is in the list; one that has changed is another one', () => {
  const before = { found: 2, rows: [{ id: 'a', outcome: { words: 'sent' } }, { id: 'b' }] };
  const after = withUnchanged(before, {
    found: 3,
    rows: [{ id: 'c' }, { id: 'a', outcome: { words: 'read' } }, { id: 'b' }],
  });
  expect(after.rows[2]).toBe(before.rows[1]);
  expect(after.rows[1]).toEqual({ id: 'a', outcome: { words: 'read' } });
  expect(before.rows[0]).toEqual({ id: 'a', outcome: { words: 'sent' } });
});

/** What a response can hold: no -0, for example. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));

test('the result is equal to the new value, and is the one before if both are equal', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      expect(withUnchanged(before, after)).toEqual(after);
      const copy = JSON.parse(JSON.stringify(before));
      expect(withUnchanged(before, copy)).toBe(before);
    }),
  );
});
