import type { HttpMiddleware } from '../event.ts';

/** Most names in the header, and most characters of each: names are input. */
const MOST = 20;
const LONGEST = 64;

/** A name that may be in the log: it looks like the name of a field, and contains no phone number and no token. */
const LOGGED = /^(?!.*\d{5})[A-Za-z][\w.-]{0,39}$/;

/** The names of ignored fields for the header, in ASCII and without line ends: other characters are percent-encoded. */
export const shownNames = (names: readonly string[]): string[] =>
  [...new Set(names.map((name) => encodeURIComponent(name.slice(0, LONGEST).toWellFormed()).slice(0, LONGEST)))].slice(
    0,
    MOST,
  );

/** The same names for the log; `?` for those that may contain data. */
export const loggedNames = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => (LOGGED.test(name) ? name : '?'))),
];

/** Lists the fields and parameters that a request had in vain, in the header `Ignored-Fields` of every response to it. */
export const ignoredFields = (): HttpMiddleware => {
  const ignoredFieldsAfter: HttpMiddleware['after'] = ({ response, internal: { ignored } }) => {
    if (ignored?.length) Object.assign(response?.headers ?? {}, { 'ignored-fields': ignored.join(', ') });
  };
  return { after: ignoredFieldsAfter, onError: ignoredFieldsAfter };
};
