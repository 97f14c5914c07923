/**
 * Works on all items, at most `limit` at a time. After a failure, no further item begins, and the items in progress are
 * completed first, so that no work continues after the caller has responded.
 *
 * @throws the first error of `work`
 */
export const inParallel = async <Item>(
  items: Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const left = [...items];
  const failures: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined && failures.length === 0; item = left.shift()) {
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
};
