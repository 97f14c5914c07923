/** The CSV file of panelists that the operator's import command reads. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPanelistFile } from '../../../infra/operator/people/panelist-file.ts';

const read = async (...lines: string[]) => {
  const { numbers, duplicates, bad } = await readPanelistFile(lines);
  return { numbers: [...numbers], duplicates, bad };
};

const A = '27820000001';
const B = '27820000002';
const C = '27820000003';
const NO_NUMBER = 'must be a phone number in international format without +: 7 to 15 digits';

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
];

test.each(good)('%s', async (_promise, lines) => {
  expect(await read(...lines)).toEqual({ numbers: [A, B], duplicates: 0, bad: [] });
});

const bad: [row: string, reason: string][] = [
  ['abc,Ann', NO_NUMBER],
  [`+${C},Ann`, NO_NUMBER],
  ['123456,Ann', NO_NUMBER],
  ['1234567890123456,Ann', NO_NUMBER],
  ['2782 000 0003,Ann', NO_NUMBER],
  ['٢٧٨٢٠٠٠٠٠٠٣,Ann', NO_NUMBER],
  [',Ann', 'has no phone number'],
  [`"${C},Ann`, 'has an unbalanced quote'],
  [`${C}"x",Ann`, 'has an unbalanced quote'],
  [`"${C}"x,Ann`, 'has an unbalanced quote'],
];

test.each(bad)(
  'the bad row %j is reported by its line number, and the other rows are imported',
  async (row, reason) => {
    const file = await read('phone_number,name', `${A},Ann`, '', row, `${B},Ben`);
    expect(file).toEqual({ numbers: [A, B], duplicates: 0, bad: [{ line: 4, reason }] });
  },
);

test('a row that is too short for the column is bad', async () => {
  const file = await read('name,phone_number', `Ann,${A}`, 'Ben');
  expect(file).toEqual({ numbers: [A], duplicates: 0, bad: [{ line: 3, reason: 'has no phone number' }] });
});

test('a bad row is reported by its first line, even after a row of several lines', async () => {
  const file = await read('phone_number,name', `${A},"Ann`, '', 'Smith"', 'x', `${B},Ben`);
  expect(file).toEqual({ numbers: [A, B], duplicates: 0, bad: [{ line: 5, reason: NO_NUMBER }] });
});

test('an unclosed quote costs one row of a long file', async () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => `${27_830_000_000 + index}`);
  const file = await read('phone_number', A, `"${B}`, ...numbers, `${C}"`);
  expect(file.numbers).toEqual([A, ...numbers]);
  expect(file.bad.map(({ line }) => line)).toEqual([3, 1_004]);
});

test('a repeated number is imported once, and its repeats are counted', async () => {
  expect(await read(A, B, A, `"${A}"`)).toEqual({ numbers: [A, B], duplicates: 2, bad: [] });
});

const unreadable: [title: string, lines: string[]][] = [
  ['nothing', []],
  ['empty lines', ['', ' ']],
  ['a header without the column', ['name,number', `Ann,${A}`]],
  ['a first number with +', [`+${A}`, B]],
  ['a first row with a broken quote', [`"${A}`, B]],
  ['semicolons', [`phone_number;name`, `${A};Ann`]],
];

test.each(unreadable)('a file that begins with %s is rejected', async (_what, lines) => {
  await expect(read(...lines)).rejects.toThrow(/its first row names a column "phone_number"/);
});

test('with any rows, each bad row is reported once, in order, and never quoted', async () => {
  const piece = fc.constantFrom(A, B, '"', ',', '""', 'Secret', ' ', '+', '\uFEFF');
  const row = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 130 }), async (rows) => {
      const { numbers, duplicates, bad } = await read('phone_number,name', ...rows, '', `${C},last`);
      expect(numbers.length + duplicates + bad.length).toBeLessThanOrEqual(rows.length + 1);
      expect(numbers.every((number) => [A, B, C].includes(number))).toBe(true);
      expect(JSON.stringify(bad)).not.toMatch(/Secret|27820/);
      const lines = bad.map(({ line }) => line);
      expect(lines).toEqual([...new Set(lines)].sort((one, other) => one - other));
    }),
  );
});
