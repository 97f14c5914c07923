/**
 * Tells what a mutation run found, on the documentation's page: the score of each layer, and each mutant that no test
 * found with the reason why it stays. Ends with 1 where a mutant has no reason, a reason has no mutant, or a layer is
 * below its least.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { explanations, type Stays } from './explanations.ts';

interface Mutant {
  mutatorName: string;
  replacement?: string;
  status: string;
  location: { start: Position; end: Position };
}

interface Position {
  line: number;
  column: number;
}

interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

interface Survivor {
  file: string;
  line: number;
  mutator: string;
  /** What stands there, and what stood there instead. */
  code: string;
  replacement: string;
}

/** The layers, in the order of the table, with the least share of mutants that tests must find, in percent. */
const layers = [
  { name: 'HTTP layer (`shared/http/`)', files: /^shared\/http\//, least: 85 },
  { name: 'Domain (`shared/`)', files: /^shared\/[^/]+$/, least: 85 },
  { name: 'Platforms (`shared/platforms/`)', files: /^shared\/platforms\//, least: 85 },
  { name: 'Table (`shared/table/`)', files: /^shared\/table\//, least: 85 },
];

const FOUND = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];

const PAGE = 'infra/docs/mutation.md';
/** All that follows on the page is written here. */
const FROM = '## The score';

const report: Report = JSON.parse(await readFile(process.argv[2] ?? '.local/mutation/report.json', 'utf8'));

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** The same, cut where it is long. */
const short = (text: string): string => {
  const line = onOneLine(text);
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
};

/** As code in Markdown, whatever is in it. */
const code = (text: string): string => {
  const line = short(text);
  const fence = '`'.repeat(Math.max(0, ...Array.from(line.matchAll(/`+/g), ([ticks]) => ticks.length)) + 1);
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return line === '' ? 'nothing' : `${fence}${space}${line}${space}${fence}`;
};

const textAt = (source: string, { start, end }: Mutant['location']): string => {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  return lines.join('\n');
};

const survivors: Survivor[] = Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
  mutants
    .filter(({ status }) => MISSED.includes(status))
    .map(({ mutatorName: mutator, replacement = '', location }) => ({
      file,
      line: location.start.line,
      mutator,
      code: textAt(source, location),
      replacement,
    })),
);

const holds = ([inFile, stands, put]: Stays, { file, code, replacement }: Survivor): boolean =>
  file === `shared/${inFile}` && onOneLine(code) === stands && (put ?? replacement) === replacement;

const reasonOf = (survivor: Survivor): string | undefined =>
  explanations.find(({ mutants }) => mutants.some((one) => holds(one, survivor)))?.reason;

const scores = layers.map(({ name, files, least }) => {
  const mutants = Object.entries(report.files).flatMap(([file, of]) => (files.test(file) ? of.mutants : []));
  const found = mutants.filter(({ status }) => FOUND.includes(status)).length;
  const missed = mutants.filter(({ status }) => MISSED.includes(status)).length;
  const leftOut = mutants.filter(({ status }) => status === 'Ignored').length;
  return { name, least, found, missed, leftOut, score: (found / Math.max(found + missed, 1)) * 100 };
});

const rows = [
  ['layer', 'found', 'not found', 'left out', 'score', 'at least'],
  ...scores.map(({ name, least, found, missed, leftOut, score }) => [
    name,
    String(found),
    String(missed),
    String(leftOut),
    `${score.toFixed(1)} %`,
    `${least} %`,
  ]),
];
const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
const lineOf = (cells: string[]): string =>
  `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
const [head = [], ...body] = rows;

const byReason = Map.groupBy(survivors, reasonOf);
const unexplained = byReason.get(undefined) ?? [];
byReason.delete(undefined);

const stays = ({ file, code: from, replacement }: Survivor): string =>
  `- \`${file.replace('shared/', '')}\`: ${code(from)} → ${code(replacement)}`;

const written = [
  FROM,
  '',
  ...[head, widths.map((width) => '-'.repeat(width)), ...body].map(lineOf),
  '',
  '## Mutants that stay',
  '',
  'What stands in the source, and what a mutant puts there, with the reason why no test is to tell the two apart.',
  ...[...byReason].flatMap(([reason = '', mutants]) => ['', `### ${reason}`, '', ...mutants.map(stays)]),
  '',
].join('\n');

const page = await readFile(PAGE, 'utf8');
await writeFile(PAGE, `${page.slice(0, page.indexOf(FROM))}${written}`);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
for (const { name, score } of scores) say(`${score.toFixed(1).padStart(5)} %  ${name}`);
for (const { file, line, mutator, code, replacement } of unexplained) {
  say(`Not explained: ${file}:${line} ${mutator}: ${short(code)} → ${short(replacement) || 'nothing'}`);
}
const useless = explanations
  .flatMap(({ mutants }) => mutants)
  .filter((one) => !survivors.some((survivor) => holds(one, survivor)));
for (const one of useless) say(`Explains nothing: ${one.join(' ')}`);

const low = scores.filter(({ score, least }) => score < least);
if (unexplained.length + useless.length + low.length > 0) process.exitCode = 1;
