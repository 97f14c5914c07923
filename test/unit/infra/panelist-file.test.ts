/** The CSV file of panelists that the operator's import command reads. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskedValue, readPanelistFile } from '../../../infra/operator/people/panelist-file.ts';
import { textFileOf } from '../../../infra/operator/people/text-file.ts';

const read = (...lines: string[]) => {
  const { numbers, duplicates, bad } = readPanelistFile(lines);
  return { numbers: [...numbers], duplicates, bad: bad.map(({ line, reason }) => ({ line, reason })) };
};

const A = '27820000001';
const B = '27820000002';
const C = '27820000003';
const NO_NUMBER = expect.stringContaining('must be a phone number in international format without +: 7 to 15 digits');

const good: [title: string, lines: string[]][] = [
  ['the header selects the column', ['name,phone_number,city', `Ann,${A},Cape Town`, `Ben,${B},`]],
  ['without a header, numbers are read from the first column', [A, `${B},Ben`]],
  ['the header may be in capitals, quoted, and after a byte order mark', ['\uFEFF"Phone_Number"', A, B]],
  ['a byte order mark before the first number is ignored', [`\uFEFF${A}`, B]],
  ['empty lines are ignored', ['', 'phone_number,name', '', `${A},Ann`, '   ', ',,', `${B},Ben`, '']],
  ['numbers may be quoted', ['phone_number', `"${A}"`, `"${B}"`]],
  ['white space around a cell is ignored', [' phone_number , name', ` ${A} , Ann`, `\t${B}\t,Ben`]],
  [
    'a cell may contain commas, quotes and line breaks',
    ['name,phone_number', `"Ann, ""A""`, `Smith",${A}`, `Ben,${B}`],
  ],
  ['semicolons may separate columns', ['name;phone_number', `"Doe; A";${A}`, `Doe, B;${B}`]],
  ['semicolons are recognised after a first row without one', [A, `${B};Ben`]],
  ['tabs may separate columns', ['name\tphone_number', `Ann, A\t${A}`, `"Ben"\t${B}`]],
  ['rows that begin with # are comments', ['# panelists', 'phone_number', '# line 3: it is wrong', A, '"# 4, 5"', B]],
];

test.each(good)('%s', (_promise, lines) => {
  expect(read(...lines)).toEqual({ numbers: [A, B], duplicates: 0, bad: [] });
});

const bad: [row: string, reason: string][] = [
  ['abc,Ann', NO_NUMBER],
  [`+${C},Ann`, NO_NUMBER],
  ['0820000003,Ann', expect.stringContaining('begins with 0: replace this zero by the country code')],
  ['2.782E+10,Ann', expect.stringContaining('was changed to a power of ten by a spreadsheet')],
  ['123456,Ann', NO_NUMBER],
  ['1234567890123456,Ann', NO_NUMBER],
  ['2782 000 0003,Ann', NO_NUMBER],
  ['٢٧٨٢٠٠٠٠٠٠٣,Ann', NO_NUMBER],
  [',Ann', 'has no phone number'],
  [`"${C},Ann`, 'has an unbalanced quote'],
  [`${C}"x",Ann`, 'has an unbalanced quote'],
  [`"${C}"x,Ann`, 'has an unbalanced quote'],
];

test.each(bad)('the bad row %j is reported by its line number, and the other rows are imported', (row, reason) => {
  const file = read('phone_number,name', `${A},Ann`, '', row, `${B},Ben`);
  expect(file).toEqual({ numbers: [A, B], duplicates: 0, bad: [{ line: 4, reason }] });
});

test('a row that is too short for the column is bad', () => {
  const file = read('name,phone_number', `Ann,${A}`, 'Ben');
  expect(file).toEqual({ numbers: [A], duplicates: 0, bad: [{ line: 3, reason: 'has no phone number' }] });
});

test('a bad row is reported by its first line, even after a row of several lines', () => {
  const file = read('phone_number,name', `${A},"Ann`, '', 'Smith"', 'x', `${B},Ben`);
  expect(file).toEqual({ numbers: [A, B], duplicates: 0, bad: [{ line: 5, reason: NO_NUMBER }] });
});

test('an unclosed quote costs one row of a long file', () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => `${27_830_000_000 + index}`);
  const file = read('phone_number', A, `"${B}`, ...numbers, `${C}"`);
  expect(file.numbers).toEqual([A, ...numbers]);
  expect(file.bad.map(({ line }) => line)).toEqual([3, 1_004]);
});

test('a repeated number is imported once, and its repeats are counted', () => {
  expect(read(A, B, A, `"${A}"`)).toEqual({ numbers: [A, B], duplicates: 2, bad: [] });
});

const unreadable: [title: string, lines: string[]][] = [
  ['nothing', []],
  ['empty lines', ['', ' ']],
  ['a header without the column', ['name,number', `Ann,${A}`]],
  ['a comment alone', ['# phone_number']],
  ['a first number with +', [`+${A}`, B]],
  ['a first row with a broken quote', [`"${A}`, B]],
];

test.each(unreadable)('a file that begins with %s is rejected', (_what, lines) => {
  expect(() => read(...lines)).toThrow(/must name a column "phone_number"/);
});

test.each(['Phone', 'phone number', 'PHONE-NUMBER', 'Phone No.', 'Mobile', 'cell phone', 'MSISDN', 'Telephone'])(
  'a column with the name "%s" contains the phone numbers',
  (name) => {
    expect(read(`Name,${name},City`, `Ann,${A},x`, `Ben,${B},y`)).toEqual({ numbers: [A, B], duplicates: 0, bad: [] });
  },
);

test('of several columns that may be meant, "phone_number" or the chosen one is read, and otherwise none', () => {
  expect(read('Phone,phone_number', `${C},${A}`).numbers).toEqual([A]);
  expect(() => read('Phone,Mobile', `${C},${A}`)).toThrow(
    'Several columns may contain the phone numbers: "Phone", "Mobile"',
  );
  expect([...readPanelistFile(['Phone,Mobile', `${C},${A}`], 'mobile').numbers]).toEqual([A]);
  expect([...readPanelistFile(['Work;Home', `${C};${A}`], 'Home').numbers]).toEqual([A]);
  expect(() => readPanelistFile([A, B], 'Home')).toThrow('names no column "Home"');
});

const encodings: [name: string, encode: (text: string) => Buffer][] = [
  ['UTF-8', (text) => Buffer.from(text)],
  ['UTF-8 with a mark', (text) => Buffer.from(`\uFEFF${text}`)],
  ['UTF-16LE', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['UTF-16BE', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
  ['Windows-1252', (text) => Buffer.from(text, 'latin1')],
];

test.each(encodings)('a file in %s is read, with any ends of lines', (name, encode) => {
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    const { lines, ...about } = textFileOf(encode(['Näme;Phone', `Zoë;${A}`, `Ben;${B}`, ''].join(lineEnd)), 'x');
    expect(lines.slice(0, 2)).toEqual(['Näme;Phone', `Zoë;${A}`]);
    expect(about).toEqual({ lineEnd, hasMark: /mark|UTF-16/.test(name) });
    expect(read(...lines)).toEqual({ numbers: [A, B], duplicates: 0, bad: [] });
  }
});

test.each<[what: string, bytes: Buffer, message: RegExp]>([
  ['a workbook', Buffer.from('PK\u0003\u0004xl/workbook.xml'), /^x is a workbook\. Save it as "CSV UTF-8"/],
  ['UTF-16 without a mark', Buffer.from('phone', 'utf16le'), /^x is no text/],
])('%s is refused with the remedy', (_, bytes, message) => {
  expect(() => textFileOf(bytes, 'x')).toThrow(message);
});

test('a bad row is reported with its lines and a masked value', () => {
  const { bad, header } = readPanelistFile(['Name;Phone', '"Ann', 'Smith";+27 82 000 0003', 'Ben;x']);
  expect(header).toBe('Name;Phone');
  expect(bad).toEqual([
    { line: 2, reason: NO_NUMBER, value: '+27 •• ••• ••03', text: ['"Ann', 'Smith";+27 82 000 0003'] },
    { line: 4, reason: NO_NUMBER, value: 'x', text: ['Ben;x'] },
  ]);
});

test.each([
  ['2.782E+10', '•.•••x+••'],
  ['0820000001', '08••••••01'],
  ['123456', '••••••'],
  ['Sipho Nkosi', 'xxxxx xxxxx'],
  ['٢٧٨٢٠٠٠٠٠٠٣', '•••••••••••'],
  ['1'.repeat(30), `11${'•'.repeat(18)}…`],
])('the value %s is shown as %s', (value, shown) => {
  expect(maskedValue(value)).toBe(shown);
});

test('with any rows, each bad row is reported once, in order, and never quoted', () => {
  const piece = fc.constantFrom(A, B, '"', ',', '""', 'Secret', ' ', '+', '\uFEFF');
  const row = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 130 }), (rows) => {
      const { numbers, duplicates, bad } = read('phone_number,name', ...rows, '', `${C},last`);
      expect(numbers.length + duplicates + bad.length).toBeLessThanOrEqual(rows.length + 1);
      expect(numbers.every((number) => [A, B, C].includes(number))).toBe(true);
      expect(JSON.stringify(bad)).not.toMatch(/Secret|27820/);
      const lines = bad.map(({ line }) => line);
      expect(lines).toEqual([...new Set(lines)].sort((one, other) => one - other));
    }),
  );
});
