/** Schemas of texts and numbers that several endpoints use. */

import * as v from 'valibot';
import { allowsLoopback } from '#runtime';
import { listOf, shownAs } from './bounded.ts';
import { readsAsWritten, unmixedScripts, visibleCharacters } from './display-names.ts';

export { numberOrId, phoneNumber, phoneNumberOrPlus } from './phone-numbers.ts';

const wellFormed = v.check<string, string>(
  (value) => value.isWellFormed(),
  'must be valid Unicode: it holds half of a surrogate pair',
);

const visible = shownAs(
  { pattern: '\\S' },
  v.check<string, string>((value) => value.trim() !== '', 'must not be empty or white space only'),
);

/** Text that can be stored unchanged: without lone surrogates, which UTF-8 cannot encode. */
export const text = v.pipe(v.string(), wellFormed);

/** Text that is not blank. */
export const visibleText = v.pipe(v.string(), wellFormed, visible);

/** Text that is not blank, of at most `count` characters. One pipe, because pipes in pipes are slower. */
const visibleTextOf = (count: number) => v.pipe(v.string(), wellFormed, visible, atMost(count));

/** Texts in lower case (without locale) and without duplicates, in the order of their first occurrences. */
export const lowerCased = (texts: string[]): string[] => [...new Set(texts.map((text) => text.toLowerCase()))];

/** At most `count` characters. Code points are counted, so an emoji of two code units is one character. */
export const atMost = (count: number) =>
  shownAs(
    { maxLength: count },
    v.check<string, string>(
      // A text of more than 2 × count code units is always too long: it need not be split into code points.
      (value) => value.length <= count || (value.length <= 2 * count && [...value].length <= count),
      `must have at most ${count} characters`,
    ),
  );

/** The first `count` characters. Code points are counted, so an emoji is never cut. */
export const truncate = (value: string, count: number): string => {
  if (value.length <= count) return value;
  let end = 0;
  for (let taken = 0; taken < count && end < value.length; taken += 1) {
    end += (value.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return value.slice(0, end);
};

/** Most characters of a name that users see. */
const MAX_NAME = 100;

/** The name by which users see a business. */
export const displayName = v.pipe(visibleText, v.trim(), atMost(MAX_NAME), visibleCharacters, unmixedScripts);

/** The reason of a request, which the user reads before the answer. */
export const explanation = v.pipe(visibleText, atMost(1_000), readsAsWritten);

/**
 * Most characters of a message to a user, and of its quick replies together. A message is stored once for each recipient, so its
 * size is what a request to many costs: at most 33 KB each.
 */
export const MAX_TEXT = 4_096;
export const MAX_QUICK_REPLIES = 10;

/** The text of a message to a user. */
export const messageText = visibleTextOf(MAX_TEXT);

/** The text of a user's message. It may be longer than a business's message, and fits into an item in any script. */
export const receivedText = visibleTextOf(65_536);

/** Answers that are offered to the user. */
export const quickReplies = v.pipe(
  listOf(messageText, { max: MAX_QUICK_REPLIES, of: 'quick replies' }),
  v.check<string[], string>(
    (replies) => [...replies.join('')].length <= MAX_TEXT || replies.some((reply) => [...reply].length > MAX_TEXT),
    `must have at most ${MAX_TEXT} characters together`,
  ),
);

/** The business's own name for a message, a job or a request. */
export const reference = visibleTextOf(64);

/** The URL of media. */
export const mediaUrl = visibleTextOf(2_048);

/** The URL of what a user sends: of the app network, or of an encrypted file with its key. */
export const sourceUrl = v.pipe(
  mediaUrl,
  v.check((value) => {
    const { protocol, host } = URL.parse(value) ?? {};
    const isKnown = protocol === 'https:' || protocol === 'aesgcm:' || (protocol === 'http:' && allowsLoopback());
    return isKnown && host !== '' && host !== undefined && !/\s/.test(value);
  }, 'must be an https or aesgcm address'),
);

/** A latitude or a longitude. */
export const degrees = (max: number) =>
  v.pipe(
    v.number(),
    shownAs(
      { format: 'double', minimum: -max, maximum: max },
      v.check<number, string>((value) => value >= -max && value <= max, `must be from -${max} to ${max}`),
    ),
  );

/** The text of a business with its media. */
export const caption = visibleTextOf(1_024);

/** A whole number in a parameter. */
export const wholeNumber = (min: number, most: number) =>
  v.pipe(
    v.string(),
    shownAs(
      { type: 'integer', minimum: min, maximum: most },
      v.check<string, string>(
        (value) => /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= most,
        `must be a whole number from ${min} to ${most}`,
      ),
    ),
    v.transform(Number),
  );

/** A whole number in a body. */
export const wholeValue = (min: number, most: number, ofUnit = '') =>
  v.pipe(
    v.number(),
    shownAs(
      { type: 'integer', minimum: min, maximum: most },
      v.check<number, string>(
        (value) => Number.isInteger(value) && value >= min && value <= most,
        `must be a whole number${ofUnit} from ${min} to ${most}`,
      ),
    ),
  );

/** A duration in a body: a whole number of seconds or days. */
export const duration = (unit: 'seconds' | 'days', min: number, most: number) => wholeValue(min, most, ` of ${unit}`);

/**
 * The id of something that may not exist. Capital letters are accepted, as in every UUID. A text that is not a UUID is
 * valid here, and not found later.
 */
export const idOfAnything = v.pipe(v.string(), wellFormed, v.toLowerCase());

/** A UUID. Capital letters are accepted. */
export const uuid = v.pipe(v.string(), v.uuid('must be a UUID'), v.toLowerCase());

/** A day of the calendar, `YYYY-MM-DD`. */
export const calendarDay = v.pipe(
  v.string(),
  shownAs(
    { format: 'date' },
    v.check<string, string>(
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
    const bytes = Buffer.from(SECRET.exec(value)?.[1] ?? '', 'base64').length;
    return bytes >= 24 && bytes <= 64;
  }, 'must be whsec_ and 24 to 64 bytes in base64'),
);

/** The URL of a destination. */
export const destinationUrl = v.pipe(
  v.string(),
  wellFormed,
  v.trim(),
  v.check((value) => {
    const { protocol, username, password } = URL.parse(value) ?? {};
    const safe = protocol === 'https:' || (protocol === 'http:' && allowsLoopback());
    return safe && username === '' && password === '';
  }, 'must be an https address, without user name or password'),
);
