/**
 * Schemas of lists and records, with bounds. A bound is checked before the items, so that a list that is too long is
 * one cheap validation error. No other file uses `v.array`, `v.record` and their like (a test checks this).
 */
import * as v from 'valibot';

/** Most characters of a name in a record: the pointer of a validation error may contain it. */
const MAX_NAME = 100;

/** Names that valibot drops from records. Like other unknown names, they are validation errors. */
const LEFT_OUT = ['__proto__', 'constructor', 'prototype'];

/** Attaches JSON Schema keywords to a schema or a check, for the API description. */
export const shownAs = <Part extends object>(keywords: Record<string, unknown>, part: Part): Part =>
  Object.assign(part, { keywords });

/**
 * A schema that runs `precheck` on the whole value first, and `schema` only if the precheck succeeds. A pipe that begins
 * with a check has the form of an unknown value, but the API description and the search for unknown fields need the form
 * of `schema`.
 *
 * @param keywords - the bounds of `precheck` as JSON Schema keywords, for the API description
 */
const readAfter = <Schema extends v.GenericSchema>(
  precheck: v.RawCheckAction<unknown>,
  keywords: Record<string, unknown>,
  schema: Schema,
): Schema =>
  shownAs(keywords, {
    ...schema,
    '~run': ((dataset, config) => {
      const { value } = dataset;
      const { issues } = precheck['~run']({ typed: true, value }, config);
      return issues ? { typed: false, value, issues } : schema['~run'](dataset, config);
    }) satisfies v.GenericSchema['~run'],
  });

interface ListBounds {
  /** Fewest items. Default: 0. */
  min?: number;
  /** The text of the error if there are fewer. */
  tooFew?: string;
  /** Most items. */
  max: number;
  /** The name of the items, in the plural: it follows "must hold at most 10". */
  of: string;
}

const checkLength = ({ min = 0, tooFew = '', max, of }: ListBounds) =>
  v.rawCheck<unknown>(({ dataset, addIssue }) => {
    if (!Array.isArray(dataset.value)) return;
    if (dataset.value.length > max) addIssue({ message: `must hold at most ${max} ${of}` });
    else if (dataset.value.length < min) addIssue({ message: tooFew || `must hold at least ${min} ${of}` });
  });

/** A list of `min` to `max` items. Too few or too many items are one validation error. */
export const listOf = <Item extends v.GenericSchema>(item: Item, bounds: ListBounds) =>
  readAfter(checkLength(bounds), { ...(bounds.min && { minItems: bounds.min }), maxItems: bounds.max }, v.array(item));

/** One item, or a list of at least one. The form of the input decides which of the two it must be. */
export const oneOrList = <Item extends v.GenericSchema>(item: Item, bounds: ListBounds) => {
  const list = listOf(item, { min: 1, ...bounds });
  const either = v.union([item, list]);
  return {
    ...either,
    '~run': ((dataset, config) =>
      Array.isArray(dataset.value)
        ? list['~run'](dataset, config)
        : item['~run'](dataset, config)) as (typeof either)['~run'],
  };
};

const checkNames = (max: number) =>
  v.rawCheck<unknown>(({ dataset, addIssue }) => {
    const { value: input } = dataset;
    if (!isObject(input)) return;
    const names = Object.keys(input);
    if (names.length > max) return addIssue({ message: `must hold at most ${max} names` });
    if (names.some((name) => name.length > MAX_NAME)) {
      return addIssue({ message: `must hold names of at most ${MAX_NAME} characters` });
    }
    for (const key of LEFT_OUT.filter((name) => Object.hasOwn(input, name))) {
      addIssue({
        message: 'is not a name that is known',
        path: [{ type: 'object', origin: 'key', input, key, value: input[key] }],
      });
    }
  });

/** A record of at most `max` names. More names, or a name of over 100 characters, are one validation error. */
export const recordOf = <Name extends v.GenericSchema<string, string>, Value extends v.GenericSchema>(
  name: Name,
  value: Value,
  { max }: { max: number },
) => readAfter(checkNames(max), { maxProperties: max }, v.record(name, value));

/** An object of any form. Its fields are validated later, by the code that reads them. */
export const anyObject = v.looseObject({});

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A list in a response, without bounds. */
export const responseList = v.array;

/** A record in a response, without bounds. */
export const responseRecord = v.record;

/** An object in a response, with more fields than the schema names. */
export const responseObject = v.looseObject;
