/**
 * Assemblies that were synthesised before, in `.local/assemblies`, each with the hash of all that it was made of: a synthesis
 * of the same sources takes four seconds, and a copy a tenth of one.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { localFolder } from '../operator/local-stack/stack-file.ts';

/** Stacks and tests differ in their settings, so that there are several assemblies of the same sources. */
const MAX_KEPT = 4;

const folder = join(localFolder, 'assemblies');

/** The folders of a repository, and the record of its installed packages, from which an assembly is made. */
const SOURCES = ['functions', 'shared', 'infra', 'node_modules/.package-lock.json'];

const filesBelow = async (path: string): Promise<string[]> => {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

/**
 * The hash of what an assembly is made of.
 *
 * @param root - the repository's folder
 * @param rest - what else it depends on
 */
export const hashOfSources = async (root: string, rest: unknown[]): Promise<string> => {
  const top = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
  const found = await Promise.all([...SOURCES, ...top].map((path) => filesBelow(join(root, path))));
  const files = found.flat().sort();
  const contents = await Promise.all(files.map((file) => readFile(file)));
  const hash = createHash('sha256').update(JSON.stringify([process.version, ...rest]));
  for (const [index, file] of files.entries()) {
    const content = contents[index] ?? '';
    hash.update(`${relative(root, file)} ${content.length} `).update(content);
  }
  return hash.digest('hex');
};

/** Copies the assembly with this hash. Returns whether there is one. */
export const copyKept = async (hash: string, target: string): Promise<boolean> => {
  const kept = join(folder, hash);
  try {
    await cp(kept, target, { recursive: true });
    const now = new Date();
    await utimes(kept, now, now);
    return true;
  } catch {
    // There is none, or another process removed it meanwhile.
    return false;
  }
};

/** Keeps a copy of an assembly, and removes those that were used longest ago. A copy that fails only costs time later. */
export const keep = async (hash: string, assembly: string): Promise<void> => {
  let begun = '';
  try {
    await mkdir(folder, { recursive: true });
    // Complete, or not there at all, also if this process is killed.
    begun = await mkdtemp(join(folder, 'begun-'));
    await cp(assembly, begun, { recursive: true });
    await rename(begun, join(folder, hash));
  } catch {
    if (begun !== '') await rm(begun, { recursive: true, force: true });
  }
  const names = await readdir(folder).catch((): string[] => []);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, used: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const old = dated.sort((one, other) => other.used - one.used).slice(MAX_KEPT);
  await Promise.all(old.map(({ name }) => rm(join(folder, name), { recursive: true, force: true })));
};
