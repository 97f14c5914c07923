/** What a function that reports the failures of a batch says of it. */
import * as v from 'valibot';

const report = v.object({ batchItemFailures: v.array(v.object({ itemIdentifier: v.string() })) });

/** What says that nothing failed: nothing at all, or an empty list. */
const allIsWell = v.nullish(v.object({ batchItemFailures: v.nullish(v.pipe(v.array(v.unknown()), v.maxLength(0))) }));

/**
 * Those of a batch's items that the function's answer names as failed. An answer that names others, or that cannot be
 * understood, is as if all had failed.
 */
export const failedItems = (answer: unknown, items: string[]): string[] => {
  if (v.is(allIsWell, answer)) return [];
  if (!v.is(report, answer)) return items;
  const failed = answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  return failed.every((item) => items.includes(item)) ? items.filter((item) => failed.includes(item)) : items;
};
