/** Calls as programs, and bodies, as the page shows and copies them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parsePhone } from '../../infra/local/phone/page/data/phone-number.ts';
import { hasValues, linesOf, tokensOf } from '../../infra/local/phone/page/inspector/body.ts';
import { copyAs, type Language } from '../../infra/local/phone/page/inspector/copy-as.ts';
import { type Bridge, openBridge } from './support/simulator.ts';

const run = promisify(execFile);

let server: Bridge;

beforeEach(async () => {
  server = await openBridge();
  server.answerWith({ status: 200, body: '{"id":"m1"}' });
});

afterEach(() => server.close());

const programs: Record<Language, (text: string) => [string, string[]]> = {
  curl: (text) => ['bash', ['-c', `${text} --silent --show-error --fail`]],
  python: (text) => ['python3', ['-c', text]],
  javascript: (text) => [process.execPath, ['--input-type=module', '--eval', text]],
};

describe('a call copied as', () => {
  const works = async (language: Language): Promise<void> => {
    const body = JSON.stringify({ text: `It's "so" \\ $HOME \`x\` $TOKEN ${'\n'} é 😀` });
    const text = copyAs(language, {
      method: 'POST',
      origin: server.url,
      path: '/v1/webhook/turn/$TOKEN?a=1',
      headers: {
        authorization: 'Bearer $TOKEN',
        'content-type': 'application/json',
        'content-length': '1',
        'sec-fetch-site': 'same-origin',
      },
      body,
    });
    const [program, given] = programs[language](text);
    await run(program, given, { env: { ...process.env, TOKEN: 'bapi_1' } });
    expect(server.calls).toMatchObject([
      { method: 'POST', url: '/v1/webhook/turn/bapi_1?a=1', body, headers: { authorization: 'Bearer bapi_1' } },
    ]);
    expect(text).not.toContain('bapi_1');
  };
  const title = '%s works when pasted, and takes the token from TOKEN';
  test.each<Language>(['javascript'])(title, works);
  // Quick tests need only Node.js, git and sh.
  test.each<Language>(['curl', 'python'])(title, { tags: 'long' }, works);

  test('curl has no body and no method where the call has none', () => {
    const call = { method: 'GET', origin: 'http://h', path: '/v1/x', headers: {}, body: '' };
    expect(copyAs('curl', call)).toBe("curl 'http://h/v1/x'");
  });
});

describe('a body', () => {
  const body = JSON.stringify({ results: { first_name: { status: 'approved', value: 'Thandi' } }, to: '447700900001' });

  test('hides the values of people, and nothing else, until they are shown', () => {
    expect(hasValues(body)).toBe(true);
    expect(linesOf(body, 'application/json', false).join('')).not.toContain('Thandi');
    expect(linesOf(body, 'application/json', false).join('')).toContain('447700900001');
    expect(linesOf(body, 'application/json', true).join('')).toContain('"value": "Thandi"');
    expect(hasValues('{"to":"1"}')).toBe(false);
    expect(hasValues('no JSON')).toBe(false);
  });

  test('of a form has a line for each field, and other texts stay', () => {
    expect(linesOf('from=%2B1&text=a+b', 'application/x-www-form-urlencoded', false)).toEqual(['from=+1', 'text=a b']);
    expect(linesOf('(image/png, 12 bytes)', 'image/png', false)).toEqual(['(image/png, 12 bytes)']);
    expect(linesOf('', '', false)).toEqual([]);
  });

  test('shows names and texts of JSON apart', () => {
    expect(tokensOf('  "a": "b: \\"c\\"",').map(({ text, kind }) => [text, kind])).toEqual([
      ['  ', 'plain'],
      ['"a":', 'key'],
      [' ', 'plain'],
      ['"b: \\"c\\""', 'string'],
      [',', 'plain'],
    ]);
  });
});

test.each([
  ['447700900002', '447700900002'],
  ['+44 7700 900-002', '447700900002'],
  ['27 (82) 123.4567', '27821234567'],
  ['123456', undefined],
  ['1234567890123456', undefined],
  ['44 77x0 900002', undefined],
  ['++447700900002', undefined],
  ['', undefined],
])('the number %j is read as the API reads it', (text, phone) => {
  const parsed = parsePhone(text);
  expect('phone' in parsed ? parsed.phone : undefined).toBe(phone);
});
