/** Converts schemas to JSON Schema 2020-12, which OpenAPI 3.1 uses. */
import { type ConversionConfig, type JsonSchema, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';

type Definitions = Record<string, v.GenericSchema>;

/** Custom checks. Some have a representation in JSON Schema (`shownAs`); texts describe the others. */
const OURS = new Set(['check', 'raw_check', 'partial_check']);

/** Actions that change a value after its validation. They are not part of the description. */
const SILENT = ['to_lower_case', 'trim', 'transform'];

const config: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  ignoreActions: SILENT,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if (!OURS.has(valibotAction.type)) return undefined;
    return { ...jsonSchema, ...('keywords' in valibotAction && (valibotAction.keywords as JsonSchema)) };
  },
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    const shown = { ...jsonSchema, ...('keywords' in valibotSchema && (valibotSchema.keywords as JsonSchema)) };
    return overridden(valibotSchema.type, shown) ?? ('keywords' in valibotSchema ? shown : undefined);
  },
};

/** The schema for types whose default conversion does not fit; else undefined. */
const overridden = (type: string, jsonSchema: JsonSchema): JsonSchema | undefined => {
  if (type === 'instance') return { type: 'string', format: 'binary' };
  if (type === 'record') return withPlainNames(jsonSchema);
  if (type === 'union') return asField(jsonSchema);
  if (type === 'literal') return { ...jsonSchema, type: typeof jsonSchema.const === 'boolean' ? 'boolean' : 'string' };
  if (type === 'picklist' && jsonSchema.type === 'number') return { ...jsonSchema, type: 'integer' };
  if (type === 'optional') return withDefaultOfItsType(jsonSchema);
  return undefined;
};

/** Converts a schema. Named schemas become references. */
export const toSchema = (schema: v.GenericSchema, definitions: Definitions): JsonSchema => {
  const { $schema, $defs, ...converted } = toJsonSchema(schema, { ...config, definitions });
  return converted;
};

/** Converts the named schemas. */
export const toSchemas = (definitions: Definitions): Record<string, JsonSchema> =>
  toJsonSchemaDefs(definitions, config);

/** Removes `propertyNames` if they may be any text. */
const withPlainNames = ({ propertyNames, ...record }: JsonSchema): JsonSchema =>
  typeof propertyNames === 'object' && 'enum' in propertyNames ? { ...record, propertyNames } : record;

/** Shows a form field that may be repeated as a list of strings. Keywords with a type replace the alternatives. */
const asField = (union: JsonSchema): JsonSchema => {
  const { anyOf = [], ...rest } = union;
  if (rest.type !== undefined) return rest;
  const [list, text] = anyOf;
  const isField = anyOf.length === 2 && isTexts(list) && typeof text === 'object' && text.type === 'string';
  return isField && typeof list === 'object' ? { ...rest, ...list } : union;
};

const isTexts = (list: JsonSchema | boolean | undefined): boolean =>
  typeof list === 'object' && typeof list.items === 'object' && 'type' in list.items && list.items.type === 'string';

/** Converts the default of a parameter to its type. Empty defaults are removed. */
const withDefaultOfItsType = ({ default: preset, ...schema }: JsonSchema): JsonSchema => {
  if (preset === undefined || preset === '' || (Array.isArray(preset) && preset.length === 0)) return schema;
  return { ...schema, default: schema.type === 'integer' ? Number(preset) : preset };
};
