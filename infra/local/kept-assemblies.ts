/**
 * The assemblies that were synthesised, in `.local/assemblies/kept`, each by the hash of all that it was made of: the next stack
 * of the same sources uses it. Nobody changes one; only Node's compile cache in it grows. Each process has a folder beside `kept`
 * for what is its own, in which an empty file with the hash of an assembly says that the process uses it.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { isRunning, localFolder } from '../operator/local-stack/stack-file.ts';

/** Stacks and tests differ in their settings, so that there are several assemblies of the same sources. */
const MAX_KEPT = 4;

const folder = join(localFolder, 'assemblies');
/** As deep as what a process has made, because source maps name the sources relative to their own place. */
const keptFolder = join(folder, 'kept');

/** The folders of a repository, and the record of its installed packages, from which an assembly is made. */
const SOURCES = ['functions', 'shared', 'infra', 'node_modules/.package-lock.json'];

/** The files beside these folders. */
const SETTINGS = /\.(json|md)$/;

const filesBelow = (path: string): string[] => {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

/**
 * The hash of what an assembly is made of.
 *
 * @param root - the repository's folder
 * @param rest - what else it depends on
 */
export const hashOfSources = (root: string, rest: unknown[]): string => {
  const beside = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && SETTINGS.test(entry.name),
  );
  const files = [...SOURCES, ...beside.map(({ name }) => name)].flatMap((path) => filesBelow(join(root, path))).sort();
  const hash = createHash('sha256').update(JSON.stringify([process.version, root, ...rest]));
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file)} ${content.length} `).update(content);
  }
  return hash.digest('hex');
};

const OF_PROCESS = /^process-(\d+)-/;

/** Removes what no other process may need. What cannot be removed only takes space. */
const remove = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
};

let own: string | undefined;

/** The path of a file or folder of this process, which is removed at its end. */
export const ownPath = (name: string): string => {
  if (own === undefined) {
    mkdirSync(keptFolder, { recursive: true });
    const made = mkdtempSync(join(folder, `process-${process.pid}-`));
    process.once('exit', () => remove(made));
    own = made;
  }
  return join(own, name);
};

/** The folder of the assembly with this hash, if there is one. It stays until this process ends, or releases it. */
export const useKept = (hash: string): string | undefined => {
  const kept = join(keptFolder, hash);
  // First, so that no other process removes it meanwhile.
  writeFileSync(ownPath(hash), '');
  removeOld();
  if (!existsSync(kept)) return undefined;
  try {
    const now = new Date();
    utimesSync(kept, now, now);
  } catch {
    // It is another user's.
  }
  return kept;
};

/** Keeps an assembly that this process has made and uses, by moving its folder. Returns the new folder. */
export const keep = (hash: string, assembly: string): string => {
  const kept = join(keptFolder, hash);
  try {
    renameSync(assembly, kept);
  } catch {
    // Something else reads the folder: it stays this process's own.
    if (!existsSync(kept)) return assembly;
    // Another process was faster.
    release(assembly);
  }
  removeOld();
  return kept;
};

/** Says that this process does not use an assembly any more. */
export const release = (assembly: string): void => remove(ownPath(basename(assembly)));

const processes = (): string[] => readdirSync(folder).filter((name) => OF_PROCESS.test(name));

/** Whether the process of a folder has ended. In containers, the next one often gets the same id. */
const hasEnded = (name: string): boolean => {
  const pid = Number(OF_PROCESS.exec(name)?.[1]);
  return pid === process.pid ? timeOf(join(folder, name)) < performance.timeOrigin : !isRunning(pid);
};

const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const isUsed = (hash: string): boolean => processes().some((name) => existsSync(join(folder, name, hash)));

/** Removes what ended processes have left, and assemblies that were used longest ago, if no process uses them. */
const removeOld = (): void => {
  for (const name of processes().filter(hasEnded)) remove(join(folder, name));
  const old = readdirSync(keptFolder)
    .map((hash) => ({ hash, time: timeOf(join(keptFolder, hash)) }))
    .sort((one, other) => other.time - one.time)
    .slice(MAX_KEPT);
  for (const { hash } of old) if (!isUsed(hash)) removeWhole(hash);
};

/** Removes an assembly at once: half of one would be taken for a whole one. */
const removeWhole = (hash: string): void => {
  const [kept, removed] = [join(keptFolder, hash), ownPath(`old-${hash}`)];
  try {
    renameSync(kept, removed);
    // A process has begun to use it meanwhile.
    if (isUsed(hash)) renameSync(removed, kept);
  } catch {
    // Another process removes it, or has made it again.
  }
  remove(removed);
};
