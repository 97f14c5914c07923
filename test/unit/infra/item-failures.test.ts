import { expect, test } from 'vitest';
import { failedItems } from '../../../infra/local/aws/event-sources/item-failures.ts';

const failures = (...items: unknown[]) => ({ batchItemFailures: items.map((itemIdentifier) => ({ itemIdentifier })) });

test.each<[string, unknown, string[]]>([
  ['nothing', undefined, []],
  ['null', null, []],
  ['an empty object', {}, []],
  ['an empty list', { batchItemFailures: [] }, []],
  ['null for the list', { batchItemFailures: null }, []],
  ['one of the batch', failures('b'), ['b']],
  ['several, in the order of the batch', failures('c', 'a'), ['a', 'c']],
  ['one that is not of the batch', failures('b', 'z'), ['a', 'b', 'c']],
  ['an empty name', failures(''), ['a', 'b', 'c']],
  ['null for a name', failures(null), ['a', 'b', 'c']],
  ['a name under another key', { batchItemFailures: [{ id: 'b' }] }, ['a', 'b', 'c']],
  ['a list that is none', { batchItemFailures: 'b' }, ['a', 'b', 'c']],
  ['a text', 'done', ['a', 'b', 'c']],
])('a function that answers %s', (_, answer, failed) => {
  expect(failedItems(answer, ['a', 'b', 'c'])).toEqual(failed);
});
