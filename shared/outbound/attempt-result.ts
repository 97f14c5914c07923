/** What became of an attempt to hand something over, as the receiver's answer tells it. */
import type { Answer } from './request.ts';
import { retryAfterIn } from './retry-after.ts';

/**
 * What a receiver need not be told is passed over, without a call. A refusal is for good. What is to be sent again may
 * say after how many milliseconds. A receiver that asks for fewer calls works: it is left alone for so many
 * milliseconds, and nothing has failed. What is withheld must not go out, and fails without a call. What we fail to make a call of is broken, which says nothing of the receiver.
 */
export type Outcome =
  | { result: 'taken' }
  | { result: 'passed_over' }
  | { result: 'refused'; cause: string }
  | { result: 'again'; cause: string; retryAfter?: number }
  | { result: 'limited'; cause: string; wait: number }
  | { result: 'withheld'; cause: string }
  | { result: 'broken'; cause: string };

/** 4xx that ask for patience. */
const LATER = new Set([408, 425, 429]);

/**
 * As HTTP has it. A redirect is not followed: it waits for someone to set the address right. A 429 with a time asks for
 * fewer calls until then; without a time it is a failure like others.
 */
export const judgeByStatus = (answer: Answer): Outcome => {
  const { status } = answer;
  const wait = status === 429 ? retryAfterIn(answer) : undefined;
  if (wait !== undefined) return { result: 'limited', cause: causeOf(answer), wait };
  if (status >= 200 && status < 300) return { result: 'taken' };
  if (status >= 400 && status < 500 && !LATER.has(status)) return { result: 'refused', cause: causeOf(answer) };
  return again(answer);
};

/** It is to be sent again, after the time that the answer names, if it does. */
export const again = (answer: Answer): Outcome => {
  const retryAfter = retryAfterIn(answer);
  return { result: 'again', cause: causeOf(answer), ...(retryAfter !== undefined && { retryAfter }) };
};

/** An answer in a word that the log may hold. */
export const causeOf = ({ status }: Answer): string => `status_${status}`;
