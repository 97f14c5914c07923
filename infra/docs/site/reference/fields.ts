/** The fields of a schema as a tree. */
import { isDeepStrictEqual } from 'node:util';
import { nameOf, type Resolve, type Schema } from './description.ts';

/** What a value contains: fields, and others that depend on its variant. */
export interface Content {
  fields: Field[];
  variants: Variant[];
}

export interface Field {
  name: string;
  type: string;
  isRequired: boolean;
  /** HTML. */
  text: string;
  facts: Fact[];
  content: Content;
}

/** A constraint in words, and the values that it names. */
interface Fact {
  words: string;
  values: string[];
}

interface Variant {
  /** What its first words name: a field, or nothing. */
  field: string | undefined;
  /** The values of that field, or the name of the variant. */
  values: string[];
  content: Content;
}

/** Renders Markdown as HTML. */
type Render = (markdown: string) => string;

/** Reads a schema as a field of this name. A schema must not contain itself. */
export const fieldReader = (
  resolve: Resolve,
  render: Render,
): ((name: string, schema: Schema, isRequired: boolean) => Field) => {
  const contentOf = (schema: Schema): Content => {
    const { properties = {}, required = [], ...rest } = resolve(schema);
    const values = valuesOf(rest);
    if (values) return contentOf(values);
    const options = (rest.oneOf ?? rest.anyOf ?? []).filter((option) => hasFields(option));
    const [only] = options;
    if (only && options.length === 1) return contentOf(only);
    if (only) return variantsOf(options, rest.discriminator?.propertyName);
    const fields = Object.entries(properties).map(([name, field]) => fieldOf(name, field, required.includes(name)));
    return { fields: requiredFirst(fields), variants: [] };
  };

  const hasFields = (schema: Schema): boolean => {
    const { properties, oneOf, anyOf, ...rest } = resolve(schema);
    const values = valuesOf(rest);
    if (values) return hasFields(values);
    return properties !== undefined || (oneOf ?? anyOf ?? []).some(hasFields);
  };

  const fieldOf = (name: string, schema: Schema, isRequired: boolean): Field => {
    const resolved = resolve(schema);
    return {
      name,
      type: typeOf(resolved),
      isRequired,
      text: resolved.description === undefined ? '' : render(resolved.description),
      facts: factsOf({ ...resolved, ...(resolved.items && { items: resolve(resolved.items) }) }),
      content: contentOf(resolved),
    };
  };

  /** The fields that all variants share come first, so that each variant has only its own. */
  const variantsOf = (options: Schema[], discriminator: string | undefined): Content => {
    const resolved = options.map((option) => resolve(option));
    const [first] = resolved;
    const isShared = (name: string): boolean =>
      resolved.every(
        ({ properties, required }) =>
          isDeepStrictEqual(properties?.[name], first?.properties?.[name]) &&
          required?.includes(name) === first?.required?.includes(name),
      );
    const shared = Object.keys(first?.properties ?? {}).filter((name) => name !== discriminator && isShared(name));
    const deciding = discriminator === undefined ? [] : [discriminator];
    const decidingOf = ({ properties }: Schema): unknown[] =>
      deciding.flatMap((name) => properties?.[name] ?? []).flatMap(({ const: only, enum: all }) => all ?? only ?? []);
    const fields = Object.entries(first?.properties ?? {}).flatMap(([name, schema]) => {
      const isRequired = first?.required?.includes(name) === true;
      if (name === discriminator) {
        const { const: _, ...own } = resolve(schema);
        return [fieldOf(name, { ...own, enum: resolved.flatMap(decidingOf) }, isRequired)];
      }
      return shared.includes(name) ? [fieldOf(name, schema, isRequired)] : [];
    });
    return {
      fields: requiredFirst(fields),
      variants: resolved
        .map((option, index) => {
          const properties = Object.entries(option.properties ?? {}).filter(
            ([name]) => name !== discriminator && !shared.includes(name),
          );
          const values = decidingOf(option).map(String);
          const given = options[index] ?? {};
          return {
            field: values.length > 0 ? discriminator : undefined,
            values: values.length > 0 ? values : [nameOf(given)],
            content: option.properties
              ? contentOf({ ...option, properties: Object.fromEntries(properties) })
              : contentOf(given),
          };
        })
        .filter(({ content }) => content.fields.length + content.variants.length > 0),
    };
  };

  const typeOf = (schema: Schema): string => {
    const { type, format, oneOf, anyOf, const: only, enum: values, ...rest } = resolve(schema);
    const options = oneOf ?? anyOf;
    if (options) return [...new Set(options.map(typeOf))].join(' or ');
    if (type === undefined) return [...new Set((values ?? [only]).map((value) => typeof value))].join(' or ');
    const isNull = Array.isArray(type) && type.includes('null');
    const [own = 'null'] = [type].flat().filter((one) => one !== 'null');
    const inside = valuesOf(rest);
    const named = inside ? `${own === 'array' ? 'list' : 'map'} of ${typeOf(inside)}s` : (FORMATS[format ?? ''] ?? own);
    return isNull ? `${named} or null` : named;
  };

  return fieldOf;
};

/** The schema of the values of a list, or of a map. */
const valuesOf = ({ items, additionalProperties }: Schema): Schema | undefined =>
  items ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);

const requiredFirst = (fields: Field[]): Field[] =>
  fields.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));

/** Types by their formats. */
const FORMATS: Record<string, string> = { uuid: 'UUID', uri: 'URL', binary: 'file' };

/** Patterns that need no mention: of texts that are not blank, and of times, which descriptions explain. */
const IMPLIED = /^\\S$|\\d\{4\}-/;

const factsOf = ({ const: only, enum: values, pattern, default: fallback, items, ...limits }: Schema): Fact[] => {
  const range = (least: number | undefined, most: number | undefined, unit: string): Fact[] => {
    if (!least && most === undefined) return [];
    const words = !least
      ? `at most ${numberOf(most)}`
      : most === undefined
        ? `at least ${numberOf(least)}`
        : `${numberOf(least)} to ${numberOf(most)}`;
    return [{ words: `${words}${unit}`, values: [] }];
  };
  return [
    ...(only === undefined ? [] : [{ words: 'always', values: [String(only)] }]),
    ...(values ? [{ words: 'one of', values: values.map(String) }] : []),
    ...(items?.enum ? [{ words: 'each one of', values: items.enum.map(String) }] : []),
    ...range(limits.minimum, limits.maximum, ''),
    ...range(limits.minLength, limits.maxLength, ' characters'),
    ...range(limits.minItems, limits.maxItems, ' items'),
    ...(pattern === undefined || IMPLIED.test(pattern) ? [] : [{ words: 'pattern', values: [pattern] }]),
    ...(fallback === undefined ? [] : [{ words: 'default', values: [JSON.stringify(fallback)] }]),
  ];
};

const numberOf = (value: number | undefined): string => (value ?? 0).toLocaleString('en');
