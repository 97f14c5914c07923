/** Phone numbers as users enter them. */
import * as v from 'valibot';
import { phoneNumberOrPlus } from '../../../../../shared/validation/phone-numbers.ts';

/** What people write between the digits of a number. */
const BETWEEN = /(?<=[+\d)])[\s()./-]+(?=[\d(])/g;

/** Validates a number as the API does; in addition, digits may be separated. */
export const parsePhone = (text: string): { phone: string } | { problem: string } => {
  const parsed = v.safeParse(phoneNumberOrPlus, text.trim().replaceAll(BETWEEN, ''));
  return parsed.success ? { phone: parsed.output } : { problem: `The number ${parsed.issues[0].message}.` };
};
