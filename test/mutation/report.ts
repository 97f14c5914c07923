/**
 * Prints the results of a mutation run: the mutants that survived, and the score of each layer. Exits with 1 if the score of
 * a layer is below its minimum. Mutants that no unit test reaches are left out: the stack tests reach them.
 */
import { readFile } from 'node:fs/promises';

interface Mutant {
  mutatorName: string;
  replacement?: string;
  status: string;
  location: { start: { line: number } };
}

interface Report {
  files: Record<string, { mutants: Mutant[] }>;
}

/** The layers, with the minimum share of mutants that tests must find, in percent. */
const layers = [
  { name: 'HTTP layer (shared/{http,api}/)', files: /^shared\/(http|api)\//, min: 90 },
  {
    name: 'Domains (all other folders)',
    files: /^shared\/(?!(http|api|destinations|table|core|telemetry|validation)\/)/,
    min: 90,
  },
  { name: 'Destinations (shared/destinations/)', files: /^shared\/destinations\//, min: 90 },
  { name: 'Table (shared/table/)', files: /^shared\/table\//, min: 90 },
  {
    name: 'Foundation (shared/{core,telemetry,validation}/)',
    files: /^shared\/(core|telemetry|validation)\//,
    min: 90,
  },
];

const FOUND = ['Killed', 'Timeout'];
const MISSED = ['Survived'];

const report: Report = JSON.parse(await readFile('.local/mutation/report.json', 'utf8'));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

for (const [file, { mutants }] of Object.entries(report.files)) {
  for (const { mutatorName, replacement = '', status, location } of mutants) {
    if (!MISSED.includes(status)) continue;
    const code = replacement.replaceAll(/\s+/g, ' ').slice(0, 80);
    print(`Survived: ${file}:${location.start.line} ${mutatorName}: ${code}`);
  }
}
for (const { name, files, min } of layers) {
  const mutants = Object.entries(report.files).flatMap(([file, of]) => (files.test(file) ? of.mutants : []));
  const count = (statuses: string[]): number => mutants.filter(({ status }) => statuses.includes(status)).length;
  const [found, missed] = [count(FOUND), count(MISSED)];
  const score = (100 * found) / Math.max(found + missed, 1);
  print(`${score.toFixed(1).padStart(5)} % of at least ${min} %  ${name}: ${found} found, ${missed} survived`);
  if (score < min) process.exitCode = 1;
}
