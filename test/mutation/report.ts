/**
 * Writes the results of a mutation run to the guide on mutation tests: the number of static mutants, the score of each
 * layer, and each excuse. An excuse is a comment above its line, `// Stryker disable next-line MUTATOR: reason`. Exits
 * with 1 if a mutant without an excuse survived, or if a layer is below its minimum.
 */
import { readFile, writeFile } from 'node:fs/promises';

interface Mutant {
  mutatorName: string;
  replacement?: string;
  status: string;
  /** The reason if it is ignored. */
  statusReason?: string;
  location: { start: Position; end: Position };
}

interface Position {
  line: number;
  column: number;
}

interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

/** A mutant with the fields that the page shows. */
interface Shown {
  file: string;
  line: number;
  mutator: string;
  /** The original code, and below the mutant's. */
  code: string;
  replacement: string;
  reason: string | undefined;
}

/** The layers, in the order of the table, with the minimum share of mutants that tests must find, in percent. */
const layers = [
  { name: 'HTTP layer (`shared/{http,api}/`)', files: /^shared\/(http|api)\//, least: 90 },
  {
    name: 'Domains (all other folders)',
    files: /^shared\/(?!(http|api|platforms|table|core|telemetry|validation)\/)/,
    least: 90,
  },
  { name: 'Platforms (`shared/platforms/`)', files: /^shared\/platforms\//, least: 90 },
  { name: 'Table (`shared/table/`)', files: /^shared\/table\//, least: 90 },
  {
    name: 'Foundation (`shared/{core,telemetry,validation}/`)',
    files: /^shared\/(core|telemetry|validation)\//,
    least: 90,
  },
];

const FOUND = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];

/** Whether a mutant runs only when its module is loaded. */
const isStatic = ({ status, statusReason }: Mutant): boolean =>
  status === 'Ignored' && statusReason?.startsWith('Static mutant') === true;

const isExcused = (mutant: Mutant): boolean => mutant.status === 'Ignored' && !isStatic(mutant);

const PAGE = 'test/mutation/README.md';
/** The heading from which this program writes the page. */
const FROM = '## The score';

const report: Report = JSON.parse(await readFile(process.argv[2] ?? '.local/mutation/report.json', 'utf8'));

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A text on one line of at most 80 characters. */
const short = (text: string): string => {
  const line = onOneLine(text);
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
};

/** A text as inline code in Markdown, with a fence that does not occur in it. */
const code = (text: string): string => {
  const line = short(text);
  const ticks = new Set(Array.from(line.matchAll(/`+/g), ([run]) => run.length));
  const width = Array.from({ length: ticks.size + 1 }, (_, place) => place + 1).find((one) => !ticks.has(one)) ?? 1;
  const fence = '`'.repeat(width);
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

/** The mutants that match. */
const mutantsThat = (matches: (mutant: Mutant) => boolean): Shown[] =>
  Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.filter(matches).map(({ mutatorName: mutator, replacement = '', location, statusReason: reason }) => ({
      file,
      line: location.start.line,
      mutator,
      code: textAt(source, location),
      replacement,
      reason,
    })),
  );

const scores = layers.map(({ name, files, least }) => {
  const mutants = Object.entries(report.files).flatMap(([file, of]) => (files.test(file) ? of.mutants : []));
  const found = mutants.filter(({ status }) => FOUND.includes(status)).length;
  const missed = mutants.filter(({ status }) => MISSED.includes(status)).length;
  const excused = mutants.filter(isExcused).length;
  const left = mutants.filter(isStatic).length;
  return { name, least, found, missed, excused, static: left, score: (found / Math.max(found + missed, 1)) * 100 };
});

const rows = [
  ['layer', 'found', 'survived', 'excused', 'static', 'score', 'at least'],
  ...scores.map(({ name, least, found, missed, excused, static: left, score }) => [
    name,
    String(found),
    String(missed),
    String(excused),
    String(left),
    `${score.toFixed(1)} %`,
    `${least} %`,
  ]),
];
const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
const lineOf = (cells: string[]): string =>
  `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
const [head = [], ...body] = rows;

const excused = Map.groupBy(mutantsThat(isExcused), ({ reason }) => reason);
const survivors = mutantsThat(({ status }) => MISSED.includes(status));
const leftOut = mutantsThat(isStatic).length;

const lineOfMutant = ({ file, mutator, code: from, replacement }: Shown): string =>
  `- \`${file.replace('shared/', '')}\`, ${mutator}: ${code(from)} → ${code(replacement)}`;

const summary = `${leftOut} static mutants are left out: they run when a module is loaded. ${mutantsThat(isExcused).length} mutants are excused.`;

const written = [
  FROM,
  '',
  summary,
  '',
  ...[head, widths.map((width) => '-'.repeat(width)), ...body].map(lineOf),
  '',
  '## Excused mutants',
  '',
  'The code, and the code of the mutant, with the reason why no test can or needs to tell the two apart.',
  ...[...excused].flatMap(([reason = '', mutants]) => ['', `### ${reason}`, '', ...mutants.map(lineOfMutant)]),
  '',
].join('\n');

const page = await readFile(PAGE, 'utf8');
await writeFile(PAGE, `${page.slice(0, page.indexOf(FROM))}${written}`);

const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(summary);
for (const { name, score } of scores) print(`${score.toFixed(1).padStart(5)} %  ${name}`);
for (const { file, line, mutator, code, replacement } of survivors) {
  print(`Survived: ${file}:${line} ${mutator}: ${short(code)} → ${short(replacement) || 'nothing'}`);
}

const low = scores.filter(({ score, least }) => score < least);
if (survivors.length + low.length > 0) process.exitCode = 1;
