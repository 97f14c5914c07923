/** Phone numbers. The page of the local stack validates with the same schemas as the API. */
import * as v from 'valibot';

/**
 * The form of a phone number in international format without +: 7 to 15 digits, the first of which begins the country
 * code. No country code begins with 0 (ITU-T E.164), so a number that does is in a national format: it would name nobody,
 * or one person by several numbers.
 */
export const NUMBER = /^[1-9][0-9]{6,14}$/;

/** A number that a spreadsheet has changed to a power of ten. Its last digits are lost. */
const POWER_OF_TEN = /^\d+(?:[.,]\d+)?e\+?\d+$/i;

/** A number that a spreadsheet or a program has changed to a decimal number. */
const DECIMAL = /^\d+[.,]0+$/;

/** White space and control characters that people do not see, besides the space: also zero-width and bidi characters. */
const INVISIBLE = /(?! )[\p{Z}\p{C}\u115f\u1160\u3164\uffa0]/gu;

/** Most invisible characters that an error names. */
const MOST_NAMED = 3;

/** What else a text contains, by its name in an error. */
const CONTENTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['spaces', / /],
  ['separators', /[\p{Pd}\p{Ps}\p{Pe}.,/_]/u],
  ['digits other than 0 to 9', /(?![0-9])\p{N}/u],
  ['letters', /\p{L}/u],
  ['other signs', /(?![+.,/_])[\p{Pc}\p{Pi}\p{Pf}\p{Po}\p{S}\p{M}]/u],
];

/** What is wrong with a text that is no phone number. It quotes nothing of the number, which is personal data. */
const faultsIn = (value: string, isPlusAllowed: boolean): string[] => {
  if (POWER_OF_TEN.test(value)) {
    return ['was changed to a power of ten by a spreadsheet: format the column as text, and enter the number again'];
  }
  if (DECIMAL.test(value)) return ['has decimal places, as from a spreadsheet: format the column as text'];
  const visible = value.replaceAll(INVISIBLE, '');
  const hidden = new Set(value.match(INVISIBLE));
  const codes = [...hidden]
    .slice(0, MOST_NAMED)
    .map((character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  const hasPlus = (isPlusAllowed ? value.replace(/^\+/, '') : value).includes('+');
  const contents = [
    ...(hasPlus ? ['+'] : []),
    ...(hidden.size > 0 ? [`invisible characters (${codes.join(', ')})`] : []),
    ...CONTENTS.flatMap(([name, pattern]) => (pattern.test(visible) ? [name] : [])),
  ];
  const digits = value.replaceAll(/[^0-9]/g, '');
  const faults = contents.length > 0 ? [`contains ${contents.join(', ')}`] : [];
  if (/^ [0-9]/.test(value)) faults.push('begins with a space, which + means in queries and forms');
  if (digits.startsWith('00')) faults.push('begins with 00: remove these zeros before the country code');
  else if (digits.startsWith('0')) faults.push('begins with 0: replace this zero by the country code');
  return faults;
};

/**
 * A validation error: the rule, and what is wrong with the text, by name.
 *
 * @param rule - "must be …"
 */
export const numberError = (rule: string, value: string, isPlusAllowed = false): string => {
  const faults = faultsIn(value.slice(0, 100), isPlusAllowed);
  return faults.length === 0 ? rule : `${rule}; it ${faults.join(', and ')}`;
};

/** A phone number in international format without +. */
export const phoneNumber = v.pipe(
  v.string(),
  v.regex(NUMBER, ({ input }) =>
    numberError('must be a phone number in international format without +: 7 to 15 digits', input),
  ),
);

const NUMBER_OR_PLUS = /^\+?[1-9][0-9]{6,14}$/;

/** A phone number in international format, with or without +. The output has no +. */
export const phoneNumberOrPlus = v.pipe(
  v.string(),
  v.regex(NUMBER_OR_PLUS, ({ input }) =>
    numberError('must be a phone number in international format: 7 to 15 digits', input, true),
  ),
  v.transform((value) => value.replace('+', '')),
);

const DIGIT = /\p{N}/u;
const DIGITS_AND_SIGNS = /^[\p{N}\p{P}\p{S}\p{Z}\p{C}]*$/u;

/** Whether a text is meant as a phone number: it has digits and signs only. */
const isMeantAsNumber = (value: string): boolean =>
  !UUID.test(value) && ((DIGIT.test(value) && DIGITS_AND_SIGNS.test(value)) || POWER_OF_TEN.test(value));

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The phone number or the id of something that may not exist. Capital letters are accepted, as in every UUID. A text that
 * is neither is valid here, and not found later. But a number in another format is an error: nothing would ever be found.
 */
export const numberOrId = v.pipe(
  v.string(),
  v.check<string, (issue: { input: string }) => string>(
    (value) => NUMBER.test(value) || !isMeantAsNumber(value),
    ({ input }) => numberError('must have a phone number in international format without +: 7 to 15 digits', input),
  ),
  v.toLowerCase(),
);
