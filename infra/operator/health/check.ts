/** A check of `operator doctor`, and what makes a check of an error. */
import { describeFailure } from '../failures.ts';

export interface Finding {
  result: 'ok' | 'attention' | 'failed';
  /** What was found. */
  detail: string;
  /** What to do about it, as a sentence. */
  fix?: string;
}

export interface Check extends Finding {
  name: string;
}

export const ok = (detail: string): Finding => ({ result: 'ok', detail });

export const attention = (detail: string, fix?: string): Finding => ({
  result: 'attention',
  detail,
  ...(fix !== undefined && { fix }),
});

export const failed = (detail: string, fix?: string): Finding => ({
  result: 'failed',
  detail,
  ...(fix !== undefined && { fix }),
});

/** Codes of AWS for a missing right. SNS and EC2 have their own. */
const DENIED = new Set([
  ...['AccessDenied', 'AccessDeniedException', 'AuthorizationError', 'AuthorizationErrorException'],
  'UnauthorizedOperation',
]);

/** Whether AWS rejected a call because the credentials lack the right. */
export const isDenied = (error: unknown): boolean => error instanceof Error && DENIED.has(error.name);

/**
 * Makes a check. An error fails it: the text names the cause and the remedy. A denied call needs attention only.
 *
 * @param right - the right that the check needs
 */
export const check = async (
  name: string,
  right: string | undefined,
  find: () => Finding | Promise<Finding>,
): Promise<Check> => {
  try {
    return { name, ...(await find()) };
  } catch (error) {
    if (isDenied(error)) return { name, ...attention(`not checked: needs the right ${right}`) };
    return { name, ...failed(describeFailure(error)) };
  }
};
