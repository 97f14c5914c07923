/** `.local/stack.json`: what a running local stack tells to programs. It is there as long as the stack runs. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface StackFile {
  base_url: string;
  bridge_url: string;
  /** The documentation, for people: requests can be tried out there. */
  docs_url: string;
  /** The simulated app network, for people and programs that look at phones. */
  phone_url: string;
  /** Where the service sends what is for phones. */
  app_url: string;
  /** The simulated RapidPro, for people and programs, and for the service. */
  rapidpro_url: string;
  /** The simulated Turn, likewise. */
  turn_url: string;
  dynamodb_endpoint: string;
  s3_endpoint: string;
  table: string;
  /** A demo account's token, with every permission but `app`. */
  token: string;
  /** The app network's token. */
  app_token: string;
  /** The demo account's bot, on RapidPro. */
  bot_phone_number: string;
  /** Another demo account's, on Turn. */
  turn_bot_phone_number: string;
  /** A registered panelist's number. */
  panelist: string;
  /** Process that serves it. */
  pid: number;
}

/** Everything that the local stack keeps on the disk while it runs; tests give it a folder of their own. */
export const localFolder = process.env.LOCAL_FOLDER ?? fileURLToPath(new URL('../../.local', import.meta.url));

/** Where it is by now: who runs several commands in one process may lead each to another stack. */
const path = (): string => join(process.env.LOCAL_FOLDER ?? localFolder, 'stack.json');

/** The running stack's file; nothing, where none runs. */
export const readStackFile = async (): Promise<StackFile | undefined> => {
  try {
    return JSON.parse(await readFile(path(), 'utf8')) as StackFile;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Writes the file in one step, for its owner only: it holds tokens. */
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
