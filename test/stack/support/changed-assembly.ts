/** The assembly of the served stack with another template. */
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';

export type Resources = Record<string, { Type: string; Properties: Record<string, unknown> }>;

/** The folder of an assembly whose resources `change` may change. It is deleted at the end of the test. */
export const changedAssembly = async (change: (resources: Resources) => void): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'assembly-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { assembly } = inject('stack');
  for (const entry of await readdir(assembly, { withFileTypes: true })) {
    const [from, to] = [join(assembly, entry.name), join(folder, entry.name)];
    await (entry.isDirectory() ? symlink(from, to, 'junction') : cp(from, to));
  }
  const path = join(folder, 'BusinessApi.template.json');
  const template = JSON.parse(await readFile(path, 'utf8'));
  change(template.Resources);
  await writeFile(path, JSON.stringify(template));
  return folder;
};
