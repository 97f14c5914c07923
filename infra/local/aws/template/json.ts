/**
 * Accessors for the template's JSON. For a value of another type, they throw an error, or return an empty collection.
 */

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export const field = (value: Json | undefined, name: string): Json | undefined => record(value)[name];

export const record = (value: Json | undefined): { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

export const oneOrMore = (value: Json | undefined): string[] => (Array.isArray(value) ? value : [value]).map(text);

export const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

export const text = (value: Json | undefined): string => {
  if (typeof value !== 'string') throw unknown('text', value);
  return value;
};

export const number = (value: Json | undefined): number => {
  if (typeof value !== 'number') throw unknown('number', value);
  return value;
};

export const strings = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(value ?? {}).map(([key, inner]) => [key, text(inner)]));

export const only = <Element>(elements: Element[], what: string): Element => {
  const [first, ...more] = elements;
  if (first === undefined || more.length > 0) throw unknown(`${what}: not exactly one`, elements.length);
  return first;
};

export const found = <Value>(map: Map<string, Value>, key: string): Value => {
  const value = map.get(key);
  if (value === undefined) throw unknown('reference', key);
  return value;
};

export const unknown = (what: string, value: unknown): Error =>
  new Error(`The emulator does not know this ${what} of the template: ${JSON.stringify(value)}`);
