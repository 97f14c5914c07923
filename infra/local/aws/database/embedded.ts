/**
 * The embedded database: Dynoxide, on a file of SQLite in memory that nobody else sees. Dynoxide numbers a stream's records
 * by a look at all of them, and finds those to read likewise: with every write, all writes and reads would become slower.
 * With the indexes made here they do not.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../free-port.ts';

const findBinary = (): string => {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`);
  } catch {
    return '';
  }
};

/** The program of the embedded database, from a package for each platform: there is one for Linux on x64. Otherwise empty. */
export const BINARY = findBinary();

const INDEXES = `
  CREATE INDEX numbers ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
  CREATE INDEX readers ON _stream_records (table_name, shard_id, CAST(sequence_number AS INTEGER), sequence_number);
`;

/** A file system in memory, and the bytes that must be free there: containers may have less. */
const MEMORY = { folder: '/dev/shm', least: 1e9 };

const newFolder = async (): Promise<string> => {
  const { bavail, bsize } = await statfs(MEMORY.folder).catch(() => ({ bavail: 0, bsize: 0 }));
  return mkdtemp(join(bavail * bsize > MEMORY.least ? MEMORY.folder : tmpdir(), 'database-'));
};

/** Milliseconds that it may take to listen; on an idle machine it takes some 30. */
const PATIENCE = 20_000;

const untilItListens = async (endpoint: string, database: ChildProcess): Promise<boolean> => {
  const end = Date.now() + PATIENCE;
  while (database.pid !== undefined && database.exitCode === null && Date.now() < end) {
    const answer = await fetch(endpoint, { method: 'POST' }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer !== undefined) return true;
    await pause(10);
  }
  return false;
};

/** Starts it on a free port. */
export const startEmbedded = async (): Promise<{ endpoint: string; close(): Promise<void> }> => {
  const folder = await newFolder();
  const file = join(folder, 'tables.db');
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  // Where the system can, it ends the database when we end, however that happens.
  const guarded = existsSync('/usr/bin/setpriv');
  const [command, ...args] = [
    ...(guarded ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM'] : []),
    BINARY,
    '--port',
    `${port}`,
    '--db-path',
    file,
  ];
  const child = spawn(command ?? BINARY, args, { stdio: 'ignore' });
  // A program that cannot be started never responds: the caller that waits for it reports this.
  const exited = once(child, 'exit').catch(() => undefined);
  if (await untilItListens(endpoint, child)) {
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec(INDEXES);
    database.close();
  }
  // Dynoxide keeps the file open, without a name: it is gone when the process ends, however that happens.
  await rm(folder, { recursive: true, force: true });
  return {
    endpoint,
    close: async () => {
      child.kill();
      await exited;
    },
  };
};
