/** Well-formed requests, generated from the schemas of the API description. */
import fc, { type Arbitrary } from 'fast-check';
import { gif, others, pdf, png } from '../../support/files.ts';
import type { Host, Operation, Schema } from './description.ts';
import type { Caller } from './wire.ts';
import type { World } from './world.ts';

/** The parts of a request, before they are serialised. */
export interface Draft {
  operation: Operation;
  host: Host;
  caller: Caller;
  token: string | undefined;
  /** Parameters, by name. */
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
}

/** Texts that many programs mishandle. They contain no lone surrogates: such texts are malformed. */
export const ODD_TEXTS = [
  '__proto__',
  'constructor',
  'a\0b',
  '\u202egnp.exe',
  '\ufeff',
  'I\u0307\u0130\u1e9e',
  'Z\u0351\u036b\u0343a\u0302\u0301l',
  '👩‍👩‍👧‍👦🏳️‍🌈',
  '\u2028\u2029\u0085\u00a0',
  '\ufffe\uffff\u{10ffff}',
  "' OR '1'='1",
  '{{7*7}}%{7*7}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'a\r\nX-Header: b',
  '{"a":1}',
  '%00%0a%ff',
  '0',
  'null',
  ':x',
  '#a#b',
] as const;

const text: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('Hello', 'Which of these?', 'yes', 'no', 'Thandi') },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_TEXTS).map((odd) => `a ${odd}`) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }) },
);

const files = [png, png, gif, pdf, ...Object.values(others)];

const day = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

/** Which fields and parameters a request has. */
type Fields = 'some optional' | 'required only';

/** Generates values of schemas. If the world has known values for a name, it uses these. */
const valuesFor = (operation: Operation, { known }: World, fields: Fields) => {
  const knownAs = (name: string): Arbitrary<string> | undefined => {
    const values = known.get(`${operation.id}.${name}`) ?? known.get(name);
    return values && fc.constantFrom(...values);
  };

  const stringOf = ({ pattern, format }: Schema): Arbitrary<unknown> => {
    if (format === 'binary') return fc.constantFrom(...files);
    if (format === 'uuid') return fc.uuid();
    if (format === 'date') return day;
    if (pattern === undefined || pattern === '\\S') return text;
    const phone = pattern.includes('[1-9][0-9]{6,14}') ? knownAs('phone') : undefined;
    return phone ?? fc.stringMatching(new RegExp(pattern));
  };

  const objectOf = ({ properties = {}, required = [], additionalProperties, propertyNames }: Schema) => {
    const names = propertyNames ? valueFor(propertyNames, '').map(String) : text;
    return additionalProperties === undefined
      ? fc.record(
          Object.fromEntries(
            Object.entries(properties)
              .filter(([name]) => fields === 'some optional' || required.includes(name))
              .map(([name, schema]) => [name, valueFor(schema, name)]),
          ),
          { requiredKeys: required, noNullPrototype: true },
        )
      : fc.dictionary(names, valueFor(additionalProperties, ''), { maxKeys: 3, noNullPrototype: true });
  };

  const valueFor = (schema: Schema, name: string): Arbitrary<unknown> => {
    const { anyOf, oneOf, allOf, type } = schema;
    if (Array.isArray(type)) return fc.oneof(...type.map((one) => valueFor({ ...schema, type: one }, name)));
    const choices = anyOf ?? oneOf;
    if (choices) return fc.oneof(...choices.map((choice) => valueFor(choice, name)));
    if (allOf)
      return fc.tuple(...allOf.map((part) => valueFor(part, name))).map((parts) => Object.assign({}, ...parts));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (type === 'object') return objectOf(schema);
    if (type === 'array') {
      const { items = {}, minItems = 0, maxItems = 3 } = schema;
      return fc.array(valueFor(items, name), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 2) });
    }
    if (type === 'boolean') return fc.boolean();
    if (type === 'null') return fc.constant(null);
    const { minimum = -1_000, maximum = 1_000 } = schema;
    return knownAs(name) ?? (type === 'integer' ? fc.integer({ min: minimum, max: maximum }) : stringOf(schema));
  };
  return valueFor;
};

/** Well-formed requests of an operation, with the token of a caller who has the permission. */
export const wellFormed = (operation: Operation, world: World, fields: Fields = 'some optional'): Arbitrary<Draft> => {
  const valueFor = valuesFor(operation, world, fields);
  const parametersIn = (place: 'path' | 'query' | 'header'): Arbitrary<Record<string, string>> => {
    const parameters = operation.parameters.filter(
      (parameter) => parameter.in === place && (fields === 'some optional' || parameter.required),
    );
    return fc.record(
      Object.fromEntries(parameters.map(({ name, schema }) => [name, valueFor(schema, name).map(String)])),
      {
        requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
        noNullPrototype: true,
      },
    );
  };
  const [caller, token] = ((): [Caller, string | undefined] => {
    if (operation.token === 'none') return ['nobody', undefined];
    // The events of our account are directed to listeners, so it has no webhooks.
    const one = operation.permission === 'app' ? 'network' : operation.permission === 'admin' ? 'managing' : 'ours';
    return [one, world.tokens[one]];
  })();
  return fc.record({
    operation: fc.constant(operation),
    host: fc.constantFrom(...operation.hosts),
    caller: fc.constant(caller),
    token: fc.constant(token),
    path: parametersIn('path'),
    query: parametersIn('query'),
    headers: parametersIn('header'),
    body: operation.body ? valueFor(operation.body.schema, '') : fc.constant(undefined),
  });
};
