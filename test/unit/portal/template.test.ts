import { expect, test } from 'vitest';
import { findTextFaults, lengthOf, templateOf } from '../../../infra/portal/campaigns/template.ts';

const columns = ['phone', 'First name', 'town'];
const person = (...values: string[]) => ({ phone: '27821234567', line: 2, values });

test('a template takes the values of the columns that it names, whatever their capitals', () => {
  const { fill, used, unknown } = templateOf('Molo {first name} of { Town }, {First name}!', columns);
  expect(fill(['1', 'Thandi', 'Langa'])).toBe('Molo Thandi of Langa, Thandi!');
  expect({ used, unknown }).toEqual({ used: [1, 2], unknown: [] });
});

test('values are texts: placeholders and signs in them stay as they are', () => {
  expect(templateOf('{town}', columns).fill(['1', 'x', '$& {phone} <b>'])).toBe('$& {phone} <b>');
});

test('placeholders of no column are unknown, and stay', () => {
  const { fill, unknown } = templateOf('{name} {} {name} {town}', columns);
  expect(unknown).toEqual(['name', '']);
  expect(fill(['1', 'x', 'Langa'])).toBe('{name} {} {name} Langa');
});

test('people without a value, with a text that is too long, or with none, are found', () => {
  const [complete, without, long] = [
    person('1', 'Thandi', 'Langa'),
    person('2', '', ''),
    person('3', 'x'.repeat(9), 'y'),
  ];
  const people = [complete, without, long];
  const template = templateOf('{First name}', columns);
  expect(findTextFaults(template, people, { columns, max: 8, mayBeBlank: false })).toEqual({
    empty: [{ column: 'First name', people: [without] }],
    tooLong: [long],
    blank: [without],
  });
  expect(findTextFaults(template, people, { columns, max: 8, mayBeBlank: true }).blank).toEqual([]);
});

test('an emoji is one character', () => {
  expect(lengthOf('👍👍')).toBe(2);
});
