/** What has not changed keeps its identity, so that it is not rendered again (`if-changed.ts`). */

type Known = Record<string, unknown>;

const isObject = (value: unknown): value is Known =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a row of a list is known by, wherever it is in the list. */
const nameOf = (value: unknown): string | undefined => {
  const name = isObject(value) ? (value.id ?? value.phone) : undefined;
  return typeof name === 'string' ? name : undefined;
};

const listWith = (before: unknown[], after: unknown[]): unknown[] => {
  const named = new Map(before.map((value) => [nameOf(value), value]));
  const list = after.map((value, place) => {
    const name = nameOf(value);
    return withUnchanged(nameOf(before[place]) === name ? before[place] : named.get(name), value);
  });
  return list.length === before.length && list.every((value, place) => value === before[place]) ? before : list;
};

/** A member of an object itself: JSON may name members as `Object.prototype` does. */
const memberOf = (value: Known, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);

const objectWith = (before: Known, after: Known): Known => {
  const entries = Object.entries(after).map(
    ([name, value]) => [name, withUnchanged(memberOf(before, name), value)] as const,
  );
  const isSame =
    entries.length === Object.keys(before).length && entries.every(([name, value]) => value === memberOf(before, name));
  return isSame ? before : Object.fromEntries(entries);
};

/** A new JSON value with those parts of the one before that are equal: the one before, if all of it is. */
export const withUnchanged = <Value>(before: unknown, after: Value): Value => {
  if (Array.isArray(before) && Array.isArray(after)) return listWith(before, after) as Value;
  if (isObject(before) && isObject(after)) return objectWith(before, after) as Value;
  return after;
};
