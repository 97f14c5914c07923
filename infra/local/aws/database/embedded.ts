/**
 * The embedded database: Dynoxide, with a private file of SQLite in memory, or one that stays. For each stream record that it writes or
 * reads, Dynoxide scans all records, so every write would slow down the following ones. The indexes here prevent this.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../loopback.ts';

/** Windows keeps the files of running programs, and names programs by an extension. */
const IS_WINDOWS = process.platform === 'win32';

const findBinary = (): string => {
  const name = IS_WINDOWS ? 'dynoxide.exe' : 'dynoxide';
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/${name}`);
  } catch {
    const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
    return folders.map((folder) => join(folder, name)).find(existsSync) ?? '';
  }
};

/** Path of the embedded database's program: from the package for this platform, else on the PATH; else empty. */
export const BINARY = findBinary();

const INDEXES = `
  CREATE INDEX IF NOT EXISTS numbers ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
  CREATE INDEX IF NOT EXISTS readers ON _stream_records (table_name, shard_id, CAST(sequence_number AS INTEGER), sequence_number);
`;

/** A file system in memory, and the free bytes that it must have: in containers, it may be small. */
const MEMORY = { folder: '/dev/shm', min: 1e9 };

const newFolder = async (): Promise<string> => {
  const { bavail, bsize } = await statfs(MEMORY.folder).catch(() => ({ bavail: 0, bsize: 0 }));
  return mkdtemp(join(bavail * bsize > MEMORY.min ? MEMORY.folder : tmpdir(), 'database-'));
};

/**
 * Its calls take turns at one connection of SQLite. With a thread for each core, which is the default of its runtime, they take a
 * third more time of the processors, because the threads wake each other.
 * https://docs.rs/tokio/latest/tokio/runtime/struct.Builder.html
 */
const ONE_THREAD = { TOKIO_WORKER_THREADS: '1' };

/** Timeout in milliseconds for its start. On an idle machine, the start takes about 30 ms. */
const TIMEOUT_MS = 20_000;

const untilItListens = async (endpoint: string, database: ChildProcess): Promise<boolean> => {
  const end = Date.now() + TIMEOUT_MS;
  while (database.pid !== undefined && database.exitCode === null && Date.now() < end) {
    const response = await fetch(endpoint, { method: 'POST' }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response !== undefined) return true;
    await pause(10);
  }
  return false;
};

/** Starts the database on a free port. Its file stays in `dataFolder`; without one, it ends with the database. */
export const startEmbedded = async (dataFolder?: string): Promise<{ endpoint: string; close(): Promise<void> }> => {
  const folder = dataFolder ?? (await newFolder());
  const file = join(folder, 'tables.db');
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  // If the system supports it, the database ends with this process, even after a crash.
  const guarded = existsSync('/usr/bin/setpriv');
  const [command, ...args] = [
    ...(guarded ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM'] : []),
    BINARY,
    '--port',
    `${port}`,
    '--db-path',
    file,
  ];
  const child = spawn(command ?? BINARY, args, { stdio: 'ignore', env: { ...process.env, ...ONE_THREAD } });
  // A program that cannot be started never responds; the caller waits for a response, and reports the failure.
  const exited = once(child, 'exit').catch(() => undefined);
  if (await untilItListens(endpoint, child)) {
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec(INDEXES);
    database.close();
  }
  const remove = async (): Promise<void> => {
    if (dataFolder === undefined) await rm(folder, { recursive: true, force: true });
  };
  // Dynoxide keeps the unlinked file open: the file disappears when the process ends, even after a crash.
  if (!IS_WINDOWS) await remove();
  return {
    endpoint,
    close: async () => {
      child.kill();
      await exited;
      if (IS_WINDOWS) await remove();
    },
  };
};
