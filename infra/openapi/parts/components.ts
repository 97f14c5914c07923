/** Named schemas of the API description, and references to components. */
import type { JsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { TIME } from '../../../shared/api/docs.ts';
import type { EndpointName } from '../../../shared/api/index.ts';
import { problemCatalogue } from '../../../shared/core/problems.ts';
import { type Example, examples, glossary, guarantees, schemaNames, schemas } from '../docs.ts';
import { NamedSchemas } from '../named-schemas.ts';
import { toSchema, toSchemas } from '../schemas.ts';

/** A part of the document; a validator of OpenAPI checks the whole document against the standard. */
export type Part = Record<string, unknown>;

const gatewayMessage = v.object({ message: v.string() });

const validationError = v.object({
  pointer: v.optional(v.string()),
  parameter: v.optional(v.string()),
  detail: v.string(),
});

const problem = v.object({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.metadata({ type: 'integer' })),
  code: v.pipe(v.string(), v.metadata({ enum: Object.keys(problemCatalogue) })),
  detail: v.string(),
  errors: v.optional(v.array(validationError)),
  trace_id: v.string(),
});

/** The body of an error with a status that functions and API Gateway return. */
const errorDocument = v.object({ ...v.partial(problem).entries, message: v.optional(v.string()) });

const definitions = {
  ...schemas,
  Problem: problem,
  ErrorDocument: errorDocument,
  ValidationError: validationError,
  GatewayMessage: gatewayMessage,
};

/** The description of a field or parameter. A description for its schema or operation takes precedence. */
export const explain = (owner: string, name: string): string | undefined =>
  glossary[`${owner}.${name}`] ?? glossary[name];

/** Keywords by what the docs guarantee. */
const KEYWORDS = {
  id: { format: 'uuid' },
  time: { pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}$' },
  phone: { pattern: '^[1-9][0-9]{6,14}$' },
  url: { format: 'uri' },
  amount: { minimum: 0, format: 'double' },
};

export const guarantee = (owner: string, name: string) => {
  const ofText = explain(owner, name)?.endsWith(TIME) ? ('time' as const) : undefined;
  const kind = guarantees[`${owner}.${name}`] ?? ofText;
  return kind && KEYWORDS[kind];
};

export const named = new NamedSchemas(schemaNames, { explain, guarantee });

export const schemaOf = (schema: v.GenericSchema) => toSchema(schema, definitions);

/** The schemas of all components, after those of all operations. */
export const namedSchemas = (): Record<string, JsonSchema> => {
  for (const [name, schema] of Object.entries(toSchemas(definitions))) named.add(name, schema);
  return Object.fromEntries(Object.entries(named.schemas).sort(([one], [other]) => (one < other ? -1 : 1)));
};

export const refTo = (kind: string, name: string): Part => ({ $ref: `#/components/${kind}/${name}` });

/** The endpoint's examples that have this part. */
export const shownIn = (name: EndpointName, partOf: (example: Example) => unknown): Part => {
  const shown = examples
    .filter((example) => example.endpoint === name && partOf(example) !== undefined)
    .map((example) => [idOf(example.shows), { summary: example.shows, value: partOf(example) }]);
  return shown.length > 0 ? { examples: Object.fromEntries(shown) } : {};
};

const idOf = (words: string): string => words.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
