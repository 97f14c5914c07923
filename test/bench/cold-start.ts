/**
 * The duration of a cold start of each function, compared with a bundle of the plain SDK that reads one item, as Lambda has
 * it: init runs at full speed, and the first call with the share of a processor that the memory buys. Each start has a new
 * process, starts alternate, and the figures are medians of ratios. If the first call of a function makes one call of the
 * table, like the plain bundle, it is measured too. `BENCH_STARTS` sets the number of starts, `BENCH_FUNCTIONS` selects
 * functions, and `BENCH_BEFORE` is a folder with an earlier version of this repository, whose functions take part.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { bundleFunctions } from '../../infra/bundle/bundle.ts';
import { createAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { createProfiler } from '../../shared/profilers/profilers.ts';
import { accountKey } from '../../shared/table/keys.ts';
import { startRequest } from '../../shared/user-data/requests.ts';
import { updateUser } from '../../shared/users/users.ts';
import { openProcessorShare } from './cold-start/processor-share.ts';
import { type Contestant, type Start, shareOf, startCold } from './cold-start/start.ts';
import { authorizing, requestOf, wakingUp } from './events.ts';
import { openParts } from './parts.ts';
import { listPriceOf } from './prices.ts';
import { type Figure, median, quantile, ratios, report, say } from './report.ts';

const STARTS = Number(process.env.BENCH_STARTS ?? 15);
const CHOSEN = process.env.BENCH_FUNCTIONS?.split(',');
/** The plain bundle starts before every second function, so that other load on the machine affects both. */
const GROUP = 2;
const GOAL = { goal: { atMost: 0.5 } } as const;

/** The memory that the functions are compared at, and the sizes that are compared for some of them. */
const MEMORY = 512;
const SIZES = [256, 512, 1_024, 1_769];
const SIZED = ['readProfiler', 'authorizer', 'deliver'];
/** Warm calls after the first one, for the comparison of sizes. */
const WARM = 20;

/** Milliseconds of the busy loop that measures the precision of the model. */
const BUSY = 60;

const ACCOUNT = 'acme';
/** Its profilers are not in the other account's list, which so has one, as the plain bundle reads one item. */
const CREATOR = 'creator';
const PHONE = '27820000001';

const parts = await openParts('cold-start');
const processor = openProcessorShare();

const start = (contestant: Contestant, memory = MEMORY, warm = 0): Promise<Start> =>
  startCold(
    { ...contestant, environment: { ...parts.environment, ...contestant.environment } },
    { processor, memory, warm },
  );

/** Bundles the plain function with only the necessary options of esbuild. */
const buildPlain = async (): Promise<string> => {
  const outfile = join(parts.folder, 'plain', 'index.cjs');
  const source = fileURLToPath(new URL('./cold-start/plain.ts', import.meta.url));
  await build({ entryPoints: [source], outfile, bundle: true, minify: true, platform: 'node', target: 'node24' });
  return outfile;
};

/** Events of first calls that make one call of the table, by function. Each can be repeated. */
const firstCalls = async (): Promise<Record<string, unknown>> => {
  await createAccount({ name: 'Acme', id: ACCOUNT });
  const { token } = await issueToken(ACCOUNT, { label: 'bench', permissions: ['profilers'] });
  const profiler = await createProfiler(ACCOUNT, { question: 'Well?', options: ['yes', 'no'] });
  await updateUser('event', { phone_number: PHONE, properties: { first_name: { value: 'Ada', source: 'user' } } });
  const asked = { reason: 'Bench', data: [{ property: 'first_name' as const, required: false }] };
  const request = await startRequest(ACCOUNT, PHONE, asked, undefined);
  const day = new Date().toISOString().slice(0, 10);
  return {
    authorizer: authorizing(token),
    createProfiler: requestOf('createProfiler', CREATOR, { body: { question: 'Well?', options: ['yes', 'no'] } }),
    readProfiler: requestOf('readProfiler', ACCOUNT, { path: { id: profiler.id } }),
    listProfilers: requestOf('listProfilers', ACCOUNT),
    fetchUserData: requestOf('fetchUserData', ACCOUNT, { path: { id: request.id } }),
    listJobs: requestOf('listJobs', ACCOUNT, { query: { start_date: day, end_date: day } }),
    deliver: wakingUp({ direction: 'app', account: ACCOUNT, phone: '27820000002' }),
  };
};

const kilobytes = async (file: string): Promise<number> => Math.round((await stat(file)).size / 1024);

/** Measures starts of all functions, each with a recent start of the plain bundle for comparison. */
const measure = async (plain: Contestant, functions: Map<string, Contestant>) => {
  const found = new Map([...functions.keys()].map((name) => [name, { own: [] as Start[], plain: [] as Start[] }]));
  for (let round = 0; round < STARTS; round += 1) {
    say(`cold start ${round + 1} of ${STARTS}`);
    let beside = await start(plain);
    for (const [place, [name, contestant]] of [...functions].entries()) {
      if (place > 0 && place % GROUP === 0) beside = await start(plain);
      found.get(name)?.own.push(await start(contestant));
      found.get(name)?.plain.push(beside);
    }
  }
  return found;
};

/** How much longer the first call of a busy loop takes than the model says. */
const precision = async (): Promise<Figure> => {
  const bundle = fileURLToPath(new URL('./cold-start/busy.mjs', import.meta.url));
  const found: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const { call } = await start({ bundle, environment: {}, event: BUSY });
    found.push((call.elapsed * shareOf(MEMORY)) / call.processor);
  }
  return { what: `a busy loop, limited by ${processor.by}: times the model`, unit: '×', ...median(found) };
};

/** Time and price of cold and of warm calls by memory. Lambda bills init and call by memory. */
const compareSizes = async (functions: Map<string, Contestant>): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, contestant] of functions) {
    if (!SIZED.includes(name) || contestant.event === undefined) continue;
    for (const memory of SIZES) {
      const starts: Start[] = [];
      for (let round = 0; round < STARTS; round += 1) starts.push(await start(contestant, memory, WARM));
      const cold = median(starts.map(({ init, call }) => init.elapsed + call.elapsed));
      const warm = median(starts.map(({ warm: { elapsed } }) => elapsed / WARM));
      const price = (ms: number) => (ms / 1_000) * (memory / 1_024) * listPriceOf('gigabyteSecond') * 1e6;
      const what = `${name}, ${memory} MB`;
      figures.push(
        { what: `${what}: cold`, unit: 'ms', ...cold },
        { what: `${what}: a million cold starts`, unit: 'US$', value: price(cold.value) },
        { what: `${what}: warm`, unit: 'ms', ...warm },
        { what: `${what}: a million warm calls`, unit: 'US$', value: price(warm.value) },
      );
    }
  }
  return figures;
};

/** Bundles of an earlier version, by function; none, if there is no earlier version. */
const bundlesBefore = async (): Promise<Record<string, string>> => {
  const { BENCH_BEFORE: folder } = process.env;
  if (folder === undefined) return {};
  const earlier: { bundleFunctions: typeof bundleFunctions } = await import(
    pathToFileURL(join(folder, 'infra/bundle/bundle.ts')).href
  );
  return earlier.bundleFunctions(join(parts.folder, 'before'), 'minified');
};

const init = ({ init: { elapsed } }: Start): number => elapsed;
const whole = (one: Start): number => one.init.elapsed + one.call.elapsed;
const work = (one: Start): number => one.init.processor + one.call.processor / shareOf(MEMORY);

try {
  const plain = {
    bundle: await buildPlain(),
    environment: { TABLE_NAME: parts.table },
    event: accountKey(ACCOUNT),
  };
  const events = await firstCalls();
  const before = await bundlesBefore();
  const functions = new Map<string, Contestant>();
  for (const [name, { folder, environment }] of parts.functions) {
    if (CHOSEN !== undefined && !CHOSEN.includes(name)) continue;
    const event = events[name];
    functions.set(name, { bundle: join(folder, 'index.mjs'), environment, event });
    const earlier = before[name];
    if (earlier !== undefined) {
      functions.set(`before: ${name}`, { bundle: join(earlier, 'index.mjs'), environment, event });
    }
  }
  const figures: Figure[] = [await precision()];
  const found = await measure(plain, functions);
  const starts = [...found.values()].flatMap((one) => one.plain);
  figures.push(
    { what: `the plain bundle (${await kilobytes(plain.bundle)} KB): init`, unit: 'ms', ...median(starts.map(init)) },
    { what: 'the plain bundle: init and first call', unit: 'ms', ...median(starts.map(whole)) },
    {
      what: 'the plain bundle: processor time of the first call',
      unit: 'ms',
      value: quantile(
        starts.map(({ call }) => call.processor),
        0.5,
      ),
    },
  );
  for (const [name, { bundle, event }] of functions) {
    const { own = [], plain: beside = [] } = found.get(name) ?? {};
    const what = `${name} (${await kilobytes(bundle)} KB)`;
    const ratio = (value: (one: Start) => number) => median(ratios(own.map(value), beside.map(value)));
    figures.push({ what: `${what}: init, times the plain one's`, unit: '×', ...ratio(init) });
    if (event === undefined) continue;
    const goal = name.startsWith('before: ') ? {} : GOAL;
    figures.push(
      { what: `${what}: init and first call`, unit: '×', ...ratio(whole), ...goal },
      { what: `${what}: the same in processor time`, unit: '×', ...ratio(work) },
    );
  }
  report('cold start', [...figures, ...(await compareSizes(functions))]);
} finally {
  processor.close();
  await parts.close();
}
