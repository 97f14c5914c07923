/**
 * Tells what a mutation run found: the score of each layer, and each mutant that no test found with the reason why it
 * stays, as Markdown. Ends with 1 where a mutant has no reason, or a layer is below its least.
 */
import { readFile } from 'node:fs/promises';
import { explanations } from './explanations.ts';

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
  { name: 'HTTP layer', files: /^shared\/http\//, least: 85 },
  { name: 'Platforms', files: /^shared\/platforms\//, least: 85 },
  { name: 'Table', files: /^shared\/table\//, least: 0 },
  { name: 'Domain', files: /^shared\/[^/]+$/, least: 85 },
];

const FOUND = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];

const path = process.argv[2] ?? '.local/mutation/report.json';
const report: Report = JSON.parse(await readFile(path, 'utf8'));

/** A text on one line, cut where it is long. */
const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
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

const reasonOf = ({ file, code, mutator }: Survivor): string | undefined =>
  explanations.find((one) => one.file === file && code.includes(one.code) && (one.mutators?.includes(mutator) ?? true))
    ?.reason;

const scores = layers.map(({ name, files, least }) => {
  const mutants = Object.entries(report.files).flatMap(([file, of]) => (files.test(file) ? of.mutants : []));
  const found = mutants.filter(({ status }) => FOUND.includes(status)).length;
  const missed = mutants.filter(({ status }) => MISSED.includes(status)).length;
  const ignored = mutants.filter(({ status }) => status === 'Ignored').length;
  return { name, least, found, missed, ignored, score: (found / Math.max(found + missed, 1)) * 100 };
});

console.log('| layer | found | not found | left out | score |\n| --- | --- | --- | --- | --- |');
for (const { name, found, missed, ignored, score } of scores) {
  console.log(`| ${name} | ${found} | ${missed} | ${ignored} | ${score.toFixed(1)} % |`);
}

const byReason = Map.groupBy(survivors, reasonOf);
for (const [reason, mutants] of byReason) {
  console.log(`\n### ${reason ?? 'Not explained'}\n`);
  for (const { file, line, mutator, code, replacement } of mutants) {
    console.log(`- \`${file}:${line}\` ${mutator}: \`${short(code)}\` → \`${short(replacement) || 'nothing'}\``);
  }
}

const low = scores.filter(({ score, least }) => score < least);
if (byReason.has(undefined) || low.length > 0) process.exitCode = 1;
