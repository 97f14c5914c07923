/**
 * Gives each object in the API description a name. Generators make a type of each named schema. For an object without a
 * name they invent one, such as `AppEventOneOf2DataProperties`, or they lose it.
 *
 * The place of a schema is a name and a path: `Audience.all[]` is an item of the list `all` in `Audience`, `{}` the
 * values of a record, `:text` the alternative whose type is `text`, and `:1` the second of alternatives without a type.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '@valibot/to-json-schema';

/** The parts of a description of fields that come from tables. */
export interface FieldTexts {
  /** The description of a field; undefined if its name is sufficient. */
  explain: (schema: string, field: string) => string | undefined;
  /** Keywords that the schema of a field lacks. */
  guarantee: (schema: string, field: string) => Readonly<Record<string, unknown>> | undefined;
}

type Part = JsonSchema | boolean;

const isSchema = (part: Part | undefined): part is JsonSchema => typeof part === 'object';

const REFERENCE = '#/components/schemas/';

export class NamedSchemas {
  /** The named schemas, in the order in which they were named. */
  readonly schemas: Record<string, JsonSchema> = {};
  readonly #names: Readonly<Record<string, string>>;
  readonly #texts: FieldTexts;

  /** @param names - names of schemas by place */
  constructor(names: Readonly<Record<string, string>>, texts: FieldTexts) {
    this.#names = names;
    this.#texts = texts;
  }

  /**
   * Adds a schema by its name.
   *
   * @throws Error — another schema has the name
   */
  add(name: string, schema: JsonSchema): void {
    const { [name]: given } = this.schemas;
    // Reserves the place in the order before the schemas inside it.
    if (given === undefined) this.schemas[name] = {};
    const added = this.#inside(simplified(schema), name);
    if (given !== undefined && !isDeepStrictEqual(given, added)) {
      throw new Error(`Two schemas have the name ${name} in shared/api/areas/*.docs.ts, and differ.`);
    }
    this.schemas[name] = added;
  }

  /**
   * The schema of a place, in which references replace the objects.
   *
   * @throws Error — an object has no name
   */
  at(place: string, given: JsonSchema): JsonSchema {
    const schema = simplified(given);
    const orNull = withoutNull(schema);
    if (orNull !== undefined) return { oneOf: [this.at(place, orNull), { type: 'null' }] };
    const name = this.#names[place] ?? this.#names[/\.(\w+)$/.exec(place)?.[1] ?? ''];
    if (name !== undefined) {
      const { description, ...rest } = schema;
      this.add(name, rest);
      return { $ref: `${REFERENCE}${name}`, ...(description !== undefined && { description }) };
    }
    if (schema.properties !== undefined || schema.oneOf !== undefined || schema.anyOf !== undefined) {
      throw new Error(`Name the schema ${place} in \`names\` of its docs, shared/api/areas/*.docs.ts.`);
    }
    return this.#inside(schema, place);
  }

  #inside(schema: JsonSchema, place: string): JsonSchema {
    const { properties, items, additionalProperties, oneOf, anyOf, required = [], ...rest } = schema;
    const alternatives = oneOf?.map((one) => this.#part(one, `${place}:${tagOf(one) ?? oneOf.indexOf(one)}`));
    return {
      ...rest,
      ...(required.length > 0 && { required }),
      ...(properties && { properties: this.#fields(properties, place) }),
      ...(items !== undefined && !Array.isArray(items) && { items: this.#part(items, `${place}[]`) }),
      ...(additionalProperties !== undefined && {
        additionalProperties: this.#part(additionalProperties, `${place}{}`),
      }),
      ...(anyOf && { anyOf: anyOf.map((one, at) => this.#part(one, `${place}:${at}`)) }),
      ...(alternatives && { oneOf: alternatives, ...this.#discriminator(alternatives) }),
    };
  }

  #part<Given extends Part>(part: Given, place: string): Part {
    return isSchema(part) ? this.at(place, part) : part;
  }

  #fields(fields: Record<string, Part>, place: string): Record<string, Part> {
    const described = Object.entries(fields).map(([name, field]): [string, Part] => {
      const schema = this.#part(field, `${place}.${name}`);
      if (!isSchema(schema)) return [name, schema];
      const description = this.#texts.explain(place, name);
      return [
        name,
        {
          ...schema,
          ...(isCount(schema) && { minimum: 0 }),
          ...this.#texts.guarantee(place, name),
          ...(description !== undefined && { description }),
        },
      ];
    });
    return Object.fromEntries(described);
  }

  /** The field that tells the alternatives apart, with the schema of each of its values. */
  #discriminator(alternatives: Part[]): { discriminator?: object } {
    const references = alternatives.map((one) => (isSchema(one) ? (one.$ref ?? '') : ''));
    const targets = references.map((reference) => this.schemas[reference.slice(REFERENCE.length)] ?? {});
    const [first = {}] = targets;
    const propertyName = Object.keys(first.properties ?? {}).find((name) =>
      targets.every((target) => valuesOf(target.properties?.[name]).length > 0),
    );
    if (propertyName === undefined) return {};
    const mapping = targets.flatMap((target, at) =>
      valuesOf(target.properties?.[propertyName]).map((value) => [value, references[at]]),
    );
    return { discriminator: { propertyName, mapping: Object.fromEntries(mapping) } };
  }
}

/** Whole numbers without limits are counts. */
const isCount = ({ type, minimum, enum: values }: JsonSchema): boolean =>
  [type].flat().includes('integer') && minimum === undefined && values === undefined;

/** The values of a field that is a constant, or one of a list. */
const valuesOf = (field: Part | undefined): unknown[] => {
  if (!isSchema(field)) return [];
  return field.const === undefined ? (field.enum ?? []) : [field.const];
};

/** The first value of the field that tells an alternative apart: a constant, or one of a list. */
const tagOf = (alternative: Part): string | undefined => {
  if (!isSchema(alternative)) return undefined;
  const { type, status } = alternative.properties ?? {};
  const [tag] = [...valuesOf(type), ...valuesOf(status)];
  return typeof tag === 'string' ? tag : undefined;
};

/** The same schema in the form that generators read. */
const simplified = (schema: JsonSchema): JsonSchema => withExclusiveTypes(withPlainNull(withoutIntersection(schema)));

/** Alternatives of different types exclude each other. Generators make a union of `oneOf`, but not of `anyOf`. */
const withExclusiveTypes = (schema: JsonSchema): JsonSchema => {
  const types = schema.anyOf?.map((one) => (isSchema(one) ? one.type : undefined)) ?? [];
  const differ = types.every((type) => typeof type === 'string') && new Set(types).size === types.length;
  return differ ? exclusive(schema) : schema;
};

/** The same schema with alternatives that exclude each other, as those of a response do. */
export const exclusive = ({ anyOf, ...rest }: JsonSchema): JsonSchema => (anyOf ? { ...rest, oneOf: anyOf } : rest);

/** Merges the common fields of alternatives into each of them: `allOf` an object and `oneOf` several. */
const withoutIntersection = (schema: JsonSchema): JsonSchema => {
  const { allOf = [], ...rest } = schema;
  const [common, choice] = allOf;
  if (!isSchema(common) || !isSchema(choice) || choice.oneOf === undefined) return schema;
  return { ...rest, oneOf: choice.oneOf.map((one) => (isSchema(one) ? merged(common, one) : one)) };
};

const merged = (common: JsonSchema, own: JsonSchema): JsonSchema => ({
  ...common,
  ...own,
  properties: { ...common.properties, ...own.properties },
  required: [...(common.required ?? []), ...(own.required ?? [])],
});

/** Writes "or null" as a list of types: generators read it, but not `anyOf` with the type null. */
const withPlainNull = (schema: JsonSchema): JsonSchema => {
  const { anyOf, ...rest } = schema;
  const given = withoutNull(schema);
  if (typeof given?.type !== 'string' || given.type === 'object') return schema;
  return { ...rest, ...given, type: [given.type, 'null'] };
};

/** The other alternative of a schema or null; undefined if the schema is anything else. */
const withoutNull = ({ anyOf, oneOf }: JsonSchema): JsonSchema | undefined => {
  const [given, nothing, ...more] = anyOf ?? oneOf ?? [];
  return isSchema(given) && isSchema(nothing) && nothing.type === 'null' && more.length === 0 ? given : undefined;
};
