/** Bodies as they are shown: JSON with line breaks, and with the values of people hidden. */

const HIDDEN = '••••••';

/** The parsed value of JSON; undefined for other texts. */
const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** Hides values of people: in all requests and responses, they are texts with the name `value`. */
const hide = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(hide);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'value' && typeof inner === 'string' ? HIDDEN : hide(inner),
    ]),
  );
};

/** Whether a body contains values of people. */
export const hasValues = (body: string): boolean => {
  const value = parsed(body);
  return value !== undefined && JSON.stringify(hide(value)) !== JSON.stringify(value);
};

/** The lines of a body: JSON with two spaces, a form with a field a line, other texts as they are. */
export const linesOf = (body: string, type: string, showValues: boolean): string[] => {
  if (body === '') return [];
  const value = parsed(body);
  if (typeof value === 'object' && value !== null) {
    return JSON.stringify(showValues ? value : hide(value), null, 2).split('\n');
  }
  if (type.includes('urlencoded')) return [...new URLSearchParams(body)].map(([name, text]) => `${name}=${text}`);
  return body.split('\n');
};

/** A part of a line, and what it is. */
export interface Token {
  text: string;
  kind: 'key' | 'string' | 'plain';
}

/** The parts of a line of JSON. */
export const tokensOf = (line: string): Token[] =>
  line
    .split(/("(?:[^"\\]|\\.)*"(?:\s*:)?)/)
    .filter(Boolean)
    .map((text) => ({ text, kind: /^".*:$/s.test(text) ? 'key' : text.startsWith('"') ? 'string' : 'plain' }));
