/**
 * What the operator's command shows on a terminal: tables that fit, times of the machine, and completion in shells.
 *
 * @module-tag long
 */
import { execFileSync, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { layoutOf, width, wrap } from '../../../infra/operator/terminal/table.ts';
import { showTimesInUtc, timeInWords } from '../../../infra/operator/terminal/times.ts';

afterEach(() => {
  showTimesInUtc(false);
  vi.unstubAllEnvs();
});

test('a table that fits keeps its widths, and a wider one wraps the cells with several words', () => {
  const rows = [
    ['ID', 'REASON'],
    ['0199a3f2-7c4e-7d10', 'the destination rejects the message'],
  ];
  expect(layoutOf(rows, undefined)).toEqual({ widths: [18, 35] });
  expect(layoutOf(rows, 55)).toEqual({ widths: [18, 35] });
  expect(layoutOf(rows, 40)).toEqual({ widths: [18, 20] });
  expect(wrap('the destination rejects the message', 20)).toEqual(['the destination', 'rejects the message']);
  expect(layoutOf(rows, 25)).toBe('lists');
});

test('a table is never wider than the terminal, and no word of a cell is broken', () => {
  const cell = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '-'), minLength: 1, maxLength: 12 }), {
    maxLength: 5,
  });
  const row = fc.tuple(cell, cell, cell).map((cells) => cells.map((words) => words.join(' ')));
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 120 }), (rows, limit) => {
      const layout = layoutOf(rows, limit);
      if (layout === 'lists') return;
      expect(layout.widths.reduce((sum, each) => sum + each + 2, -2)).toBeLessThanOrEqual(limit);
      for (const cells of rows) {
        for (const [index, text] of cells.entries()) {
          const lines = wrap(text, layout.widths[index] ?? 0);
          expect(lines.join(' ')).toBe(text);
          for (const line of lines) expect(width(line)).toBeLessThanOrEqual(layout.widths[index] ?? 0);
        }
      }
    }),
  );
});

test.each([
  ['UTC', 'minute', '2027-01-31 22:30 UTC'],
  ['Africa/Johannesburg', 'minute', '2027-02-01 00:30 +02:00'],
  ['Africa/Johannesburg', 'day', '2027-02-01'],
  ['America/St_Johns', 'second', '2027-01-31 19:00:15 -03:30'],
] as const)('in the zone %s, a time to the %s is %s, and in UTC with --utc', (zone, precision, words) => {
  vi.stubEnv('TZ', zone);
  for (const time of ['2027-01-31T22:30:15.118000', '2027-01-31T22:30:15Z']) {
    expect(timeInWords(time, precision)).toBe(words);
  }
  showTimesInUtc(true);
  expect(timeInWords('2027-01-31T22:30:15.118000', 'minute')).toBe('2027-01-31 22:30 UTC');
});

const script = (shell: string): string =>
  execFileSync(process.execPath, ['infra/operator/main.ts', 'completion', shell], { encoding: 'utf8' });

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

const completed: [line: string[], offered: string[], not: string[]][] = [
  [[''], ['account', 'token', 'completion', '--stack', '--version'], ['create']],
  [['account', ''], ['create', 'update', '--json'], ['revoke']],
  [['account', 'update', 'acme', '--pl'], ['--platform', '--platform-url'], ['--name']],
  [['account', 'update', 'acme', '--platform', ''], ['rapidpro', 'turn', 'webhook'], ['--name']],
  [['--json', 'token', 'revoke', '--'], ['--yes', '--stack'], ['--platform']],
  [['panelist', 'import', 'READ'], ['README.md'], ['LICENSE']],
];

/** What a shell offers for a command line. */
const offers: Record<string, (source: string, line: string[]) => string> = {
  bash: (source, line) =>
    execFileSync('bash', [
      '-c',
      `${source}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _business_api; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      'business-api',
      ...line,
    ]).toString(),
  // In place of zsh's completion system, the candidates are printed.
  zsh: (source, line) =>
    execFileSync('zsh', [
      '-fc',
      `compdef() { }; compadd() { shift; print -l -- \${(M)@:#\${words[CURRENT]}*} }; _files() { print -l -- \${words[CURRENT]}*(N) }
${source}\nwords=("$@"); CURRENT=$#; _business_api`,
      'zsh',
      'business-api',
      ...line,
    ]).toString(),
  fish: (source, line) =>
    execFileSync('fish', ['-c', `${source}\ncomplete -C "business-api $argv"`, ...line]).toString(),
};

test.each(Object.keys(offers))('the script for %s contains every command', (shell) => {
  expect(script(shell)).toMatch(/account create[\s\S]+token revoke[\s\S]+completion/);
});

// A shell that is not installed is skipped.
test.each(Object.entries(offers).filter(([shell]) => has(shell)))(
  '%s completes subcommands, options, values and files',
  (shell, offered) => {
    const source = script(shell);
    for (const [line, expected, not] of completed) {
      const words = offered(source, line)
        .split('\n')
        .map((word) => word.split('\t')[0]);
      expect(words, line.join(' ')).toEqual(expect.arrayContaining(expected));
      for (const one of not) expect(words, line.join(' ')).not.toContain(one);
    }
  },
);

test('the script of bash defines the command, which starts from any folder', { tags: 'long' }, () => {
  const ended = spawnSync('bash', ['-c', `${script('bash')}\nbusiness-api --version`], { cwd: '/', encoding: 'utf8' });
  expect(ended).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});
