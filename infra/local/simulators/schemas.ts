/** Schemas of the requests that configure simulators. Their validation errors are sentences. */
import * as v from 'valibot';
import { phoneNumber } from '../../../shared/validation/schemas.ts';
import { httpError } from './http.ts';

/**
 * Validates input.
 *
 * @throws HTTPException — 422, with a sentence for each validation error
 */
export const check = <Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> => {
  const { success, output, issues } = v.safeParse(schema, input, { abortPipeEarly: true });
  if (success) return output;
  throw httpError(422, issues.map((issue) => `${subjectOf(issue)} ${issue.message}.`).join(' '));
};

/** An object with these fields and no others. */
export const fields = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, ({ path, expected }) => {
    if (path === undefined) return 'must be an object';
    if (expected !== 'never') return 'is required';
    return `is unknown: the fields are ${Object.keys(entries).join(', ')}`;
  });

/** An object with these fields, and any others. */
export const looseFields = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.looseObject(entries, ({ path }) => (path === undefined ? 'must be an object' : 'is required'));

export const text = v.string('must be a string');

export const filledText = v.pipe(text, v.nonEmpty('must not be empty'));

export const yes = v.boolean('must be true or false');

export const phone = v.pipe(text, phoneNumber);

export const wholeNumber = (min: number, max?: number) => {
  const message = max === undefined ? `must be a whole number from ${min}` : `must be ${min} to ${max}, a whole number`;
  return v.pipe(
    v.number(message),
    v.safeInteger(message),
    v.minValue(min, message),
    v.maxValue(max ?? Number.MAX_SAFE_INTEGER, message),
  );
};

export const oneOf = <const Options extends readonly [string, ...string[]]>(...options: Options) =>
  v.picklist(options, `must be ${options.join(', ').replace(/, ([^,]*)$/, ' or $1')}`);

/** `The body`, `Entry 2`, or `"times" of entry 2`. */
const subjectOf = ({ path }: v.BaseIssue<unknown>): string => {
  const places = (path ?? []).map(({ type, key }) => (type === 'array' ? `entry ${Number(key) + 1}` : `"${key}"`));
  const subject = places.reverse().join(' of ') || 'the body';
  return subject.charAt(0).toUpperCase() + subject.slice(1);
};
