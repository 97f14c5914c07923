/**
 * `npm start`: runs the stack on this machine until Ctrl-C or SIGTERM. `npm run dev` (`--watch`) also reloads it when
 * its sources change. `--keep` keeps the table and the media for the next start with `--keep`. `--latency` delays deliveries
 * as AWS does. PORT is the API host's port; the bridge host, the app network, RapidPro and Turn use the next ports.
 */
import './runtime/use-local-runtime.ts';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { localFolder, removeStackFiles, type StackFile, writeStackFiles } from '../operator/local-stack/stack-file.ts';
import { Latency } from './aws/latency.ts';
import { StartError } from './aws/start-error.ts';
import { exportLines } from './launch/export-lines.ts';
import { openKeptData, requireSpace } from './launch/folders.ts';
import { requireFreePorts } from './launch/ports.ts';
import { reloading } from './reload/reload.ts';
import { watchSources } from './reload/watch.ts';
import { seeded } from './seeded.ts';
import { synthesise } from './synthesise.ts';

const TABLE = 'business-api-local';
const MINUTE = 60_000;
/** The stack also uses the next four ports. */
const HIGHEST_PORT = 65_531;

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

const program = new Command('npm start --')
  .description('Runs the stack on this machine until Ctrl-C.')
  .option('--keep', 'keep the table and the media for the next start with --keep', false)
  .option('--latency [seed]', 'delay deliveries as AWS does; a seed for its random numbers', wholeNumber)
  .option('--watch', 'reload the stack when its sources change, as npm run dev does', false)
  .allowExcessArguments(false)
  .showHelpAfterError('"npm start -- --help" lists the options.')
  .addHelpText(
    'after',
    `
Environment:
  PORT               port of the API host (default: 3000); the next four ports are used, too; 0 for any free ports
  DYNAMODB_ENDPOINT  URL of a database to use instead of the embedded one`,
  )
  .parse();
const options = program.opts<{ keep: boolean; watch: boolean; latency?: number | true }>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (): Promise<void> => {
  const port = portSetting();
  const nextPort = (distance: number) => (port === 0 ? 0 : port + distance);
  if (port !== 0) await requireFreePorts(port);
  await requireSpace();
  const kept = options.keep ? await openKeptData() : undefined;
  const abandon = new AbortController();
  const assembly = synthesise('split', {}, abandon.signal);
  // The server reports the failure, when it has started its parts.
  assembly.catch(() => undefined);

  // After the import of the local runtime, because they import modules that have the times of the stack's clock.
  const { LocalServer } = await import('./serve.ts');
  const { readDemoTokens, writeDemoTokens } = await import('./launch/demo-tokens.ts');
  const { StackLog } = await import('./launch/stack-log.ts');
  const log = new StackLog(say);
  const server = await LocalServer.start({
    assembly,
    ports: { base: port, bridge: nextPort(1), phone: nextPort(2), rapidpro: nextPort(3), turn: nextPort(4) },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    dataFolder: kept?.folder,
    tableName: TABLE,
    minute: MINUTE,
    latency: latencyGiven(),
    onLine: (source, line) => log.add(source, line),
  }).catch(async (error: unknown) => {
    abandon.abort();
    await assembly.catch(() => undefined);
    await kept?.release();
    throw error;
  });
  let written: StackFile | undefined;
  stopWith(async () => {
    if (written !== undefined) await removeStackFiles(written);
    await server.close();
    await log.close();
    await kept?.release();
  });

  const tokens = await readDemoTokens();
  const file = await server.open(tokens);
  await writeDemoTokens(tokens);
  written = file;
  await writeStackFiles(file);
  log.open(logOf(file));
  welcome(file);
  if (options.watch) watchSources(reloading(server.stack, await assembly, say));
};

/** The delays that the options ask for, if any. */
const latencyGiven = (): Latency | undefined => {
  const { latency } = options;
  if (latency === undefined) return undefined;
  return new Latency(latency === true ? Math.random : seeded(latency));
};

/** The path of a stack's log. */
const logOf = ({ base_url }: StackFile): string => join(localFolder, `stack-${new URL(base_url).port}.log`);

const welcome = (file: StackFile): void => {
  const { base_url, bridge_url, docs_url, phone_url, rapidpro_url, turn_url, dynamodb_endpoint } = file;
  say(`base_url      ${base_url}`);
  say(`bridge_url    ${bridge_url}`);
  say(`docs_url      ${docs_url}`);
  say(`phone_url     ${phone_url}`);
  say(`portal_url    ${phone_url}/portal-link`);
  say(`rapidpro_url  ${rapidpro_url}`);
  say(`turn_url      ${turn_url}`);
  say(`database      ${dynamodb_endpoint}`);
  say('');
  say(`Open ${phone_url} in a browser to use the app as a user.`);
  say('');
  if (options.keep) say('The table and the media are kept in .local/data for the next "npm start -- --keep".\n');
  say('For requests from another terminal (again with "npm run -s stack -- env"):');
  say(exportLines(file));
  say('');
  say(`The log is in ${logOf(file)}. While requests arrive, their counts follow here.`);
  say('');
  say('ready');
};

const portSetting = (): number => {
  const { PORT = '3000' } = process.env;
  const port = Number(PORT);
  if (!/^\d+$/.test(PORT) || port > HIGHEST_PORT)
    throw new StartError(`PORT must be a number from 0 to ${HIGHEST_PORT}, not "${PORT}".`);
  return port;
};

/** Milliseconds between two checks whether npm is still running. */
const PARENT_CHECK = 100;

/**
 * Stops in order on Ctrl-C and SIGTERM, and when npm has ended, because npm's shell does not forward signals. A second
 * signal ends the process at once.
 */
const stopWith = (stop: () => Promise<void>): void => {
  const end = () => void stop().then(() => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    end();
  }, PARENT_CHECK);
};

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
