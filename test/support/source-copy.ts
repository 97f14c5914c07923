/** A copy of the sources that a test may change, so that the project's folder stays unchanged. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface SourceCopy {
  folder: string;
  /** Edits the source of a file. Throws if the edit changes nothing. */
  change(path: string, edit: (source: string) => string): Promise<void>;
  remove(): Promise<void>;
}

export const copySources = async (): Promise<SourceCopy> => {
  // Node would keep what it has compiled by a path that nobody uses again.
  delete process.env.NODE_COMPILE_CACHE;
  const folder = await mkdtemp(join(tmpdir(), 'sources-'));
  for (const part of ['infra', 'functions', 'shared', 'package.json', 'CHANGELOG.md']) {
    await cp(part, join(folder, part), { recursive: true });
  }
  // Windows creates a junction without special rights. Other systems ignore this type.
  await symlink(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
  return {
    folder,
    change: async (path, edit) => {
      const whole = join(folder, path);
      const source = await readFile(whole, 'utf8');
      const changed = edit(source);
      if (changed === source) throw new Error(`Nothing in ${path} was changed.`);
      await writeFile(whole, changed);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
