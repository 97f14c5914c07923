import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'kept-assemblies-'));
vi.stubEnv('LOCAL_FOLDER', join(folder, 'local'));
const { copyKept, hashOfSources, keep } = await import('../../../infra/local/kept-assemblies.ts');

afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true }));

const write = (path: string, content: string): string => {
  const file = join(folder, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
  return file;
};

describe('the hash of the sources', () => {
  const newRepository = () => {
    for (const path of [
      'functions/a.ts',
      'shared/b.ts',
      'infra/c/d.ts',
      'node_modules/.package-lock.json',
      'package.json',
    ])
      write(`repository/${path}`, path);
    return join(folder, 'repository');
  };

  test('is the same for the same contents, whenever they were written', async () => {
    const root = newRepository();
    const hash = await hashOfSources(root, ['settings']);
    utimesSync(join(root, 'shared/b.ts'), 1, 1);
    expect(await hashOfSources(root, ['settings'])).toBe(hash);
  });

  test.each([
    ['a source', (root: string) => writeFileSync(join(root, 'infra/c/d.ts'), 'other')],
    ['the name of a source', (root: string) => renameSync(join(root, 'shared/b.ts'), join(root, 'shared/e.ts'))],
    ['a file beside the folders', (root: string) => writeFileSync(join(root, 'CHANGELOG.md'), '')],
    ['an installed package', (root: string) => writeFileSync(join(root, 'node_modules/.package-lock.json'), '{}')],
  ])('differs if %s differs', async (_, change) => {
    const root = newRepository();
    const hash = await hashOfSources(root, []);
    change(root);
    expect(await hashOfSources(root, [])).not.toBe(hash);
  });

  test('differs if the settings differ', async () => {
    const root = newRepository();
    expect(await hashOfSources(root, ['{"documentation":true}'])).not.toBe(
      await hashOfSources(root, ['{"documentation":false}']),
    );
  });
});

describe('a kept assembly', () => {
  test('is copied with all its folders', async () => {
    write('assembly/bundle.count/index.mjs', 'code');
    expect(await copyKept('hash', join(folder, 'copy'))).toBe(false);
    await keep('hash', join(folder, 'assembly'));
    expect(await copyKept('hash', join(folder, 'copy'))).toBe(true);
    expect(readFileSync(join(folder, 'copy/bundle.count/index.mjs'), 'utf8')).toBe('code');
  });

  test('stays whole if another process keeps the same one', async () => {
    write('assembly/template.json', '{}');
    await Promise.all([keep('hash', join(folder, 'assembly')), keep('hash', join(folder, 'assembly'))]);
    expect(await copyKept('hash', join(folder, 'copy'))).toBe(true);
    expect(readdirSync(join(folder, 'local/assemblies'))).toEqual(['hash']);
  });

  test('is removed when four others were used since', async () => {
    write('assembly/template.json', '{}');
    for (const hash of ['one', 'two', 'three', 'four']) {
      await keep(hash, join(folder, 'assembly'));
      utimesSync(join(folder, 'local/assemblies', hash), 1, 1);
    }
    await copyKept('one', join(folder, 'copy'));
    await keep('five', join(folder, 'assembly'));
    const kept = readdirSync(join(folder, 'local/assemblies'));
    expect(kept).toHaveLength(4);
    expect(kept).toEqual(expect.arrayContaining(['one', 'five']));
  });
});
