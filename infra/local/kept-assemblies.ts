/**
 * The assemblies that were synthesised, in `.local/assemblies`, each by the hash of all that it was made of: the next stack
 * of the same sources uses it. Nobody changes one; Node's compile cache in it grows. A file `HASH.PID` says that a process uses
 * one. Whatever else ends with the id of a process is of that process, and is removed after its end.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { isRunning, localFolder } from '../operator/local-stack/stack-file.ts';

/** Stacks and tests differ in their settings, so that there are several assemblies of the same sources. */
const MAX_KEPT = 4;

const folder = join(localFolder, 'assemblies');

/** The folders of a repository, and the record of its installed packages, from which an assembly is made. */
const SOURCES = ['functions', 'shared', 'infra', 'node_modules/.package-lock.json'];

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
  const top = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
  const files = [...SOURCES, ...top.map(({ name }) => name)].flatMap((path) => filesBelow(join(root, path))).sort();
  const hash = createHash('sha256').update(JSON.stringify([process.version, root, ...rest]));
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file)} ${content.length} `).update(content);
  }
  return hash.digest('hex');
};

const OF_PROCESS = /\.(\d+)$/;

/** The process of a file or folder of these, if it has one. */
const processOf = (name: string): number | undefined => {
  const [, pid] = OF_PROCESS.exec(name) ?? [];
  return pid === undefined ? undefined : Number(pid);
};

const own = new Set<string>();

process.once('exit', () => {
  for (const path of own) rmSync(path, { recursive: true, force: true });
});

/** The path of a file or folder of this process, which is removed at its end. */
export const ownPath = (name: string): string => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.${process.pid}`);
  own.add(path);
  return path;
};

/** The folder of the assembly with this hash, if there is one. It stays until the end of this process. */
export const useKept = (hash: string): string | undefined => {
  const kept = join(folder, hash);
  // First, so that no other process removes it meanwhile.
  writeFileSync(ownPath(hash), '');
  if (!existsSync(kept)) return undefined;
  const now = new Date();
  utimesSync(kept, now, now);
  return kept;
};

/** Keeps an assembly by moving its folder, and removes those that were used longest ago. Returns the new folder. */
export const keep = (hash: string, assembly: string): string => {
  const kept = join(folder, hash);
  try {
    renameSync(assembly, kept);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(kept)) throw error;
    rmSync(assembly, { recursive: true });
  }
  removeOld();
  return kept;
};

const removeOld = (): void => {
  const names = readdirSync(folder);
  const isLeft = (name: string): boolean => {
    const pid = processOf(name);
    return pid !== undefined && !isRunning(pid);
  };
  const inUse = new Set(
    names.filter((name) => processOf(name) !== undefined && !isLeft(name)).map((name) => name.replace(OF_PROCESS, '')),
  );
  const old = names
    .filter((name) => processOf(name) === undefined)
    .map((name) => ({ name, time: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time)
    .slice(MAX_KEPT)
    .filter(({ name }) => !inUse.has(name));
  for (const name of [...names.filter(isLeft), ...old.map(({ name }) => name)])
    rmSync(join(folder, name), { recursive: true, force: true });
};
