import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decode, parseTable } from '../../../infra/portal/campaigns/csv.ts';
import { columnsOf, guessReading, peopleInTable, peopleInText } from '../../../infra/portal/campaigns/people.ts';

const cellsOf = (text: string) => {
  const table = parseTable(text);
  return 'rows' in table ? table.rows.map(({ cells }) => cells) : table;
};

const tableOf = (text: string) => {
  const table = parseTable(text);
  if ('fault' in table) throw new Error(table.fault);
  return table;
};

describe('a table', () => {
  test.each([',', ';', '\t', '|'])('has cells between %j', (separator) => {
    const text = `phone${separator}name\n27821234567${separator}Thandi`;
    expect(cellsOf(text)).toEqual([
      ['phone', 'name'],
      ['27821234567', 'Thandi'],
    ]);
  });

  test.each(['\n', '\r\n', '\r'])('has rows between %j', (end) => {
    expect(cellsOf(`phone,name${end}1,a${end}2,b${end}`)).toEqual([
      ['phone', 'name'],
      ['1', 'a'],
      ['2', 'b'],
    ]);
  });

  test('may have quotes, and in them separators, quotes and line breaks', () => {
    expect(cellsOf('phone,name\n1,"Mokoena, ""Thandi"""\n2,"two\r\nlines" \n3,5" pipe')).toEqual([
      ['phone', 'name'],
      ['1', 'Mokoena, "Thandi"'],
      ['2', 'two\r\nlines'],
      ['3', '5" pipe'],
    ]);
  });

  test('knows the line of each row, also after empty lines and cells of several lines', () => {
    const table = tableOf('phone,name\n\n1,"two\nlines"\n,\n2,b');
    expect(table.rows.map(({ line }) => line)).toEqual([1, 3, 6]);
  });

  test('may begin with a byte order mark, and with the separator as Excel names it', () => {
    expect(cellsOf('\ufeffphone,name')).toEqual([['phone', 'name']]);
    expect(tableOf('\ufeffsep=;\r\nphone;name\r\n1;a,b').rows).toEqual([
      { line: 2, cells: ['phone', 'name'] },
      { line: 3, cells: ['1', 'a,b'] },
    ]);
  });

  test('with a semicolon may have commas in its cells', () => {
    expect(cellsOf('phone;text\n1;a, b, c\n2;d')).toEqual([
      ['phone', 'text'],
      ['1', 'a, b, c'],
      ['2', 'd'],
    ]);
  });

  test('may have one column', () => {
    expect(cellsOf('phone\n27821234567\n')).toEqual([['phone'], ['27821234567']]);
  });

  test.each([
    ['', { fault: 'empty' }],
    [' \n,,\n', { fault: 'empty' }],
    ['phone,name\n1,a\n2,"b\n3,c', { fault: 'quote', line: 3 }],
  ])('cannot be %j', (text, fault) => {
    expect(parseTable(text)).toEqual(fault);
  });

  test('that is written with quotes is read as it was', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'ab",;\n\t |') }).map((text) => text.trim());
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const text = rows.map((cells) => cells.map(quoted).join(',')).join('\n');
        const filled = rows.filter((cells) => cells.some((one) => one !== ''));
        expect(cellsOf(`sep=,\n${text}`)).toEqual(filled.length === 0 ? { fault: 'empty' } : filled);
      }),
    );
  });
});

describe('a file', () => {
  test.each([
    ['UTF-8', [0x4a, 0xc3, 0xbc], 'Jü'],
    ['Windows-1252', [0x4a, 0xfc], 'Jü'],
    ['UTF-16, little end first', [0xff, 0xfe, 0x4a, 0, 0xfc, 0], 'Jü'],
    ['UTF-16, big end first', [0xfe, 0xff, 0, 0x4a, 0, 0xfc], 'Jü'],
  ])('is read in %s', (_, bytes, text) => {
    expect(decode(new Uint8Array(bytes))).toBe(text);
  });

  test.each([
    ['a workbook of Excel', [0x50, 0x4b, 3, 4, 20], 'workbook'],
    ['an old workbook of Excel', [0xd0, 0xcf, 0x11, 0xe0], 'workbook'],
    ['a picture', [0x89, 0x50, 0x4e, 0x47, 0, 0], 'binary'],
    ['a PDF', [0x25, 0x50, 0x44, 0x46], 'binary'],
  ])('is no text if it is %s', (_, bytes, fault) => {
    expect(decode(new Uint8Array(bytes))).toEqual({ fault });
  });
});

describe('the people of a table', () => {
  const numbered = (place: number) => `Column ${place}`;

  test.each([
    ['name,phone\nThandi,27821234567', { column: 1, hasHeader: true }],
    ['Thandi,27821234567\nSipho,27821234568', { column: 1, hasHeader: false }],
    ['27821234567', { column: 0, hasHeader: false }],
    ['id_number,mobile\n8001015009087,0821234567\n8001015009088,0821234568', { column: 1, hasHeader: true }],
    ['age,who\n25,2.78E+10\n31,0821234568', { column: 1, hasHeader: true }],
    ['name,town\nThandi,Cape Town', { column: 0, hasHeader: true }],
  ])('are found: %j', (text, reading) => {
    expect(guessReading(tableOf(text))).toEqual(reading);
  });

  test('have columns with different names, also where the header has none', () => {
    const table = tableOf('name,Name,,{x}\n1,2,3,4,5');
    expect(columnsOf(table, true, numbered)).toEqual(['name', 'Name 2', 'Column 3', 'x', 'Column 5']);
    expect(columnsOf(table, false, numbered)).toEqual(['Column 1', 'Column 2', 'Column 3', 'Column 4', 'Column 5']);
  });

  test('are each in one of three lists, and a number that is there again has the values of its first row', () => {
    const table = tableOf('phone,name\n27821234567,Thandi\n+27 82 123 4567,Again\nnobody,Sipho\n,Ayesha\n27821234568');
    expect(peopleInTable(table, { hasHeader: true, column: 0 }, ['phone', 'name'], '')).toEqual({
      people: [
        { phone: '27821234567', line: 2, values: ['27821234567', 'Thandi'] },
        { phone: '27821234568', line: 6, values: ['27821234568', ''] },
      ],
      repeated: [{ line: 3, phone: '27821234567' }],
      invalid: [
        { line: 4, text: 'nobody', fault: 'letters' },
        { line: 5, text: '', fault: 'empty' },
      ],
      columns: ['phone', 'name'],
    });
  });

  test('are those of a typed list without columns', () => {
    expect(peopleInText('0821234567, 27821234567', '27')).toEqual({
      people: [{ phone: '27821234567', line: 1, values: [] }],
      repeated: [{ line: 1, phone: '27821234567' }],
      invalid: [],
      columns: [],
    });
  });
});
