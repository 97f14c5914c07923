/** A CSV file of panelists, as the operator's command reads it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPanelistFile } from '../../../infra/operator/panelist-file.ts';

const read = async (...lines: string[]) => {
  const { numbers, duplicates, bad } = await readPanelistFile(lines);
  return { numbers: [...numbers], duplicates, bad };
};

const A = '27820000001';
const B = '27820000002';
const C = '27820000003';
const NO_NUMBER = 'must be a phone number in international format without +: 7 to 15 digits';

const good: [promise: string, lines: string[]][] = [
  ['a header names the column', ['name,phone_number,city', `Ann,${A},Cape Town`, `Ben,${B},`]],
  ['without a header the numbers stand in the first column', [A, `${B},Ben`]],
  ['the header may be in capitals, quoted, and behind a byte order mark', ['\uFEFF"Phone_Number"', A, B]],
  ['a byte order mark may stand before the first number', [`\uFEFF${A}`, B]],
  ['empty lines are no rows', ['', 'phone_number,name', '', `${A},Ann`, '   ', ',,', `${B},Ben`, '']],
  ['numbers may be quoted', ['phone_number', `"${A}"`, `"${B}"`]],
  ['blanks around a cell do not matter', [' phone_number , name', ` ${A} , Ann`, `\t${B}\t,Ben`]],
  ['a cell may hold commas, quotes and line breaks', ['name,phone_number', `"Ann, ""A""`, `Smith",${A}`, `Ben,${B}`]],
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

test.each(bad)('the bad row %j is named by its line, and the others count', async (row, reason) => {
  const file = await read('phone_number,name', `${A},Ann`, '', row, `${B},Ben`);
  expect(file).toEqual({ numbers: [A, B], duplicates: 0, bad: [{ line: 4, reason }] });
});

test('a row without the column is bad', async () => {
  const file = await read('name,phone_number', `Ann,${A}`, 'Ben');
  expect(file).toEqual({ numbers: [A], duplicates: 0, bad: [{ line: 3, reason: 'has no phone number' }] });
});

test('a line is counted where its row begins, also after a row of several lines', async () => {
  const file = await read('phone_number,name', `${A},"Ann`, '', 'Smith"', 'x', `${B},Ben`);
  expect(file).toEqual({ numbers: [A, B], duplicates: 0, bad: [{ line: 5, reason: NO_NUMBER }] });
});

test('a quote that nobody closes costs one row of a long file', async () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => `${27_830_000_000 + index}`);
  const file = await read('phone_number', A, `"${B}`, ...numbers, `${C}"`);
  expect(file.numbers).toEqual([A, ...numbers]);
  expect(file.bad.map(({ line }) => line)).toEqual([3, 1_004]);
});

test('a number that comes again is taken once', async () => {
  expect(await read(A, B, A, `"${A}"`)).toEqual({ numbers: [A, B], duplicates: 2, bad: [] });
});

const unreadable: [what: string, lines: string[]][] = [
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

test('whatever the rows hold, bad ones are named once, in order, and never quoted', async () => {
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
