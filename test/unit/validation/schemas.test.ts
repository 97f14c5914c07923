/** Schemas of texts and numbers that several endpoints share. */
import fc from 'fast-check';
import * as v from 'valibot';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  atMost,
  calendarDay,
  destinationUrl,
  lowerCased,
  mediaUrl,
  messageText,
  numberOrId,
  phoneNumber,
  phoneNumberOrPlus,
  quickReplies,
  receivedText,
  signingSecret,
  text,
  uuid,
  visibleText,
  wholeNumber,
} from '../../../shared/validation/schemas.ts';

afterEach(() => void vi.unstubAllEnvs());

/** The error of a schema, or undefined for a valid input. */
const errorOf = (schema: v.GenericSchema, input: unknown): string | undefined =>
  v.safeParse(schema, input).issues?.[0].message;

describe('text', () => {
  test.each(['', ' ', 'Zoë', '😀', '\u0000', '\ud83d\ude00'])('may be any valid Unicode: %j', (value) => {
    expect(v.parse(text, value)).toBe(value);
  });

  test.each(['\ud83d', 'a\ude00', '\ude00\ud83d'])('with half of a surrogate pair is rejected: %j', (value) => {
    expect(errorOf(text, value)).toBe('must be valid Unicode: it holds half of a surrogate pair');
  });

  test.each(['', ' ', '\t\n', '\u00a0\u2003\ufeff'])(
    'must contain visible characters in visibleText: not %j',
    (value) => {
      expect(errorOf(visibleText, value)).toBe('must not be empty or white space only');
    },
  );

  test('keeps the white space around it', () => {
    expect(v.parse(visibleText, ' x\n')).toBe(' x\n');
  });
});

test('lowerCased returns each text once, in lower case, in the order of first occurrence', () => {
  expect(lowerCased(['Yes', 'NO', 'yes', 'ÄÖ', 'äö', 'I', 'i'])).toEqual(['yes', 'no', 'äö', 'i']);
});

describe('a length', () => {
  const short = v.pipe(v.string(), atMost(3));

  test.each(['', 'abc', 'é😀ñ', '😀😀😀'])('counts Unicode code points: %j has at most 3', (value) => {
    expect(errorOf(short, value)).toBeUndefined();
  });

  test.each(['abcd', '😀😀😀😀', 'ab😀c', 'a'.repeat(10_000)])('over the limit is rejected: %j', (value) => {
    expect(errorOf(short, value)).toBe('must have at most 3 characters');
  });
});

describe('a phone number', () => {
  test.each(['1234567', '27821234567', '123456789012345', '242057173992'])('has 7 to 15 digits: %s', (value) => {
    expect(v.parse(phoneNumber, value)).toBe(value);
  });

  test.each(['', '123456', '1234567890123456', '+27821234567', '27 82 123 4567', '27821234567\n', '٢٧٨٢١٢٣٤'])(
    'is not %j',
    (value) => {
      expect(errorOf(phoneNumber, value)).toContain('7 to 15 digits');
    },
  );

  test.each<[value: string, fault: string | undefined]>([
    ['0821234567', 'begins with 0: replace this zero by the country code'],
    ['0000000', 'begins with 00: remove these zeros before the country code'],
    ['0027821234567', 'begins with 00: remove these zeros before the country code'],
    ['+27821234567', 'contains +'],
    [' 27821234567', 'contains spaces, and begins with a space, which + means in queries and forms'],
    ['27 82 123 4567', 'contains spaces'],
    ['27-82-123-4567', 'contains separators'],
    ['(27) 82/123.4567', 'contains spaces, separators'],
    ['27\u201182\u20111234567', 'contains separators'],
    ['27\u200b821234567', 'contains invisible characters (U+200B)'],
    ['27\u00a0821234567', 'contains invisible characters (U+00A0)'],
    ['\u202a27821234567\u202c', 'contains invisible characters (U+202A, U+202C)'],
    ['\ufeff27821234567', 'contains invisible characters (U+FEFF)'],
    ['27821234567\n', 'contains invisible characters (U+000A)'],
    ['27821234567\u2066\u2067\u2068\u2069', 'contains invisible characters (U+2066, U+2067, U+2068)'],
    ['\u3164\u{e0041}27821234567', 'contains invisible characters (U+3164, U+E0041)'],
    [
      '2.78E+10',
      'was changed to a power of ten by a spreadsheet: format the column as text, and enter the number again',
    ],
    [
      '2,78212E+10',
      'was changed to a power of ten by a spreadsheet: format the column as text, and enter the number again',
    ],
    ['27821234567.0', 'has decimal places, as from a spreadsheet: format the column as text'],
    ['٢٧٨٢١٢٣٤', 'contains digits other than 0 to 9'],
    ['tel:27821234567', 'contains letters, other signs'],
    ["'27821234567", 'contains other signs'],
    ['+0821234567', 'contains +, and begins with 0: replace this zero by the country code'],
    ['123456', undefined],
    ['', undefined],
  ])('that is not valid is an error which names the fault: %j', (value, fault) => {
    const rule = 'must be a phone number in international format without +: 7 to 15 digits';
    expect(errorOf(phoneNumber, value)).toBe(fault === undefined ? rule : `${rule}; it ${fault}`);
  });

  test('of any other text has an error that is short, and quotes no two digits in a row', { tags: 'long' }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9+ ().-]{20,200}$/)), (value) => {
        const error = errorOf(phoneNumber, value)?.replaceAll(/U\+[0-9A-F]+|15|begins with 00/g, '');
        expect(error === undefined || (error.length < 300 && !/\d\d/.test(error))).toBe(true);
      }),
    );
  });
});

describe('a phone number or an id', () => {
  test.each(['27821234567', '01890000-0000-4000-8000-000000000000', '12345678-1234-4234-8234-123456789012', 'x', ''])(
    'may be %j',
    (value) => {
      expect(v.parse(numberOrId, value)).toBe(value);
    },
  );

  test.each(['+27821234567', ' 27821234567', '0821234567', '27 82 123 4567', '2.78E+10', '\u200b27821234567', '123'])(
    'is not %j, which is meant as a number',
    (value) => {
      expect(errorOf(numberOrId, value)).toContain('7 to 15 digits');
    },
  );

  test('is checked in a time that is in proportion to its length', () => {
    expect(v.is(numberOrId, `${'1'.repeat(1_000_000)}x`)).toBe(true);
  });
});

describe('a phone number of a chat platform', () => {
  test.each([
    ['27821234567', '27821234567'],
    ['+27821234567', '27821234567'],
    ['1234567', '1234567'],
    ['+123456789012345', '123456789012345'],
  ])('may begin with a +, which is removed: %s', (given, number) => {
    expect(v.parse(phoneNumberOrPlus, given)).toBe(number);
  });

  test.each(['', '+', '++27821234567', '27821234567+', ' +27821234567', '+ 27821234567', '+123456', '+27821234567\n'])(
    'is not %j',
    (value) => {
      expect(errorOf(phoneNumberOrPlus, value)).toContain('7 to 15 digits');
    },
  );
});

describe('the content of a message', () => {
  test.each<[string, v.GenericSchema<string>, number]>([
    ['a text from a business', messageText, 4_096],
    ['a text from a user', receivedText, 65_536],
    ['the URL of an image or a file', mediaUrl, 2_048],
  ])('%s must be visible and within its maximum length', (_, schema, max) => {
    for (const longest of ['x'.repeat(max), '😀'.repeat(max)]) expect(v.parse(schema, longest)).toBe(longest);
    for (const tooLong of ['x'.repeat(max + 1), '😀'.repeat(max + 1)]) {
      expect(errorOf(schema, tooLong)).toBe(`must have at most ${max} characters`);
    }
    expect(v.parse(schema, ' a\n')).toBe(' a\n');
    expect(errorOf(schema, ' \n')).toBe('must not be empty or white space only');
    expect(errorOf(schema, 'a\ud83d')).toBe('must be valid Unicode: it holds half of a surrogate pair');
  });
});

describe('quick replies', () => {
  test.each<[string, string[]]>([
    ['none', []],
    ['one', ['Yes']],
    ['two that are the same', ['Yes', 'Yes']],
    ['ten of the maximum length together', [...Array(9).fill('😀'.repeat(409)), '😀'.repeat(415)]],
  ])('are accepted in order, up to ten: %s', (_, replies) => {
    expect(v.parse(quickReplies, replies)).toEqual(replies);
  });

  test.each<[string, string[], string]>([
    ['eleven', Array(11).fill('x'), 'must hold at most 10 quick replies'],
    ['an empty one', ['Yes', ''], 'must not be empty or white space only'],
    ['a blank one', ['Yes', ' '], 'must not be empty or white space only'],
    ['one that is too long', ['x'.repeat(4_097)], 'must have at most 4096 characters'],
    ['ten that are too long together', Array(10).fill('😀'.repeat(410)), 'must have at most 4096 characters together'],
  ])('are rejected: %s', (_, replies, error) => {
    expect(errorOf(quickReplies, replies)).toBe(error);
  });
});

describe('a whole number', () => {
  const schema = wholeNumber(1, 1_000);

  test.each([
    ['1', 1],
    ['1000', 1_000],
    ['007', 7],
  ])('is read from %s', (value, number) => {
    expect(v.parse(schema, value)).toBe(number);
  });

  test.each(['', '0', '1001', '-1', '+1', '1.0', '1e2', '0x10', ' 1', '1 ', '1\n', '٣', '9'.repeat(16), 'NaN'])(
    'is not %j',
    (value) => {
      expect(errorOf(schema, value)).toBe('must be a whole number from 1 to 1000');
    },
  );
});

describe('a UUID', () => {
  test('is accepted in upper case and returned in lower case', () => {
    expect(v.parse(uuid, '0190F3A0-7B1C-7D3E-8F00-00112233AABB')).toBe('0190f3a0-7b1c-7d3e-8f00-00112233aabb');
  });

  test.each(['', 'x', '0190f3a07b1c7d3e8f0000112233aabb', '{0190f3a0-7b1c-7d3e-8f00-00112233aabb}'])(
    'is not %j',
    (value) => {
      expect(errorOf(uuid, value)).toBe('must be a UUID');
    },
  );
});

describe('a day', () => {
  test.each(['2026-02-28', '2024-02-29', '2000-02-29', '1999-12-31', '9999-12-31'])(
    'that exists is accepted: %s',
    (day) => {
      expect(v.parse(calendarDay, day)).toBe(day);
    },
  );

  test.each([
    ...['2026-02-29', '2026-02-30', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-01', '2026-01-00', '0000-00-00'],
    // The calendar has no year 0.
    ...['0000-01-01', '0000-02-29'],
    ...['', '0000', '2026-2-3', '26-02-03', '2026-02', '2026-02-03T00:00:00Z', '12026-02-03', '-2026-02-03'],
    ...['2026/02/03', ' 2026-02-03', '2026-02-03\n', '2026-02-3x', '٢٠٢٦-٠٢-٠٣'],
  ])('that does not exist is rejected: %j', (day) => {
    expect(errorOf(calendarDay, day)).toBe('must be a day that exists, as YYYY-MM-DD');
  });
});

describe('a signing secret', () => {
  /** A secret of `bytes` bytes, with characters that differ between base64 and base64url. */
  const secretOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 0xfb).toString('base64')}`;

  test.each([24, 25, 26, 32, 64])('may have %i bytes', (bytes) => {
    expect(v.parse(signingSecret, secretOf(bytes))).toBe(secretOf(bytes));
  });

  test.each<[string, string]>([
    ['23 bytes', secretOf(23)],
    ['65 bytes', secretOf(65)],
    ['no bytes', 'whsec_'],
    ['no prefix', secretOf(24).slice(6)],
    ['another prefix', secretOf(24).replace('whsec', 'whpk')],
    ['the prefix in capitals', secretOf(24).replace('whsec_', 'WHSEC_')],
    ['base64url', `whsec_${Buffer.alloc(24, 0xfb).toString('base64url')}`],
    ['no padding', secretOf(25).replaceAll('=', '')],
    ['too much padding', `${secretOf(24)}=`],
    ['a space before', ` ${secretOf(24)}`],
    ['a line break after', `${secretOf(24)}\n`],
    ['nothing', ''],
  ])('is rejected with %s', (_, secret) => {
    expect(errorOf(signingSecret, secret)).toBe('must be whsec_ and 24 to 64 bytes in base64');
  });
});

describe("a destination's URL", () => {
  test.each(['https://example.com', 'https://example.com:8443/a/b?c=d#e', 'HTTPS://EXAMPLE.COM/', 'https://[::1]/'])(
    'is returned unchanged: %s',
    (url) => {
      expect(v.parse(destinationUrl, url)).toBe(url);
    },
  );

  const REFUSED = 'must be an https address, without user name or password';

  test.each([
    ...['', 'example.com', '/hook', '//example.com/', 'https://', 'https:', 'ftp://example.com/', 'file:///etc/passwd'],
    ...['https://user@example.com/', 'https://user:word@example.com/', 'https://:word@example.com/', 'javascript:0'],
    ...['http://user@127.0.0.1/', 'https://exa mple.com/', 'https://example.com:99999/'],
  ])('is rejected, even on the local stack: %s', (url) => {
    expect(errorOf(destinationUrl, url)).toBe(REFUSED);
    vi.stubEnv('ALLOW_LOOPBACK', 'true');
    expect(errorOf(destinationUrl, url)).toBe(REFUSED);
  });

  test('may be http only on the local stack', () => {
    expect(errorOf(destinationUrl, 'http://127.0.0.1:8080/')).toBe(REFUSED);
    vi.stubEnv('ALLOW_LOOPBACK', 'true');
    expect(errorOf(destinationUrl, 'http://127.0.0.1:8080/')).toBeUndefined();
  });
});
