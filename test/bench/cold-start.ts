/**
 * The duration of a cold start of each function, compared with a bundle of the plain SDK that makes the same calls of the
 * table, as Lambda has it: init runs at full speed, and the first call with the share of a processor that the memory buys.
 * Each start has a new process, starts alternate, and the figures are medians of ratios. `BENCH_STARTS` sets
 * the number of starts, `BENCH_FUNCTIONS` selects functions.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleOptions } from '../../infra/bundle/bundle.ts';
import { createAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { APP_NETWORK } from '../../shared/core/permissions.ts';
import { createProfiler } from '../../shared/profilers/profilers.ts';
import { startRequest } from '../../shared/user-data/requests.ts';
import { updateUser } from '../../shared/users/users.ts';
import { openProcessorShare } from './cold-start/processor-share.ts';
import { type Contestant, type Start, shareOf, startCold } from './cold-start/start.ts';
import { type Call, roundsOf, TableCalls } from './cold-start/table-calls.ts';
import { authorizing, requestOf, wakingUp } from './events.ts';
import { openParts } from './parts.ts';
import { listPriceOf } from './prices.ts';
import { type Figure, median, quantile, ratios, report, say } from './report.ts';

const STARTS = Number(process.env.BENCH_STARTS ?? 15);
const CHOSEN = process.env.BENCH_FUNCTIONS?.split(',');
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
/** Its profilers do not make the other account's list longer. */
const CREATOR = 'creator';
const PHONE = '27820000001';
const BOT = '27820000009';

const parts = await openParts('cold-start');
const { AWS_ENDPOINT_URL_DYNAMODB: database = '' } = parts.environment;
const { calls: tableCalls, url: AWS_ENDPOINT_URL_DYNAMODB } = await TableCalls.open(database);
const processor = openProcessorShare();
const folder = await mkdtemp(join(tmpdir(), 'cold-start-'));

/** A function with the calls of the table that its first call makes. */
interface Contender extends Contestant {
  calls: Call[];
}

const start = (contestant: Contestant, memory = MEMORY, warm = 0): Promise<Start> =>
  startCold(
    { ...contestant, environment: { ...parts.environment, AWS_ENDPOINT_URL_DYNAMODB, ...contestant.environment } },
    { processor, memory, warm },
  );

/** Bundles the plain SDK with only the necessary options of esbuild. */
const buildPlain = async (): Promise<Contestant> => {
  const outfile = join(folder, 'plain', 'index.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./cold-start/plain.ts', import.meta.url))],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
  });
  return { bundle: outfile, environment: {} };
};

/** Bundles our client of the table as our functions are. */
const buildBare = async (): Promise<Contestant> => {
  const outdir = join(folder, 'bare');
  const source = fileURLToPath(new URL('./cold-start/bare.ts', import.meta.url));
  const options = bundleOptions();
  await build({
    ...options,
    entryPoints: [{ in: `warm:get-item:${relative(options.absWorkingDir, source)}`, out: 'index' }],
    outdir,
  });
  return { bundle: join(outdir, 'index.mjs'), environment: { TABLE_NAME: parts.table } };
};

/** Events of first calls, by function. Each can be repeated. Of functions without one, only init is measured. */
const firstCalls = async (): Promise<Record<string, unknown>> => {
  await createAccount({ name: 'Acme', id: ACCOUNT, bot_number: BOT });
  const { token } = await issueToken(ACCOUNT, { label: 'bench', permissions: ['profilers'] });
  const profiler = await createProfiler(ACCOUNT, { question: 'Well?', options: ['yes', 'no'] });
  const properties = { first_name: { value: 'Ada', source: 'user' } };
  await updateUser('event', { phone_number: PHONE, panelist: true, properties });
  const asked = { reason: 'Bench', data: [{ property: 'first_name' as const, required: false }] };
  const asking = await startRequest(ACCOUNT, PHONE, asked, undefined);
  const day = new Date().toISOString().slice(0, 10);
  const answer = { profiler_id: profiler.id, option_id: profiler.options[0]?.id, phone_number: PHONE };
  const received = { from: PHONE, to: BOT, type: 'text', text: { body: 'Hello' } };
  return {
    authorizer: authorizing(token),
    createProfiler: requestOf('createProfiler', CREATOR, { body: { question: 'Well?', options: ['yes', 'no'] } }),
    readProfiler: requestOf('readProfiler', ACCOUNT, { path: { id: profiler.id } }),
    listProfilers: requestOf('listProfilers', ACCOUNT),
    fetchUserData: requestOf('fetchUserData', ACCOUNT, { path: { id: asking.id } }),
    listJobs: requestOf('listJobs', ACCOUNT, { query: { start_date: day, end_date: day } }),
    deliver: wakingUp({ direction: 'app', account: ACCOUNT, phone: '27820000002' }),
    answerProfiler: requestOf('answerProfiler', ACCOUNT, { body: answer }),
    readResults: requestOf('readResults', ACCOUNT, { path: { id: profiler.id } }),
    sendMessage: requestOf('sendMessage', ACCOUNT, { body: { to: PHONE, type: 'text', text: { body: 'Hello' } } }),
    retrieveUserData: requestOf('retrieveUserData', ACCOUNT, {
      path: { id: PHONE },
      body: { data: [{ property: 'device_platform' }] },
    }),
    listLogs: requestOf('listLogs', ACCOUNT),
    readConfiguration: requestOf('readConfiguration', ACCOUNT),
    receiveAppEvents: requestOf('receiveAppEvents', APP_NETWORK, {
      body: { id: 'bench', type: 'message.received', data: received },
    }),
    sweep: { step: 'conversations' },
  };
};

/** The calls of the table that a first call makes when it is repeated. */
const callsOf = async (contestant: Contestant): Promise<Call[]> => {
  if (contestant.event === undefined) return [];
  await tableCalls.recordDuring(() => start(contestant));
  return tableCalls.recordDuring(() => start(contestant));
};

const kilobytes = async (file: string): Promise<number> => Math.round((await stat(file)).size / 1024);

interface Starts {
  own: Start[];
  plain: Start[];
  bare: Start[];
}

/** Measures starts of all functions, each beside the two bundles with only its calls, so that other load affects all. */
const measure = async (functions: Map<string, Contender>, plain: Contestant, bare: Contestant) => {
  const found = new Map(
    [...functions.keys()].map((name): [string, Starts] => [name, { own: [], plain: [], bare: [] }]),
  );
  for (let round = 0; round < STARTS; round += 1) {
    say(`cold start ${round + 1} of ${STARTS}`);
    for (const [name, contender] of functions) {
      const starts = found.get(name);
      const event = contender.event && roundsOf(contender.calls);
      const startWithCalls = (contestant: Contestant): Promise<Start> => {
        tableCalls.repeat(contender.calls);
        return start(contestant);
      };
      starts?.plain.push(await startWithCalls({ ...plain, event }));
      starts?.own.push(await startWithCalls(contender));
      if (event !== undefined) starts?.bare.push(await startWithCalls({ ...bare, event }));
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
const compareSizes = async (functions: Map<string, Contender>): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, contestant] of functions) {
    if (!SIZED.includes(name)) continue;
    tableCalls.repeat(contestant.calls);
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

const init = ({ init: { elapsed } }: Start): number => elapsed;
const whole = (one: Start): number => one.init.elapsed + one.call.elapsed;
const work = (one: Start): number => one.init.processor + one.call.processor / shareOf(MEMORY);

try {
  const plain = await buildPlain();
  const bare = await buildBare();
  const events = await firstCalls();
  const functions = new Map<string, Contender>();
  for (const [name, { folder, environment }] of parts.functions) {
    if (CHOSEN !== undefined && !CHOSEN.includes(name)) continue;
    const contestant = { bundle: join(folder, 'index.mjs'), environment, event: events[name] };
    functions.set(name, { ...contestant, calls: await callsOf(contestant) });
  }
  const figures: Figure[] = [await precision()];
  const found = await measure(functions, plain, bare);
  const starts = [...found].flatMap(([name, one]) => (functions.get(name)?.calls.length === 1 ? one.plain : []));
  if (starts.length > 0)
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
  for (const [name, { bundle, event, calls }] of functions) {
    const { own = [], plain: beside = [], bare: min = [] } = found.get(name) ?? {};
    const what = `${name} (${await kilobytes(bundle)} KB${calls.length > 1 ? `, ${calls.length} calls` : ''})`;
    const ratio = (value: (one: Start) => number, starts = own) => median(ratios(starts.map(value), beside.map(value)));
    figures.push({ what: `${what}: init, times the plain one's`, unit: '×', ...ratio(init) });
    if (event === undefined) continue;
    figures.push(
      { what: `${what}: init and first call`, unit: '×', ...ratio(whole), ...GOAL },
      { what: '  … only its calls, with our client', unit: '×', ...ratio(whole, min) },
      { what: `${what}: the same in processor time`, unit: '×', ...ratio(work) },
      { what: '  … only its calls, with our client', unit: '×', ...ratio(work, min) },
    );
  }
  report('cold start', [...figures, ...(await compareSizes(functions))]);
} finally {
  processor.close();
  await tableCalls.close();
  await parts.close();
  await rm(folder, { recursive: true });
}
