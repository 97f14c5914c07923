/** Header fields whose value has parameters: `Content-Type` (RFC 9110, 8.3.1) and `Content-Disposition` (RFC 7578, 4.2). */

/** A value in lower case, and its parameters by their lower-case names. */
export interface HeaderValue {
  value: string;
  parameters: ReadonlyMap<string, string>;
}

/**
 * The next parameter (RFC 9110, 5.6.6): name, and value as a quoted string or a token. Some clients leave out name or value,
 * put spaces around `=`, or send characters that belong into quotes; they are read as they are meant.
 */
const PARAMETER = /\s*;\s*(?:([^\s"=;,]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?)?/suy;

/**
 * A backslash before a quote or another backslash. RFC 9110 allows it before any character, but browsers send a backslash
 * in a file name as it is (HTML, "Multipart form data"), while Go and curl escape these two.
 */
const ESCAPED = /\\(["\\])/g;

const NONE: ReadonlyMap<string, string> = new Map();

/**
 * Parses a header field. It is the only parser of such fields, so that a check and the code behind it never read the same
 * header in two ways. Undefined if the field is not well-formed, or has a parameter twice.
 */
export const parseHeaderValue = (field: string): HeaderValue | undefined => {
  const end = field.indexOf(';');
  if (end === -1) return { value: field.trim().toLowerCase(), parameters: NONE };
  const parameters = new Map<string, string>();
  const text = field.trimEnd();
  PARAMETER.lastIndex = end;
  for (let index = end; index < text.length; index = PARAMETER.lastIndex) {
    const [, given, quoted, token = ''] = PARAMETER.exec(text) ?? [];
    if (PARAMETER.lastIndex === 0) return undefined;
    if (given === undefined) continue;
    const name = given.toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, quoted === undefined ? token : quoted.replaceAll(ESCAPED, '$1'));
  }
  return { value: field.slice(0, end).trim().toLowerCase(), parameters };
};
