/** Results of attempts in short, so that a table of them can be read. */
import { expect } from 'vitest';
import type { AttemptResult } from '../../../../shared/destinations/attempt-result.ts';

/** `delivered`, or `retry 9000` with the milliseconds that the destination asks for, or `retry isRefusal`. */
export const inShort = (result: AttemptResult | undefined, status: number): string => {
  const { status: name, cause, ...rest }: Record<string, unknown> = { ...result };
  if (name !== 'delivered') expect(cause).toBe(`status_${status}`);
  return [name, ...Object.entries(rest).map(([key, value]) => (typeof value === 'number' ? value : key))].join(' ');
};
