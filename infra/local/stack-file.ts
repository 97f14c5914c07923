/**
 * `.local/stack.json`: URLs, tokens and numbers of the running local stack, for programs. It exists while the stack
 * runs.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
export const localFolder = process.env.LOCAL_FOLDER ?? fileURLToPath(new URL('../../.local', import.meta.url));

/** The file's current path: tests run several commands in one process, each with another stack. */
const path = (): string => join(process.env.LOCAL_FOLDER ?? localFolder, 'stack.json');

/** The running stack's file; undefined if no stack is running. */
export const readStackFile = async (): Promise<StackFile | undefined> => {
  try {
    return JSON.parse(await readFile(path(), 'utf8')) as StackFile;
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

/** Writes the file atomically, and readable only for its owner, because it contains tokens. */
export const writeStackFile = async (content: StackFile): Promise<void> => {
  await mkdir(localFolder, { recursive: true });
  const draft = `${path()}.${content.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path());
};

/** Removes the file, unless another stack has written it since. */
export const removeStackFile = async (pid: number): Promise<void> => {
  if ((await readStackFile())?.pid === pid) await rm(path(), { force: true });
};
