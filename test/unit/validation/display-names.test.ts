/** Names that users see: none may look like another one. */
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { displayName, explanation } from '../../../shared/validation/schemas.ts';

test.each([
  ...['Acme', 'Acme Research', '3M', "O'Neill & Söhne (Pty) Ltd.", 'Café №1', 'Größe-XL', 'Ærø™', 'Łódź 24/7', 'Naïve'],
  ...[
    'Вкусно и точка',
    'Ελληνικά',
    'עברית',
    'العربية',
    'فروشگاه\u200cها',
    'हिन्दी',
    'ক্\u200dষ',
    'தமிழ்',
    'ไทย',
    'አማርኛ',
    '한국어',
  ],
  ...[
    '東京ガス',
    'ソニーSony',
    'トヨタ自動車',
    '中文 Bar',
    '株式会社ABC',
    'LG전자',
    'Кафе Moscow',
    'MTN ወርቅ',
    'ⵜⴰⵎⴰⵣⵉⵖⵜ',
  ],
  ...['Pizza 🍕', '👩\u200d⚕\ufe0f Clinic', '👍🏽', '1', '24', '①'],
])('a name may be %j', (name) => {
  expect(v.parse(displayName, name)).toBe(name);
});

test.each<[string, string]>([
  ['a Cyrillic letter among Latin ones', 'Acm\u0435'],
  ['a Latin letter among Cyrillic ones', 'Вкусн\u006f'],
  ['a Greek letter among Latin ones', '\u0391cme'],
  ['a Cherokee letter among Latin ones', 'A\u13df'],
  ['mathematical letters', '𝐀𝐜𝐦𝐞'],
  ['enclosed letters', 'Ⓐcme'],
])('a name with %s is rejected', (_, name) => {
  expect(v.safeParse(displayName, name).issues?.[0].message).toContain('must not mix scripts');
});

test.each<[string, string]>([
  ['a reversed part', 'Acme \u202eknaB'],
  ['an isolate', 'Acme \u2067x\u2069'],
  ['a mark of direction', 'Acme\u200f'],
  ['a zero-width space', 'Ac\u200bme'],
  ['a zero-width joiner among Latin letters', 'Ac\u200dme'],
  ['a joiner at its end', 'فروشگاه\u200c'],
  ['a soft hyphen', 'Ac\u00adme'],
  ['a byte order mark', 'Acme\ufeffx'],
  ['a line end', 'Acme\nBank'],
  ['a NUL', 'Acme\0'],
  ['a filler', 'Acme\u3164x'],
  ['a character for private use', 'Acme\ue000'],
  ['a character of a tag', 'Acme\u{e0041}'],
])('a name with %s is rejected', (_, name) => {
  expect(v.safeParse(displayName, name).issues?.[0].message).toContain('must not contain invisible characters');
});

test('a word of letters of two alphabets is rejected, wherever it stands', () => {
  const latin = fc.stringMatching(/^[a-zA-Z]{1,5}$/);
  const cyrillic = fc.stringMatching(/^[а-яА-Я]{1,5}$/);
  const around = fc.constantFrom('', 'Acme ', ' Bank', ' 24', '-');
  fc.assert(
    fc.property(latin, cyrillic, around, around, (one, other, before, after) => {
      expect(v.is(displayName, `${before}${one}${other}${after}`)).toBe(false);
      expect(v.is(displayName, `Acme ${other}${one}`)).toBe(false);
    }),
  );
});

test('the reason of a request may be in any script, and contains nothing that reorders it', () => {
  for (const reason of ['To send you a parcel', 'Русский and English', 'עברית\u200f!', 'a\nb']) {
    expect(v.is(explanation, reason)).toBe(true);
  }
  for (const reason of ['a \u202eb', '\u2066a', 'a\u2069', 'a\u202d']) expect(v.is(explanation, reason)).toBe(false);
});
