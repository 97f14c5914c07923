/**
 * Schemas of lists and records, each with its bound. The bound is checked before the items: a list that is too long is
 * one fault, and costs nothing. `v.array`, `v.record` and their like are declared nowhere else (a test checks this).
 */
import * as v from 'valibot';

/** Characters of a name in a record: a fault may repeat it in its pointer. */
const MAX_NAME = 100;

/** Names that valibot leaves out of records. They are unknown names like any other, so they are faults like any other. */
const LEFT_OUT = ['__proto__', 'constructor', 'prototype'];

/** Gives a schema or a check the keywords by which the API description shows it. */
export const shownAs = <Part extends object>(keywords: Record<string, unknown>, part: Part): Part =>
  Object.assign(part, { keywords });

/**
 * Reads with `schema` only what passes `precheck`, which looks at the whole value first.
 *
 * @param keywords - JSON Schema keywords that say in the API description what `precheck` allows
 */
const readAfter = <Schema extends v.GenericSchema>(
  precheck: v.RawCheckAction<unknown>,
  keywords: Record<string, unknown>,
  schema: Schema,
): Schema => {
  const bound = v.pipe(v.unknown(), precheck);
  return shownAs(keywords, {
    ...schema,
    '~run': ((dataset, config) => {
      const { issues } = bound['~run']({ value: dataset.value }, config);
      return issues ? { typed: false, value: dataset.value, issues } : schema['~run'](dataset, config);
    }) satisfies v.GenericSchema['~run'],
  });
};

interface ListBounds {
  /** Fewest items; 0 where it is not given. */
  min?: number;
  /** The text of the error if there are fewer. */
  tooFew?: string;
  /** Most items. */
  max: number;
  /** What the items are, in the plural: it follows "must hold at most 10". */
  of: string;
}

const checkLength = ({ min = 0, tooFew = '', max, of }: ListBounds) =>
  v.rawCheck<unknown>(({ dataset, addIssue }) => {
    if (!Array.isArray(dataset.value)) return;
    if (dataset.value.length > max) addIssue({ message: `must hold at most ${max} ${of}` });
    else if (dataset.value.length < min) addIssue({ message: tooFew || `must hold at least ${min} ${of}` });
  });

/** A list of at least `min` and at most `max` items; one with too few or too many is a single fault. */
export const listOf = <Item extends v.GenericSchema>(item: Item, bounds: ListBounds) =>
  readAfter(checkLength(bounds), { ...(bounds.min && { minItems: bounds.min }), maxItems: bounds.max }, v.array(item));

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

/** A record of at most `max` names; one with more, or with a name of over 100 characters, is a single fault. */
export const recordOf = <Name extends v.GenericSchema<string, string>, Value extends v.GenericSchema>(
  name: Name,
  value: Value,
  { max }: { max: number },
) => readAfter(checkNames(max), { maxProperties: max }, v.record(name, value));

const anyFields = v.looseObject({});

/** An object of any form. Its fields are not validated here: their reader parses them. */
export const anyObject = {
  ...anyFields,
  '~run': ((dataset, config) => {
    const { value } = dataset;
    return isObject(value) ? { typed: true, value } : anyFields['~run']({ value }, config);
  }) satisfies (typeof anyFields)['~run'],
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A list in an answer of ours, which is as long as what it shows. */
export const responseList = v.array;

/** A record in an answer of ours. */
export const responseRecord = v.record;

/** An object in an answer of ours with more fields than are named. */
export const responseObject = v.looseObject;
