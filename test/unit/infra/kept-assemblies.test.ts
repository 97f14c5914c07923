import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'kept-assemblies-'));
vi.stubEnv('LOCAL_FOLDER', join(folder, 'local'));
const { hashOfSources, keep, ownPath, release, useKept } = await import('../../../infra/local/kept-assemblies.ts');

afterAll(() => rmSync(folder, { recursive: true }));

const write = (path: string, content: string): string => {
  const file = join(folder, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
  return file;
};

describe('the hash of the sources', () => {
  const newRepository = () => {
    rmSync(join(folder, 'repository'), { recursive: true, force: true });
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

  test('is the same for the same contents, whenever they were written, and whatever logs are beside them', () => {
    const root = newRepository();
    const hash = hashOfSources(root, ['settings']);
    utimesSync(join(root, 'shared/b.ts'), 1, 1);
    write('repository/start.log', 'a line');
    // A lock of an editor. Windows creates a junction without special rights.
    symlinkSync(join(root, 'nowhere'), join(root, '.#README.md'), 'junction');
    expect(hashOfSources(root, ['settings'])).toBe(hash);
  });

  test.each([
    ['a source', (root: string) => writeFileSync(join(root, 'infra/c/d.ts'), 'other')],
    ['the name of a source', (root: string) => renameSync(join(root, 'shared/b.ts'), join(root, 'shared/e.ts'))],
    ['a document beside the folders', (root: string) => writeFileSync(join(root, 'CHANGELOG.md'), '')],
    ['an installed package', (root: string) => writeFileSync(join(root, 'node_modules/.package-lock.json'), '{}')],
  ])('differs if %s differs', (_, change) => {
    const root = newRepository();
    const hash = hashOfSources(root, []);
    change(root);
    expect(hashOfSources(root, [])).not.toBe(hash);
  });

  test('differs if the settings differ', () => {
    const root = newRepository();
    expect(hashOfSources(root, ['{"documentation":true}'])).not.toBe(hashOfSources(root, ['{"documentation":false}']));
  });
});

describe('a kept assembly', () => {
  const beside = join(folder, 'local/assemblies');
  const assemblies = (): string[] => readdirSync(join(beside, 'kept')).sort();
  const ofThis = (name: string): boolean => name.startsWith(`process-${process.pid}-`);

  let count = 0;

  afterEach(() => {
    for (const hash of assemblies()) rmSync(join(beside, 'kept', hash), { recursive: true });
    for (const name of readdirSync(beside)) {
      // The module keeps the folder of this process.
      if (ofThis(name)) for (const hash of readdirSync(join(beside, name))) release(hash);
      else if (name !== 'kept') rmSync(join(beside, name), { recursive: true });
    }
  });

  /** Keeps an assembly that this process has made, and that nobody has used since 1970. */
  const keepNew = (hash: string): string => {
    count += 1;
    const made = ownPath(`new-${count}`);
    write(relative(folder, join(made, 'bundle.count/index.mjs')), 'code');
    const path = keep(hash, made);
    utimesSync(path, 1, 1);
    return path;
  };

  test('is used where it is', () => {
    expect(useKept('hash')).toBeUndefined();
    const path = keepNew('hash');
    expect(readFileSync(join(path, 'bundle.count/index.mjs'), 'utf8')).toBe('code');
    expect(useKept('hash')).toBe(path);
  });

  test('stays if another process has made the same one', () => {
    const path = keepNew('hash');
    write(relative(folder, join(path, 'compile-cache')), 'of another process');
    expect(keepNew('hash')).toBe(path);
    expect(readdirSync(path)).toEqual(['bundle.count', 'compile-cache']);
    expect(assemblies()).toEqual(['hash']);
  });

  test('is removed when four others were used since, unless a running process uses it', () => {
    for (const hash of ['one', 'two', 'three', 'four']) keepNew(hash);
    useKept('one');
    write(`local/assemblies/process-${process.ppid}-Y6fKdu/two`, '');
    for (const hash of ['five', 'six', 'seven']) utimesSync(keepNew(hash), 2, 2);
    expect(assemblies()).toEqual(['five', 'one', 'seven', 'six', 'two']);
  });

  test('is removed when this process has released it', () => {
    keepNew('one');
    const path = useKept('one') ?? '';
    utimesSync(path, 1, 1);
    for (const hash of ['two', 'three', 'four', 'five']) utimesSync(keepNew(hash), 2, 2);
    expect(assemblies()).toContain('one');
    release(path);
    useKept('five');
    expect(assemblies()).not.toContain('one');
  });

  test('takes with it what ended processes have left', () => {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    write(`local/assemblies/process-${ended}-iTkvb0/hash`, '');
    write(`local/assemblies/process-${ended}-iTkvb0/new-1/template.json`, '{}');
    // Of a process that had the id of this one.
    const same = join(beside, `process-${process.pid}-z5kGEi`);
    write(relative(folder, join(same, 'hash')), '');
    utimesSync(same, 1, 1);
    write(`local/assemblies/process-${process.ppid}-PdmdKX/replaced-0/change.1/index.mjs`, '');
    keepNew('hash');
    expect(existsSync(same)).toBe(false);
    const left = readdirSync(beside).filter((name) => !ofThis(name));
    expect(left).toEqual(['kept', `process-${process.ppid}-PdmdKX`]);
    expect(assemblies()).toEqual(['hash']);
  });
});
