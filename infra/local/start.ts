/**
 * `npm start`: runs the stack on this machine until Ctrl-C or SIGTERM. `npm run dev` (`--watch`) also loads it anew when
 * its sources change. PORT is the API host's port, the bridge host takes the next one, the app network the one after it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { callTableOf } from './call-table.ts';
import { type Demo, seedDemo } from './demo.ts';
import { LocalStack } from './local-stack.ts';
import { AppNetwork } from './simulated/app-network.ts';
import { localFolder, removeStackFile, writeStackFile } from './stack-file.ts';
import { StartError } from './start-error.ts';
import { synthesise } from './synthesise.ts';
import { watchSources } from './watch.ts';

const TABLE = 'business-api-local';
const MINUTE = 60_000;

const { values: options } = parseArgs({ options: { watch: { type: 'boolean', default: false } } });

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (): Promise<void> => {
  const port = portSetting();
  const nextPort = (distance: number) => (port === 0 ? 0 : port + distance);
  const appNetwork = await AppNetwork.start({ port: nextPort(2) });
  // By port, so that two stacks stay apart.
  const assembly = join(localFolder, `assembly-${port}`);
  const abandon = new AbortController();
  const assembled = synthesise(assembly, 'mapped', abandon.signal).then(() => assembly);

  const stack = await LocalStack.start({
    assembly: assembled,
    ports: { base: port, bridge: nextPort(1) },
    secret: appNetwork.stackSecret,
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: TABLE,
    minute: MINUTE,
    onLine: (_source, line) => say(line),
  }).catch(async (error: unknown) => {
    abandon.abort();
    await assembled.catch(() => undefined);
    await rm(assembly, { recursive: true, force: true });
    await appNetwork.close();
    throw error;
  });
  stopWith(async () => {
    await removeStackFile(process.pid);
    await stack.close();
    await appNetwork.close();
    await rm(assembly, { recursive: true, force: true });
  });

  const { baseUrl, bridgeUrl, dynamodbEndpoint } = stack;
  callTableOf({ dynamodbEndpoint, table: TABLE });
  const demo = await seedDemo();
  appNetwork.connect({ bridgeUrl, appToken: demo.app_token });
  await writeStackFile({
    base_url: baseUrl,
    bridge_url: bridgeUrl,
    phone_url: appNetwork.phoneUrl,
    app_url: appNetwork.appUrl,
    dynamodb_endpoint: dynamodbEndpoint,
    table: TABLE,
    ...demo,
    pid: process.pid,
  });
  welcome(stack, appNetwork, demo);
  if (options.watch) watchSources(() => reload(stack, assembly));
};

const welcome = (
  { baseUrl, bridgeUrl, dynamodbEndpoint }: LocalStack,
  { phoneUrl }: AppNetwork,
  { token, panelist, bot_phone_number }: Demo,
): void => {
  say(`base_url    ${baseUrl}`);
  say(`bridge_url  ${bridgeUrl}`);
  say(`phone_url   ${phoneUrl}`);
  say(`database    ${dynamodbEndpoint}`);
  say('');
  say('For requests from another terminal:');
  say(
    `export BASE_URL=${baseUrl} BRIDGE_URL=${bridgeUrl} PHONE_URL=${phoneUrl} PANELIST=${panelist} BOT=${bot_phone_number}`,
  );
  say(`export TOKEN=${token}`);
  say('');
  say('ready');
};

const reload = async (stack: LocalStack, assembly: string): Promise<void> => {
  try {
    await synthesise(assembly, 'mapped');
    await stack.load(assembly);
    say('reloaded');
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    say(error.message);
  }
};

const portSetting = (): number => {
  const { PORT = '3000' } = process.env;
  const port = Number(PORT);
  if (!/^\d+$/.test(PORT) || port > 65_533)
    throw new StartError(`PORT must be a number from 0 to 65533, not "${PORT}".`);
  return port;
};

/** How often it is looked whether npm is still there, in milliseconds. */
const LOOK = 100;

/**
 * Ends in order on Ctrl-C and SIGTERM, and when npm has gone: npm's shell does not hand signals on. A second signal ends
 * at once.
 */
const stopWith = (stop: () => Promise<void>): void => {
  const end = () => void stop().then(() => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    end();
  }, LOOK);
};

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
