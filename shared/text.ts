/** Schemas of the texts and numbers that several endpoints take. */
import * as v from 'valibot';

/** Text that survives the table unchanged: no lone surrogates, which UTF-8 cannot hold. */
const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed(), 'must be valid Unicode: it holds half of a surrogate pair'),
);

/** Text with something to read in it. */
export const visibleText = v.pipe(
  text,
  v.check((value) => value.trim() !== '', 'must not be empty or white space only'),
);

/** Texts in lower case (without locale), each once, in the order in which they come first. */
export const lowerCased = (texts: string[]): string[] => [...new Set(texts.map((text) => text.toLowerCase()))];

/** A phone number in international format without + (spec §4.2): 7 to 15 digits. */
export const phoneNumber = v.pipe(
  v.string(),
  v.regex(/^[0-9]{7,15}$/, 'must be a phone number in international format without +: 7 to 15 digits'),
);
