/**
 * `.local/stack-PORT.json`: URLs, tokens and numbers of a running local stack, for programs. It exists while the stack
 * runs. `.local/stack.json` has the same content, for the stack that started first.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface StackFile {
  base_url: string;
  bridge_url: string;
  /** The documentation, with a form to try out requests. */
  docs_url: string;
  /** The phone's page, and the simulated app network's own requests. */
  phone_url: string;
  /** The URL to which the service sends messages for phones. */
  app_url: string;
  /** The simulated RapidPro: the service's calls, and its own requests. */
  rapidpro_url: string;
  /** The simulated Turn: the service's calls, and its own requests. */
  turn_url: string;
  dynamodb_endpoint: string;
  s3_endpoint: string;
  /** The endpoint of queues and secrets. */
  aws_endpoint: string;
  /** The URLs of the queues, by logical id. */
  queues: Record<string, string>;
  table: string;
  /** A demo account's token, with every permission but `app`. */
  token: string;
  /** The app network's token. */
  app_token: string;
  /** The other demo account's token, with the same permissions as `token`. */
  turn_token: string;
  /** The demo account's bot, on RapidPro. */
  bot_phone_number: string;
  /** The other demo account's bot, on Turn. */
  turn_bot_phone_number: string;
  /** A registered panelist's number. */
  panelist: string;
  /** The process of the local stack. */
  pid: number;
}

/** The folder of the local stack's files while it runs. Tests use folders of their own. */
export const localFolder = resolve(
  process.env.LOCAL_FOLDER ?? fileURLToPath(new URL('../../../.local', import.meta.url)),
);

/** The present folder: tests run several commands in one process, each with another stack. */
const folder = (): string => process.env.LOCAL_FOLDER ?? localFolder;

const FIRST = 'stack.json';

const nameOf = (port: string): string => `stack-${port}.json`;

const portOf = ({ base_url }: Pick<StackFile, 'base_url'>): string => new URL(base_url).port;

/** Several local stacks are running, and none of them was chosen. */
export class SeveralStacks extends Error {
  constructor(stacks: StackFile[]) {
    const ports = stacks.map(portOf).sort();
    super(`Several local stacks are running, on the ports ${ports.join(', ')}. Choose one with PORT=${ports[0]}.`);
  }
}

/**
 * The running local stack; undefined if none is running. With `PORT` in the environment, the one on that port. Without it,
 * the one that started first, else the only one.
 *
 * @throws SeveralStacks — the one that started first has ended, and several others run
 */
export const findStack = async (): Promise<StackFile | undefined> => {
  const { PORT } = process.env;
  const chosen = await readRunning(PORT ? nameOf(PORT) : FIRST);
  if (chosen !== undefined || PORT) return chosen;
  const running = await runningStacks();
  if (running.length > 1) throw new SeveralStacks(running);
  return running[0];
};

/** All local stacks of this checkout that are running. */
export const runningStacks = async (): Promise<StackFile[]> => {
  const names = await readdir(folder()).catch((): string[] => []);
  const files = await Promise.all(names.filter((name) => /^stack-\d+\.json$/.test(name)).map(readRunning));
  return files.filter((file) => file !== undefined);
};

/** The content of a file; undefined if it does not exist, or its stack was killed. */
const readRunning = async (name: string): Promise<StackFile | undefined> => {
  try {
    const file = JSON.parse(await readFile(join(folder(), name), 'utf8')) as StackFile;
    return isRunning(file.pid) ? file : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Whether a process exists: the files of a stack that was killed remain. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** Writes the files of a stack that starts. They are readable only for their owner, because they contain tokens. */
export const writeStackFiles = async (content: StackFile): Promise<void> => {
  await mkdir(folder(), { recursive: true });
  await write(nameOf(portOf(content)), content);
  if ((await readRunning(FIRST)) === undefined) await write(FIRST, content);
};

/** Writes a file atomically. */
const write = async (name: string, content: StackFile): Promise<void> => {
  const path = join(folder(), name);
  const draft = `${path}.${content.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
};

/** Removes the files of a stack that ends. Those of another one stay. */
export const removeStackFiles = async (content: StackFile): Promise<void> => {
  for (const name of [nameOf(portOf(content)), FIRST]) {
    if ((await readRunning(name))?.pid === content.pid) await rm(join(folder(), name), { force: true });
  }
};
