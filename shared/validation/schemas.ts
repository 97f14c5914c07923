/** Schemas of the texts and numbers that several endpoints take. */

import * as v from 'valibot';
import { allowsLoopback } from '#runtime';
import { listOf, shownAs } from './bounded.ts';

/** Text that survives the table unchanged: no lone surrogates, which UTF-8 cannot hold. */
export const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed(), 'must be valid Unicode: it holds half of a surrogate pair'),
);

/** Text with something to read in it. */
export const visibleText = v.pipe(
  text,
  shownAs(
    { pattern: '\\S' },
    v.check<string, string>((value) => value.trim() !== '', 'must not be empty or white space only'),
  ),
);

/** Texts in lower case (without locale), each once, in the order in which they come first. */
export const lowerCased = (texts: string[]): string[] => [...new Set(texts.map((text) => text.toLowerCase()))];

/** A phone number in international format without + (spec §4.2): 7 to 15 digits. */
export const phoneNumber = v.pipe(
  v.string(),
  v.regex(/^[0-9]{7,15}$/, 'must be a phone number in international format without +: 7 to 15 digits'),
);

/** The same as chat platforms write it, who may put a + before it; it is left out. */
export const phoneNumberOrPlus = v.pipe(
  v.string(),
  v.regex(/^\+?[0-9]{7,15}$/, 'must be a phone number in international format: 7 to 15 digits'),
  v.transform((value) => value.replace('+', '')),
);

/** At most so many characters, as people count them: an emoji of two code units is one. */
export const atMost = (count: number) =>
  shownAs(
    { maxLength: count },
    v.check<string, string>(
      // Text of more than two code units a character is too long whatever they are: it is not taken apart.
      // Stryker disable next-line EqualityOperator: Counting code points gives the same result.
      (value) => value.length <= count || (value.length <= 2 * count && [...value].length <= count),
      `must have at most ${count} characters`,
    ),
  );

/** The first so many characters, as people count them: never half of an emoji. */
export const truncate = (value: string, count: number): string => {
  if (value.length <= count) return value;
  let end = 0;
  for (let taken = 0; taken < count && end < value.length; taken += 1) {
    end += (value.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return value.slice(0, end);
};

/** Characters of a message to a user, and of a quick reply. */
export const MAX_TEXT = 4_096;
export const MAX_QUICK_REPLIES = 10;

/** What a text message to a user says. */
export const messageText = v.pipe(visibleText, atMost(MAX_TEXT));

/** What a user writes: it may be longer than what a business does, and fits the table in any script. */
export const receivedText = v.pipe(visibleText, atMost(65_536));

/** Answers that are offered to the user. */
export const quickReplies = listOf(messageText, { max: MAX_QUICK_REPLIES, of: 'quick replies' });

/** The address of an image or a file. */
export const mediaUrl = v.pipe(visibleText, atMost(2_048));

/** A whole number in a parameter. */
export const wholeNumber = (least: number, most: number) =>
  v.pipe(
    v.string(),
    shownAs(
      // Stryker disable next-line ObjectLiteral,StringLiteral: Only the API description shows it.
      { type: 'integer', minimum: least, maximum: most },
      v.check<string, string>(
        (value) => /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most,
        `must be a whole number from ${least} to ${most}`,
      ),
    ),
    v.transform(Number),
  );

/**
 * The id of something that may not be there: capital letters are accepted, as in every UUID. What is no UUID is passed on,
 * and found nowhere.
 */
export const idOfAnything = v.pipe(v.string(), v.toLowerCase());

/** An id as the service writes it; capital letters are taken too. */
export const uuid = v.pipe(v.string(), v.uuid('must be a UUID'), v.toLowerCase());

/** A day of the calendar, `YYYY-MM-DD`. */
export const calendarDay = v.pipe(
  v.string(),
  shownAs(
    { format: 'date' },
    v.check<string, string>(
      // Stryker disable next-line Regex: The date that follows is compared with the whole text.
      (value) => /^[1-9]\d{3}-\d\d-\d\d$/.test(value) && new Date(`${value}T00:00Z`).toJSON()?.startsWith(value),
      'must be a day that exists, as YYYY-MM-DD',
    ),
  ),
);

const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** A secret of Standard Webhooks. */
export const signingSecret = v.pipe(
  v.string(),
  v.check((value) => {
    // Stryker disable next-line StringLiteral: The replacement matches nothing either, or is rejected too.
    const bytes = Buffer.from(SECRET.exec(value)?.[1] ?? '', 'base64').length;
    return bytes >= 24 && bytes <= 64;
  }, 'must be whsec_ and 24 to 64 bytes in base64'),
);

/** An address that the service posts to. */
export const destinationUrl = v.pipe(
  v.string(),
  v.trim(),
  v.check((value) => {
    const { protocol, username, password } = URL.parse(value) ?? {};
    const safe = protocol === 'https:' || (protocol === 'http:' && allowsLoopback());
    return safe && username === '' && password === '';
  }, 'must be an https address, without user name or password'),
);
