/**
 * The assemblies that were synthesised, in `.local/assemblies`, each by the hash of all that it was made of: the next stack
 * of the same sources uses it. Nobody changes one; only Node's compile cache in it grows. Each process has a folder beside them
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
  const beside = readdirSync(root).filter((name) => SETTINGS.test(name));
  const files = [...SOURCES, ...beside].flatMap((path) => filesBelow(join(root, path))).sort();
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
    mkdirSync(folder, { recursive: true });
    const made = mkdtempSync(join(folder, `process-${process.pid}-`));
    process.once('exit', () => remove(made));
    own = made;
  }
  return join(own, name);
};

/** The folder of the assembly with this hash, if there is one. It stays until this process ends, or releases it. */
export const useKept = (hash: string): string | undefined => {
  const kept = join(folder, hash);
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
  const kept = join(folder, hash);
  try {
    renameSync(assembly, kept);
  } catch {
    // Another process was faster, or something else reads the folder: it stays this process's own.
    if (!existsSync(kept)) return assembly;
  }
  removeOld();
  return kept;
};

/** Says that this process does not use an assembly any more. */
export const release = (assembly: string): void => remove(ownPath(basename(assembly)));

/** Removes what ended processes have left, and assemblies that were used longest ago, if no process uses them. */
const removeOld = (): void => {
  const processes = () => readdirSync(folder).filter((name) => OF_PROCESS.test(name));
  const ended = processes().filter((name) => !isRunning(Number(OF_PROCESS.exec(name)?.[1])));
  for (const name of ended) remove(join(folder, name));
  const isUsed = (hash: string) => processes().some((name) => existsSync(join(folder, name, hash)));
  const old = readdirSync(folder)
    .filter((name) => !OF_PROCESS.test(name))
    .map((name) => ({ name, time: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time)
    .slice(MAX_KEPT);
  for (const { name } of old) if (!isUsed(name)) removeWhole(name);
};

/** Removes an assembly at once: half of one would be taken for a whole one. */
const removeWhole = (hash: string): void => {
  const removed = ownPath(`old-${hash}`);
  try {
    renameSync(join(folder, hash), removed);
  } catch {
    // Another process removes it.
    return;
  }
  remove(removed);
};
