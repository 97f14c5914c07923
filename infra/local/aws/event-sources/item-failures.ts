/** Reads the failed items of a batch from a function's result (`ReportBatchItemFailures`). */
import * as v from 'valibot';

const report = v.object({ batchItemFailures: v.array(v.object({ itemIdentifier: v.string() })) });

/** A result without failures: no value, or an empty list. */
const noFailures = v.nullish(v.object({ batchItemFailures: v.nullish(v.pipe(v.array(v.unknown()), v.maxLength(0))) }));

/**
 * The items of a batch that the function's result names as failed. If the result is invalid, or names unknown items,
 * the whole batch has failed.
 */
export const failedItems = (result: unknown, items: string[]): string[] => {
  if (v.is(noFailures, result)) return [];
  if (!v.is(report, result)) return items;
  const failed = result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  return failed.every((item) => items.includes(item)) ? items.filter((item) => failed.includes(item)) : items;
};
