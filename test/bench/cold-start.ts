/**
 * The duration of a cold start of each function, compared with a bundle of the plain SDK that reads one item. Each
 * start has a new process, starts alternate, and the figures are medians of ratios. Lambda calls the loading of a
 * bundle init. If the first call of a function makes one call of the table, like the plain bundle, it is measured too.
 * `BENCH_STARTS` sets the number of starts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { createAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { createProfiler } from '../../shared/profilers/profilers.ts';
import { accountKey } from '../../shared/table/keys.ts';
import { startRequest } from '../../shared/user-data/requests.ts';
import { updateUser } from '../../shared/users/users.ts';
import { authorizing, requestOf, wakingUp } from './events.ts';
import { openParts } from './parts.ts';
import { type Figure, median, ratios, report, say } from './report.ts';

const STARTS = Number(process.env.BENCH_STARTS ?? 15);
/** The plain bundle starts before every second function, so that other load on the machine affects both. */
const GROUP = 2;
const GOAL = { goal: { atMost: 0.7 } } as const;

const ACCOUNT = 'acme';
const PHONE = '27820000001';

interface Contestant {
  bundle: string;
  environment: Record<string, string>;
  /** The event of the first call. Without an event, the bundle is only loaded. */
  event?: unknown;
}

/** Milliseconds until a bundle is loaded, and until the response to its first call. */
interface Start {
  init: number;
  first: number;
}

const parts = await openParts('cold-start');

const runtime = fileURLToPath(new URL('./cold-start/runtime.mjs', import.meta.url));

const start = async ({ bundle, environment, event }: Contestant): Promise<Start> => {
  const child = spawn(process.execPath, [runtime, bundle, ...(event === undefined ? [] : [JSON.stringify(event)])], {
    env: { ...parts.environment, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const exited = once(child, 'exit');
  const answered = await text(child.stdio[3] as NodeJS.ReadableStream);
  await exited;
  const { init, first, result } = JSON.parse(answered);
  if (result?.statusCode >= 400) throw new Error(`A first call of ${bundle} was answered ${result.statusCode}.`);
  return { init, first };
};

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
    createProfiler: requestOf('createProfiler', ACCOUNT, { body: { question: 'Well?', options: ['yes', 'no'] } }),
    readProfiler: requestOf('readProfiler', ACCOUNT, { path: { id: profiler.id } }),
    listProfilers: requestOf('listProfilers', ACCOUNT),
    fetchUserData: requestOf('fetchUserData', ACCOUNT, { path: { id: request.id } }),
    listJobs: requestOf('listJobs', ACCOUNT, { query: { start_date: day, end_date: day } }),
    deliver: wakingUp({ direction: 'app', account: ACCOUNT, phone: '27820000002' }),
    erase: {},
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

const times = (starts: Start[], until: keyof Start): number[] => starts.map((one) => one[until]);

try {
  const plain = {
    bundle: await buildPlain(),
    environment: { TABLE_NAME: parts.table },
    event: accountKey(ACCOUNT),
  };
  const events = await firstCalls();
  const functions = new Map(
    [...parts.functions].map(([name, { folder, environment }]): [string, Contestant] => [
      name,
      { bundle: join(folder, 'index.mjs'), environment, event: events[name] },
    ]),
  );
  const found = await measure(plain, functions);
  const starts = [...found.values()].flatMap((one) => one.plain);
  const figures: Figure[] = [
    {
      what: `the plain bundle (${await kilobytes(plain.bundle)} KB): init`,
      unit: 'ms',
      ...median(times(starts, 'init')),
    },
    { what: 'the plain bundle: init and first call', unit: 'ms', ...median(times(starts, 'first')) },
  ];
  for (const [name, { bundle }] of functions) {
    const { own = [], plain: beside = [] } = found.get(name) ?? {};
    const what = `${name} (${await kilobytes(bundle)} KB)`;
    const ratio = (until: keyof Start) => median(ratios(times(own, until), times(beside, until)));
    figures.push({ what: `${what}: init, times the plain one's`, unit: '×', ...ratio('init'), ...GOAL });
    if (events[name] === undefined) continue;
    figures.push({ what: `${what}: init and first call`, unit: '×', ...ratio('first'), ...GOAL });
  }
  report('cold start', figures);
} finally {
  await parts.close();
}
