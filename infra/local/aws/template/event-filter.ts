/**
 * Lambda's event filtering for stream records, as far as the stack uses it: exact values and `prefix`, for the event's
 * name, the keys, and the new image. A record matches only if it contains every field of the pattern.
 *
 * `exists` is rejected. Lambda documents that a record has to contain all fields of a pattern, and that `exists: false`
 * matches a missing field. Engines differ in what this means for a field below a missing attribute.
 */

/** Whether a record is for the function. */
export type EventFilter = (record: unknown) => boolean;

/** Tests a record's values at a path. The list is empty if the path does not exist, or leads to an object. */
type Condition = (values: unknown[]) => boolean;

/** The number of patterns that a mapping may have, unless AWS raises the quota. */
const MAX_PATTERNS = 5;

/** Paths that patterns may use. */
const PLACES = [/^eventName$/, /^dynamodb[.](Keys|NewImage)([.][^.$][^.]*)+$/];

/**
 * Reads the patterns of a mapping. A record is for the function if it matches one of them.
 *
 * @throws Error — a pattern is invalid or not supported
 */
export const readFilter = (patterns: string[]): EventFilter => {
  if (patterns.length > MAX_PATTERNS) throw unserved('number of patterns', patterns.length);
  const filters = patterns.map((pattern) => {
    const parsed: unknown = JSON.parse(pattern);
    if (!isObject(parsed)) throw unserved('pattern', parsed);
    return readPattern(parsed, []);
  });
  return (record) => filters.length === 0 || filters.some((filter) => filter(record));
};

const readPattern = (pattern: Record<string, unknown>, path: string[]): EventFilter => {
  const parts = Object.entries(pattern).map(([key, inner]): EventFilter => {
    const place = [...path, key];
    if (isObject(inner)) return readPattern(inner, place);
    if (!Array.isArray(inner) || inner.length === 0 || !PLACES.some((known) => known.test(place.join('.')))) {
      throw unserved(`pattern for ${place.join('.')}`, inner);
    }
    const conditions = inner.map(readCondition);
    return (record) => {
      const values = valuesAt(record, place);
      return conditions.some((condition) => condition(values));
    };
  });
  if (parts.length === 0) throw unserved('pattern', pattern);
  return (record) => parts.every((part) => part(record));
};

const readCondition = (condition: unknown): Condition => {
  if (!isObject(condition)) {
    if (Array.isArray(condition)) throw unserved('condition', condition);
    return (values) => values.includes(condition);
  }
  const [[operator, operand] = [], ...more] = Object.entries(condition);
  if (more.length === 0 && operator === 'prefix' && typeof operand === 'string') {
    return (values) => values.some((value) => typeof value === 'string' && value.startsWith(operand));
  }
  throw unserved('condition', condition);
};

const valuesAt = (record: unknown, path: string[]): unknown[] => {
  const value = path.reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), record);
  if (value === undefined || isObject(value)) return [];
  return Array.isArray(value) ? value : [value];
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unserved = (what: string, value: unknown): Error =>
  new Error(`The emulator does not serve this ${what} of an event filter: ${JSON.stringify(value)}`);
