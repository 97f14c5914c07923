/**
 * The duration of a cold start of each function, compared with a bundle of the plain SDK that reads an item as often as the
 * function calls the table, as Lambda has it: init runs at full speed, and the first call with the share of a processor that
 * the memory buys. Each start has a new process, starts alternate, and the figures are medians of ratios. `BENCH_STARTS` sets
 * the number of starts, `BENCH_FUNCTIONS` selects functions, and `BENCH_BEFORE` is a folder with an earlier version of this
 * repository, whose functions take part.
 */
import { stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { bundleFunctions } from '../../infra/bundle/bundle.ts';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import { createAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { APP_NETWORK } from '../../shared/core/permissions.ts';
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
/**
 * The plain bundle starts before every second function with as many calls of the table, so that other load on the machine
 * affects both.
 */
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
const BOT = '27820000009';

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
    sweep: { time: new Date().toISOString() },
  };
};

/** How often a first call calls the table, if it is repeated. */
const countCalls = async (contestant: Contestant): Promise<number> => {
  let calls = 0;
  const { AWS_ENDPOINT_URL_DYNAMODB: database = '' } = parts.environment;
  const counter = createServer((incoming, outgoing) => {
    calls += 1;
    const { method, headers } = incoming;
    const call = request(database, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(call);
  });
  const environment = { ...contestant.environment, AWS_ENDPOINT_URL_DYNAMODB: await listenOnLoopback(counter, 0) };
  await start({ ...contestant, environment });
  calls = 0;
  await start({ ...contestant, environment });
  await closeServer(counter);
  return calls;
};

const kilobytes = async (file: string): Promise<number> => Math.round((await stat(file)).size / 1024);

/** Measures starts of all functions, each with a recent start of the plain bundle for comparison. */
const measure = async (plain: Contestant, functions: Map<string, Contestant>) => {
  const found = new Map([...functions.keys()].map((name) => [name, { own: [] as Start[], plain: [] as Start[] }]));
  for (let round = 0; round < STARTS; round += 1) {
    say(`cold start ${round + 1} of ${STARTS}`);
    for (const [calls, group] of Map.groupBy(functions, ([, one]) => one.calls ?? 1)) {
      for (let first = 0; first < group.length; first += GROUP) {
        const beside = await start({ ...plain, event: { ...accountKey(ACCOUNT), calls } });
        for (const [name, contestant] of group.slice(first, first + GROUP)) {
          found.get(name)?.own.push(await start(contestant));
          found.get(name)?.plain.push(beside);
        }
      }
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
  };
  const events = await firstCalls();
  const before = await bundlesBefore();
  const functions = new Map<string, Contestant>();
  for (const [name, { folder, environment }] of parts.functions) {
    if (CHOSEN !== undefined && !CHOSEN.includes(name)) continue;
    const contestant: Contestant = { bundle: join(folder, 'index.mjs'), environment, event: events[name] };
    if (contestant.event !== undefined) contestant.calls = await countCalls(contestant);
    functions.set(name, contestant);
    const earlier = before[name];
    if (earlier !== undefined) functions.set(`before: ${name}`, { ...contestant, bundle: join(earlier, 'index.mjs') });
  }
  const figures: Figure[] = [await precision()];
  const found = await measure(plain, functions);
  const starts = [...found].flatMap(([name, one]) => (functions.get(name)?.calls === 1 ? one.plain : []));
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
  for (const [name, { bundle, event, calls = 1 }] of functions) {
    const { own = [], plain: beside = [] } = found.get(name) ?? {};
    const what = `${name} (${await kilobytes(bundle)} KB${calls === 1 ? '' : `, ${calls} calls`})`;
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
