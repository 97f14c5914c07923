/**
 * `npm run mutation:sample -- 600 SEED`: mutation testing of mutants that a seed chooses, so that a score is known in half an
 * hour instead of three hours. Prints the score with its 95 % confidence interval and the mutants that survived. Ends
 * with 1 if the score is below 90 %.
 *
 * Stryker selects mutants by their place in a source, and so selects nested ones too. The runner skips all mutants that
 * were not chosen.
 */
import { spawnSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { instrument } from './excuses.ts';
import { identify, type MutantOf } from './mutant.ts';

interface Report {
  files: Record<string, { mutants: (MutantOf & { status: string })[] }>;
}

const LEAST = 0.9;
const FOLDER = '.local/mutation';

const size = Number(process.argv[2] ?? 600);
const seed = process.argv[3] ?? String(randomInt(2 ** 31));

const files = globSync('shared/**/*.ts').filter((file) => !file.startsWith('shared/api/openapi/'));
const all = (
  await Promise.all(
    files.toSorted().map(async (file) => {
      const mutants = await instrument(file, await readFile(file, 'utf8'));
      return mutants.filter(({ statusReason }) => statusReason === undefined).map((mutant) => ({ file, mutant }));
    }),
  )
).flat();

const rank = (id: string): string => createHash('sha256').update(`${seed} ${id}`).digest('hex');
const chosen = all
  .map(({ file, mutant }) => ({ file, mutant, id: identify(file, mutant, 0) }))
  .map((one) => ({ ...one, rank: rank(one.id) }))
  .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
  .slice(0, size);

const ranges = chosen.map(
  ({
    file,
    mutant: {
      location: { start, end },
    },
  }) => `${file}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`,
);
const MUTATION_SAMPLE = resolve(FOLDER, 'sample.json');
await mkdir(FOLDER, { recursive: true });
await writeFile(MUTATION_SAMPLE, JSON.stringify(chosen.map(({ id }) => id)));
const args = ['run', 'test/mutation/stryker.config.mjs', '--mutate', [...new Set(ranges)].join(',')];
// The results of skipped mutants must not be kept.
args.push('--force', '--incrementalFile', join(FOLDER, 'sample-incremental.json'));
spawnSync('stryker', args, { stdio: 'inherit', env: { ...process.env, MUTATION_SAMPLE } });

const report: Report = JSON.parse(await readFile(join(FOLDER, 'report.json'), 'utf8'));
const ids = new Set(chosen.map(({ id }) => id));
const reported = Object.entries(report.files).flatMap(([file, { mutants }]) =>
  mutants.filter((mutant) => ids.has(identify(file, mutant, 1))).map((mutant) => ({ file, ...mutant })),
);
const isStatic = reported.filter(({ statusReason }) => statusReason?.startsWith('Static mutant')).length;
const found = reported.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
const survivors = reported.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
const tried = found + survivors.length;

/** Wilson's interval of a share, at 95 %. */
const interval = (hits: number, of: number): [low: number, high: number] => {
  const z = 1.96;
  const share = hits / of;
  const middle = share + z ** 2 / (2 * of);
  const half = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  return [(middle - half) / (1 + z ** 2 / of), (middle + half) / (1 + z ** 2 / of)];
};

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [low, high] = interval(found, tried);
for (const { file, mutatorName, replacement = '', location, status } of survivors)
  say(
    `${status}: ${file}:${location.start.line}:${location.start.column} ${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ')}`,
  );
say(`${isStatic} static mutants of the sample are left out: they run when a module is loaded.`);
say(
  `${found} of ${tried} found: ${percent(found / tried)} (95 % confidence: ${percent(low)} to ${percent(high)}); seed ${seed}, of ${all.length} mutants.`,
);
if (tried < size / 2 || found / tried < LEAST) process.exitCode = 1;
