import { expect, test } from 'vitest';
import { failedItems } from '../../../infra/local/aws/event-sources/item-failures.ts';

const failures = (...items: unknown[]) => ({ batchItemFailures: items.map((itemIdentifier) => ({ itemIdentifier })) });

test.each<[string, unknown, string[]]>([
  ['nothing', undefined, []],
  ['null', null, []],
  ['an empty object', {}, []],
  ['an empty list', { batchItemFailures: [] }, []],
  ['null for the list', { batchItemFailures: null }, []],
  ['the id of one item', failures('b'), ['b']],
  ['the ids of several items', failures('c', 'a'), ['a', 'c']],
  ['an id that is not in the batch', failures('b', 'z'), ['a', 'b', 'c']],
  ['an empty id', failures(''), ['a', 'b', 'c']],
  ['null as an id', failures(null), ['a', 'b', 'c']],
  ['an id under an unknown key', { batchItemFailures: [{ id: 'b' }] }, ['a', 'b', 'c']],
  ['a string instead of the list', { batchItemFailures: 'b' }, ['a', 'b', 'c']],
  ['a string', 'done', ['a', 'b', 'c']],
])('the response with %s', (_, answer, failed) => {
  expect(failedItems(answer, ['a', 'b', 'c'])).toEqual(failed);
});
