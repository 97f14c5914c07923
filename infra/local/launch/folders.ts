/** The folder `.local` of a local stack, and the data in it that `--keep` keeps. */
import { access, constants, mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, localFolder } from '../../operator/local-stack/stack-file.ts';
import { StartError } from '../aws/start-error.ts';

/** What a stack writes, in megabytes: its assembly with what Node compiles of it, which take 10, and its log. */
const NEEDED_MB = 100;

const MB = 1e6;

/**
 * Creates the folder of the stack's files, with space for them.
 *
 * @throws StartError — it cannot be written, or the disk is full
 */
export const requireSpace = async (): Promise<void> => {
  try {
    for (const folder of [localFolder, join(localFolder, 'assemblies')]) {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
    }
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new StartError(
      `The local stack cannot write its files into ${localFolder} (${reason}). Make the folder writable, or set LOCAL_FOLDER to another one.`,
    );
  }
  const { bavail, bsize } = await statfs(localFolder);
  const free = Math.floor((bavail * bsize) / MB);
  if (free >= NEEDED_MB) return;
  throw new StartError(
    `The local stack needs ${NEEDED_MB} MB for its files in ${localFolder}, where ${free} MB are free. Free some, or set LOCAL_FOLDER to a folder on another disk.`,
  );
};

/** The kept data, in use by this process. */
export interface KeptData {
  folder: string;
  release(): Promise<void>;
}

/**
 * Opens the folder of the kept data for this process alone.
 *
 * @throws StartError — another stack uses it
 */
export const openKeptData = async (): Promise<KeptData> => {
  const folder = join(localFolder, 'data');
  const lock = join(folder, 'pid');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      await writeFile(lock, `${process.pid}\n`, { flag: 'wx' });
      return { folder, release: () => rm(lock, { force: true }) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const pid = Number(await readFile(lock, 'utf8').catch(() => ''));
    if (pid > 0 && isRunning(pid)) {
      throw new StartError(
        `The kept data in ${folder} is in use by the local stack of the process ${pid}. Stop that one, or start without --keep.`,
      );
    }
    // Of a stack that was killed.
    await rm(lock, { force: true });
  }
};
