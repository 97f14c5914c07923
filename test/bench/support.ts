/** The stack and simulators for measurements of the whole system. */
import { type Figure, report } from './report.ts';
import { openWhole } from './whole.ts';

const whole = await openWhole(process.env.DYNAMODB_ENDPOINT || undefined);
export const { stack, demo } = whole;

/** Measures, reports the figures, and closes the stack. */
export const measure = async (bench: string, work: () => Promise<Figure[]>): Promise<void> => {
  try {
    report(bench, await work());
  } finally {
    await whole.close();
  }
};
