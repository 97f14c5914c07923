/** Validation errors in words for the caller: where, what is wrong, what is expected. */
import * as v from 'valibot';
import { invalidRequest, type ValidationError } from '../core/problems.ts';

type Issue = v.BaseIssue<unknown>;

/** An error in a parameter: of path, query or headers. */
export const errorInParameter = (issue: Issue): ValidationError => ({
  parameter: keysOf(issue).join('.'),
  detail: describe(issue),
});

/** An error in the body, or in the part of it below `keys`. */
export const errorInBody = (issue: Issue, keys: string[] = []): ValidationError => ({
  pointer: pointerTo([...keys, ...keysOf(issue)]),
  detail: describe(issue),
});

/**
 * A body as its schema types it, where what it must be is known only by something else.
 *
 * @throws invalid_request — with all faults at once
 */
export const validBody = <Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> => {
  const { success, output, issues } = v.safeParse(schema, body);
  if (!success) throw invalidRequest(issues.map((issue) => errorInBody(issue)));
  return output;
};

/** A place in a body as a JSON pointer in URI fragment form (RFC 6901). Half of a surrogate pair becomes U+FFFD. */
export const pointerTo = (keys: string[]): string =>
  `#${keys.map((key) => `/${encodeURIComponent(key.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`;

const keysOf = (issue: Issue): string[] => (issue.path ?? []).map(({ key }) => String(key));

/** What is wrong, for a person. Schemas word their own rules; a wrong type is worded here. */
const describe = ({ kind, type, message, expected, received, input }: Issue): string => {
  if (kind !== 'schema' || type === 'union') return message;
  if (received === 'undefined') return 'is required';
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  return CHOICE.test(expected ?? '')
    ? // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
      `must be ${inWords(expected ?? '')}`
    : // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
      `must be ${EXPECTED[expected ?? ''] ?? expected}, not ${kindOf(input)}`;
};

/** What a schema expects that takes certain words only: `"one"`, or `("one" | "two")`. */
const CHOICE = /^\(?"/;

const inWords = (expected: string): string =>
  expected
    .replaceAll(/[()]/g, '')
    .replaceAll(' | ', ', ')
    .replace(/, (?=[^,]*$)/, ' or ');

const EXPECTED: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Array: 'an array',
  Object: 'an object',
};

const kindOf = (input: unknown): string => {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  if (typeof input === 'boolean') return String(input);
  return typeof input === 'object' ? 'an object' : `a ${typeof input}`;
};
