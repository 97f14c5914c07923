/** The size of folders: few enough files to see what a folder is about. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOTS = ['shared', 'infra'];

const LEAST = 2;
const MOST = 10;

/** Folders that are still to be divided. The list only gets shorter. */
const PENDING = ['infra/docs', 'infra/operator'];

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

test('a folder of sources has two to ten files, or folders', async () => {
  const all = (await Promise.all(ROOTS.map(foldersBelow))).flat().filter(({ path }) => !PENDING.includes(path));
  expect(all.filter(({ files }) => files > MOST)).toEqual([]);
  // Git leaves the empty folders of files that were moved.
  const few = all.filter(({ files, folders }) => files + folders < LEAST && files + folders > 0);
  expect(few).toEqual([]);
});
