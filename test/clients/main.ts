/**
 * `npm run test:clients`: generates clients from the API description that a local stack returns, without a warning, compiles
 * them, and runs a customer's program and the one of the guide with each of them on that stack. Runs the code samples of the
 * reference there.
 *
 * With `--retry=1`, a client that fails is tested once more; if it then passes, the last lines name it: `flaky: NAME`.
 *
 * Without the tools of a client it tests the others, and prints what it does not test. If the environment sets CI, a
 * missing tool fails the run.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import * as v from 'valibot';
import { end, endAllNow } from '../deploy/processes.ts';
import { say, step } from '../deploy/steps.ts';
import { png } from '../stack/support/files.ts';
import { SetupError } from '../support/python.ts';
import { startBusyHost } from './busy-host.ts';
import { type Client, clients, type Settings } from './clients.ts';
import { testSamples } from './samples.ts';
import { startStack } from './stack.ts';

const { values: options } = parseArgs({ options: { retry: { type: 'string', default: '0' } } });

const folder = await mkdtemp(join(tmpdir(), 'clients-'));

process.once('exit', endAllNow);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/** What a program prints. */
const printed = v.strictObject({
  message: v.string(),
  profiler: v.string(),
  /** Whether the log has the message. */
  logged: v.literal(true),
  request: v.string(),
  /** The property that the user's phone reported. */
  platform: v.literal('android'),
  picture: v.string(),
});

const read = async (url: string, { TOKEN }: Settings): Promise<Response> => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
  if (response.status !== 200) throw new Error(`${url} returns ${response.status}: ${await response.text()}`);
  return response;
};

/** Checks with requests of our own that a program did what it printed. */
const checkEffects = async (output: string, settings: Settings): Promise<void> => {
  const { message, profiler, request, picture } = v.parse(printed, JSON.parse(output));
  const { BASE_URL, PANELIST } = settings;
  await read(`${BASE_URL}/v1/message/${message}`, settings);
  const answers = await read(`${BASE_URL}/v1/research_profilers/${profiler}/answers`, settings);
  const [answer] = v.parse(v.tuple([v.object({ phone_number: v.string(), option: v.string() })]), await answers.json());
  expectSame(answer, { phone_number: PANELIST, option: 'tea' }, 'answer');
  const fetched = await read(`${BASE_URL}/v1/user_data/fetch/${request}`, settings);
  v.parse(v.object({ status: v.literal('completed') }), await fetched.json());
  expectSame(await (await fetch(picture)).bytes(), png, 'picture');
};

const expectSame = (given: unknown, right: unknown, what: string): void => {
  if (!isDeepStrictEqual(given, right)) throw new Error(`The ${what} is ${JSON.stringify(given)}.`);
};

const test = async ({ name, build }: Client, description: string, settings: Settings): Promise<void> => {
  const inside = join(folder, randomUUID());
  await mkdir(inside);
  const run = await step(`${name}: the client is generated and compiles`, () => build(description, inside));
  await step(`${name}: the customer's program works`, async () =>
    checkEffects(await run('customer', settings), settings),
  );
  await step(`${name}: the program of the guide reads all pages, and waits`, () =>
    testJobs((own) => run('jobs', own), settings),
  );
};

/** Three jobs, so that there are two pages. */
const listedJobs = async (settings: Settings): Promise<string[]> => {
  const { BASE_URL, TOKEN, PANELIST } = settings;
  const made = [randomUUID(), randomUUID(), randomUUID()];
  for (const job of made) {
    const body = { to: PANELIST, type: 'text', text: { body: 'Good morning!' } };
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    await fetch(`${BASE_URL}/v1/message?job_id=${job}`, { method: 'POST', headers, body: JSON.stringify(body) });
  }
  for (let attempt = 0; attempt < 40; attempt += 1) {
    const listed = await read(`${BASE_URL}/v1/jobs?limit=100`, settings);
    const jobs = v.parse(v.array(v.object({ job_id: v.string() })), await listed.json()).map(({ job_id }) => job_id);
    if (made.every((job) => jobs.includes(job))) return jobs;
    await pause(500);
  }
  throw new Error('The jobs are not listed.');
};

const testJobs = async (run: (settings: Settings) => Promise<string>, settings: Settings): Promise<void> => {
  const jobs = await listedJobs(settings);
  const host = await startBusyHost(settings.BASE_URL, jobs[0] ?? '');
  try {
    const output = await run({ ...settings, BASE_URL: host.url });
    const lines = output.trim().split('\n');
    expectSame(lines.map((line) => line.split(' ')[0]).sort(), [...jobs].sort(), 'list of jobs');
    expectSame(
      lines.filter((line) => line.endsWith(' expired')),
      [`${jobs[0]} expired`],
      'list of jobs that are gone',
    );
    expectSame(host.tooSoon, 0, 'number of requests that came too soon');
  } finally {
    host.close();
  }
};

/** Repeats work that fails, as often as the option says. Returns whether it was repeated. */
const withRetries = async (work: () => Promise<void>): Promise<boolean> => {
  for (let left = Number(options.retry); ; left -= 1) {
    try {
      await work();
      return left < Number(options.retry);
    } catch (error) {
      if (left <= 0) throw error;
      process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    }
  }
};

const main = async (): Promise<number> => {
  const possible = await Promise.all(clients.map((client) => client.isPossible()));
  const missing = clients.filter((_, at) => !possible[at]);
  for (const { name, needs } of missing) say(`NOT TESTED: ${name}, because it needs ${needs}.`);
  if (missing.length > 0) say('NOT TESTED: the code samples, because they need all of these.');
  if (missing.length > 0 && process.env.CI) return 1;

  const stack = await step('the local stack starts', () => startStack(folder));
  try {
    const description = join(folder, 'openapi.json');
    await writeFile(description, await (await fetch(`${stack.base_url}/v1/openapi.json`)).text());
    const picture = join(folder, 'picture.png');
    await writeFile(picture, png);
    const settings = { BASE_URL: stack.base_url, TOKEN: stack.token, PANELIST: stack.panelist, PICTURE: picture };
    const flaky: string[] = [];
    if (missing.length === 0 && (await withRetries(() => testSamples(stack, folder)))) flaky.push('the code samples');
    for (const client of clients.filter((_, at) => possible[at])) {
      if (await withRetries(() => test(client, description, settings))) flaky.push(client.name);
    }
    for (const name of flaky) say(`flaky: ${name}`);
    return 0;
  } catch (error) {
    const isExpected = error instanceof SetupError || !(error instanceof Error);
    process.stderr.write(
      `${isExpected ? error : error.message}\n${(await readFile(stack.log, 'utf8')).slice(-2_000)}\n`,
    );
    return 1;
  } finally {
    await end(stack.process);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
};

process.exitCode = await main();
