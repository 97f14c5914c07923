/** What measurements of the whole have in common: one of it, served while they measure. */
import { type Figure, report } from './report.ts';
import { openWhole } from './whole.ts';

const whole = await openWhole(process.env.DYNAMODB_ENDPOINT || undefined);
export const { stack, simulators, demo } = whole;

/** Measures, reports what was found, and leaves nothing behind. */
export const measure = async (bench: string, work: () => Promise<Figure[]>): Promise<void> => {
  try {
    report(bench, await work());
  } finally {
    await whole.close();
  }
};
