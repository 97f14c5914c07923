/**
 * Unknown fields and parameters. Existing clients send some, so they are ignored, and the response lists them. But a name
 * that is almost a known one is a mistake: `sendAt` in place of `send_at` would send a message at once.
 */
import type * as v from 'valibot';

/** The names that a schema knows, made once for each schema. A schema that knows no names has none of these. */
export interface Names {
  /** The fields of an object. */
  fields?: ReadonlyMap<string, Names>;
  /** The names in the items of a list. */
  items?: Names;
  /** The names of the form that an input has. */
  choose?: (input: unknown) => Names;
  /** Whether an object may have any fields. */
  isOpen?: true;
}

/** An unknown field: its place, with numbers for places in lists; and the known name that is probably meant. */
export interface UnknownField {
  keys: (string | number)[];
  meant: string | undefined;
}

const NONE: Names = {};

/** Most unknown fields that are found in an input, and most different names that are compared with known ones. */
const MOST = 1_000;

/** Most characters of a name that is compared with known ones. */
const LONGEST = 64;

const isSchema = (part: unknown): part is v.GenericSchema =>
  typeof part === 'object' && part !== null && 'type' in part && '~run' in part;

/** The names that a schema knows; without a schema, no field is known. */
export const namesOf = (schema: v.GenericSchema | undefined): Names => {
  if (schema === undefined) return { fields: new Map() };
  const { type } = schema;
  if (type === 'loose_object') return { isOpen: true };
  if ('entries' in schema) {
    const fields = Object.entries(Object(schema.entries)).map(([name, field]) => [name, partOf(field)] as const);
    return { fields: new Map(fields) };
  }
  if (type === 'array' && 'item' in schema) {
    const items = partOf(schema.item);
    return items === NONE ? NONE : { items };
  }
  if ('wrapped' in schema) return partOf(schema.wrapped);
  // A union, a variant, or an intersection: a field is known if one of the alternatives knows it.
  if ('options' in schema && Array.isArray(schema.options)) return schema.options.map(partOf).reduce(both, NONE);
  return isLazy(schema) ? chosenBy(schema.getter) : NONE;
};

const isLazy = (schema: v.GenericSchema): schema is v.LazySchema<v.GenericSchema> => schema.type === 'lazy';

const partOf = (part: unknown): Names => (isSchema(part) ? namesOf(part) : NONE);

const both = (one: Names, other: Names): Names => {
  if (one === NONE) return other;
  if (other === NONE) return one;
  const fields = new Map(one.fields);
  for (const [name, names] of other.fields ?? []) fields.set(name, both(fields.get(name) ?? NONE, names));
  return {
    ...((one.fields || other.fields) && { fields }),
    ...((one.items || other.items) && { items: both(one.items ?? NONE, other.items ?? NONE) }),
    ...((one.isOpen || other.isOpen) && { isOpen: true }),
  };
};

/** The names of a schema that depends on the input: such schemas are few, and each is made once. */
const chosenBy = (getter: (input: unknown) => v.GenericSchema): Names => {
  const made = new Map<v.GenericSchema, Names>();
  return {
    choose: (input) => {
      const schema = getter(input);
      const names = made.get(schema) ?? namesOf(schema);
      made.set(schema, names);
      return names;
    },
  };
};

/** The unknown fields of an input, at most 1,000. The time is in proportion to the number of fields. */
export const unknownFields = (names: Names, input: unknown): UnknownField[] => {
  const found: UnknownField[] = [];
  const meant = new Map<Names, Map<string, string | undefined>>();
  const keys: (string | number)[] = [];
  let compared = 0;

  const meantBy = (known: Names, name: string): string | undefined => {
    const decided = meant.get(known) ?? new Map<string, string | undefined>();
    meant.set(known, decided);
    if (!decided.has(name) && compared < MOST) {
      compared += 1;
      decided.set(name, similarName(known, name));
    }
    return decided.get(name);
  };

  const look = (known: Names, value: unknown): void => {
    const chosen = known.choose?.(value) ?? known;
    const { fields, items, isOpen } = chosen;
    if (typeof value !== 'object' || value === null || found.length >= MOST) return;
    if (Array.isArray(value)) {
      if (items === undefined) return;
      for (const [index, item] of value.entries()) lookAt(index, items, item);
    } else if (fields !== undefined) {
      for (const key in value) {
        const inner = fields.get(key);
        if (inner === undefined) {
          if (isOpen || found.length >= MOST || !Object.hasOwn(value, key)) continue;
          found.push({ keys: [...keys, key], meant: meantBy(chosen, key) });
        } else if (inner !== NONE) lookAt(key, inner, Reflect.get(value, key));
      }
    }
  };

  const lookAt = (key: string | number, known: Names, value: unknown): void => {
    keys.push(key);
    look(known, value);
    keys.pop();
  };

  look(names, input);
  return found;
};

/** A name without what people write differently: capitals and separators. */
const folded = (name: string): string => name.toLowerCase().replaceAll(/[\s_.-]+/g, '');

/** Fewest letters of a known name for which another letter is a mistake: short names are similar by chance. */
const LEAST = 5;

/** The known name that is equal but for capitals and separators, or has one other letter. */
const similarName = ({ fields = new Map() }: Names, name: string): string | undefined => {
  if (name.length > LONGEST) return undefined;
  const given = folded(name);
  let near: string | undefined;
  for (const known of fields.keys()) {
    const right = folded(known);
    if (given === right) return known;
    if (right.length >= LEAST && isOneEdit(given, right)) near = known;
  }
  return near;
};

/** Whether one letter is missing, too much, another one, or in the place of its neighbour. */
const isOneEdit = (one: string, other: string): boolean => {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const [left, right] = [one.slice(at), other.slice(at)];
  return (
    left.slice(1) === right.slice(1) ||
    left.slice(1) === right ||
    left === right.slice(1) ||
    (left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2))
  );
};
