/**
 * `npm run bench`: runs each benchmark in a separate process, one after the other. Prints all figures in one table, and
 * writes them to `.local/bench.json`. Arguments select benchmarks: `npm run bench http-layer queries`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';
import { isMet, type Report, say, table } from './report.ts';

const benches = {
  'http-layer': new URL('./http-layer.ts', import.meta.url),
  'cold-start': new URL('./cold-start.ts', import.meta.url),
  'hostile-bodies': new URL('./hostile-bodies.ts', import.meta.url),
  queries: new URL('./queries.ts', import.meta.url),
  'stored-rows': new URL('./stored-rows.ts', import.meta.url),
  capacity: new URL('./capacity.ts', import.meta.url),
  cost: new URL('./cost.ts', import.meta.url),
  count: new URL('./count.ts', import.meta.url),
  campaigns: new URL('./campaigns.ts', import.meta.url),
  latency: new URL('./latency.ts', import.meta.url),
  'fair-shares': new URL('./fair-shares.ts', import.meta.url),
  'user-data': new URL('./user-data.ts', import.meta.url),
  'rate-limit': new URL('./rate-limit.ts', import.meta.url),
  clock: new URL('./clock.ts', import.meta.url),
  growth: new URL('./growth.ts', import.meta.url),
};

/** Flags of Node.js for a benchmark. The file says why. */
const flags: Record<string, string[]> = { 'http-layer': ['--single-threaded-gc'] };

/** Runs a benchmark. Returns its report, or undefined if it failed. */
const run = async (file: URL, execArgv: string[] = []): Promise<Report | undefined> => {
  const child = fork(file, { execArgv });
  let found: Report | undefined;
  child.on('message', (report: Report) => {
    found = report;
  });
  // All messages have arrived when the channel is closed.
  const [[code]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  return code === 0 ? found : undefined;
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in benches));
if (unknown.length > 0) throw new Error(`There is no benchmark "${unknown[0]}": ${Object.keys(benches).join(', ')}.`);

const reports: Report[] = [];
const failed: string[] = [];
for (const [name, file] of Object.entries(benches)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  say(`— ${name}`);
  const found = await run(file, flags[name]);
  if (found === undefined) failed.push(name);
  else reports.push(found);
}

const missed = reports.flatMap(({ figures }) => figures).filter((figure) => isMet(figure) === false).length;
const file = join(localFolder, 'bench.json');
const machine = { cpu: cpus()[0]?.model ?? '', cores: availableParallelism(), node: process.version };
await mkdir(localFolder, { recursive: true });
await writeFile(file, `${JSON.stringify({ measured: new Date().toISOString(), machine, reports }, undefined, 2)}\n`);
process.stdout.write(`\n${table(reports)}\n\nGoals missed: ${missed}. The figures are in ${file}.\n`);
if (failed.length > 0) {
  process.stdout.write(`Failed without figures: ${failed.join(', ')}. Their errors are above.\n`);
  process.exitCode = 1;
}
