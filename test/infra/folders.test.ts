/** The size of folders: at most ten files, so that a list of the files shows the folder's purpose. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOTS = ['shared', 'infra'];

const LEAST = 2;
const MOST = 10;

interface Folder {
  path: string;
  files: number;
  folders: number;
}

const foldersBelow = async (path: string): Promise<Folder[]> => {
  const entries = await readdir(path, { withFileTypes: true });
  const inner = entries.filter((entry) => entry.isDirectory());
  const below = await Promise.all(inner.map(({ name }) => foldersBelow(join(path, name))));
  return [{ path, files: entries.length - inner.length, folders: inner.length }, ...below.flat()];
};

test('each source folder has 2 to 10 files or folders', async () => {
  const all = (await Promise.all(ROOTS.map(foldersBelow))).flat();
  expect(all.filter(({ files }) => files > MOST)).toEqual([]);
  // Git keeps the empty folders of moved files.
  const few = all.filter(({ files, folders }) => files + folders < LEAST && files + folders > 0);
  expect(few).toEqual([]);
});
