/** Validation errors for the caller: the place, and the expected value. */
import * as v from 'valibot';
import { invalidRequest, type ValidationError } from '../core/problems.ts';

type Issue = v.BaseIssue<unknown>;

/** An error in a parameter of path, query or headers. */
export const errorInParameter = (issue: Issue): ValidationError => ({
  parameter: keysOf(issue).join('.'),
  detail: describe(issue),
});

/** An error in the body; with `keys`, in the part of the body at this place. */
export const errorInBody = (issue: Issue, keys: string[] = []): { pointer: string; detail: string } => ({
  pointer: pointerTo([...keys, ...keysOf(issue)]),
  detail: describe(issue),
});

/**
 * Parses a body by a schema, if the schema of the endpoint is too general.
 *
 * @throws invalid_request — with all validation errors
 */
export const validBody = <Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> => {
  const { success, output, issues } = v.safeParse(schema, body);
  if (!success) throw invalidRequest(issues.map((issue) => errorInBody(issue)));
  return output;
};

/** A place in a body as a JSON pointer in URI fragment form (RFC 6901). Half of a surrogate pair becomes U+FFFD. */
export const pointerTo = (keys: string[]): string => `#${keys.map((key) => `/${tokenOf(key)}`).join('')}`;

/** Most keys are names of fields or places in lists, and need no escapes. */
const tokenOf = (key: string): string =>
  PLAIN.test(key) ? key : encodeURIComponent(key.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));

const PLAIN = /^\w*$/;

const keysOf = (issue: Issue): string[] => (issue.path ?? []).map(({ key }) => String(key));

/** The text of an error. Rules of schemas have texts of their own; this function words wrong types. */
const describe = ({ kind, type, message, expected, received, input }: Issue): string => {
  if (kind !== 'schema' || type === 'union') return message;
  if (received === 'undefined') return 'is required';
  return CHOICE.test(expected ?? '')
    ? `must be ${inWords(expected ?? '')}`
    : `must be ${EXPECTED[expected ?? ''] ?? expected}, not ${kindOf(input)}`;
};

/** `expected` of a schema that accepts only certain words: `"one"`, or `("one" | "two")`. */
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
