/** Phone numbers. The page of the local stack validates with the same schemas as the API. */
import * as v from 'valibot';

/** A phone number in international format without + (spec §4.2): 7 to 15 digits. */
export const phoneNumber = v.pipe(
  v.string(),
  v.regex(/^[0-9]{7,15}$/, 'must be a phone number in international format without +: 7 to 15 digits'),
);

/** A phone number in international format, with or without +. The output has no +. */
export const phoneNumberOrPlus = v.pipe(
  v.string(),
  v.regex(/^\+?[0-9]{7,15}$/, 'must be a phone number in international format: 7 to 15 digits'),
  v.transform((value) => value.replace('+', '')),
);
