/** Phone numbers as people write them. */

/** Why a text is no phone number. */
export type Fault = 'empty' | 'letters' | 'signs' | 'power' | 'national' | 'short' | 'long';

export type Parsed = { phone: string } | { fault: Fault };

/** A number, or what is none, with the line that contains it. */
export type Entry = { line: number; text: string } & Parsed;

/** What people and programs write between digits, also what nobody sees. */
const BETWEEN = /[\s()./\-\u2010-\u2015\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]+/g;
/** A spreadsheet has lost the last digits. */
const POWER_OF_TEN = /^\+?\d+(?:[.,]\d+)?e\+?\d+$/i;
/** A spreadsheet has added decimal places. */
const DECIMALS = /^(\+?\d{7,})[.,]0+$/;
/** The zero that is dialled only within the country: `+44 (0)7700 900001`. */
const INNER_ZERO = /^(\+|00)([\d\s]*)\(0\)/;

/** The shortest and the longest number in international format (ITU-T E.164). */
const [MIN, MAX] = [7, 15];

/**
 * A phone number in international format, without +. `+` and `00` may come first, and signs may be between the digits.
 *
 * @param country - the calling code that replaces the 0 of national numbers; empty: they are no numbers
 */
export const parseNumber = (text: string, country = ''): Parsed => {
  const given = text.trim().replace(/^['"]+|['"]+$/g, '');
  if (POWER_OF_TEN.test(given)) return { fault: 'power' };
  const compact = given.replace(DECIMALS, '$1').replace(INNER_ZERO, '$1$2').replaceAll(BETWEEN, '');
  if (compact === '') return { fault: 'empty' };
  if (!/^\+?[0-9]+$/.test(compact)) return { fault: /\p{L}/u.test(compact) ? 'letters' : 'signs' };
  const isNational = /^0[1-9]/.test(compact) && country !== '';
  const phone = isNational ? country + compact.slice(1) : compact.replace(/^(?:\+|00)/, '');
  // No country code begins with 0.
  if (phone.startsWith('0')) return { fault: 'national' };
  if (phone.length < MIN) return { fault: 'short' };
  return phone.length > MAX ? { fault: 'long' } : { phone };
};

/** The number that a text is, in international format; undefined if it is none. */
export const phoneIn = (text: string): string | undefined => {
  const parsed = parseNumber(text);
  return 'phone' in parsed ? parsed.phone : undefined;
};

/** Between numbers: line breaks apart, and a + after a digit, which begins the next number. */
const SEPARATORS = /[,;|\t]+|(?<=\d\s*)(?=\+)/;

/** The numbers of a text with any separators: also spaces, which may be within numbers, too. */
export const numbersIn = (text: string, country = ''): Entry[] =>
  text.split(/\r\n|\r|\n/).flatMap((line, index) =>
    line
      .split(SEPARATORS)
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .flatMap(numbersOfPart)
      .map((part) => ({ line: index + 1, text: part, ...parseNumber(part, country) })),
  );

/** A part between separators is one number, or several with spaces between them. */
const numbersOfPart = (part: string): string[] => {
  const words = part.split(/\s+/);
  const areNumbers = words.every((word) => word.replaceAll(/\D/g, '').length >= MIN);
  if (areNumbers) return words;
  const parsed = parseNumber(part);
  return 'fault' in parsed && parsed.fault === 'long' ? words : [part];
};
