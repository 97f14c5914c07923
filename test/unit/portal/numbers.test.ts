import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { numbersIn, parseNumber } from '../../../infra/portal/phone-numbers.ts';
import { NUMBER } from '../../../shared/validation/phone-numbers.ts';

describe('a number', () => {
  test.each([
    ['447700900001', '447700900001'],
    ['+447700900001', '447700900001'],
    ['00447700900001', '447700900001'],
    [' +44 7700 900001 ', '447700900001'],
    ['+44 (0)7700 900-001', '447700900001'],
    ['+44.7700/900001', '447700900001'],
    ['\u202a+27\u00a082\u00a0123\u00a04567\u202c', '27821234567'],
    ["'+27821234567", '27821234567'],
    ['27821234567.0', '27821234567'],
    ['27821234567,00', '27821234567'],
  ])('%j is read as %s', (text, phone) => {
    expect(parseNumber(text)).toEqual({ phone });
  });

  test.each([
    ['', 'empty'],
    [' - ', 'empty'],
    ['Thandi', 'letters'],
    ['+44 7700 90000x', 'letters'],
    ['٢٧٨٢١٢٣٤٥٦٧', 'signs'],
    ['27821234567#', 'signs'],
    ['2.78212E+10', 'power'],
    ['0821234567', 'national'],
    ['123456', 'short'],
    ['1234567890123456', 'long'],
    ['447700900001 447700900002', 'long'],
    ['<img src=x>', 'letters'],
  ])('%j is none: %s', (text, fault) => {
    expect(parseNumber(text)).toEqual({ fault });
  });

  test('in national format gets the country code that was given', () => {
    expect(parseNumber('082 123 4567', '27')).toEqual({ phone: '27821234567' });
    expect(parseNumber('+44 7700 900001', '27')).toEqual({ phone: '447700900001' });
    expect(parseNumber('00447700900001', '27')).toEqual({ phone: '447700900001' });
    expect(parseNumber('000821234567', '27')).toEqual({ fault: 'national' });
  });

  test('that is read is one that the API accepts', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789+ -().,eE/') }),
        fc.constantFrom('', '27'),
        (text, country) => {
          const parsed = parseNumber(text, country);
          if ('phone' in parsed) expect(parsed.phone).toMatch(NUMBER);
        },
      ),
    );
  });
});

describe('a list of numbers', () => {
  const phonesIn = (text: string) => numbersIn(text).map((entry) => ('phone' in entry ? entry.phone : entry.fault));

  test.each([
    '447700900001\n447700900002',
    '447700900001\r\n\r\n447700900002\r\n',
    '447700900001, 447700900002',
    '447700900001;447700900002;',
    '447700900001\t447700900002',
    '447700900001 447700900002',
    '+447700900001+447700900002',
    '+44 7700 900001 +44 7700 900002',
    '+44 7700 900001, +44 7700 900002',
    '"447700900001","447700900002"',
    '00447700900001 | 447700900002',
  ])('with any separators has each number: %j', (text) => {
    expect(phonesIn(text)).toEqual(['447700900001', '447700900002']);
  });

  test('keeps what is no number, with its line', () => {
    expect(numbersIn('447700900001\nThandi 27821234567\n\n12, 0821234567 0831234567')).toEqual([
      { line: 1, text: '447700900001', phone: '447700900001' },
      { line: 2, text: 'Thandi 27821234567', fault: 'letters' },
      { line: 4, text: '12', fault: 'short' },
      { line: 4, text: '0821234567', fault: 'national' },
      { line: 4, text: '0831234567', fault: 'national' },
    ]);
  });

  test('divides words of which one is no number', () => {
    expect(phonesIn('447700900001 447700900002 12')).toEqual(['447700900001', '447700900002', 'short']);
  });

  test('is empty without a text', () => {
    expect(numbersIn(' \n ,; ')).toEqual([]);
  });
});
