/** Names and texts that users see before they trust a business: nothing in them may look like something else. */
import * as v from 'valibot';

/**
 * Characters that change the order of the text around them, so that it reads differently than it is (UAX #9; "Trojan
 * Source", CVE-2021-42574). Marks that only give a direction to their neighbours, as in Arabic and Hebrew, are not among
 * them.
 */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/u;

/** A text without control characters that reorder it. */
export const readsAsWritten = v.check<string, string>(
  (value) => !REORDERING.test(value),
  'must not contain control characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069)',
);

/** Control, format and unassigned characters: invisible. The joiners belong to the writing of some languages, and to emoji. */
const INVISIBLE = /(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;

/** A joiner where it joins nothing: not between letters of a script that has joiners, nor within an emoji. */
const IDLE_JOINER =
  /(?<![\p{Mn}\p{Mc}\p{Script=Arabic}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{Extended_Pictographic}])/u;

/** Letters that are drawn like those of the Latin alphabet: mathematical and enclosed ones. */
const LOOKALIKES = /[\u24b6-\u24e9\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f149}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]/u;

/**
 * What a word may consist of: the letters of one script, or those that Japanese, Chinese and Korean mix. It is the level
 * "Highly Restrictive" of UTS #39, 5.2, applied to each word, with the scripts that UAX #31 recommends (table 5), and some more
 * that people in Africa write.
 */
const WORDS = [
  String.raw`\p{scx=Latn}\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}`,
  String.raw`\p{scx=Latn}\p{scx=Hani}\p{scx=Bopo}`,
  String.raw`\p{scx=Latn}\p{scx=Hani}\p{scx=Hang}`,
  ...'Arab Armn Beng Cyrl Deva Ethi Geor Grek Gujr Guru Hebr Khmr Knda Laoo Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt'
    .split(' ')
    .map((script) => String.raw`\p{scx=${script}}`),
  ...'Adlm Nkoo Tfng Vaii'.split(' ').map((script) => String.raw`\p{scx=${script}}`),
].map((letters) => new RegExp(String.raw`^[\p{scx=Zyyy}\p{scx=Zinh}${letters}]*$`, 'u'));

const isOfOneScript = (word: string): boolean => WORDS.some((letters) => letters.test(word));

/** Separators of words. */
const BETWEEN = /[^\p{L}\p{M}\p{N}]+/u;

/** The checks of a name that users see. */
export const visibleCharacters = v.check<string, string>(
  (value) => !INVISIBLE.test(value) && !IDLE_JOINER.test(value),
  'must not contain invisible characters, such as control characters that change the direction of text',
);

export const unmixedScripts = v.check<string, string>(
  (value) => !LOOKALIKES.test(value) && value.normalize('NFC').split(BETWEEN).every(isOfOneScript),
  'must not mix scripts within a word, such as Latin and Cyrillic letters, nor contain letters that are drawn like others',
);
