/** The outputs of commands in guides: which commands run, and what is replaced. */
import { expect, test } from 'vitest';
import { withOutputs } from '../../support/guide-outputs.ts';

const shell = { env: { PATH: process.env.PATH }, replacements: { 'http://127.0.0.1:45678': 'http://127.0.0.1:3000' } };

const guide = (...lines: string[]): string => lines.join('\n');

const written = (...lines: string[]): Promise<string> => withOutputs(guide(...lines), shell);

test('the lines below each command are replaced by its output, with stderr, and the rest of the guide stays', async () => {
  expect(
    await written(
      '# Guide',
      '',
      '```console',
      '$ echo one; echo two >&2',
      'old',
      'older',
      '$ true',
      'old',
      '$ echo 3',
      '```',
      'End.',
    ),
  ).toBe(
    guide(
      '# Guide',
      '',
      '```console',
      '$ echo one; echo two >&2',
      'one',
      'two',
      '$ true',
      '$ echo 3',
      '3',
      '```',
      'End.',
    ),
  );
});

test('commands share a shell, hidden ones run in their order, and other blocks do not run', async () => {
  const lines = [
    '<!-- $ NAME=Thandi -->',
    '```sh',
    '$ NAME=other',
    '```',
    '```console',
    '$ echo "$NAME"',
    'Thandi',
    '```',
  ];
  expect(await written(...lines)).toBe(guide(...lines));
});

test('ids, times, durations and URLs of the stack are replaced; an id has the same number everywhere', async () => {
  const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const output = async (text: string) =>
    (await written('```console', `$ printf '%s\\n' '${text}'`, '```')).split('\n')[2];
  expect(await output(`${one} ${other} ${one}`)).toBe(
    '0199a3f2-7c4e-7d10-8000-000000000001 0199a3f2-7c4e-7d10-8000-000000000002 0199a3f2-7c4e-7d10-8000-000000000001',
  );
  expect(await output('2027-03-04T05:06:07.123456Z 05:06:07.118 1795425158753')).toBe(
    '2027-01-31T12:00:00.000Z 12:00:00.000 1801396800000',
  );
  expect(await output('31 ms  delivery_ms=895 "request_ms":63 "ms":"7"')).toBe(
    '20 ms  delivery_ms=20 "request_ms":20 "ms":"20"',
  );
  expect(await output('http://127.0.0.1:45678/docs')).toBe('http://127.0.0.1:3000/docs');
});

test('the guide keeps its order of lines that come in another order, unless one differs', async () => {
  const block = (...lines: string[]) => ['```console', "$ printf 'b\\na\\n'", ...lines, '```'];
  expect(await written(...block('a', 'b'))).toBe(guide(...block('a', 'b')));
  expect(await written(...block('a', 'c'))).toBe(guide(...block('b', 'a')));
});

test('a command that ends the shell is named', async () => {
  await expect(written('```console', '$ exit 1', '$ echo never', '```')).rejects.toThrow(
    'This command of the guide did not end: exit 1',
  );
});

test.each([
  ['cost  US$ 50.00  this run of 40', 'cost   US$ 45.10  this run of 40', 'as it is'],
  ['cost  US$ 50.00  this run of 40', 'cost  US$ 40.00  this run of 40', 'replaced'],
  ['first limit  writes of table', 'first limit  a partition of gsi1', 'replaced'],
  ['rate  1,000', 'rate  1,090', 'as it is'],
  ['rate  1,000', 'rate  109', 'replaced'],
])('with a tolerance of 10 %%, a line "%s" is compared with "%s", and %s', async (before, after, fate) => {
  const lines = (line: string) => ['<!-- ± 10 % -->', '```console', `$ echo '${after}'`, line, '```'];
  expect(await written(...lines(before))).toBe(guide(...lines(fate === 'as it is' ? before : after)));
});

test('a tolerance is for one output', async () => {
  const lines = (two: number) => ['<!-- ± 50 % -->', '```console', '$ echo 10', '12', '$ echo 10', String(two), '```'];
  expect(await written(...lines(12))).toBe(guide(...lines(10)));
});
