/** Assemblies for stacks with files in a folder of their own. */
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';

/** Lets the stacks of a folder use what was synthesised already: that takes longer than all else of a start. */
export const shareAssemblies = async (folder: string): Promise<void> => {
  const shared = join(localFolder, 'assemblies');
  await mkdir(shared, { recursive: true });
  await symlink(shared, join(folder, 'assemblies'), 'junction');
};
