/** Reads of several items in one call, from a table that omits some of them. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { documents, getManyConsistent } from '../../../shared/table/client.ts';

beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'table');
  vi.spyOn(timers, 'setTimeout').mockImplementation(async () => undefined);
  syncBuiltinESMExports();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  syncBuiltinESMExports();
});

const keys = [1, 2, 3].map((index) => ({ pk: `A#${index}`, sk: 'A' }));

/** Sets the table's responses in order; the last one repeats. Returns the inputs of the calls. */
const respondWith = (...responses: { items: object[]; unprocessed?: object[] }[]): object[] => {
  const inputs: object[] = [];
  vi.spyOn(documents, 'send').mockImplementation(async ({ input }: { input: object }) => {
    inputs.push(input);
    const [{ items, unprocessed } = { items: [] }] = responses.length > 1 ? responses.splice(0, 1) : responses;
    return {
      Responses: { table: items },
      UnprocessedKeys: unprocessed ? { table: { Keys: unprocessed, ConsistentRead: true } } : {},
    };
  });
  return inputs;
};

test('items are returned in the order of their keys, from one consistent call', async () => {
  const [first, , third] = keys;
  const inputs = respondWith({ items: [{ ...third }, { ...first, name: 'one' }] });
  expect(await getManyConsistent(keys)).toEqual([{ ...first, name: 'one' }, undefined, third]);
  expect(inputs).toEqual([{ RequestItems: { table: { Keys: keys, ConsistentRead: true } } }]);
});

test('an expired item counts as absent', async () => {
  const present = Math.floor(Date.now() / 1000);
  const items = keys.map((key, index) => ({ ...key, expires_at: present + (index - 1) * 60 }));
  respondWith({ items });
  expect(await getManyConsistent(keys)).toEqual([undefined, undefined, items[2]]);
});

test('keys that the table leaves unprocessed are requested again', async () => {
  const [first, second, third] = keys;
  const inputs = respondWith(
    { items: [{ ...second }], unprocessed: [{ ...first }, { ...third }] },
    { items: [{ ...first }, { ...third }] },
  );
  expect(await getManyConsistent(keys)).toEqual(keys);
  expect(inputs[1]).toEqual({ RequestItems: { table: { Keys: [first, third], ConsistentRead: true } } });
});

test('if the table keeps leaving keys unprocessed, the read fails after six calls', async () => {
  const inputs = respondWith({ items: [], unprocessed: keys });
  await expect(getManyConsistent(keys)).rejects.toThrow('did not read all keys');
  expect(inputs).toHaveLength(6);
});
